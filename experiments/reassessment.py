"""``python -m experiments.reassessment``: agents that have changed since a model of them was learned.

Each job changes the packaged domain in some places, drawn at random, and interrogates the changed agent with the
unchanged domain as the model learned earlier (``--prior``), and without it. Sound verification cannot take fewer queries
than the changed agent has (irredundant) preconditions: that is the ``one pass`` of verification in the table; ``most over``
are queries beyond it and one for every palm tuple that has changed.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.result import differences
from aam_vision.model import domains
from aam_vision.model.strips import ActionSchema, Model, lifted_atoms
from aam_vision.support.commandline import run_command
from experiments.jobs import Experiment, Scale, every
from experiments.options import Domains, FirstSeed, Seeds, Size, about, chosen
from experiments.tables import Row, Summary, among, share, spread_of


def _over(run: Row) -> int:
    """Queries beyond one pass, and one for every palm tuple that has changed."""
    return int(run["queries"] - run["lower_bound"] - run["changed"])


summary = Summary(
    "Re-assessment of agents that have changed, settable access",
    {
        "domain": "env",
        "changes": "changes",
        "changed": spread_of("changed"),
        "one pass": spread_of("lower_bound"),
        "queries": spread_of("queries"),
        "most over": lambda runs: max(map(_over, runs)),
        "plain": spread_of("queries_without"),
        "steps": spread_of("steps"),
        "plain steps": spread_of("steps_without"),
        "exact": share("exact"),
        "runs": len,
    },
    by=("env", "changes"),
)


page = Summary(
    "Re-assessment with `--prior` of agents that may have changed, settable access",
    {
        "domain": "env",
        "unchanged: one pass": among(spread_of("lower_bound"), changes=0),
        "queries": among(spread_of("queries"), changes=0),
        "without --prior": among(spread_of("queries_without"), changes=0),
        "steps": among(spread_of("steps"), changes=0),
        "without": among(spread_of("steps_without"), changes=0),
        "changed: most over": lambda runs: max((_over(run) for run in runs if run["changes"]), default=None),
        "all: exact": share("exact"),
    },
    by=("env",),
)
"""A line for all numbers of changes."""

QUESTION = (
    "How much does an earlier model save, and what does a change cost? *One pass*: as many queries as the agent has "
    "preconditions; *most over*: the most queries beyond that and one for every changed line, of 1 or 3 random changes. "
    "[How to](../how-to/reassess.md)."
)


def reassessment(
    domain: Domains = None,
    changes: Annotated[list[int] | None, about("How many changes (repeatable); default 0, 1, 3.")] = None,
    seeds: Seeds = 10,
    first_seed: FirstSeed = 0,
    size: Size = 3,
    scale: Scale = Scale(out=Path("runs/reassessment")),
) -> int:
    """Queries that it takes to verify a model learned earlier, and to learn what has changed.

    Examples:
        python -m experiments.reassessment
        python -m experiments.reassessment --domain gripper --changes 1 --seeds 3
    """
    names = chosen("domain", domain, domains.DOMAINS)
    seed = range(first_seed, first_seed + seeds)
    jobs = every(env=names, changes=changes or [0, 1, 3], seed=seed, size=size)
    return Experiment("reassessment", reassessed, summary, page=(page,), question=QUESTION).run(jobs, scale)


def reassessed(*, env: str, changes: int, seed: int, size: int) -> Row:
    """One changed agent, interrogated with and without the model that it had."""
    prior = domains.load(env)
    truth = changed(prior, changes, np.random.default_rng([seed, changes]))
    problem = domains.generate(env, size, np.random.default_rng([seed, 1])).initial
    agent = SymbolicAgent(truth, [problem], refuses_surely=True)
    found, plain = (
        Interrogation(agent, prior=known, exam=0).run(np.random.default_rng(seed)) for known in (prior, None)
    )
    return {
        "changed": len(differences(prior, truth)),
        "lower_bound": found.lower_bound,
        "queries": found.counts.queries,
        "steps": found.counts.steps,
        "queries_without": plain.counts.queries,
        "steps_without": plain.counts.steps,
        "exact": found.proven and not differences(truth, found.model),
    }


def changed(model: Model, changes: int, rng: np.random.Generator) -> Model:
    """The model with as many random changes: a precondition less or more, or an effect more."""
    actions = list(model.actions)
    for _ in range(changes):
        number = int(rng.integers(len(actions)))
        actions[number] = _changed_action(model, actions[number], rng)
    return Model(model.vocabulary, tuple(actions))


def _changed_action(model: Model, schema: ActionSchema, rng: np.random.Generator) -> ActionSchema:
    atoms = lifted_atoms(model.vocabulary, schema.header)
    part = ("positive", "negative", "add", "delete", "positive less")[int(rng.integers(5))]
    taken = (
        schema.positive | schema.negative if part in ("positive", "negative") else schema.add | schema.delete
    )
    options = [
        atom for atom in atoms if (atom in schema.positive if part == "positive less" else atom not in taken)
    ]
    if not options:
        return schema
    atom = frozenset({options[int(rng.integers(len(options)))]})
    if part == "positive less":
        return replace(schema, positive=schema.positive - atom)
    return replace(schema, **{part: getattr(schema, part) | atom})


if __name__ == "__main__":
    sys.exit(run_command(reassessment))
