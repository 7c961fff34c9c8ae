"""An agent with chance does what its model says as often as it says, and the same with the same seed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from aam_vision.model.query import Access, Query, Situation
from aam_vision.model.strips import Atom, GroundAction
from tests.interrogation.chance.agents import agent, read

GRAB = GroundAction("grab", ("a", "h"))
DROP = GroundAction("drop", ("a", "h"))


def test_outcomes_come_as_often_as_the_model_says() -> None:
    model, initial = read()
    asked = agent(Access.SETTABLE)
    start = Situation(initial, initial)
    answers = [asked.ask(Query(start, (GRAB,))).final.state for _ in range(2000)]
    expected = model.schema("grab").successors(initial, GRAB.objects)
    assert set(answers) == set(expected)
    for state, share in expected.items():
        assert answers.count(state) / 2000 == pytest.approx(share, abs=0.04)


def test_what_the_precondition_forbids_is_refused() -> None:
    _, initial = read()
    response = agent(Access.SETTABLE).ask(Query(Situation(initial, initial), (DROP, GRAB)))
    assert response.executed == 0
    assert response.final.state == initial


def test_a_walk_takes_steps_that_can_be_done_and_each_leads_to_the_next() -> None:
    model, initial = read()
    asked = agent(Access.RESET, seed=3)
    walked = asked.walk(asked.initial()[0], 40, np.random.default_rng(1))
    assert walked[0].before.state == initial
    for step, following in pairwise(walked):
        assert step.after == following.before
        schema = model.schema(step.action.name)
        assert step.after.state in schema.successors(step.before.state, step.action.objects)


def test_the_same_seed_gives_the_same_answers() -> None:
    def course(seed: int) -> list[bool]:
        asked = agent(Access.SETTABLE, seed)
        start = asked.initial()[0]
        ends = [asked.ask(Query(start, (GRAB,))).final.state.true for _ in range(30)]
        return [Atom("holding", ("a",)) in true for true in ends]

    assert course(5) == course(5)
    assert course(5) != course(6)
