"""``python -m experiments.weak_dependence``: how often it is found that an action works less often under a condition.

A hand picks up dry blocks with one probability and wet ones with another; blocks are of two colours, and there are two hands. A run
that ends as *complete* and has not found that it depends on ``wet`` has *missed* it: its intervals are those of a mixture.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Annotated

import numpy as np
import typer

from aam_vision.commandline import run_command
from aam_vision.errors import UnusableInput
from aam_vision.outcomes import Case, ChanceModel, ChanceSchema, Effects, Outcome
from aam_vision.strips import (
    ActionHeader,
    Atom,
    LiftedAtom,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from experiments.jobs import Parameters, Presentation, Row, Scale, Table, report

ACCESS = ("settable", "snapshot", "reset")
WITHIN = (0.05, 0.1, 0.2)
"""Half widths of the intervals that are wanted."""


def weak_dependence(
    dry: Annotated[float, typer.Option(help="How often a dry block is picked up.")] = 0.8,
    wet: Annotated[float, typer.Option(help="How often a wet one is.")] = 0.5,
    within: Annotated[
        list[float] | None, typer.Option(help="Half width of the intervals (repeatable).")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Interrogations for each access and width.")] = 20,
    first_seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    scale: Scale = Scale(out=Path("runs/weak-dependence")),
) -> int:
    """How often it is found that what an action does depends on an atom, by how much that changes.

    Examples:
        python -m experiments.weak_dependence
        python -m experiments.weak_dependence --dry 0.9 --wet 0.8 --within 0.05
    """
    for name, value in (("dry", dry), ("wet", wet)):
        if not 0 < value < 1:
            raise UnusableInput("give a probability between 0 and 1", name, value)
    jobs: list[Parameters] = [
        {"access": access, "within": width, "dry": dry, "wet": wet, "first_seed": first_seed, "count": seeds}
        for width in within or WITHIN
        for access in ACCESS
    ]
    return report("weak_dependence", jobs, Presentation(table), scale, work=interrogations)


def interrogations(*, access: str, within: float, dry: float, wet: float, first_seed: int, count: int) -> Row:
    """As many interrogations, and what came of them."""
    from aam_vision.agents.chance import ChanceAgent
    from aam_vision.chance.interrogating import Options, interrogate
    from aam_vision.interrogation.task.verdict import COMPLETE
    from aam_vision.query import Access

    began = process_time()
    found = missed = steps = 0
    for seed in range(first_seed, first_seed + count):
        model, start = hand(dry, wet)
        agent = ChanceAgent(model, [start], np.random.default_rng([seed, 4]), Access(access))
        result = interrogate(agent, np.random.default_rng(seed), Options(within))
        pick = result.actions[0]
        known = [atom.predicate for atom in pick.index.select(pick.dependence.atoms)] == ["wet"]
        found += known
        missed += result.status == COMPLETE and not known
        steps += result.counts.steps
    seconds = round(process_time() - began, 2)
    return {"found": found, "missed": missed, "steps": steps / count, "seconds": seconds}


def hand(dry: float, wet: float) -> tuple[ChanceModel, State]:
    """Hands that pick up dry and wet blocks with these probabilities, and always put them down."""
    types = Types({"block": "object", "hand": "object"})
    kinds = {"holding": "block", "wet": "block", "red": "block", "free": "hand", "old": "hand"}
    vocabulary = Vocabulary("hand", tuple(Predicate(name, (kind,)) for name, kind in kinds.items()), types)
    holding, damp, free = LiftedAtom("holding", (0,)), LiftedAtom("wet", (0,)), LiftedAtom("free", (1,))
    pick, put = (ActionHeader(name, ("b", "h"), ("block", "hand")) for name in ("pick", "put"))
    held = Effects(frozenset([holding]), frozenset([free]))

    def outcomes(share: float) -> tuple[Outcome, ...]:
        return Outcome(share, held), Outcome(1 - share, Effects())

    cases = (
        Case(frozenset([damp]), frozenset(), outcomes(wet)),
        Case(frozenset(), frozenset([damp]), outcomes(dry)),
    )
    down = Outcome(1.0, Effects(frozenset([free]), frozenset([holding])))
    model = ChanceModel(
        vocabulary,
        (
            ChanceSchema(pick, frozenset([free]), frozenset(), (), cases),
            ChanceSchema(put, frozenset([holding]), frozenset(), (down,)),
        ),
    )
    objects = Objects({"a": "block", "b": "block", "c": "block", "h": "hand", "g": "hand"}, types)
    true = [("free", "h"), ("free", "g"), ("wet", "b"), ("old", "g"), ("red", "a"), ("red", "b")]
    return model, State(frozenset(Atom(name, (one,)) for name, one in true), objects)


def table(rows: Sequence[Row]) -> Table:
    """A line per access and half width."""
    lines = [
        [row[name] for name in ("dry", "wet", "within", "access", "count", "found", "missed")]
        + [round(row["steps"], 1), round(row["seconds"] / row["count"], 2)]
        for row in rows
    ]
    columns = ("dry", "wet", "within", "access", "runs", "found", "missed", "steps", "CPU s")
    return Table("A condition under which an action works less often", columns, lines)


if __name__ == "__main__":
    sys.exit(run_command(weak_dependence))
