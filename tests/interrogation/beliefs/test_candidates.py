"""Beliefs order questions: what survives by chance alone is not trusted."""

from __future__ import annotations

from aam_vision.interrogation.beliefs.candidates import Beliefs, NaturalBeliefs
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
