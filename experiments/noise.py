"""Interrogations of agents whose answers are sometimes wrong, at rates that the engine is not told.

``python -m experiments.noise --rates 0.01 --rates 0.2 --seeds 20`` flips observed atoms; ``--refusals`` are rates at which
executable steps are refused. Certain palm tuples are those that the result says are so; one is wrong if its
mode is not the true model's.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from time import process_time
from typing import Annotated, Any

from aam_vision import interrogate
from aam_vision.interrogation.task.result import read_mode
from aam_vision.model import domains
from aam_vision.model.strips import Mode, Model, PalTuple
from aam_vision.report import evaluation
from aam_vision.run import targets
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import UnusableInput
from experiments.jobs import Experiment, Scale, every
from experiments.options import Domains, FirstSeed, Names, Seeds, Size, about, chosen
from experiments.tables import Row, Summary, as_named, average, share, spread_of, total

DEFAULT = ("blocksworld", "gripper", "satellite", "logistics")

summary = Summary(
    "Unreliable answers, the rates not told",
    {
        "domain": "env",
        "access": "access",
        "flips": "flip_rate",
        "refusals": "refusal_rate",
        "exact": share("exact"),
        "in doubt": total("doubtful"),
        "silently wrong": total(lambda run: run["complete"] and not run["exact"]),
        **as_named("certain", "wrong", column=total),
        **as_named("steps", "queries", column=spread_of),
        "seconds": average("seconds"),
        "runs": len,
    },
    by=("env", "access", "flip_rate", "refusal_rate"),
)
"""``silently wrong`` are runs that say complete and are not exact."""


def noise(
    rates: Annotated[list[float] | None, about("Flip rates (repeatable).")] = None,
    refusals: Annotated[list[float] | None, about("Refusal rates (repeatable).")] = None,
    domain: Domains = None,
    access: Annotated[Names, about("Accesses (repeatable).")] = None,
    seeds: Seeds = 20,
    first_seed: FirstSeed = 0,
    size: Size = 2,
    max_steps: Annotated[int, about("Attempted steps of a run at most.", min=1)] = 3000,
    confirm: Annotated[bool, about("Take no answer at its word.", "--confirm")] = False,
    scale: Scale = Scale(processes=1, out=Path("runs/noise")),
) -> int:
    """How often models are exact, and how often something certain is wrong, by rates of error.

    Examples:
        python -m experiments.noise --rates 0.01 --rates 0.1
        python -m experiments.noise --domain gripper --refusals 0.02 --seeds 5
    """
    for rate in (*(rates or ()), *(refusals or ())):
        if not 0 <= rate <= 1:
            raise UnusableInput(f"--rates and --refusals: {rate:g} is not a rate; give numbers from 0 to 1")
    jobs = every(
        env=chosen("domain", domain, domains.DOMAINS, DEFAULT),
        access=access or "settable",
        flip_rate=rates or 0.0,
        refusal_rate=refusals or 0.0,
        seed=range(first_seed, first_seed + seeds),
        size=size,
        max_steps=max_steps,
        confirm=confirm,
    )
    return Experiment("noise", noisy_interrogation, summary).run(jobs, scale)


def noisy_interrogation(
    *, env: str, access: str, flip_rate: float, refusal_rate: float, seed: int, size: int, **asked: Any
) -> Row:
    """One interrogation, as the command makes it; ``asked`` are further arguments of ``interrogate``."""
    target = targets.from_environment(env, access=access, size=size, seed=seed)
    if flip_rate or refusal_rate:
        target = targets.unreliable(target, flip_rate, refusal_rate, seed)
    began = process_time()
    result = interrogate(target.agent, seed=seed, **asked, go_on=False, raises=False)
    seconds = process_time() - began
    assert target.truth is not None, "packaged domains tell the truth afterwards"
    truth, counts = target.truth(), result.counts
    return {
        "exact": evaluation.exact(result.model, truth),
        "complete": result.proven,
        "doubtful": not result.proven,
        "certain": len(result.certain),
        "wrong": wrongly_certain(result.certain, truth),
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
    return sum(
        mode is not read_mode(truth, pal.action, pal.atom, pal.location) for pal, mode in certain.items()
    )


if __name__ == "__main__":
    sys.exit(run_command(noise))
