"""The end of an examination: mistakes that last are met, and right answers cost no more than that takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.numbered import NumberedAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import REFUSALS
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.examination.examining import LEAST
from aam_vision.interrogation.examination.findings import ENOUGH, Exam
from aam_vision.interrogation.examination.lasting import EXECUTED
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verification import verify
from aam_vision.model.query import Access, Agent, Query, Response, Situation
from aam_vision.model.strips import GroundAction, Model, State
from tests import domains
from tests.profiles import first, thorough

ACCESSES = [Access.SETTABLE, Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY]
DOMAIN = "blocksworld"
MODEL, INITIAL = domains.packaged(DOMAIN)


class Balking(SymbolicAgent):
    """Refuses some attempts of an action that it is asked for, one after the other, whatever is brought back."""

    def __init__(
        self, model: Model, initial: Sequence[State], access: Access, action: str, begins: int, lasts: int
    ) -> None:
        super().__init__(model, initial, access)
        self.action, self.mistakes = action, range(begins, begins + lasts)
        self.attempts = 0

    def ask(self, query: Query) -> Response:
        able = super().ask(query).executed
        for number, step in enumerate(query.plan[:able]):
            if step.name == self.action:
                self.attempts += 1
                if self.attempts - 1 in self.mistakes:
                    return super().ask(replace(query, plan=query.plan[:number]))
        return super().ask(query)


class Tiring(SymbolicAgent):
    """An action lacks an effect from some use of it in a plan on."""

    def __init__(self, action: str, effect: int, able: int, *, surely: bool = False) -> None:
        super().__init__(MODEL, INITIAL, refuses_surely=surely)
        self.action, self.able = action, able
        schema = MODEL.schema(action)
        self.lacking = sorted(schema.add | schema.delete, key=str)[effect]

    def ask(self, query: Query) -> Response:
        uses = Counter[str]()

        def after(state: State, step: GroundAction) -> State:
            uses[step.name] += 1
            came = self.after(state, step)
            if step.name != self.action or uses[step.name] <= self.able:
                return came
            atom = self.lacking.ground(step.objects)
            return replace(came, true=came.true - {atom} | (state.true & {atom}))

        executed, state = MODEL.run(query.initial.state, query.plan, after)
        return Response(executed, Situation(state, state))


def numbered(agent: SymbolicAgent) -> Agent:
    return agent if agent.access is Access.SETTABLE else NumberedAgent(agent)


def learned(agent: Agent, exam: int | None = None) -> Result:
    try:
        return Interrogation(agent, exam=exam).run(np.random.default_rng(0))
    except Interrupted as error:
        return error.result


def executions(result: Result) -> Counter[str]:
    """The executed steps of each action that were asked for."""
    asked = [entry for entry in result.transcript.entries if isinstance(entry, Asked)]
    return Counter(step.name for entry in asked for step in entry.executed)


@pytest.mark.parametrize("access", first(1, ACCESSES))
def test_every_action_is_executed_many_times_and_the_bound_stays_that_of_the_other_steps(
    access: Access,
) -> None:
    """Otherwise a mistake that lasts for a while, and comes seldom, may not show before the model is called complete."""
    result = learned(numbered(SymbolicAgent(MODEL, INITIAL, access)))
    assert min(executions(result).values()) >= EXECUTED // len(MODEL.actions)
    assert result.complete
    assert result.exam == Exam(LEAST, further=result.counts.exam_steps - LEAST)
    assert result.exam.further
    assert verify(result.transcript, result).holds


@pytest.mark.parametrize("access", first(1, ACCESSES[1:]))
def test_no_step_is_added_where_all_refusals_are_right_or_nothing_is_claimed(access: Access) -> None:
    """Otherwise simulators and users who count steps would pay for mistakes that they rule out."""
    sure = SymbolicAgent(MODEL, INITIAL, access, refuses_surely=True)
    assert learned(sure).counts.exam_steps == LEAST
    told = learned(numbered(SymbolicAgent(MODEL, INITIAL, access)), ENOUGH - 1)
    assert told.counts.exam_steps == ENOUGH - 1
    assert not told.complete


@pytest.mark.parametrize("action", first(1, ["unstack", "stack", "pick-up"]))
def test_no_precondition_is_believed_for_refusals_that_one_mistake_explains(action: str) -> None:
    """Otherwise a line is called certain for an attempt that was refused, and again both times when it was repeated at once."""
    agent = Balking(MODEL, INITIAL, Access.SETTABLE, action, begins=0, lasts=REFUSALS)
    assert not learned(agent).complete
    assert agent.attempts > REFUSALS


@thorough(9)
@given(
    st.sampled_from(ACCESSES),
    st.sampled_from([schema.header.name for schema in MODEL.actions]),
    st.integers(0, EXECUTED // len(MODEL.actions) - 1),
    st.integers(1, 8),
)
def test_a_mistake_that_lasts_is_met_before_a_model_is_complete(
    access: Access, action: str, begins: int, lasts: int
) -> None:
    """Otherwise three refusals in a row, all by one mistake, prove a precondition, or no refusal is ever met."""
    result = learned(numbered(Balking(MODEL, INITIAL, access, action, begins, lasts)))
    assert not result.complete


@thorough(9)
@given(
    st.sampled_from([schema.header.name for schema in MODEL.actions]),
    st.integers(0, 3),
    st.integers(2, 4),
    st.booleans(),
)
def test_what_an_action_lacks_after_some_uses_is_met_where_every_question_makes_its_own_state(
    action: str, effect: int, able: int, surely: bool
) -> None:
    """Otherwise only the end of one long plan shows it, where another step may have brought about the same."""
    assert not learned(Tiring(action, effect, able, surely=surely)).complete


def test_the_long_plan_is_asked_again_up_to_where_every_other_action_came_last() -> None:
    """Also of simulators, which rule out that they refuse by mistake: that says nothing of effects."""
    result = learned(SymbolicAgent(MODEL, INITIAL, refuses_surely=True))
    assert result.complete
    assert result.exam == Exam(LEAST, further=result.counts.exam_steps - LEAST)
    plans = [entry.query.plan for entry in result.transcript.entries if isinstance(entry, Asked)]
    longest = max(plans, key=len)
    again = [plan for plan in plans if plan == longest[: len(plan)] and 1 < len(plan) < len(longest)]
    assert {plan[-1].name for plan in [longest, *again]} == {step.name for step in longest}
    for plan in again:
        assert plan[-1].name not in {step.name for step in longest[len(plan) :]}
