"""Poor classifiers are named by the figures of their own card, whatever is in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from aam_vision.classifiers.store import Card, weaknesses

CARD = Card("toy", {"heads": ["arrow", "lamp"], "predicates": {}}, "", "", 0, {}, {})


def _card(arrow: int = 0, exact: int = 400, positives: object = None) -> Card:
    classifiers = {"arrow": {"pictures": 400, "wrong": arrow}, "lamp": {"pictures": 400, "wrong": 0}}
    unseen = {"states": 400, "exact": exact, "classifiers": classifiers}
    return replace(CARD, figures={"unseen": unseen, "positives": positives or {"arrow": 9, "lamp": 1}})


def test_only_what_is_poor_is_named() -> None:
    assert weaknesses(_card()) == weaknesses(_card(arrow=4, exact=396)) == []
    assert weaknesses(_card(arrow=5)) == [
        "classifier arrow of toy is wrong in 5 of 400 unseen pictures (1.2%)"
    ]
    assert weaknesses(_card(exact=390)) == [
        "the classifiers of toy read 390 of 400 unseen states exactly (97.5%)"
    ]
    (line,) = weaknesses(_card(positives={"arrow": 3, "lamp": 0}))
    assert line.startswith("classifier lamp of toy never saw a positive example")


@pytest.mark.parametrize(
    "figures",
    [
        {},
        [],
        {"unseen": 3, "positives": [0]},
        {"unseen": {"states": "400", "exact": None, "classifiers": {"arrow": 1, "lamp": {"wrong": []}}}},
        {"unseen": {"states": 400, "exact": 400}},
    ],
)
def test_older_and_strange_cards_have_no_such_figures(figures: Any) -> None:
    assert weaknesses(replace(CARD, figures=figures)) == []
