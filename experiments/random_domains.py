"""``python -m experiments.random_domains``: small random domains, interrogated and checked by brute force.

Each run interrogates the agent of a random domain (``random_strips``) through ``aam_vision.interrogate``, without a
budget that it could notice, and then looks at all models that are consistent with the answers. The table says how runs
ended: ``proven`` is complete, and no query could tell any more; ``false complete`` is complete although a query
could; ``missed`` is not complete although a query could; ``unproven`` is not complete although no query could;
``unknown`` has too many reachable states to say. ``tracebacks`` are runs that raised an error, or took a STRIPS agent
for something else.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import process_time
from traceback import extract_tb
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aam_vision.commandline import run_command
from aam_vision.errors import UnusableInput
from aam_vision.query import Access
from experiments.jobs import Parameters, Presentation, Row, Scale, Table, report

if TYPE_CHECKING:
    from aam_vision.interrogation.task.result import Result
    from aam_vision.strips import State
    from experiments.random_strips import Domain

CASES = (
    ("settable", "economical"),
    ("snapshot", "economical"),
    ("reset", "economical"),
    ("trajectory", "economical"),
    ("settable", "aia"),
    ("snapshot", "aia"),
    ("reset", "aia"),
)
"""Access and policy."""
BATCH = 50
"""Runs in one job."""
MAX_QUERIES, MAX_STEPS = 1000, 10_000
"""More than any of these domains may need: an interrogation that gets here does not end."""
EXAM = 8
"""Steps of the examination: what is judged is what was proven before it."""
MAX_STATES = 3000
"""Reachable states that are looked at."""
OUTCOMES = ("proven", "unproven", "missed", "false complete", "tracebacks", "unknown")
COLUMNS = ("access", "policy", "runs", *OUTCOMES, "missed %", "queries", "steps", "seconds", "seeds")
SHOWN_SEEDS = 3
"""Seeds in the table of each outcome that is a defect."""
DEFECTS = ("tracebacks", "false complete", "missed")


@dataclass(frozen=True)
class Verdict:
    """How one interrogation ended; ``detail`` says why it stopped, or what was raised where."""

    outcome: str
    detail: str
    queries: int = 0
    steps: int = 0


def random_domains(
    runs: Annotated[int, typer.Option(min=1, help="Domains, each under every access and policy.")] = 500,
    access: Annotated[list[str] | None, typer.Option(help="Only this access (repeatable).")] = None,
    policy: Annotated[list[str] | None, typer.Option(help="Only this policy (repeatable).")] = None,
    first_seed: Annotated[int, typer.Option(min=0, help="Seed of the first domain.")] = 0,
    scale: Scale = Scale(out=Path("runs/random_domains")),
) -> int:
    """Whether interrogations of random domains end as they should, checked by brute force.

    Examples:
        python -m experiments.random_domains --runs 5000
        python -m experiments.random_domains --runs 100 --access trajectory
    """
    cases = [case for case in CASES if case[0] in (access or [case[0]]) and case[1] in (policy or [case[1]])]
    if not cases:
        known = "; ".join(f"--access {one} --policy {other}" for one, other in CASES)
        raise UnusableInput(f"--access and --policy: nothing is left to run; use some of {known}")
    jobs: list[Parameters] = [
        {"access": one, "policy": other, "seed": seed, "count": min(BATCH, first_seed + runs - seed)}
        for seed in range(first_seed, first_seed + runs, BATCH)
        for one, other in cases
    ]
    return report("random_domains", jobs, Presentation(summary), scale, work=batch)


def batch(*, access: str, policy: str, seed: int, count: int) -> Row:
    """As many runs from this seed on."""
    from experiments.random_strips import random_domain

    began, outcomes, found = process_time(), Counter[str](), []
    queries = steps = 0
    for one in range(seed, seed + count):
        verdict = judged(random_domain(one), Access(access), policy, one)
        outcomes[verdict.outcome] += 1
        queries, steps = queries + verdict.queries, steps + verdict.steps
        if verdict.outcome != "proven":
            found.append([one, verdict.outcome, verdict.detail])
    return {
        "outcomes": dict(outcomes),
        "found": found,
        "queries": queries,
        "steps": steps,
        "seconds": round(process_time() - began, 2),
    }


def judged(domain: Domain, access: Access, policy: str, seed: int) -> Verdict:
    """One interrogation, and what brute force says of its end."""
    from aam_vision import interrogate
    from aam_vision.agents.symbolic import SymbolicAgent

    agent = SymbolicAgent(
        domain.model, domain.problems, access, repeated=domain.repeated, refuses_surely=True
    )
    try:
        result = interrogate(
            agent,
            seed=seed,
            policy=policy,
            max_queries=MAX_QUERIES,
            max_steps=MAX_STEPS,
            exam=EXAM,
            repeated_arguments=domain.repeated,
        )
    except Exception as error:  # any exception is what this experiment looks for
        place = extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return Verdict("tracebacks", f"{type(error).__name__} in {where}: {error}")
    return Verdict(*outcome(domain, access, result), result.counts.queries, result.counts.steps)


def outcome(domain: Domain, access: Access, result: Result) -> tuple[str, str]:
    """How an interrogation ended, as brute force sees it, and why."""
    from experiments.consistent_models import ConsistentModels, askable

    if result.doubt or result.assessment is not None:
        return "tracebacks", f"doubted: {result.doubt or result.why}"
    models = ConsistentModels(result.transcript)
    assert models.contain(domain.model), "the true model gives every answer"
    starts = domain.problems if result.proven else _standing(domain, access, result)
    steps = askable(domain, access, starts, MAX_STATES)
    if steps is None:
        return "unknown", f"more than {MAX_STATES} states"
    telling = [step for step in sorted(steps) if models.differ(domain.model, step)]
    if telling:
        which = f"{len(telling)} of {len(steps)} kinds of step could tell, one of {telling[0].action}"
        return "false complete" if result.proven else "missed", f"{result.why}; {which}"
    if result.proven and any(
        models.answer(result.model, step) != models.answer(domain.model, step) for step in steps
    ):
        return "false complete", "the model answers otherwise"
    return "proven" if result.proven else "unproven", result.why


def _standing(domain: Domain, access: Access, result: Result) -> Sequence[State]:
    """The states from which queries may go on."""
    if access is Access.TRAJECTORY and result.transcript.entries:
        last = result.transcript.entries[-1]
        return [last.response.final.state]  # type: ignore[union-attr]  # a trajectory has no walks
    return domain.problems


def summary(rows: Sequence[Row]) -> Table:
    """One line per access and policy."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["access"], row["policy"]), []).append(row)
    lines: list[list[Any]] = []
    for group, batches in groups.items():
        total = sum((Counter(row["outcomes"]) for row in batches), Counter[str]())
        runs = total.total()
        seeds = [
            str(seed)
            for defect in DEFECTS
            for seed, *_ in islice(
                (one for row in batches for one in row["found"] if one[1] == defect), SHOWN_SEEDS
            )
        ]
        lines.append(
            [
                *group,
                runs,
                *(total[outcome] for outcome in OUTCOMES),
                100 * total["missed"] / runs,
                *(round(sum(row[figure] for row in batches) / runs, 2) for figure in ("queries", "steps")),
                round(sum(row["seconds"] for row in batches) / runs, 3),
                " ".join(seeds),
            ]
        )
    return Table("Random domains, checked by brute force", COLUMNS, lines)


if __name__ == "__main__":
    sys.exit(run_command(random_domains))
