"""Refusals of steps that name an object twice: that may be the reason, until such a step was executed."""

from __future__ import annotations

from aam_vision.interrogation.evidence.graph import Evidence, supported
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.hypotheses.models import Hypotheses, named_twice
from aam_vision.model.query import Query, Response, Situation
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    GroundAction,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)

VOCABULARY = Vocabulary("v", (Predicate("p", ("t",)), Predicate("q", ("t",))), Types({"t": "object"}))
HEADER = ActionHeader("act", ("x", "y"), ("t", "t"))
STATE = State(frozenset([Atom("p", ("a",))]), Objects({"a": "t", "b": "t"}, VOCABULARY.types))
AFTER = State(STATE.true | {Atom("q", ("a",))}, STATE.objects)
TWICE = GroundAction("act", ("a", "a"))


def _asked(before: State, executed: int, after: State) -> Asked:
    return Asked(Query(Situation(before, before), (TWICE,)), Response(executed, Situation(after, after)))


def _evidence(*, repeated: bool = False) -> Evidence:
    evidence = Evidence(Hypotheses(VOCABULARY, (HEADER,), repeated=repeated))
    evidence.begin(Situation(STATE, STATE))
    return evidence


def test_places_of_one_object_are_found() -> None:
    assert named_twice(("a", "b", "c")) == frozenset()
    assert named_twice(("a", "b", "a", "b")) == {(0, 2), (1, 3)}


def test_a_refusal_teaches_nothing_while_the_repetition_may_be_its_reason() -> None:
    evidence = _evidence()
    assert not evidence.take_in(_asked(STATE, 0, STATE))
    assert evidence.hypotheses["act"].clauses == []
    assert not any(supported(evidence).values())


def test_a_refusal_teaches_once_the_action_was_executed_like_that() -> None:
    evidence = _evidence()
    evidence.take_in(_asked(STATE, 1, AFTER))
    assert evidence.hypotheses.alike
    assert evidence.take_in(_asked(State(frozenset(), STATE.objects), 0, State(frozenset(), STATE.objects)))
    assert evidence.hypotheses["act"].clauses


def test_a_refusal_teaches_at_once_where_objects_may_be_named_twice() -> None:
    assert _evidence(repeated=True).take_in(_asked(STATE, 0, STATE))
