"""Can a result be trusted? Interrogations under noise, of faulty programs, and of agents outside STRIPS.

``python -m experiments.trust --runs 1000`` mixes domains, accesses, rates of misread atoms and of refused steps, faults
of programs, and agents that no STRIPS model describes. The engine is told nothing of this. A run is *silently wrong*
if it calls a palm tuple certain that is not the true model's, or calls a model complete though the agent has done what
no STRIPS model describes; all others end with a complete model, or say what is *uncertain*, or *name* what is wrong
with the agent (exit code 3 of the command).
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Annotated, Any

import numpy as np
import typer

from aam_vision import domains, targets
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.agents.reference_agent import HELLO
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.commandline import run_command
from aam_vision.domains import generate, load
from aam_vision.query import Access
from aam_vision.strips import ActionHeader, ActionSchema, LiftedAtom, Model, Predicate, Types, Vocabulary
from aam_vision.targets import Target
from experiments.faulty_robot import FAULTS
from experiments.jobs import Parameters, Row
from experiments.noise import wrongly_certain
from experiments.options import Scale, chosen_domains
from experiments.report import report
from experiments.strangers import TWISTS, Stranger
from experiments.tables import Table, spread

ACCESSES = tuple(access.value for access in Access)
DOMAINS = ("gripper", "blocksworld", "miconic", "logistics", "satellite")
SLOW = (("satellite", "trajectory"),)
"""Domains and accesses that are left out: a run takes more than half a minute."""
FLIPS = (0.0, 0.01, 0.05, 0.1, 0.2)
REFUSALS = (0.0, 0.02)
FAULT_RATE = 0.02
"""Share of a faulty program's answers."""
PROGRAM_SECONDS = 2.0
"""Seconds that a program may take for an answer."""
MAX_STEPS = 3000
COLUMNS = (
    "agents", "access", "runs", "complete", "exact", "uncertain", "named", "silently wrong", "certain", "wrong",
    "steps", "seconds",
)  # fmt: skip


