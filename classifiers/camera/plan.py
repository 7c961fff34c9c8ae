"""Which classifiers a network for pictures has, and how its answers lie one after the other; nothing here needs torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aam_vision.errors import UnusableInput
from aam_vision.perception import Reading

AREA: Final = 128 * 128
"""Pixels of a picture as the network sees it: more of them show smaller things, and take longer."""

STEP: Final = 8
"""The sides of such a picture are multiples of this."""

Size = tuple[int, int]
"""Height and width in pixels."""


@dataclass(frozen=True)
class CameraPlan:
    """The classifiers of a network for pictures.

    Its answers to one picture are one row: whether each look is found, then ``alone``, then for each look ``single``,
    then for each look and each other look ``pairs``.

    Attributes:
        looks: names of the looks, in the order of their classifiers.
        found: the classifier of each look: whether a thing of that look is found.
        alone: classifiers of the whole picture.
        single: classifiers of one thing.
        pairs: classifiers of two things in order.
    """

    looks: tuple[str, ...]
    found: tuple[str, ...]
    alone: tuple[str, ...]
    single: tuple[str, ...]
    pairs: tuple[str, ...]

    @property
    def heads(self) -> tuple[str, ...]:
        """All classifiers."""
        return (*self.found, *self.alone, *self.single, *self.pairs)

    @property
    def size(self) -> int:
        """The number of answers to one picture."""
        looks = len(self.looks)
        return looks + len(self.alone) + looks * len(self.single) + looks * looks * len(self.pairs)

    def place(self, head: str, *looks: str) -> int:
        """Where the answer of a classifier about things of these looks lies."""
        which = [self.looks.index(look) for look in looks]
        number = len(self.looks)
        if not looks:
            return number + self.alone.index(head)
        begin = number + len(self.alone)
        if len(looks) == 1:
            return begin + which[0] * len(self.single) + self.single.index(head)
        begin += number * len(self.single)
        return begin + (which[0] * number + which[1]) * len(self.pairs) + self.pairs.index(head)


def plan_of(described: Mapping[str, Any]) -> CameraPlan:
    """The plan for a vocabulary as ``store.describe`` gives it.

    Raises:
        UnusableInput: its predicates cannot be read off pictures.
    """
    name = described.get("name")
    found: dict[str, str] = {}
    heads: dict[int, list[str]] = {0: [], 1: [], 2: []}
    for predicate, facts in described["predicates"].items():
        kind, arity = facts.get("reading"), len(facts["types"])
        if kind == Reading.FOUND.value:
            if not facts.get("auxiliary") or arity != 1 or found:
                raise UnusableInput(
                    f"vocabulary {name}: {predicate} says which things are found: let there be one such "
                    f"predicate, auxiliary and of one thing"
                )
            found = dict(facts["heads"])
        elif kind == Reading.SHOWN.value:
            if arity not in heads or list(facts["heads"]) != [""]:
                raise UnusableInput(
                    f"vocabulary {name}: {predicate} is read off pictures: give it two things at most, and one classifier"
                )
            heads[arity].append(facts["heads"][""])
    if not found:
        raise UnusableInput(
            f"vocabulary {name}: no entry says by which looks things are found; add Perceived(..., Reading.FOUND, ...)"
        )
    if len(set(every := [*found.values(), *heads[0], *heads[1], *heads[2]])) < len(every):
        raise UnusableInput(
            f"vocabulary {name}: two entries have a classifier of the same name; give each its own"
        )
    return CameraPlan(tuple(found), tuple(found.values()), *[tuple(heads[arity]) for arity in (0, 1, 2)])


def seen_size(height: int, width: int) -> Size:
    """The size in which the network sees pictures of this one: the same proportions, about ``AREA`` pixels."""
    scale = (AREA / (height * width)) ** 0.5
    across, down = (max(STEP, round(side * scale / STEP) * STEP) for side in (width, height))
    return down, across
