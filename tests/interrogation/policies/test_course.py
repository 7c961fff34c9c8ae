"""Where the paper's algorithm stands, as it is written on its moves."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move
from aam_vision.interrogation.policies.aia import AIA, AiaPolicy, Course, course_of
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.model.query import Access
from aam_vision.planning.planner import Limits
from aam_vision.support.errors import UnusableInput
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough

AMPLE = Budget(queries=2000, steps=20_000)


def _moments(domain: Domain, *, constructed: bool) -> list[tuple[Ask, Course]]:
    """Every question with a note, and the course that is read from it when it is the latest."""
    found: list[tuple[Ask, Course]] = []

    class Watched(AiaPolicy):
        def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
            course = course_of(evidence, [*evidence.hypotheses.pal_tuples()])
            if course is not None:
                move = evidence.exchanges[-1].move
                assert isinstance(move, Ask)
                found.append((move, course))
            return super().next(evidence, rng)

    policy = Watched(constructed=constructed, limits=Limits(states=300), walk_steps=10)
    access = Access.SETTABLE if constructed else Access.SNAPSHOT
    agent = SymbolicAgent(domain.model, domain.problems, access)
    interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE)
    return found


@thorough(30)
@given(domains.domains(), st.booleans())
def test_the_latest_note_says_where_the_algorithm_stands(domain: Domain, constructed: bool) -> None:
    """S and Gamma are written once; the rest is read back as it was written."""
    for number, (ask, course) in enumerate(_moments(domain, constructed=constructed)):
        assert course.note(first=number == 0) == ask.note
        assert (ask.note[-1] == ()) is (number > 0)


@thorough(30)
@given(domains.domains(), st.booleans())
def test_a_note_is_of_numbers_and_names(domain: Domain, constructed: bool) -> None:
    """So a journal can keep it."""
    for ask, _ in _moments(domain, constructed=constructed):
        assert _tuples(json.loads(json.dumps(ask.note))) == ask.note


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@thorough(100)
@given(domains.domains(), st.booleans(), st.data())
def test_a_damaged_note_is_told_in_one_line(domain: Domain, constructed: bool, data: st.DataObject) -> None:
    """Any value in any place, as a journal that is anybody's file may have it: the algorithm goes on, or says so."""
    evidences: list[Evidence] = []

    class Kept(AiaPolicy):
        def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
            evidences[:] = [evidence]
            return super().next(evidence, rng)

    policy = Kept(constructed=constructed, limits=Limits(states=100), walk_steps=10)
    access = Access.SETTABLE if constructed else Access.SNAPSHOT
    agent = SymbolicAgent(domain.model, domain.problems, access)
    interrogate(agent, policy, np.random.default_rng(0), budget=Budget(queries=3))
    (evidence,) = evidences
    numbers = [n for n, exchange in enumerate(evidence.exchanges) if isinstance(exchange.move, Ask)]
    if not numbers:
        return
    number = data.draw(st.sampled_from(numbers))
    exchange = evidence.exchanges[number]
    assert isinstance(exchange.move, Ask)
    note = _damaged(exchange.move.note, data)
    note = note if isinstance(note, tuple) else (note,)
    evidence.exchanges[number] = replace(exchange, move=replace(exchange.move, note=note))
    fresh = AiaPolicy(constructed=constructed, limits=Limits(states=100), walk_steps=10)
    said = "goes on"
    try:
        fresh.next(evidence, np.random.default_rng(0))
    except UnusableInput as error:
        said = str(error)
    assert said == "goes on" or (said.count("\n") == 0 and "start a new run" in said)


def _damaged(note: Any, data: st.DataObject) -> Any:
    """The note with another value somewhere."""
    if isinstance(note, tuple) and note and data.draw(st.integers(0, 5)):
        place = data.draw(st.integers(0, len(note) - 1))
        return (*note[:place], _damaged(note[place], data), *note[place + 1 :])
    return data.draw(
        st.sampled_from([(), -1, 0, 7, 10**30, "", AIA, "Change", True, ((), ()), (("Change", 0),)])
    )


def test_before_the_first_question_there_is_no_course() -> None:
    domain = Domain(*_nothing())
    assert _moments(domain, constructed=True) == []


def _nothing() -> tuple[Any, Any]:
    from aam_vision.model import domains as packaged

    problem = packaged.generate("gripper", 1, np.random.default_rng(0)).initial
    model = packaged.load("gripper")
    return replace(model, actions=()), (problem,)
