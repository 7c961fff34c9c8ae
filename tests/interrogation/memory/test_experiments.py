"""Facts that explain all attempts are told apart by histories that are made for it, each asked once."""

from __future__ import annotations

import numpy as np
import pytest

import aam_vision
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.memory.experiments import HISTORIES, QUESTIONS, VersionSpace, Way, telling_apart
from aam_vision.interrogation.memory.histories import RecordingAgent
from aam_vision.interrogation.task.budget import Budget
from aam_vision.model.query import Access

from .planted import planted_agent

SEED = 1


@pytest.fixture
def recorded() -> RecordingAgent:
    """An agent that remembers something, diagnosed."""
    agent = planted_agent("fact", Access.RESET, SEED)
    told = aam_vision.interrogate(agent, seed=SEED, raises=False, go_on=False)
    return RecordingAgent(agent, told.transcript)


def test_each_question_is_asked_once_until_none_tells_more(recorded: RecordingAgent) -> None:
    space, before = VersionSpace(recorded, np.random.default_rng(SEED)), len(recorded.transcript.entries)
    first = space.left()
    left = space.tell_apart(Budget(), 0)
    assert not space.open
    assert left
    asked = recorded.transcript.entries[before:]
    assert len(space.random) >= HISTORIES
    assert 0 <= len(asked) - len(space.random) <= QUESTIONS
    telling = [one for number, one in enumerate(asked, before) if number not in space.random]
    questions = [(one.query.initial.handle, one.query.plan) for one in telling if isinstance(one, Asked)]
    assert len(set(questions)) == len(telling)
    assert {one.fact for one in left} < {one.fact for one in first} or left[0].fact != first[0].fact


def test_a_question_is_one_of_which_two_explanations_say_different_things(recorded: RecordingAgent) -> None:
    best, *others = VersionSpace(recorded, np.random.default_rng(SEED)).left()
    begun = [Way(situation, (), situation.state) for situation in recorded.initial()]
    found = [one for one in others if telling_apart(best, one, begun)]
    assert found
    for other in found:
        question = telling_apart(best, other, begun)
        assert question is not None
        said = []
        for one in (best, other):
            state, rows = question.start.state, one.fact.beginning
            for step in question.plan[:-1]:
                state = best.actions[step.name].after(state, one.fact.added(state, rows), step.objects)
                rows = one.fact.after(rows, step)
            seen, (name, objects) = one.fact.added(state, rows), question.plan[-1]
            executes = one.actions[name].executes(one.actions[name].index.values(seen, objects)[0])
            said.append((executes, one.actions[name].after(state, seen, objects) if executes else None))
        assert said[0] != said[1]


def test_without_steps_left_it_is_known_that_something_is_open(recorded: RecordingAgent) -> None:
    space, before = VersionSpace(recorded, np.random.default_rng(SEED)), len(recorded.transcript.entries)
    assert len(space.tell_apart(Budget(steps=10), 10)) > 1
    assert space.open
    assert len(recorded.transcript.entries) == before
