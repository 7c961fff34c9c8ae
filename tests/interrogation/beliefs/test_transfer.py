"""What seen actions require makes the like more probable elsewhere."""

from __future__ import annotations

from aam_vision.interrogation.beliefs.candidates import Transfer, element, shape
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.model.strips import ActionHeader, LiftedAtom, Predicate, Types, Vocabulary

TYPES = Types({"thing": "object", "place": "object"})
VOCABULARY = Vocabulary(
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
    hypotheses = Hypotheses(VOCABULARY, [MOVE, PUSH])
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
    transfer = Transfer(Hypotheses(VOCABULARY, [MOVE, PUSH]), lambda name, bit: 1.0)
    assert transfer.factor("push", LiftedAtom("at", (0, 1))) == 1
