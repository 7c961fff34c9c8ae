"""Agents that no STRIPS model describes are named as such."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import UnreliableAgent
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.robust import interrogate_robustly
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from tests.interrogation.runs import read_mode

from .doubting import doubting, hidden, setup_for

VOCABULARY = Vocabulary("lamps", (Predicate("lit", ("object",)), Predicate("hot", ("object",))))
LIT, HOT = LiftedAtom("lit", (0,)), LiftedAtom("hot", (0,))
SWITCH = ActionHeader("switch", ("x",), ("object",))
HEAT = ActionSchema(
    ActionHeader("heat", ("x",), ("object",)), negative=frozenset({HOT}), add=frozenset({HOT})
)
LAMPS = Objects({f"lamp{number}": "object" for number in range(5)}, Types())
DARK = State(frozenset(), LAMPS)


class Idle(SymbolicAgent):
    """Does nothing on its own."""

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> list[WalkStep]:
        return []


class Toggling(Idle):
    """Switches a lamp on if it is off, and off if it is on."""

    def __init__(self, access: Access = Access.SETTABLE) -> None:
        super().__init__(Model(VOCABULARY, (ActionSchema(SWITCH), HEAT)), [DARK], access)

    def ask(self, query: Query) -> Response:
        here = query.initial
        for executed, step in enumerate(query.plan):
            response = super().ask(Query(here, (step,)))
            if not response.executed:
                return Response(executed, here)
            switched = {Atom("lit", step.objects)} if step.name == "switch" else set[Atom]()
            state = State(response.final.state.true ^ switched, LAMPS)
            here = Situation(state, state)
        return Response(len(query.plan), here)


class Spilling(Idle):
    """Whatever is switched, another lamp is, too: one that the plan's first step does not name."""

    def __init__(self, access: Access = Access.SETTABLE) -> None:
        super().__init__(Model(VOCABULARY, (ActionSchema(SWITCH), HEAT)), [DARK], access)

    def ask(self, query: Query) -> Response:
        response = super().ask(query)
        if not response.executed:
            return response
        other = Atom("lit", (next(name for name in LAMPS if name not in query.plan[0].objects),))
        state = State(response.final.state.true ^ {other}, LAMPS)
        return Response(response.executed, Situation(state, state))


def test_what_a_step_does_otherwise_in_the_middle_of_a_plan_is_not_overlooked() -> None:
    """There nobody looks, and every answer has a STRIPS model by itself."""
    with pytest.raises(Interrupted) as caught:
        doubting(Toggling())
    found = caught.value.result.diagnosis
    assert found is not None
    assert (found.family, found.culprit, found.literal) == (Family.CONDITIONAL, "switch", "not lit(?x)")


def test_a_steadfast_agent_that_is_no_strips_agent_is_named_as_such() -> None:
    with pytest.raises(Interrupted, match=r"^switch: conditional, switches lit") as caught:
        doubting(Spilling())
    result = caught.value.result
    assert (result.status, result.proven, result.certain) == ("not-strips", False, {})
    again = [entry.query for entry in result.transcript.entries if isinstance(entry, Asked)]
    assert max(again.count(query) for query in again) >= 3


@pytest.mark.parametrize("access", [Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY])
def test_the_literal_is_named_under_every_access(access: Access) -> None:
    with pytest.raises(Interrupted) as caught:
        doubting(hidden(Toggling(access)))
    found = caught.value.result.diagnosis
    assert found is not None
    assert (found.family, found.culprit, found.literal) == (Family.CONDITIONAL, "switch", "lit(?x)")
    assert not caught.value.result.certain


@pytest.mark.parametrize("access", [Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY])
@pytest.mark.parametrize("flips", [0.0, 0.05])
def test_an_agent_that_is_no_strips_agent_is_named_under_every_access(access: Access, flips: float) -> None:
    for agent in (Toggling(access), Spilling(access)):
        unreliable = UnreliableAgent(hidden(agent), flips, 0.0, np.random.default_rng(0))
        try:
            result = doubting(unreliable)
        except Interrupted as error:
            result = error.result
        assert not result.proven
        assert not result.certain
        assert result.diagnosis is not None


@pytest.mark.parametrize("seed", range(5))
def test_chance_is_not_taken_for_an_excuse(seed: int) -> None:
    agent = UnreliableAgent(Toggling(), 0.05, 0.0, np.random.default_rng(seed))
    assert agent.access is Access.SETTABLE
    try:
        result = doubting(agent)
    except Interrupted as error:
        result = error.result
    assert not result.proven
    assert "no STRIPS" in result.why


@pytest.mark.parametrize("seed", range(100, 104))
def test_nothing_is_certain_of_an_action_that_no_trial_settles(seed: int) -> None:
    rng = np.random.default_rng([seed, 1])
    problems = [packaged.generate("gripper", 2, rng).initial for _ in range(3)]
    truth = packaged.load("gripper")
    unreliable = UnreliableAgent(SymbolicAgent(truth, problems), 0.2, 0.02, np.random.default_rng([seed, 3]))
    result = interrogate_robustly(unreliable, setup_for(Access.SETTABLE), np.random.default_rng(seed))
    doubtful = {one.action for one in result.undetermined}
    assert result.proven is not bool(doubtful)
    assert not any(pal.action in doubtful for pal in result.certain)
    assert all(mode is read_mode(truth, pal) for pal, mode in result.certain.items())
