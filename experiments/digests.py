"""Fingerprints of interrogations: did a change of the code change any question, answer or model?

``python -m experiments.digests --out before.json`` runs a fixed set of interrogations and writes a hash of every one's
questions, answers, model and status, with its CPU seconds. The same with ``--against before.json`` after a change
lists the runs that differ (exit code 1), and how the CPU time compares. What is learned is not examined: the questions
of the interrogation itself are compared.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aam_vision.commandline import run_command, write_atomically
from aam_vision.errors import UnusableInput

if TYPE_CHECKING:
    from aam_vision.interrogation.task.result import Result
    from aam_vision.query import Agent
    from aam_vision.strips import State

KINDS = ("ipc", "access", "images", "reassessment", "trust")
SEEDS = 3
REASSESSMENTS = 100
TRUST_RUNS = 30
MAX_STEPS = 3000
TRAJECTORY_STEPS = 60
"""Steps of a packaged domain under trajectory access, at most: some would walk for minutes."""
SLOW_UNDER_SNAPSHOT = ("barman", "freecell", "rovers")


def digests(
    out: Annotated[Path, typer.Option(help="File for the digests.")],
    kind: Annotated[list[str] | None, typer.Option(help=f"Only these of {', '.join(KINDS)}.")] = None,
    against: Annotated[Path | None, typer.Option(help="Digests to compare with.")] = None,
) -> int:
    """Digest a fixed set of interrogations, and compare with an earlier digest.

    Examples:
        python -m experiments.digests --out before.json
        python -m experiments.digests --out after.json --against before.json
    """
    chosen = kind or list(KINDS)
    for name in chosen:
        if name not in KINDS:
            raise UnusableInput(f"--kind {name}: unknown; use {', '.join(KINDS)}")
    before = None if against is None else json.loads(against.read_text())
    found: dict[str, Any] = {}
    for name, row in _runs(chosen):
        found[name] = row
        told = "" if before is None else _compared(row, before.get(name))
        print(
            f"{name}: {row['queries']} queries, {row['steps']} steps, {row['seconds']:.2f} s{told}",
            flush=True,
        )
        write_atomically(out, json.dumps(found, indent=1) + "\n")
    if before is None:
        return 0
    common = [name for name in found if name in before]
    changed = [name for name in common if found[name]["digest"] != before[name]["digest"]]
    now, then = (sum(rows[name]["seconds"] for name in common) for rows in (found, before))
    print(f"{len(common)} runs, {len(changed)} changed; CPU time {now:.1f} s, before {then:.1f} s")
    return 1 if changed else 0


def _compared(row: dict[str, Any], before: dict[str, Any] | None) -> str:
    if before is None:
        return " (new)"
    if row["digest"] == before["digest"]:
        return ""
    return f" (CHANGED: before {before['queries']} queries, {before['steps']} steps, {before['status']})"


def _runs(kinds: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    from aam_vision import domains
    from aam_vision.envs import DOMAINS

    if "ipc" in kinds:
        for env in domains.DOMAINS:
            for policy in ("economical", "aia"):
                for seed in range(SEEDS):
                    yield _packaged(env, "settable", seed, policy=policy)
    if "access" in kinds:
        for env in domains.DOMAINS:
            for access in ("snapshot", "reset", "trajectory"):
                if access == "trajectory" or env not in SLOW_UNDER_SNAPSHOT:
                    steps = TRAJECTORY_STEPS if access == "trajectory" else MAX_STEPS
                    yield _packaged(env, access, 0, max_steps=steps)
    if "images" in kinds:
        for env in DOMAINS:
            for seed in range(SEEDS):
                yield _packaged(env, "snapshot", seed)
    if "reassessment" in kinds:
        for number in range(REASSESSMENTS):
            yield _reassessment(number)
    if "trust" in kinds:
        for number in range(TRUST_RUNS):
            yield _trust(number)


def _packaged(env: str, access: str, seed: int, **options: Any) -> tuple[str, dict[str, Any]]:
    from aam_vision import agent_for

    agent = agent_for(env, access=access, seed=seed)
    return f"{env} {access} {options.get('policy', 'economical')} {seed}", _digested(agent, seed, **options)


def _reassessment(number: int) -> tuple[str, dict[str, Any]]:
    import numpy as np

    from aam_vision import domains
    from aam_vision.agents.symbolic import SymbolicAgent
    from experiments.reassessment import changed

    env = list(domains.DOMAINS)[number % len(domains.DOMAINS)]
    prior = domains.load(env)
    truth = changed(prior, number % 4, np.random.default_rng([number, 7]))
    problem = domains.generate(env, 3, np.random.default_rng([number, 1])).initial
    return f"reassessment {env} {number}", _digested(SymbolicAgent(truth, [problem]), number, prior=prior)


def _trust(number: int) -> tuple[str, dict[str, Any]]:
    from experiments.trust import DOMAINS, mixture
    from experiments.trust_runs import Case, target_of

    # programs are left out: what a hanging one is allowed is counted in seconds
    cases = [case for case in mixture(DOMAINS) if not case["agent"].startswith("program")]
    case = cases[number * 7 % len(cases)]
    with TemporaryDirectory() as folder:
        target = target_of(Case(**case), number, 2, Path(folder))
        try:
            row = _digested(target.agent, number, max_steps=MAX_STEPS)
        finally:
            target.close()
    return f"trust {' '.join(map(str, case.values()))} {number}", row


def _digested(agent: Agent, seed: int, **options: Any) -> dict[str, Any]:
    from aam_vision import interrogate
    from aam_vision.interrogation.task.loop import Interrupted

    began, status = process_time(), ""
    try:
        result = interrogate(agent, seed=seed, exam=0, **options)
    except Interrupted as error:
        result, status = error.result, "interrupted"
    return {
        "digest": _digest(result),
        "queries": result.counts.queries,
        "steps": result.counts.steps,
        "status": status or result.status,
        "seconds": round(process_time() - began, 3),
    }


def _digest(result: Result) -> str:
    from aam_vision.interrogation.evidence.entries import Asked

    lines = ["complete" if result.proven else "budget", result.pddl]
    for entry in result.transcript.entries:
        if isinstance(entry, Asked):
            lines.append(_state(entry.query.initial.state))
            lines.append(f"{' '.join(map(str, entry.query.plan))} {entry.response.executed}")
            lines.append(_state(entry.response.final.state))
        else:
            lines += [
                f"{_state(step.before.state)} {step.action} {_state(step.after.state)}"
                for step in entry.steps
            ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _state(state: State) -> str:
    return " ".join(map(str, sorted(state.true))) + " ? " + " ".join(map(str, sorted(state.unknown)))


if __name__ == "__main__":
    sys.exit(run_command(digests))
