"""Whatever is wrong with answers: nothing certain is wrong, and an agent that is right is asked nothing new."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision import domains as packaged
from aam_vision import evaluation
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import UnreliableAgent
from aam_vision.interrogation.loop import Budget, Interrupted, interrogate
from aam_vision.interrogation.moves import Policy
from aam_vision.interrogation.noisy.doubting import interrogate_doubting
from aam_vision.interrogation.policies.choice import policy_for
from aam_vision.interrogation.policies.confirming import Confirming
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.result import Result
from aam_vision.interrogation.transcript import Asked
from aam_vision.interrogation.verification import verify
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.query import Access, Query, Response, Situation, WalkStep
from aam_vision.strips import (
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
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import read_mode
from tests.profiles import thorough


def _doubting(agent: SymbolicAgent | UnreliableAgent, *, steps: int = 1500, confirm: bool = False) -> Result:
    return interrogate_doubting(
        agent,
        Confirming(_policy(agent.access), agent.access),
        np.random.default_rng(0),
        afresh=lambda: _policy(agent.access),
        budget=Budget(steps=steps),
        confirm=confirm,
    )


def _policy(access: Access) -> Policy:
    return policy_for(access, "economical", PyperplanPlanner(), timed=False)


def _unreliable(domain: Domain, flips: float, refusals: float, seed: int = 0) -> UnreliableAgent:
    agent = SymbolicAgent(domain.model, domain.problems)
    return UnreliableAgent(agent, flips, refusals, np.random.default_rng(seed))


def _assert_nothing_certain_is_wrong(result: Result, model: Model) -> None:
    for pal in result.hypotheses.pal_tuples():
        modes = result.hypotheses.modes(pal)
        assert len(modes) > 1 or modes[0] is read_mode(model, pal), pal


@thorough(40)
@given(domains.domains())
def test_an_agent_that_is_right_is_asked_nothing_new(domain: Domain) -> None:
    agent = SymbolicAgent(domain.model, domain.problems)
    plain = interrogate(agent, SettablePolicy(), np.random.default_rng(0))
    result = _doubting(agent)
    assert result.assessment is None
    assert result.counts.queries == plain.counts.queries
    assert (result.model, result.complete, result.why) == (plain.model, plain.complete, plain.why)
    assert verify(result.transcript, result).holds


@thorough(25)
@given(domains.domains(), st.sampled_from([(0.02, 0.0), (0.1, 0.0), (0.0, 0.05), (0.1, 0.03)]))
def test_nothing_certain_is_wrong_and_the_result_can_be_checked(
    domain: Domain, rates: tuple[float, float]
) -> None:
    result = _doubting(_unreliable(domain, *rates), steps=600, confirm=True)
    _assert_nothing_certain_is_wrong(result, domain.model)
    assert result.complete is (not result.undetermined)
    assert verify(result.transcript, result).holds


@pytest.mark.parametrize("name", ["gripper", "blocksworld", "miconic"])
@pytest.mark.parametrize("rates", [(0.01, 0.0), (0.2, 0.0), (0.05, 0.05)])
def test_packaged_domains_are_learned_exactly(name: str, rates: tuple[float, float]) -> None:
    rng = np.random.default_rng(1)
    problems = tuple(packaged.generate(name, 2, rng).initial for _ in range(2))
    model = packaged.load(name)
    result = _doubting(_unreliable(Domain(model, problems), *rates))
    assert result.complete
    assert evaluation.exact(result.model, model)
    assert result.assessment is not None
    total = [m for rate in result.assessment.rates.misreadings.values() for m in (rate.false_positive,)]
    assert abs(float(np.median(total)) - rates[0]) < 0.05
    assert result.counts.steps < 300


def test_a_result_that_claims_too_much_is_found_out() -> None:
    problems = (packaged.generate("gripper", 2, np.random.default_rng(0)).initial,)
    domain = Domain(packaged.load("gripper"), problems)
    result = _doubting(_unreliable(domain, 0.1, 0.0))
    assert verify(result.transcript, result).holds
    assert not verify(result.transcript.of(result.transcript.entries[:20]), result).holds
    action = result.model.actions[0]
    wrong = replace(action, add=frozenset(), delete=frozenset())
    forged = replace(result, model=Model(result.model.vocabulary, (wrong, *result.model.actions[1:])))
    assert "the model is not" in verify(result.transcript, forged).faults[0]


def test_a_single_wrong_refusal_is_found_by_asking_again() -> None:
    """It fits a STRIPS model, so nothing else would tell."""

    class Once(SymbolicAgent):
        balked = False

        def ask(self, query: Query) -> Response:
            response = super().ask(query)
            if not self.balked and query.plan and response.executed:
                self.balked = True
                return Response(0, query.initial)
            return response

    model = packaged.load("blocksworld")
    problems = [packaged.generate("blocksworld", 2, np.random.default_rng(0)).initial]
    result = _doubting(Once(model, problems))
    assert result.assessment is not None
    assert evaluation.exact(result.model, model)


# --- agents that no STRIPS model describes ------------------------------------------------------------------------

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

    def __init__(self) -> None:
        super().__init__(Model(VOCABULARY, (ActionSchema(SWITCH), HEAT)), [DARK])

    def ask(self, query: Query) -> Response:
        if not query.plan or query.plan[0].name != "switch":
            return super().ask(query)
        lamp = Atom("lit", query.plan[0].objects)
        after = State(query.initial.state.true ^ {lamp}, LAMPS)
        rest = super().ask(Query(Situation(after, after), query.plan[1:]))
        return Response(1 + rest.executed, rest.final)


class Spilling(Idle):
    """Whatever is heated, another lamp goes on."""

    def __init__(self) -> None:
        super().__init__(Model(VOCABULARY, (ActionSchema(SWITCH), HEAT)), [DARK])

    def ask(self, query: Query) -> Response:
        response = super().ask(query)
        if not response.executed:
            return response
        other = Atom("lit", (next(name for name in LAMPS if name not in query.plan[0].objects),))
        state = State(response.final.state.true ^ {other}, LAMPS)
        return Response(response.executed, Situation(state, state))


@pytest.mark.parametrize("kind", [Toggling, Spilling])
def test_a_steadfast_agent_that_is_no_strips_agent_is_named_as_such(kind: type[SymbolicAgent]) -> None:
    with pytest.raises(Interrupted, match=r"query \d+ .*no STRIPS agent in this vocabulary") as caught:
        _doubting(kind())  # type: ignore[call-arg]
    assert not caught.value.result.complete
    again = [entry.query for entry in caught.value.result.transcript.entries if isinstance(entry, Asked)]
    assert max(again.count(query) for query in again) >= 3


@pytest.mark.parametrize("seed", range(5))
def test_chance_is_not_taken_for_an_excuse(seed: int) -> None:
    agent = UnreliableAgent(Toggling(), 0.05, 0.0, np.random.default_rng(seed))
    assert agent.access is Access.SETTABLE
    try:
        result = _doubting(agent)
    except Interrupted as error:
        result = error.result
    assert not result.complete
    assert "no STRIPS" in result.why
