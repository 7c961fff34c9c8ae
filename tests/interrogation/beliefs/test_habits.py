"""Which atoms name parameters of one type as written domains seldom do."""

from __future__ import annotations

import pytest

from aam_vision.interrogation.beliefs.habits import among_more, apart, reversed_order
from aam_vision.model.strips import LiftedAtom

KINDS = ("goods", "level", "truck", "level", "level")
"""Of an action whose parameters 1, 3 and 4 are levels: 1 and 3 are neighbours, though a truck is between them."""


@pytest.mark.parametrize(
    ("arguments", "reverses", "skips"),
    [
        ((1, 3), False, False),
        ((3, 1), True, False),
        ((1, 4), False, True),
        ((4, 1), True, True),
        ((0, 2, 4), False, False),
        ((2, 0), False, False),
        ((3, 0, 4), False, False),
        (("half", 4), False, False),
    ],
)
def test_only_parameters_of_one_type_are_named_in_another_order_or_apart(
    arguments: tuple[int | str, ...], reverses: bool, skips: bool
) -> None:
    atom = LiftedAtom("related", arguments)
    assert reversed_order(atom, KINDS) == reverses
    assert apart(atom, KINDS) == skips


def test_levels_are_among_more_and_trucks_are_not() -> None:
    assert among_more(LiftedAtom("next", (3, 1)), KINDS)
    assert not among_more(LiftedAtom("stored", (0, 1)), KINDS)
    assert not among_more(LiftedAtom("behind", (1, 0)), ("truck", "truck", "level"))
