"""Beliefs order questions: what survives by chance alone is not trusted."""

from __future__ import annotations

from aam_vision.interrogation.beliefs.candidates import Beliefs, NaturalBeliefs, Transfer, element, shape
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Walked
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.model.query import Situation, WalkStep
from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    Atom,
    GroundAction,
    LiftedAtom,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)

CELLS = [f"c{number}" for number in range(8)]
HEADER = ActionHeader("leave", ("?x",), (ROOT_TYPE,))
VOCABULARY = Vocabulary(
    "cells", tuple(Predicate(name, (ROOT_TYPE,)) for name in ("here", "lit", "warm", "dry"))
)
OBJECTS = Objects(dict.fromkeys(CELLS, ROOT_TYPE), Types())


def _state(here: str) -> State:
    """One is here; the even cells are lit, and those alone are warm; all are dry."""
    atoms = [Atom("here", (here,)), *(Atom("dry", (cell,)) for cell in CELLS)]
    atoms += [Atom(predicate, (cell,)) for predicate in ("lit", "warm") for cell in CELLS[::2]]
    return State(frozenset(atoms), OBJECTS)


def _evidence() -> Evidence:
    """The agent has been everywhere, and has left two lit cells."""
    evidence = Evidence(Hypotheses(VOCABULARY, [HEADER]))
    for cell in CELLS:
        evidence.situation(Situation(cell, _state(cell)))
    for cell, following in (("c0", "c1"), ("c2", "c3")):
        before, after = Situation(cell, _state(cell)), Situation(following, _state(following))
        evidence.take_in(Walked((WalkStep(before, GroundAction("leave", (cell,)), after),)))
    return evidence


def _probability(beliefs: Beliefs, evidence: Evidence, predicate: str) -> float:
    action = evidence.hypotheses["leave"]
    return beliefs.probability("leave", Literals(action.index.bit[LiftedAtom(predicate, (0,))], 0), action)


def test_what_rarely_holds_is_trusted_and_what_always_holds_is_not() -> None:
    evidence = _evidence()
    for kind in (Beliefs, NaturalBeliefs):
        beliefs = kind(evidence.hypotheses, evidence.nodes)
        assert _probability(beliefs, evidence, "here") > 0.7
        assert _probability(beliefs, evidence, "dry") < 0.4


def test_of_two_atoms_that_always_go_together_neither_is_trusted_for_the_other() -> None:
    """Two lit cells speak for ``lit`` - or for ``warm``, which is no more than the same evidence again."""
    evidence = _evidence()
    alone = Beliefs(evidence.hypotheses, evidence.nodes)
    natural = NaturalBeliefs(evidence.hypotheses, evidence.nodes)
    for predicate in ("lit", "warm"):
        assert _probability(natural, evidence, predicate) < 0.4 < _probability(alone, evidence, predicate)


def test_a_refuted_companion_makes_the_other_credible_again() -> None:
    evidence = _evidence()
    natural = NaturalBeliefs(evidence.hypotheses, evidence.nodes)
    before = _probability(natural, evidence, "lit")
    action = evidence.hypotheses["leave"]
    action.positive &= ~action.index.bit[LiftedAtom("warm", (0,))]
    assert _probability(natural, evidence, "lit") > before


# What seen actions require makes the like more probable elsewhere.


TYPES = Types({"thing": "object", "place": "object"})
MOVES = Vocabulary(
    "moves",
    (
        Predicate("at", ("thing", "place")),
        Predicate("next", ("place", "place")),
        Predicate("lit", ("place",)),
    ),
    TYPES,
)
MOVE = ActionHeader("move", ("?t", "?from", "?to"), ("thing", "place", "place"))
PUSH = ActionHeader("push", ("?a", "?p", "?b", "?q", "?r"), ("thing", "place", "thing", "place", "place"))
AT, NEXT, BACK = LiftedAtom("at", (0, 1)), LiftedAtom("next", (1, 2)), LiftedAtom("next", (2, 1))


def test_an_element_is_named_by_type_and_number_as_in_the_paper() -> None:
    assert element(AT, MOVE) == ("at", ("thing1", "place1"))
    assert element(LiftedAtom("at", (2, 3)), PUSH) == ("at", ("thing2", "place2"))
    assert element(AT, MOVE) == element(LiftedAtom("at", (0, 1)), PUSH)


def test_a_shape_keeps_the_order_of_the_arguments_alone() -> None:
    assert shape(NEXT, MOVE) == shape(LiftedAtom("next", (3, 4)), PUSH)
    assert shape(BACK, MOVE) == shape(LiftedAtom("next", (4, 1)), PUSH)
    assert shape(NEXT, MOVE) != shape(BACK, MOVE)


def _after_a_move() -> Transfer:
    """Moving needs to be at the first place, next to the second: nothing else held when it succeeded."""
    hypotheses = Hypotheses(MOVES, [MOVE, PUSH])
    move = hypotheses["move"]
    held = move.index.bit[AT] | move.index.bit[NEXT]
    move.succeeded(held, 0)
    move.successes = 1
    return Transfer(hypotheses, lambda name, bit: 1.0)


def test_what_another_action_requires_is_more_probable_and_what_it_does_not_is_less() -> None:
    transfer = _after_a_move()
    assert transfer.factor("push", LiftedAtom("at", (0, 1))) > 1
    assert transfer.factor("push", LiftedAtom("next", (1, 3))) > 1
    assert transfer.factor("push", LiftedAtom("next", (3, 1))) < 1
    assert transfer.factor("push", LiftedAtom("lit", (3,))) < 1


def test_the_same_element_tells_more_than_the_same_shape() -> None:
    transfer = _after_a_move()
    assert transfer.factor("push", LiftedAtom("next", (1, 3))) > transfer.factor(
        "push", LiftedAtom("next", (3, 4))
    )


def test_nothing_is_told_where_no_action_was_seen() -> None:
    transfer = Transfer(Hypotheses(MOVES, [MOVE, PUSH]), lambda name, bit: 1.0)
    assert transfer.factor("push", LiftedAtom("at", (0, 1))) == 1
