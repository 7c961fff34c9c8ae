"""Literals in plain English."""

import pytest

from aam_vision.model.strips import ActionHeader, LiftedAtom, Mode
from aam_vision.report import english

PARAMETERS = ("p", "from")


@pytest.mark.parametrize(
    ("predicate", "arguments", "mode", "words"),
    [
        ("at", (0, 1), Mode.POSITIVE, "?p is at ?from"),
        ("at", (0, 1), Mode.NEGATIVE, "?p is not at ?from"),
        ("clear", (1,), Mode.POSITIVE, "?from is clear"),
        ("is-player", (0,), Mode.POSITIVE, "?p is a player"),
        ("is_open", (0,), Mode.POSITIVE, "?p is open"),
        ("at-goal", (0,), Mode.NEGATIVE, "?p is not at goal"),
        ("connected-to", (0, "hub"), Mode.POSITIVE, "?p is connected to hub"),
        ("lies-in", (0, 1), Mode.POSITIVE, "?p lies in ?from"),
        ("has", (0, 1), Mode.NEGATIVE, "?p does not have ?from"),
        ("holds", (0,), Mode.POSITIVE, "it holds ?p"),
        ("robot-in", (1,), Mode.NEGATIVE, "the robot is not in ?from"),
        ("standing-on", (1,), Mode.POSITIVE, "it is standing on ?from"),
        ("smaller", (0, 1), Mode.POSITIVE, "smaller is true of ?p and ?from"),
        ("_", (0,), Mode.POSITIVE, "`_` is true of ?p"),
        ("handempty", (), Mode.NEGATIVE, "handempty is not true"),
    ],
)
def test_a_literal_is_a_clause_of_a_sentence(predicate, arguments, mode, words):
    assert english.literal(LiftedAtom(predicate, arguments), mode, PARAMETERS) == words


def test_a_negative_effect_says_what_no_longer_holds():
    for predicate, words in (("at", "?p is no longer at ?from"), ("lies-in", "?p no longer lies in ?from")):
        assert english.effect(LiftedAtom(predicate, (0, 1)), Mode.NEGATIVE, PARAMETERS) == words


def test_parameters_are_listed_with_their_types():
    header = ActionHeader("move", ("p", "from"), ("thing", "area"))
    assert english.parameters(header) == "a thing ?p and an area ?from"
