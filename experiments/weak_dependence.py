"""``python -m experiments.weak_dependence``: how often it is found that an action works less often under a condition.

A hand picks up dry blocks with one probability and wet ones with another; blocks are of two colours, and there are two hands. A run
that ends as *complete* and has not found that it depends on ``wet`` has *missed* it: its intervals are those of a mixture.
"""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Annotated

import numpy as np

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.interrogating import interrogate
from aam_vision.interrogation.chance.result import Options
from aam_vision.interrogation.task.verdict import COMPLETE
from aam_vision.model.pddl import read_domain, read_problem
from aam_vision.model.query import Access
from aam_vision.model.strips import Model, State
from aam_vision.support.commandline import run_command
from experiments.jobs import Experiment, Scale, every
from experiments.options import FirstSeed, about, check_probabilities
from experiments.tables import Row, Summary, as_named, per

ACCESS = ["settable", "snapshot", "reset"]
WITHIN = [0.05, 0.1, 0.2]  # half widths of the intervals that are wanted

summary = Summary(
    "A condition under which an action works less often",
    {
        **as_named("dry", "wet", "within", "access"),
        "runs": "count",
        **as_named("found", "missed"),
        "steps": lambda rows: round(rows[0]["steps"], 1),
        "CPU s": per("seconds", "count", 2),
    },
)


def weak_dependence(
    dry: Annotated[float, about("How often a dry block is picked up.")] = 0.8,
    wet: Annotated[float, about("How often a wet one is.")] = 0.5,
    within: Annotated[list[float] | None, about("Half width of the intervals (repeatable).")] = None,
    seeds: Annotated[int, about("Interrogations for each access and width.", min=1)] = 20,
    first_seed: FirstSeed = 0,
    scale: Scale = Scale(out=Path("runs/weak-dependence")),
) -> int:
    """How often it is found that what an action does depends on an atom, by how much that changes.

    Examples:
        python -m experiments.weak_dependence
        python -m experiments.weak_dependence --dry 0.9 --wet 0.8 --within 0.05
    """
    check_probabilities(dry=dry, wet=wet)
    half_widths = {"within": within or WITHIN, "access": ACCESS}
    jobs = every(**half_widths, dry=dry, wet=wet, first_seed=first_seed, count=seeds)
    return Experiment("weak_dependence", interrogations, summary).run(jobs, scale)


def interrogations(*, access: str, within: float, dry: float, wet: float, first_seed: int, count: int) -> Row:
    """As many interrogations, and what came of them."""
    began = process_time()
    found = missed = steps = 0
    for seed in range(first_seed, first_seed + count):
        model, start = hand(dry, wet)
        chance = np.random.default_rng([seed, 4])
        agent = SymbolicAgent(model, [start], Access(access), refuses_surely=True, chance=chance)
        result = interrogate(agent, np.random.default_rng(seed), Options(within))
        pick = result.actions[0]
        known = [atom.predicate for atom in pick.index.select(pick.dependence.atoms)] == ["wet"]
        found += known
        missed += result.status == COMPLETE and not known
        steps += result.counts.steps
    seconds = round(process_time() - began, 2)
    return {"found": found, "missed": missed, "steps": steps / count, "seconds": seconds}


# A hand with chance, for experiments with one action whose probability is known.


def hand(dry: float, wet: float | None = None) -> tuple[Model, State]:
    """A hand that picks up a block this often, and always puts it down; where it begins.

    With ``wet`` there are two hands and blocks of two colours, one of which is wet and picked up that often.
    """
    name = "hand" if wet is None else "hands"
    text = Path(__file__).with_name(f"{name}.pddl").read_text(encoding="utf-8")
    for word, often in {"DRY": dry, "WET": wet or 0}.items():
        text = text.replace(word, f"{Decimal(str(often)):f}")
    with TemporaryDirectory() as folder:
        domain = Path(folder, "domain.pddl")
        domain.write_text(text, encoding="utf-8")
        model = read_domain(domain, chance=True)
    return model, read_problem(model, Path(__file__).with_name(f"{name}-problem.pddl")).initial


if __name__ == "__main__":
    sys.exit(run_command(weak_dependence))
