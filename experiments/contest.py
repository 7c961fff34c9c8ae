"""One peer learns one domain, in a process and a folder of its own, and is judged: a job.

Failures of a peer are results: it may crash, run out of time, write something that is not a model, or claim that it
has learned everything while its model is wrong.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import numpy as np

from aam_vision import domains, evaluation
from aam_vision.errors import AamError
from aam_vision.pddl import domain_text, problem_text, read_domain, read_problem
from aam_vision.strips import ActionSchema, Model, State
from experiments.jobs import Row

ROOT = Path(__file__).resolve().parents[1]
HELD_OUT_PROBLEMS = 2
STATES = 20
"""States of each problem on which models are judged."""
SCORING_S = 600


def contest(*, env: str, peer: str, seed: int, steps: int, seconds: float, size: int) -> Row:
    """Have a peer learn a packaged domain, and score what it says.

    Returns:
        ``ended``: ``learned``, ``crashed``, ``out of time`` or ``no model``; the attempted ``steps`` and wall-clock
        ``learning_s`` of learning, start-up included; ``claims`` (to be done) and ``equivalent`` (functionally, no
        object named twice); ``right_after``, the steps after which its model is and stays equivalent (None if it
        is not in the end); AMLGym's metrics.
    """
    with TemporaryDirectory(prefix="peer-") as name:
        folder = Path(name)
        truth, states = _prepare(folder, env, size, seed)
        began = monotonic()
        ended, why = _process(folder, seconds, "learn", peer, str(steps), str(seed))
        row: Row = {"ended": ended, "why": why, "learning_s": round(monotonic() - began, 2)}
        if ended != "learned":
            return row
        said = json.loads((folder / "learn.json").read_text(encoding="utf-8"))
        row |= {"steps_taken": said["steps"], "claims": said["claims"]}
        try:
            learned = read_domain(_without_inequality(folder / "learned.pddl"))
            row["equivalent"] = evaluation.equivalent(learned, truth, states)
            row["right_after"] = (
                _right_after(folder, said["course"], truth, states) if row["equivalent"] else None
            )
        except (AamError, KeyError) as error:
            return row | {"ended": "no model", "why": str(error)}
        ended, why = _process(folder, SCORING_S, "score")
        if ended != "learned":
            return row | {"why": f"AMLGym's metrics: {ended} {why}"}
        row |= json.loads((folder / "score.json").read_text(encoding="utf-8"))
        return row


def _prepare(folder: Path, env: str, size: int, seed: int) -> tuple[Model, list[State]]:
    """The files that the processes share; the truth, and states to compare with it.

    Names lose their hyphens and underscores: unified-planning's writer, which peers use, turns hyphens into
    underscores, and information gain takes the part after an underscore for an argument.
    """
    rng = np.random.default_rng([seed, 1])
    packaged = domains.load(env)
    path = folder / "domain.pddl"
    path.write_text(_plain(domain_text(packaged)), encoding="utf-8")
    truth = read_domain(path)
    nothing = tuple(ActionSchema(header) for header in truth.headers)
    (folder / "described.pddl").write_text(domain_text(Model(truth.vocabulary, nothing)), encoding="utf-8")
    held_out: dict[str, list[list[str]]] = {}
    states: list[State] = []
    for number in range(1 + HELD_OUT_PROBLEMS):
        file = folder / (f"held_out_{number}.pddl" if number else "problem.pddl")
        problem = domains.generate(env, size, rng)
        file.write_text(_plain(problem_text("p", packaged.vocabulary, problem)), encoding="utf-8")
        if number:
            initial = read_problem(truth, file).initial
            found = evaluation.sample_states(truth, [initial], STATES, rng)
            held_out[file.name] = [
                [f"({' '.join([atom.predicate, *atom.objects])})" for atom in sorted(state.true)]
                for state in found
            ]
            states += found
    (folder / "held_out.json").write_text(json.dumps(held_out), encoding="utf-8")
    return truth, states


def _right_after(
    folder: Path, course: list[tuple[int, str]], truth: Model, states: list[State]
) -> int | None:
    """The attempted steps after which a learner's model is and stays equivalent to the truth.

    Text that is not a model counts as wrong.
    """
    right = None
    path = folder / "course.pddl"
    for steps, pddl in reversed(course):
        path.write_text(pddl, encoding="utf-8")
        try:
            model = read_domain(_without_inequality(path))
            if not evaluation.equivalent(model, truth, states):
                break
        except (AamError, KeyError):
            break
        right = steps
    return right


def _without_inequality(path: Path) -> Path:
    """The model without ``(not (= ?x ?y))``, which SAM writes and our reader does not know.

    Nothing is lost: models are compared where no object is named twice. AMLGym's metrics judge what was written.
    """
    text = re.sub(r"\(\s*not\s*\(\s*=\s+\S+\s+[^\s()]+\s*\)\s*\)", "", path.read_text(encoding="utf-8"))
    compared = path.with_name("learned_compared.pddl")
    compared.write_text(text, encoding="utf-8")
    return compared


def _plain(text: str) -> str:
    """PDDL without hyphens and underscores in names; keywords such as ``:negative-preconditions`` keep theirs."""
    return re.sub(r"(?<![:\w-])[\w-]+", lambda word: re.sub(r"(?<=[^\W_])[-_](?=[^\W_])", "x", word[0]), text)


def _process(folder: Path, seconds: float, *arguments: str) -> tuple[str, str]:
    """How a process of the peer ended, and the last that it said if not well."""
    command = [sys.executable, "-m", "experiments.peer_process", *arguments]
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    log = folder / f"{arguments[0]}.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=stream, stderr=stream, start_new_session=True
        )
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return "out of time", f"over {seconds:g} s"
        finally:
            with suppress(ProcessLookupError):  # planners that it started end with it
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code == 0:
        return "learned", ""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return "crashed", lines[-1][:200] if lines else f"exit code {code}"