def trust(
    runs: Annotated[
        int, typer.Option(min=1, help="Interrogations, spread evenly over what there is.")
    ] = 1000,
    domain: Annotated[list[str] | None, typer.Option(help="Packaged domains (repeatable).")] = None,
    first_seed: Annotated[int, typer.Option(min=0, help="Seed of the first runs.")] = 0,
    size: Annotated[int, typer.Option(min=1, help="Size of generated problems.")] = 2,
    scale: Scale = Scale(processes=1, out=Path("runs/trust")),
) -> int:
    """Whether any run ends silently wrong, over noise, faults and domains.

    Examples:
        python -m experiments.trust --runs 1000
        python -m experiments.trust --runs 50 --domain gripper --first-seed 100
    """
    cases = mixture(chosen_domains(domain, domains.DOMAINS, DOMAINS))
    jobs: list[Parameters] = [
        {**cases[number % len(cases)], "seed": first_seed + number // len(cases), "size": size}
        for number in range(runs)
    ]
    return report("trust", jobs, summary, scale, work=trusted)


def mixture(names: Sequence[str]) -> list[dict[str, Any]]:
    """All combinations, with those of one kind spread out."""
    noisy = [
        {"agent": name, "access": access, "flip_rate": flips, "refusal_rate": refusals}
        for flips, refusals, access, name in product(FLIPS, REFUSALS, ACCESSES, names)
        if (name, access) not in SLOW
    ]
    faulty = [
        {"agent": f"program: {fault}", "access": access, "flip_rate": flips, "refusal_rate": 0.0}
        for fault, access, flips in product(FAULTS, ACCESSES, (0.0, 0.05))
        if not flips or fault in FAULTS[:2]
    ]
    strange = [
        {"agent": f"stranger: {twist}", "access": access, "flip_rate": flips, "refusal_rate": 0.0}
        for twist, access, flips in product(TWISTS, ACCESSES, (0.0, 0.05))
    ]
    cases = [*noisy, *faulty, *strange]
    order = np.random.default_rng(0).permutation(len(cases))
    return [cases[int(number)] for number in order]


def trusted(*, agent: str, access: str, flip_rate: float, refusal_rate: float, seed: int, size: int) -> Row:
    """One interrogation, as the command makes it, and how far its result can be trusted."""
    with TemporaryDirectory() as folder:
        target, strange = target_of(agent, access, seed, size, Path(folder))
        if flip_rate or refusal_rate:
            target = targets.unreliable(target, flip_rate, refusal_rate, seed)
        try:
            return _interrogated(target, seed, strange)
        finally:
            target.close()


def _interrogated(target: Target, seed: int, strange: Callable[[], bool]) -> Row:
    from aam_vision import evaluation, interrogate
    from aam_vision.interrogation.task.loop import Interrupted

    began, named = process_time(), ""
    try:
        result = interrogate(target.agent, seed=seed, max_steps=MAX_STEPS)
    except Interrupted as error:
        result = error.result
        named = "contradiction" if error.contradicted else "failure"
    truth = None if target.truth is None else target.truth()
    certain = result.certain if truth is not None else {}
    wrong = 0 if truth is None else wrongly_certain(certain, truth)
    return {
        "complete": result.complete,
        "exact": truth is not None and evaluation.exact(result.model, truth),
        "named": named,
        "silently_wrong": wrong > 0 or (result.complete and strange()),
        "certain": len(certain),
        "wrong": wrong,
        "steps": result.counts.steps,
        "seconds": round(process_time() - began, 3),
        "why": result.why,
    }


def target_of(
    agent: str, access: str, seed: int, size: int, folder: Path
) -> tuple[Target, Callable[[], bool]]:
    """The agent, and whether it has done what no STRIPS model describes."""
    kind, _, what = agent.partition(": ")
    if kind == "program":
        words = [
            "-m",
            "experiments.faulty_robot",
            what,
            str(FAULT_RATE),
            str(seed),
            str(folder / "starts"),
            access,
        ]
        command = shlex.join([sys.executable, *words])
        target = targets.from_program(command, [], access=None, seconds=PROGRAM_SECONDS, megabytes=1024)
        return replace(target, truth=robot), lambda: False
    if kind == "stranger":
        rng = np.random.default_rng([seed, 4])
        problems = [generate("blocksworld", size, rng).initial]
        model = load("blocksworld")
        stranger = Stranger(SymbolicAgent(model, problems, Access(access)), TWISTS[what], rng)
        agent_of = stranger if stranger.access is Access.SETTABLE else NumberedAgent(stranger)
        return Target(what, ("0",), agent_of, truth=None, held_out=list), lambda: stranger.strange > 0
    target = targets.from_environment(agent, access=access, size=size, seed=seed)
    return target, lambda: False


def robot() -> Model:
    """The true model of the reference agent."""
    hello: dict[str, Any] = HELLO
    vocabulary = Vocabulary(
        hello["name"],
        tuple(Predicate(name, tuple(types)) for name, types in hello["predicates"].items()),
        Types(hello["types"]),
    )
    headers = {
        name: ActionHeader(name, *map(tuple, zip(*parameters, strict=True)))
        for name, parameters in hello["actions"].items()
    }
    at, lies, holds, free = (LiftedAtom("robot-in", (1,)), LiftedAtom("lies-in", (0, 1)),
                             LiftedAtom("holds", (0,)), LiftedAtom("free", ()))  # fmt: skip
    here, there = LiftedAtom("robot-in", (0,)), LiftedAtom("robot-in", (1,))

    def schema(
        name: str, required: set[LiftedAtom], add: set[LiftedAtom], delete: set[LiftedAtom]
    ) -> ActionSchema:
        return ActionSchema(
            headers[name], frozenset(required), frozenset(), frozenset(add), frozenset(delete)
        )

    return Model(
        vocabulary,
        (
            schema("go", {here}, {there}, {here}),
            schema("take", {at, lies, free}, {holds}, {lies, free}),
            schema("put", {at, holds}, {lies, free}, {holds}),
        ),
    )


def summary(rows: Sequence[Row]) -> Table:
    """One line per kind of agent and access, and one for all."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(
        rows, key=lambda row: (": " in row["agent"], row["agent"], ACCESSES.index(row["access"]))
    ):
        groups.setdefault((row["agent"].partition(": ")[0], row["access"]), []).append(row)
    lines = [_line(*group, some) for group, some in groups.items()]
    return Table("Results under noise, faults and strangers", COLUMNS, [*lines, _line("all", "", rows)])


def _line(agents: str, access: str, rows: Sequence[Row]) -> list[Any]:
    complete = [row for row in rows if row["complete"]]
    return [
        agents,
        access,
        len(rows),
        len(complete),
        sum(row["exact"] for row in complete),
        sum(not row["complete"] and not row["named"] for row in rows),
        sum(bool(row["named"]) for row in rows),
        sum(row["silently_wrong"] for row in rows),
        sum(row["certain"] for row in rows),
        sum(row["wrong"] for row in rows),
        spread([row["steps"] for row in rows]),
        sum(row["seconds"] for row in rows) / len(rows),
    ]


if __name__ == "__main__":
    sys.exit(run_command(trust))
