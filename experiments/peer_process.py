"""One peer in a process and a folder of its own: ``python -m experiments.peer_process learn|score ARGUMENT...``.

Peers replace unified-planning's global environment, seed global generators and delete ``./tmp``: nothing else may
happen here. ``experiments.peers`` starts these processes; they share files in the working directory.
"""

from __future__ import annotations

import amlgym.algorithms  # isort: skip  # before anything that imports unified-planning

import json
import random
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from amlgym.metrics import predictive_power, problem_solving, syntactic_precision, syntactic_recall
from amlgym.modeling.trajectory import Trajectory
from amlgym.modeling.UPEnv import UPEnv
from amlgym.util.util import empty_domain
from unified_planning.engines import UPSequentialSimulator
from unified_planning.io import PDDLReader, PDDLWriter
from unified_planning.plans import ActionInstance

from aam_vision.model.pddl import domain_text, read_domain

DOMAIN, PROBLEM, LEARNED = "domain.pddl", "problem.pddl", "learned.pddl"
STATES, SOLVED = "states.json", "solved.json"
"""States that models are judged on, by the file of their problem; and files of problems to be solved with them."""
TRACES = "traces.json"  # where nothing can be asked: files of traces
SOLVING_S = 20  # seconds for each problem that is solved with a learned model


@dataclass(frozen=True)
class Learned:
    """The answer of a peer: its model as PDDL, and whether it claims that nothing is left to learn."""

    pddl: str
    steps: int
    claims: bool | None = None
    course: list[tuple[int, str]] = field(default_factory=list)
    """Its earlier models, each with the attempted steps so far."""
    certain: int | None = None  # pal tuples that it vouches for, if it says of which it does
    falsely: int | None = None  # those of them that are not so


class Course:
    """A learner's models in the course of its steps; only changes are kept."""

    def __init__(self) -> None:
        self.points: list[tuple[int, str]] = []

    def note(self, steps: int, pddl: str) -> None:
        if not self.points or self.points[-1][1] != pddl:
            self.points.append((steps, pddl))


class CountingSimulator(UPSequentialSimulator):  # type: ignore[misc]
    """Unified-planning's simulator, counting attempts; to ask whether an action is applicable counts as one."""

    def __init__(self, problem: Any) -> None:
        super().__init__(problem)
        self.attempts = 0
        self._asked: tuple[Any, str] | None = None

    def _is_applicable(self, state: Any, action: Any, parameters: Any = None) -> bool:
        self.attempts += 1
        self._asked = (state, str(action))
        return bool(super()._is_applicable(state, action, parameters))

    def apply(self, state: Any, action: Any, parameters: Any = None) -> Any:
        if self._asked is None or self._asked[0] is not state or self._asked[1] != str(action):
            self.attempts += 1
        self._asked = None
        return super().apply(state, action, parameters)


def simulator() -> CountingSimulator:
    """The simulator of the problem in the working directory."""
    return CountingSimulator(PDDLReader().parse_problem(DOMAIN, PROBLEM))


def olam(steps: int, seed: int) -> Learned:
    """OLAM (Lamanna et al., IJCAI 2021); it stops when it finds nothing that could be refined."""
    from olam.modeling.PDDLenv import PDDLEnv

    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002, TID251  # the peer's generator, not ours
    world = simulator()
    parse = PDDLEnv.parse_action_str

    def parse_and_count(env: Any, action: Any) -> Any:
        """Instructions with arguments of a wrong type are refused before the simulator sees them."""
        parsed = parse(env, action)
        world.attempts += parsed is None
        return parsed

    PDDLEnv.parse_action_str = parse_and_count
    learner = amlgym.algorithms.get_algorithm("OLAM", input_domain_path=empty_domain(DOMAIN))
    course, step = Course(), PDDLEnv.step

    def note_and_step(env: Any, action: Any) -> Any:
        course.note(world.attempts, PDDLWriter(learner._learner.domain).get_domain())
        return step(env, action)

    PDDLEnv.step = note_and_step
    model, _ = learner.learn(world, max_steps=steps, seed=seed)
    course.note(world.attempts, PDDLWriter(learner._learner.domain).get_domain())
    return Learned(model, world.attempts, world.attempts < steps, course.points)


def information_gain(steps: int, seed: int) -> Learned:
    """Information gain (as AMLGym ships it); it stops when no action promises any."""
    from information_gain_aml.algorithms import InformationGainLearner

    world = simulator()
    learner = amlgym.algorithms.get_algorithm("InformationGainAgent", input_domain_path=empty_domain(DOMAIN))
    course, select = Course(), InformationGainLearner.select_action

    def note_and_select(inner: Any, state: Any) -> Any:
        course.note(world.attempts, inner.to_pddl_string(mode=learner.model_mode))
        return select(inner, state)

    InformationGainLearner.select_action = note_and_select
    model, _ = learner.learn(world, max_steps=steps, seed=seed)
    course.note(world.attempts, model)
    return Learned(model, world.attempts, world.attempts < steps, course.points)


