"""Which classifiers are poor by their own figures: those of the card that was written when they were trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aam_vision.classifiers.store import Card
from aam_vision.perception import ImageTest

POOR = 0.01
"""A classifier that is wrong in a larger share of unseen pictures is named when a run begins, and so is a set of
classifiers that reads a larger share of unseen states wrongly or not at all."""


def weaknesses(card: Card) -> list[str]:
    """What its own figures say against a set of weights, one line each; auxiliary classifiers are among them.

    Cards of older weights have figures of whole states only.
    """
    found = [
        f"classifier {head} of {card.name} never saw a positive example: it answers unknown"
        for head in card.vocabulary["heads"]
        if untaught(card, head)
    ]
    unseen = _table(card.figures, "unseen")
    for head, counts in _table(unseen, "classifiers").items():
        pictures, wrong = (_number(counts, name) for name in ("pictures", "wrong"))
        if wrong > POOR * pictures:
            share = f"{wrong} of {pictures} unseen pictures ({wrong / pictures:.1%})"
            found.append(f"classifier {head} of {card.name} is wrong in {share}")
    exact, states = image_test(card)
    if states - exact > POOR * states:
        found.append(
            f"the classifiers of {card.name} read {exact} of {states} unseen states exactly ({exact / states:.1%})"
        )
    return found


def image_test(card: Card) -> ImageTest:
    """How the classifiers of a card did in their test."""
    unseen = _table(card.figures, "unseen")
    return ImageTest(_number(unseen, "exact"), _number(unseen, "states"))


def untaught(card: Card, head: str) -> bool:
    """Whether a classifier never saw a positive example, so that it cannot know what one looks like.

    Cards of older weights do not say; theirs all saw some.
    """
    return _table(card.figures, "positives").get(head) == 0


def _table(figures: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of a card, which may be anybody's; empty if there is none of that kind."""
    found = figures.get(name) if isinstance(figures, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _number(counts: object, name: str) -> int:
    found = counts.get(name) if isinstance(counts, Mapping) else None
    return found if isinstance(found, int) and found > 0 else 0
