"""Today's learners of action models beside this toolkit, judged by AMLGym's own metrics.

``python -m experiments.peers`` has everyone learn the same generated problems on the same step-counting simulator.
Learners that choose what to try on one trajectory are in one table, learners from a given trajectory in another:
accesses are never mixed.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Annotated, Any

import numpy as np

from aam_vision.model import domains
from aam_vision.model.pddl import domain_text, problem_text, read_domain, read_problem
from aam_vision.model.strips import Model, State
from aam_vision.report import evaluation
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import AamError, UnusableInput
from experiments.jobs import Experiment, Scale, every
from experiments.options import Domains, Seeds, Size, about, chosen
from experiments.tables import Column, Row, Summary, Table, Value, average, counts, share, spread_of

ONLINE = ("this toolkit", "OLAM", "information gain")
OFFLINE = ("SAM", "NOLAM")
DEFAULT = ("gripper", "blocksworld", "miconic", "logistics", "satellite")

SHOWN = (
    "domain", "learner", "right after", "steps", "equivalent", "claims to be done", "false claims", "applicability R",
    "solving", "ended",
)  # fmt: skip
PAGE = (*SHOWN[:-2],)  # columns on the page


METRICS = {
    "syntactic P": "syntactic_precision",
    "syntactic R": "syntactic_recall",
    "applicability P": "applicability_mean_precision",
    "applicability R": "applicability_mean_recall",
    "effects P": "predicted_effects_mean_precision",
    "effects R": "predicted_effects_mean_recall",
}
"""AMLGym's, by column (P: precision, R: recall)."""


def _of_models(column: Callable[[Value], Column], name: str) -> Column:
    """A column about the runs that ended with a model."""
    return column(lambda run: run.get(name) if run["ended"] == "learned" else None)


def _claims(run: Row) -> bool | None:
    return run["claims"] if run["ended"] == "learned" else None


LINES = Summary(
    "",
    {
        "domain": "env",
        "learner": "peer",
        "right after": _of_models(spread_of, "right_after"),
        "steps": _of_models(spread_of, "steps_taken"),
        "equivalent": share(lambda run: run.get("equivalent", False)),
        "claims to be done": share(_claims),
        "false claims": share(
            lambda run: None if _claims(run) is None else run["claims"] and not run["equivalent"]
        ),
        **{column: _of_models(average, name) for column, name in METRICS.items()},
        "solving": _of_models(average, "solving"),
        "false plans": _of_models(average, "false_plans"),
        "s": spread_of("learning_s"),
        "ended": counts("ended"),
    },
    by=("env", "peer"),
)
"""One line per domain and learner. From ``syntactic P`` to ``false plans`` means over the runs that ended with a model."""

QUESTION = (
    "Who has the right model first, and who claims to have it? *Right after*: steps after which the model is, and stays, "
    "equivalent to the truth; *applicability R*: recall, by AMLGym. [What follows](../measurements.md#steps-on-one-trajectory)."
)


def peers(
    domain: Domains = None,
    seeds: Seeds = 3,
    steps: Annotated[int, about("Steps that a learner may attempt.", min=1)] = 200,
    peer_seconds: Annotated[float, about("Seconds that it may learn.", min=1)] = 120,
    size: Size = 2,
    scale: Scale = Scale(out=Path("runs/peers")),
) -> int:
    """OLAM, information gain, SAM, NOLAM and this toolkit on one trajectory, by AMLGym's metrics.

    Examples:
        python -m experiments.peers
        python -m experiments.peers --domain gripper --seeds 1 --steps 50
    """
    names = chosen("domain", domain, domains.DOMAINS, DEFAULT)
    check_installed("the peers are")
    limits = {"steps": steps, "seconds": peer_seconds, "size": size}
    codes = []
    for name, learners, title in (
        ("peers", ONLINE, "online: one trajectory, no reset, every attempted step chosen by the learner"),
        ("peers_offline", OFFLINE, "offline: from one random trajectory of successful steps"),
    ):
        jobs = every(env=names, peer=[*learners], seed=range(seeds), **limits)
        table = partial(summary, f"Peers, {title}")
        page = (lambda rows, table=table: table(rows).only(PAGE),)
        told = Experiment(name, contest, table, shown=SHOWN, page=page, question=QUESTION)
        codes.append(told.run(jobs, scale))
    return max(codes)


def check_installed(which: str) -> None:
    """Refuse to begin (UnusableInput) without the extra ``peers``, ``which`` not installed."""
    if any(find_spec(package) is None for package in ("amlgym", "olam")):
        raise UnusableInput(
            f'{which} not installed; pip install "aam-vision[peers]", in an environment of its own: '
            "OLAM insists on versions that others do without"
        )


def summary(title: str, rows: Sequence[Row]) -> Table:
    """One line per domain and learner."""
    columns = dict(LINES.columns)
    if all(row.get("right_after") is None for row in rows):
        del columns["right after"]  # who learns from a whole trajectory has no model before its end
    return replace(LINES, title=title, columns=columns)(rows)