def toolkit(steps: int, seed: int) -> Learned:
    """This toolkit, the policy economical under trajectory access, on the same simulator."""
    from aam_vision.integrations.amlgym import AAMVision, AAMVisionPassive

    if traces := given_traces():
        passive = AAMVisionPassive()
        model = passive.learn(declared(), traces)
        truth, certain = read_domain(DOMAIN), passive.result.certain if passive.result else {}
        false = sum(
            truth.schema(pal.action).mode(pal.atom, pal.location) is not mode for pal, mode in certain.items()
        )
        return Learned(
            model, passive.result.counts.steps if passive.result else 0, None, [], len(certain), false
        )
    world = simulator()
    learner, course = AAMVision(empty_domain(DOMAIN)), Course()
    model, _ = learner.learn(world, max_steps=steps, seed=seed)
    for point in learner.result.curve if learner.result else ():
        course.note(point.steps, domain_text(point.model))
    result = learner.result
    claims = result is not None and result.proven and not result.never_executed
    return Learned(model, world.attempts, claims, course.points)


def _offline(name: str, steps: int, seed: int, **options: Any) -> Learned:
    """Learn from the traces that are given, or from ``steps`` random executed actions: these peers cannot use refusals."""
    if traces := given_traces():
        text = " ".join(Path(trace).read_text(encoding="utf-8") for trace in traces)
        learner = amlgym.algorithms.get_algorithm(name, **options)
        return Learned(learner.learn(declared(), traces), text.count("(:action"))
    world = simulator()
    rng = np.random.default_rng(seed)
    states, actions = [world.get_initial_state()], []
    for _ in range(steps):
        possible = sorted(world.get_applicable_actions(states[-1]), key=str)
        if not possible:
            break
        action, parameters = possible[int(rng.integers(len(possible)))]
        actions.append(ActionInstance(action, tuple(parameters)))
        states.append(world.apply(states[-1], actions[-1]))
    Trajectory(states, actions).write("trace")
    learner = amlgym.algorithms.get_algorithm(name, **options)
    return Learned(learner.learn(empty_domain(DOMAIN), ["trace"]), len(actions))


def given_traces() -> list[str]:
    """The files of traces that a learner is given; none where it makes its own steps."""
    return json.loads(Path(TRACES).read_text(encoding="utf-8")) if Path(TRACES).exists() else []


def declared() -> str:
    """AMLGym's file of what the domain declares, with the constants that it loses: without childsnack's nobody's model can be judged."""
    path, kinds = Path(empty_domain(DOMAIN)), read_domain(DOMAIN).vocabulary.constants
    constants = "".join(f" {name} - {kind}" for name, kind in kinds.items())
    text = path.read_text(encoding="utf-8").replace(
        "(:predicates", f"(:constants{constants})\n (:predicates", 1
    )
    if constants:
        path.write_text(text, encoding="utf-8")
    return str(path)


PEERS: dict[str, Callable[[int, int], Learned]] = {
    "this toolkit": toolkit,
    "OLAM": olam,
    "information gain": information_gain,
    "SAM": partial(_offline, "SAM"),  # Juba et al., KR 2021; from successes only
    "NOLAM": partial(_offline, "NOLAM", noise=0.0),  # Lamanna and Serafini, ICAPS 2024
    "ROSAME": partial(_offline, "ROSAME"),
    "OffLAM": partial(_offline, "OffLAM"),
}


def score() -> dict[str, float]:
    """AMLGym's own metrics of ``learned.pddl``; states and problems to judge on are files beside it."""
    precision, recall = syntactic_precision(LEARNED, DOMAIN), syntactic_recall(LEARNED, DOMAIN)
    found = {"syntactic_precision": precision["mean"], "syntactic_recall": recall["mean"]}
    held_out = json.loads(Path(STATES).read_text(encoding="utf-8"))
    problems = list(held_out)
    power = predictive_power(
        [UPEnv(LEARNED, problem) for problem in problems],
        [UPEnv(DOMAIN, problem) for problem in problems],
        list(held_out.values()),
        show_progress=False,
    )
    for kind, values in power.items():
        found |= {f"{kind}_{what}": value for what, value in values.items()}
    if given := json.loads(Path(SOLVED).read_text(encoding="utf-8")):
        solved = problem_solving(LEARNED, DOMAIN, given, timeout=SOLVING_S, show_progress=False)
        found |= {"solving": solved["solving_ratio"], "false_plans": solved["false_plans_ratio"]}
    return {name: float(value) for name, value in found.items()}


def main(what: str, *arguments: str) -> None:
    """Do one thing and leave it in ``WHAT.json``."""
    with redirect_stdout(sys.stderr):
        if what == "learn":
            name, steps, seed = arguments
            began = process_time()
            learned = PEERS[name](int(steps), int(seed))
            found: dict[str, Any] = {**asdict(learned), "cpu_s": round(process_time() - began, 2)}
            Path(LEARNED).write_text(learned.pddl, encoding="utf-8")
        else:
            found = score()
    Path(f"{what}.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
