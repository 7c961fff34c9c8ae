"""Fingerprints of interrogations: did a change of the code change any question, answer or model?

``python -m experiments.digests --out before.json`` runs a fixed set of interrogations, trainings and ways of labelling, and
writes a hash of every one's questions, answers, model (or weights) and status, with its CPU seconds. The same with
``--against before.json`` after a change lists the runs that differ (exit code 1), and how the CPU time compares. What is
learned is not examined: the questions of the interrogation itself are compared. Weights are the same only on the same machine.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from io import StringIO
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Annotated, Any

import numpy as np

import aam_vision
from aam_vision.agents.counting import Counts
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.model import domains
from aam_vision.model.pddl import domain_text
from aam_vision.model.query import Agent
from aam_vision.model.strips import State
from aam_vision.run.arguments import Arguments
from aam_vision.run.targets import of
from aam_vision.support.commandline import Progress, run_command, write_atomically
from experiments.interrogations import recorded
from experiments.options import Names, about, chosen

Run = dict[str, Any]  # what is written of a run: its digest, and what it cost
KINDS = ("ipc", "access", "images", "reassessment", "trust", "controls", "chance", "labels", "camera")
SEEDS = 3
REASSESSMENTS = 100
TRUST_RUNS = 30
MAX_STEPS = 3000
TRAJECTORY_STEPS = 60
"""Steps of a packaged domain under trajectory access, at most: some would walk for minutes."""
SLOW_UNDER_SNAPSHOT = ("barman", "freecell", "rovers")
WITH_CHANCE = ("river", "tireworld", "explodingblocks")
LABELLED = ("sokoban", "doors")  # board domains of which pictures and single atoms are labelled
MOST_PICTURES, MOST_ATOMS = 4, 12
CAMERA = "tabletop"


def digests(
    out: Annotated[Path, about("File for the digests.")],
    kind: Annotated[Names, about(f"Only these of {', '.join(KINDS)}.")] = None,
    against: Annotated[Path | None, about("Digests to compare with.")] = None,
) -> int:
    """Digest a fixed set of interrogations, trainings and labellings, and compare with an earlier digest.

    Examples:
        python -m experiments.digests --out before.json
        python -m experiments.digests --out after.json --against before.json
    """
    kinds = chosen("kind", kind, KINDS)
    before = None if against is None else json.loads(against.read_text())
    found: dict[str, Run] = {}
    for name, row in _runs(kinds):
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


def _compared(row: Run, before: Run | None) -> str:
    if before is None:
        return " (new)"
    if row["digest"] == before["digest"]:
        return ""
    return f" (CHANGED: before {before['queries']} queries, {before['steps']} steps, {before['status']})"


def _runs(kinds: list[str]) -> Iterator[tuple[str, Run]]:
    from aam_vision.envs import DOMAINS

    seeds, packaged = range(SEEDS), [*domains.DOMAINS]
    limits = {"snapshot": MAX_STEPS, "reset": MAX_STEPS, "trajectory": TRAJECTORY_STEPS}
    ways = ("active-free", "random", "atoms")
    runs: dict[str, Iterable[Callable[[], tuple[str, Run]]]] = {
        "ipc": (
            partial(_packaged, env, "settable", seed, policy=policy)
            for env, policy, seed in product(packaged, ("economical", "aia"), seeds)
        ),
        "access": (
            partial(_packaged, env, access, 0, max_steps=limits[access])
            for env, access in product(packaged, limits)
            if access == "trajectory" or env not in SLOW_UNDER_SNAPSHOT
        ),
        "images": (partial(_packaged, env, "snapshot", seed) for env, seed in product(DOMAINS, seeds)),
        "reassessment": (partial(_reassessment, number) for number in range(REASSESSMENTS)),
        "trust": (partial(_trust, number) for number in range(TRUST_RUNS)),
        "controls": (partial(controls, env) for env in DOMAINS),
        "chance": (partial(chance, env, seed) for env, seed in product(WITH_CHANCE, seeds)),
        "labels": (
            run
            for env in LABELLED
            for run in (partial(trained, env), *(partial(labelled, env, way) for way in ways))
        ),
        "camera": (partial(trained, CAMERA), partial(labelled, CAMERA, "active-free")),
    }
    return (run() for kind in KINDS if kind in kinds for run in runs[kind])


def _packaged(env: str, access: str, seed: int, **options: Any) -> tuple[str, Run]:
    agent = aam_vision.agent_for(env, access=access, seed=seed)
    return f"{env} {access} {options.get('policy', 'economical')} {seed}", _digested(agent, seed, **options)


def _reassessment(number: int) -> tuple[str, Run]:
    from experiments.reassessment import changed

    env = [*domains.DOMAINS][number % len(domains.DOMAINS)]
    prior = domains.load(env)
    truth = changed(prior, number % 4, np.random.default_rng([number, 7]))
    problem = domains.generate(env, 3, np.random.default_rng([number, 1])).initial
    return f"reassessment {env} {number}", _digested(SymbolicAgent(truth, [problem]), number, prior=prior)


def _trust(number: int) -> tuple[str, Run]:
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


def controls(env: str) -> tuple[str, Run]:
    """A run that knows only the controls."""
    from aam_vision.interrogation.controls.interrogating import interrogate

    agent, began = recorded(of(Arguments(env=env, controls=True)).agent), process_time()
    result = interrogate(agent)
    counts = None if result.interrogation is None else result.interrogation.counts
    lines = [result.status, str(result.missing), str(result.mapping), domain_text(result.model)]
    lines += [*(_state(one.state) for one in agent.initial()), *_exchanges(agent.transcript)]
    return f"{env} controls", _row(lines, result.status, began, counts, result.steps)


def chance(env: str, seed: int) -> tuple[str, Run]:
    """A run that learns how often."""
    from aam_vision.interrogation.chance.interrogating import interrogate
    from aam_vision.interrogation.chance.result import Options

    options = Options(within=0.1, max_steps=MAX_STEPS)
    agent, began = recorded(of(Arguments(env=env, chance=True, seed=seed)).agent), process_time()
    result = interrogate(agent, np.random.default_rng(seed), options)
    lines = [result.status, result.why, domain_text(result.model)]
    lines += [*(_state(one.state) for one in agent.initial()), *_exchanges(agent.transcript)]
    lines += [str(case.frequencies) for action in result.actions for case in action.cases]
    return f"{env} chance {seed}", _row(lines, result.status, began, result.counts)


def trained(env: str) -> tuple[str, Run]:
    """A training session that is too short to be of use: the weights, and what the card says of them."""
    from aam_vision.envs.registry import image_domain
    from aam_vision.training.session import train_domain
    from aam_vision.training.settings import TrainingSettings

    began, settings = process_time(), TrainingSettings(fast=True)
    with TemporaryDirectory() as folder:
        files = train_domain(image_domain(env), Path(folder), settings, Progress(StringIO()))
        card = json.loads(files.card.read_text())
    del card["figures"]["cpu_s"]
    return f"{env} trained", _row([json.dumps(card)], "", began)


def labelled(env: str, way: str) -> tuple[str, Run]:
    """A way from no label to classifiers, with the simulator's own answers: what was asked, and the weights."""
    from aam_vision.envs.registry import image_domain
    from aam_vision.training.labelling.settings import Way
    from experiments.few_labels import WAYS, learned

    began, domain, atoms = process_time(), image_domain(env), way == "atoms"
    _, found = learned(domain, Way(*WAYS[way], MOST_ATOMS if atoms else MOST_PICTURES), atoms=atoms)
    lines = [str(found.pictures), str(found.skipped), str(found.answers), str(found.examination)]
    assert found.network is not None, "something was labelled"
    weights = hashlib.sha256()
    for name, tensor in found.network.state_dict().items():
        weights.update(name.encode() + tensor.numpy().tobytes())
    row = _row([*lines, weights.hexdigest()], "", began)
    return f"{env} labelled {way}", {**row, "queries": found.atoms}


