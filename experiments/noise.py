"""Interrogations of agents whose answers are sometimes wrong, at rates that the engine is not told.

``python -m experiments.noise --rates 0.01 --rates 0.2 --seeds 20`` flips observed atoms; ``--refusals`` are rates at which
executable steps are refused. Certain palm tuples are those that the result says are so; one is wrong if its
mode is not the true model's.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Annotated

import typer

from aam_vision import domains
from aam_vision.commandline import run_command
from aam_vision.errors import UnusableInput
from aam_vision.strips import Location, Mode, Model, PalTuple
from experiments.jobs import Parameters, Presentation, Row, Scale, Table, chosen_domains, report, spread

DEFAULT = ("blocksworld", "gripper", "satellite", "logistics")
COLUMNS = (
    "domain", "access", "flips", "refusals", "exact", "in doubt", "silently wrong", "certain", "wrong", "steps", "queries",
    "seconds", "runs",
)  # fmt: skip


def noise(
    rates: Annotated[list[float] | None, typer.Option(help="Flip rates (repeatable).")] = None,
    refusals: Annotated[list[float] | None, typer.Option(help="Refusal rates (repeatable).")] = None,
    domain: Annotated[list[str] | None, typer.Option(help="Domains (repeatable).")] = None,
    access: Annotated[list[str] | None, typer.Option(help="Accesses (repeatable).")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of every combination.")] = 20,
    first_seed: Annotated[int, typer.Option(min=0, help="Seed of the first of them.")] = 0,
    size: Annotated[int, typer.Option(min=1, help="Size of generated problems.")] = 2,
    max_steps: Annotated[int, typer.Option(min=1, help="Attempted steps of a run at most.")] = 3000,
    confirm: Annotated[bool, typer.Option("--confirm", help="Take no answer at its word.")] = False,
    scale: Scale = Scale(processes=1, out=Path("runs/noise")),
) -> int:
    """How often models are exact, and how often something certain is wrong, by rates of error.

    Examples:
        python -m experiments.noise --rates 0.01 --rates 0.1
        python -m experiments.noise --domain gripper --refusals 0.02 --seeds 5
    """
    pairs = [(rate, refusal) for rate in rates or [0.0] for refusal in refusals or [0.0]]
    for rate in [rate for pair in pairs for rate in pair]:
        if not 0 <= rate <= 1:
            raise UnusableInput(f"--rates and --refusals: {rate:g} is not a rate; give numbers from 0 to 1")
    jobs: list[Parameters] = [
        {
            "env": name, "access": one_access, "flip_rate": rate, "refusal_rate": refusal, "seed": seed,
            "size": size, "max_steps": max_steps, "confirm": confirm,
        }
        for name in chosen_domains(domain, domains.DOMAINS, DEFAULT)
        for one_access in access or ["settable"]
        for rate, refusal in pairs
        for seed in range(first_seed, first_seed + seeds)
    ]  # fmt: skip
    return report("noise", jobs, Presentation(summary), scale, work=noisy_interrogation)


def noisy_interrogation(
    *,
    env: str,
    access: str,
    flip_rate: float,
    refusal_rate: float,
    seed: int,
    size: int,
    max_steps: int,
    confirm: bool,
) -> Row:
    """One interrogation, as the command makes it."""
    from aam_vision import evaluation, interrogate, targets
    from aam_vision.interrogation.task.loop import Interrupted

    target = targets.from_environment(env, access=access, size=size, seed=seed)
    if flip_rate or refusal_rate:
        target = targets.unreliable(target, flip_rate, refusal_rate, seed)
    began = process_time()
    try:
        result = interrogate(target.agent, seed=seed, max_steps=max_steps, confirm=confirm)
    except Interrupted as error:
        result = error.result
    seconds = process_time() - began
    assert target.truth is not None, "packaged domains tell the truth afterwards"
    truth = target.truth()
    certain = result.certain
    exact = evaluation.exact(result.model, truth)
    counts = result.counts
    return {
        "exact": exact,
        "complete": result.proven,
        "doubtful": not result.proven,
        "certain": len(certain),
        "wrong": wrongly_certain(certain, truth),
        "weighed": result.rates is not None,
        "doubt": result.doubt,
        "looks": counts.looks,
        "queries": counts.queries,
        "steps": counts.steps,
        "seconds": round(seconds, 3),
        "why": result.why,
    }


def wrongly_certain(certain: Mapping[PalTuple, Mode], truth: Model) -> int:
    """How many of the palm tuples that a result vouches for are wrong."""
    return sum(mode is not _read(truth, pal) for pal, mode in certain.items())


def _read(truth: Model, pal: PalTuple) -> Mode:
    """The true mode; an effect that restates what its action requires is read as absent."""
    schema = truth.schema(pal.action)
    mode = schema.mode(pal.atom, pal.location)
    restated = pal.location is Location.EFF and mode is schema.mode(pal.atom, Location.PRE)
    return Mode.ABSENT if restated else mode


def summary(rows: Sequence[Row]) -> Table:
    """One line per domain, access and rates; ``silently wrong`` are runs that say complete and are not exact."""
    lines = [
        [
            *group,
            f"{sum(run['exact'] for run in runs)}/{len(runs)}",
            sum(run["doubtful"] for run in runs),
            sum(run["complete"] and not run["exact"] for run in runs),
            sum(run["certain"] for run in runs),
            sum(run["wrong"] for run in runs),
            spread([run["steps"] for run in runs]),
            spread([run["queries"] for run in runs]),
            sum(run["seconds"] for run in runs) / len(runs),
            len(runs),
        ]
        for group, runs in Table.groups(rows, "env", "access", "flip_rate", "refusal_rate").items()
    ]
    return Table("Unreliable answers, the rates not told", COLUMNS, lines)


if __name__ == "__main__":
    sys.exit(run_command(noise))
