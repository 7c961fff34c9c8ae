"""An image agent: situations are snapshots, what they show is perceived, and the truth stays behind."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import pytest

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.image import ImageAgent
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.registry import board_domain, make_simulator
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Move
from aam_vision.interrogation.policies.economical import EconomicalPolicy, Walker
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.model.query import Query
from aam_vision.model.strips import GroundAction, Model, State
from tests.envs.ground_truth import ground_truth_model


def _agent(env: str, count: int) -> ImageAgent:
    domain = board_domain(env)
    simulators = [make_simulator(env, *problem) for problem in domain.interrogated[:count]]
    perception = BoardPerception.load(domain.visual, domain.name)
    return ImageAgent(simulators, perception, domain.visual.vocabulary(), domain.headers)


@pytest.fixture(scope="module")
def doors() -> ImageAgent:
    return _agent("doors", 2)


def _true_state(agent: ImageAgent, problem: int) -> State:
    """What the simulator itself would say; for this test only."""
    board = agent._simulators[problem].board  # type: ignore[attr-defined]
    return State(board._world.static | board._node.dynamic, board.layout.objects)


def _assert_perceived_right(perceived: State, truth: State) -> None:
    assert perceived.objects == truth.objects
    assert perceived.true - truth.true == frozenset()
    assert truth.true - perceived.true <= perceived.unknown


def test_every_problem_starts_as_it_is_seen(doors: ImageAgent) -> None:
    situations = doors.initial()
    assert len(situations) == 2
    for number, situation in enumerate(situations):
        _assert_perceived_right(situation.state, _true_state(doors, number))
    assert doors.perception_s > 0


def test_walks_and_answers_are_what_happens_in_the_simulator(doors: ImageAgent) -> None:
    truth = ground_truth_model("doors")
    start = doors.initial()[1]
    state = _true_state(doors, 1)
    walked = doors.walk(start, 12, np.random.default_rng(3))
    assert len(walked) == 12
    for step in walked:
        assert truth.schema(step.action.name).applicable(state, step.action.objects)
        state = truth.schema(step.action.name).successor(state, step.action.objects)
        _assert_perceived_right(step.after.state, state)
    plan = tuple(step.action for step in walked)
    response = doors.ask(Query(start, plan))
    assert response.executed == 12
    assert response.final.state == walked[-1].after.state
    nonsense = GroundAction(plan[0].name, plan[0].objects[::-1])
    refused = doors.ask(Query(start, (*plan[:3], nonsense, *plan[3:])))
    assert refused.executed == 3
    assert refused.final.state == walked[2].after.state


def test_any_situation_can_be_gone_back_to_in_any_order(doors: ImageAgent) -> None:
    one, two = doors.initial()
    there = doors.walk(one, 6, np.random.default_rng(1))
    elsewhere = doors.walk(two, 6, np.random.default_rng(2))
    for step in [*reversed(there), *elsewhere[::2]]:
        response = doors.ask(Query(step.before, (step.action,)))
        assert response.executed == 1
        assert response.final.state == step.after.state
    assert doors.ask(Query(there[3].after, ())).final == there[3].after, "nothing done, nothing new"


# --- the truth stays behind -----------------------------------------------------------------------

_LEFT_ALONE = (type, ModuleType, BuiltinFunctionType, str, bytes, int, float, np.ndarray)


def _reachable(*roots: object, limit: int = 2_000_000) -> Iterator[object]:
    """All objects that can be reached from these: attributes, items, closures; not through modules."""
    seen: set[int] = set()
    stack: list[Any] = list(roots)
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, _LEFT_ALONE):
            continue
        seen.add(id(value))
        assert len(seen) < limit, "too much to look through"
        yield value
        if isinstance(value, FunctionType):  # its globals are its module
            stack += [value.__closure__, value.__defaults__, value.__kwdefaults__]
        elif isinstance(value, MethodType):
            stack += [value.__self__, value.__func__]
        else:
            stack += gc.get_referents(value)


def _tells_the_truth(value: object) -> bool:
    """A model, or anything of the simulator's or PDDLGym's."""
    module = type(value).__module__
    forbidden = ("pddlgym", "gymnasium", "aam_vision.envs", "aam_vision.classifiers", "torch")
    return (
        isinstance(value, Model | ImageAgent)
        or module.split(".")[0] in forbidden
        or module.startswith(forbidden)
    )


def test_the_walk_over_objects_finds_a_truth_where_there_is_one(doors: ImageAgent) -> None:
    assert any(map(_tells_the_truth, _reachable({"deep": [lambda: doors]})))
    found = {type(value).__module__ for value in _reachable(doors)}
    assert any(module.startswith("pddlgym") for module in found)


def test_neither_evidence_nor_policy_can_reach_the_true_model_or_the_simulator(doors: ImageAgent) -> None:
    known: list[Evidence] = []

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        known[:] = [evidence]

    policy = EconomicalPolicy(walker=Walker(limit=80))
    rng = np.random.default_rng(0)
    result = interrogate(doors, policy, rng, budget=Budget(queries=8), watch=watch)
    assert known[0].edges
    assert result.counts.queries > 0
    within = list(_reachable(known, policy))
    assert any(value is known[0].nodes[0] for value in within), "the walk sees into the evidence"
    assert [type(value) for value in within if _tells_the_truth(value)] == []


def test_the_agent_exposes_no_model_and_no_simulator(doors: ImageAgent) -> None:
    public = [getattr(doors, name) for name in dir(doors) if not name.startswith("_")]
    assert not any(_tells_the_truth(value) for value in public if not isinstance(value, MethodType))
    assert not any(_tells_the_truth(value) for value in _reachable(doors.vocabulary, doors.headers))
    for situation in doors.initial():
        assert not any(_tells_the_truth(value) for value in _reachable(situation))