# One peer learns one domain, in a process and a folder of its own, and is judged: a job. Failures of a peer are results:
# it may crash, run out of time, write something that is not a model, or claim that it has learned everything falsely.


ROOT = Path(__file__).resolve().parents[1]
HELD_OUT_PROBLEMS = 2
STATES = 20  # states of each problem on which models are judged
SCORING_S = 600


def contest(*, env: str, size: int, seed: int, **given: Any) -> Row:
    """Have a peer learn a packaged domain, and score what it says; ``given`` is what ``judged`` is given.

    Returns:
        ``ended``: ``learned``, ``crashed``, ``out of time`` or ``no model``; the attempted ``steps`` and wall-clock
        ``learning_s`` of learning, start-up included, and ``cpu_s`` of its process without that; ``claims`` (to be done) and ``equivalent`` (functionally, no
        object named twice); ``right_after``, the steps after which its model is and stays equivalent (None if it
        is not in the end); AMLGym's metrics.
    """
    with TemporaryDirectory(prefix="peer-") as name:
        folder = Path(name)
        return judged(folder, *prepared(folder, env, size, seed), seed=seed, **given)


def judged(
    folder: Path,
    truth: Model,
    states: list[State],
    *,
    peer: str,
    seed: int,
    steps: int,
    seconds: float,
    repeated: bool = False,
    scoring: bool = True,
) -> Row:
    """Have a peer learn the domain and problem in a folder, and score what it says: see ``contest``.

    ``repeated``: whether models are compared where an object is named twice, too. ``scoring``: whether by AMLGym's metrics, too.
    """

    def right(path: Path) -> bool:
        return evaluation.equivalent(read_domain(_without_inequality(path)), truth, states, repeated=repeated)

    began = monotonic()
    ended, why = _process(folder, seconds, "learn", peer, str(steps), str(seed))
    row: Row = {"ended": ended, "why": why, "learning_s": round(monotonic() - began, 2)}
    if ended != "learned":
        return row
    said = json.loads((folder / "learn.json").read_text(encoding="utf-8"))
    row["steps_taken"] = said["steps"]
    row |= {one: said.get(one) for one in ("claims", "cpu_s", "certain", "falsely")}
    try:
        row["equivalent"] = right(folder / "learned.pddl")
        row["right_after"] = _right_after(folder, said["course"], right) if row["equivalent"] else None
    except (AamError, KeyError) as error:
        return row | {"ended": "no model", "why": str(error)}
    if not scoring:
        return row
    ended, why = _process(folder, SCORING_S, "score")
    if ended != "learned":
        return row | {"why": f"AMLGym's metrics: {ended} {why}"}
    row |= json.loads((folder / "score.json").read_text(encoding="utf-8"))
    return row


def prepared(folder: Path, env: str, size: int, seed: int) -> tuple[Model, list[State]]:
    """The files that the processes share; the truth, and states to compare with it.

    Names lose their hyphens and underscores: unified-planning's writer, which peers use, turns hyphens into
    underscores, and information gain takes the part after an underscore for an argument.
    """
    rng = np.random.default_rng([seed, 1])
    packaged = domains.load(env)
    (folder / "domain.pddl").write_text(_plain(domain_text(packaged)), encoding="utf-8")
    truth = read_domain(folder / "domain.pddl")
    held_out: dict[str, list[list[str]]] = {}
    states: list[State] = []
    for number in range(1 + HELD_OUT_PROBLEMS):
        file = folder / (f"held_out_{number}.pddl" if number else "problem.pddl")
        problem = domains.generate(env, size, rng)
        file.write_text(_plain(problem_text("p", packaged.vocabulary, problem)), encoding="utf-8")
        if number:
            initial = read_problem(truth, file).initial
            found = evaluation.sample_states(truth, [initial], STATES, rng)
            told = ([[atom.predicate, *atom.objects] for atom in sorted(state.true)] for state in found)
            held_out[file.name] = [[f"({' '.join(words)})" for words in atoms] for atoms in told]
            states += found
    judged_on(folder, held_out, list(held_out))
    return truth, states


def judged_on(folder: Path, states: Mapping[str, list[list[str]]], solved: Sequence[str]) -> None:
    """Leave in a folder what models are judged on: states by the file of their problem, and problems to be solved."""
    (folder / "states.json").write_text(json.dumps(states), encoding="utf-8")
    (folder / "solved.json").write_text(json.dumps(solved), encoding="utf-8")


def _right_after(folder: Path, course: list[tuple[int, str]], right: Callable[[Path], bool]) -> int | None:
    """The attempted steps after which a learner's model is and stays right; text that is not a model counts as wrong."""
    since, path = None, folder / "course.pddl"
    for steps, pddl in reversed(course):
        path.write_text(pddl, encoding="utf-8")
        try:
            if not right(path):
                break
        except (AamError, KeyError):
            break
        since = steps
    return since


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


if __name__ == "__main__":
    sys.exit(run_command(peers))
