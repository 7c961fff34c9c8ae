"""``python -m experiments.reassessment``: agents that have changed since a model of them was learned.

Each job changes the packaged domain in some places, drawn at random, and interrogates the changed agent with the
unchanged domain as the model learned earlier (``--prior``), and without it. Sound verification cannot take fewer queries
than the changed agent has (irredundant) preconditions: that is the ``one pass`` of verification in the table; ``most over``
are queries beyond it and one for every palm tuple that has changed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aam_vision import domains
from aam_vision.commandline import run_command
from aam_vision.strips import ActionSchema, Model, lifted_atoms
from experiments.jobs import Presentation, Row, Scale, Table, chosen_domains, report, spread

if TYPE_CHECKING:
    import numpy as np

COLUMNS = (
    "domain", "changes", "changed", "one pass", "queries", "most over", "plain", "steps", "plain steps", "exact", "runs",
)  # fmt: skip


def reassessment(
    domain: Annotated[list[str] | None, typer.Option(help="Only these domains (repeatable).")] = None,
    changes: Annotated[
        list[int] | None, typer.Option(help="How many changes (repeatable); default 0, 1, 3.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of every combination.")] = 10,
    first_seed: Annotated[int, typer.Option(min=0, help="The first of the seeds.")] = 0,
    size: Annotated[int, typer.Option(min=1, help="Size of generated problems.")] = 3,
    scale: Scale = Scale(out=Path("runs/reassessment")),
) -> int:
    """Queries that it takes to verify a model learned earlier, and to learn what has changed.

    Examples:
        python -m experiments.reassessment
        python -m experiments.reassessment --domain gripper --changes 1 --seeds 3
    """
    jobs = [
        {"env": name, "changes": number, "seed": seed, "size": size}
        for name in chosen_domains(domain, domains.DOMAINS)
        for number in (changes or [0, 1, 3])
        for seed in range(first_seed, first_seed + seeds)
    ]
    return report("reassessment", jobs, Presentation(summary), scale, work=reassessed)


def reassessed(*, env: str, changes: int, seed: int, size: int) -> Row:
    """One changed agent, interrogated with and without the model that it had."""
    import numpy as np

    from aam_vision.agents.symbolic import SymbolicAgent
    from aam_vision.interrogation.task.assembly import Interrogation
    from aam_vision.interrogation.task.result import differences

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
    if part == "positive less":
        options = [atom for atom in atoms if atom in schema.positive]
    elif part in ("positive", "negative"):
        options = [atom for atom in atoms if atom not in schema.positive | schema.negative]
    else:
        options = [atom for atom in atoms if atom not in schema.add | schema.delete]
    if not options:
        return schema
    atom = frozenset({options[int(rng.integers(len(options)))]})
    if part == "positive less":
        return replace(schema, positive=schema.positive - atom)
    return replace(schema, **{part: getattr(schema, part) | atom})


def summary(rows: Sequence[Row]) -> Table:
    """One line per domain and number of changes."""
    lines: list[list[Any]] = [
        [
            *group,
            spread([run["changed"] for run in runs]),
            spread([run["lower_bound"] for run in runs]),
            spread([run["queries"] for run in runs]),
            max(run["queries"] - run["lower_bound"] - run["changed"] for run in runs),
            spread([run["queries_without"] for run in runs]),
            spread([run["steps"] for run in runs]),
            spread([run["steps_without"] for run in runs]),
            f"{sum(run['exact'] for run in runs)}/{len(runs)}",
            len(runs),
        ]
        for group, runs in Table.groups(rows, "env", "changes").items()
    ]
    return Table("Re-assessment of agents that have changed, settable access", COLUMNS, lines)


if __name__ == "__main__":
    sys.exit(run_command(reassessment))