def _digested(agent: Agent, seed: int, **options: Any) -> Run:
    began, status = process_time(), ""
    try:
        result = aam_vision.interrogate(agent, seed=seed, exam=0, **options)
    except Interrupted as error:
        result, status = error.result, "interrupted"
    lines = ["complete" if result.proven else "budget", result.pddl, *_exchanges(result.transcript)]
    return _row(lines, status or result.status, began, result.counts)


def _row(
    lines: Iterable[str], status: str, began: float, counts: Counts | None = None, steps: int | None = None
) -> Run:
    """What is written of a run: ``lines`` as a hash, and what it cost; ``steps`` where they are not all counted."""
    return {
        "digest": hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16],
        "queries": 0 if counts is None else counts.queries,
        "steps": steps or (0 if counts is None else counts.steps),
        "status": status,
        "seconds": round(process_time() - began, 3),
    }


def _exchanges(transcript: Transcript) -> Iterator[str]:
    for entry in transcript.entries:
        if isinstance(entry, Asked):
            yield _state(entry.query.initial.state)
            yield f"{' '.join(map(str, entry.query.plan))} {entry.response.executed}"
            yield _state(entry.response.final.state)
        else:
            for step in entry.steps:
                yield f"{_state(step.before.state)} {step.action} {_state(step.after.state)}"


def _state(state: State) -> str:
    return " ".join(map(str, sorted(state.true))) + " ? " + " ".join(map(str, sorted(state.unknown)))


if __name__ == "__main__":
    sys.exit(run_command(digests))
