"""An image agent tells its simulators what they will be asked next, if they can make use of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.query import Access, Course, Query, WalkRequest
from aam_vision.model.strips import GroundAction
from tests.profiles import thorough

from .image_agents import agent_on
from .line import LEFT, RIGHT, Line

plans = st.lists(st.sampled_from([LEFT, RIGHT]), max_size=5).map(tuple)


class Wanderer(Line):
    """A line on which the pawn chooses its steps by chance; ``done`` has every step, and where it began."""

    def __init__(self, first: int = 0) -> None:
        super().__init__(first)
        self.done: list[tuple[int, GroundAction]] = []

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        self.done.append((self.at, GroundAction(name, objects)))
        return super().instruct(name, objects)

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        """Left or right, or now and then nothing."""
        return (None, ("left", ()), ("right", ()), ("right", ()))[int(rng.integers(4))]


class Foreseen(Wanderer):
    """Does in advance, on another line, what it is told to expect: ``expected`` has those steps."""

    def __init__(self, first: int = 0) -> None:
        super().__init__(first)
        self.expected: list[tuple[int, GroundAction]] = []

    def expect(self, snapshot: object, *plans: Sequence[GroundAction]) -> None:
        copy = Wanderer()
        copy.restore(snapshot)
        for plan in plans:
            for step in plan:
                if not copy.instruct(step.name, step.objects):
                    break
        self.expected += copy.done

    def expect_walk(self, snapshot: object, steps: int, rng: np.random.Generator) -> None:
        copy = Wanderer()
        copy.restore(snapshot)
        for _ in range(steps):
            chosen = copy.choose(rng)
            if chosen is None or not copy.instruct(*chosen):
                break
        self.expected += copy.done


starts = st.integers(0, 3)
questions = st.one_of(
    st.tuples(st.just(Query), starts, plans),
    st.tuples(st.just(Course), starts, st.lists(plans, max_size=3).map(tuple)),
    st.tuples(st.just(WalkRequest), starts, st.integers(0, 4), st.integers(0, 9)),
)


@thorough(60)
@given(st.lists(questions, max_size=5))
def test_simulators_are_told_in_advance_exactly_the_steps_that_are_then_asked_of_them(
    drawn: list[tuple[Any, ...]],
) -> None:
    lines = Wanderer(1), Foreseen(2), Foreseen(4)
    agent = agent_on(*lines)
    known = list(agent.initial())
    known.append(agent.ask(Query(known[2], (LEFT,))).final)
    lines[2].done.clear()
    asked = [kind(known[start], *rest) for kind, start, *rest in drawn]
    agent.expect(asked)
    for question in asked:
        if isinstance(question, WalkRequest):
            agent.walk(question.start, question.steps, np.random.default_rng(question.seed))
        elif isinstance(question, Course):
            at = question.start
            for plan in question.plans:
                at = agent.ask(Query(at, plan)).final
        else:
            agent.ask(question)
    for line in lines[1:]:
        assert isinstance(line, Foreseen)
        assert line.expected == line.done


@pytest.mark.parametrize("access", [Access.RESET, Access.TRAJECTORY])
def test_a_simulator_that_cannot_be_brought_back_is_told_nothing_in_advance(access: Access) -> None:
    line = Foreseen()
    agent = agent_on(line, access=access)
    (start,) = agent.initial()
    agent.expect([Query(start, (RIGHT,)), WalkRequest(start, 2, 0), Course(start, ((RIGHT,), ()))])
    assert line.expected == []
