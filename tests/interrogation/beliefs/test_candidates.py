"""Beliefs order questions: what survives by chance alone is not trusted."""

from __future__ import annotations

from aam_vision.interrogation.beliefs.candidates import Beliefs, NaturalBeliefs, Transfer, element, shape
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Walked
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.model.query import Situation, WalkStep
from aam_vision.model.strips import ActionHeader, LiftedAtom, Predicate, Types, Vocabulary
from tests import small

CELLS = [f"c{number}" for number in range(8)]
MODEL = small.model("leave x", predicates="here/1 lit/1 warm/1 dry/1")


def _situation(here: str) -> Situation:
    """One is here; the even cells are lit, and those alone are warm; all are dry."""
    atoms = [f"here {here}", *(f"dry {cell}" for cell in CELLS)]
    atoms += [f"{predicate} {cell}" for predicate in ("lit", "warm") for cell in CELLS[::2]]
    return Situation(here, small.state(" ".join(CELLS), ", ".join(atoms)))


def _evidence() -> Evidence:
    """The agent has been everywhere, and has left two lit cells."""
    evidence = Evidence(Hypotheses(MODEL.vocabulary, MODEL.headers))
    for cell in CELLS:
        evidence.situation(_situation(cell))
    for cell, following in (("c0", "c1"), ("c2", "c3")):
        step = WalkStep(_situation(cell), small.step(f"leave {cell}"), _situation(following))
        evidence.take_in(Walked((step,)))
    return evidence


def _probability(beliefs: Beliefs, evidence: Evidence, predicate: str) -> float:
    action = evidence.hypotheses["leave"]
    return beliefs.probability("leave", Literals(action.index.bit[LiftedAtom(predicate, (0,))], 0), action)


def test_what_rarely_holds_is_trusted_and_of_two_atoms_that_always_go_together_neither() -> None:
    """Two lit cells speak for ``lit`` - or for ``warm``, which is no more than the same evidence again."""
    evidence = _evidence()
    alone, natural = (kind(evidence.hypotheses, evidence.nodes) for kind in (Beliefs, NaturalBeliefs))
    for beliefs in (alone, natural):
        assert _probability(beliefs, evidence, "here") > 0.7
        assert _probability(beliefs, evidence, "dry") < 0.4
    for predicate in ("lit", "warm"):
        assert _probability(natural, evidence, predicate) < 0.4 < _probability(alone, evidence, predicate)
    before = _probability(natural, evidence, "lit")
    action = evidence.hypotheses["leave"]
    action.positive &= ~action.index.bit[LiftedAtom("warm", (0,))]
    assert _probability(natural, evidence, "lit") > before, (
        "a refuted companion makes the other credible again"
    )


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


def test_an_element_is_named_by_type_and_number_and_a_shape_keeps_the_order_of_the_arguments_alone() -> None:
    assert element(AT, MOVE) == element(AT, PUSH) == ("at", ("thing1", "place1"))
    assert element(LiftedAtom("at", (2, 3)), PUSH) == ("at", ("thing2", "place2"))
    assert shape(NEXT, MOVE) == shape(LiftedAtom("next", (3, 4)), PUSH)
    assert shape(BACK, MOVE) == shape(LiftedAtom("next", (4, 1)), PUSH)
    assert shape(NEXT, MOVE) != shape(BACK, MOVE)


def test_what_another_action_requires_is_more_probable_and_what_it_does_not_is_less() -> None:
    """Moving needs to be at the first place, next to the second: nothing else held when it succeeded."""
    hypotheses = Hypotheses(MOVES, [MOVE, PUSH])

    def factor(name: str, *places: int) -> float:
        return Transfer(hypotheses, lambda name, bit: 1.0).factor("push", LiftedAtom(name, places))

    assert factor("at", 0, 1) == 1, "nothing is told where no action was seen"
    move = hypotheses["move"]
    move.succeeded(move.index.bit[AT] | move.index.bit[NEXT], 0)
    move.successes = 1
    assert factor("at", 0, 1) > 1 > max(factor("next", 3, 1), factor("lit", 3))
    assert factor("next", 1, 3) > max(1, factor("next", 3, 4)), "an element tells more than a shape"
