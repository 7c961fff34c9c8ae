"""A board small enough to go through everything that it may show, with every kind of perceived predicate.

Pawns and rocks stand in cells. A free cell has neither; the mark of a cell is hidden by a pawn on it; a pawn or rock
may glow. No mark is beside a free cell's sign unless the cell glows: only to have a rule with an exception.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from aam_vision.agents.perception import (
    Constraint,
    Never,
    Perceived,
    Reading,
    Scene,
    VisualVocabulary,
    exclusive,
)
from aam_vision.model.strips import Objects, Predicate, Types

TYPES = Types({"thing": "object", "cell": "object"})
FREE = Perceived(Predicate("free", ("cell",)), Reading.THERE, {"": "free"}, "nothing stands there")
AT = Perceived(
    Predicate("at", ("thing", "cell")), Reading.WHERE, {"pawn": "pawn", "rock": "rock"}, "where it stands"
)
MARKED = Perceived(Predicate("marked", ("cell",)), Reading.THERE, {"": "mark"}, "a mark", hidden_by="pawn")
GLOWS = Perceived(Predicate("glows", ("thing",)), Reading.ON, {"": "glow"}, "a glow around a thing")
HEADS = ("free", "pawn", "rock", "mark", "glow")
RULES = (*exclusive("free", "pawn", "rock"), Never(("rock", "mark"), ("glow",)))


def vocabulary(
    *rules: Constraint,
    may_vanish: Mapping[str, bool] | None = None,
    entries: tuple[Perceived, ...] | None = None,
) -> VisualVocabulary:
    return VisualVocabulary(
        "toy", entries or (FREE, AT, MARKED, GLOWS), TYPES, may_vanish or {}, constraints=(*RULES, *rules)
    )


def scene(cells: int, looks: Mapping[str, str], **more: object) -> Scene:
    """A row of cells, and these things."""
    names = [f"c{number}" for number in range(cells)]
    objects = Objects({**dict.fromkeys(looks, "thing"), **dict.fromkeys(names, "cell")}, TYPES)
    places = {name: ((0, number),) for number, name in enumerate(names)}
    return Scene(objects, 1, cells, places, looks, **more)  # type: ignore[arg-type]


Shown = frozenset[str]
"""The heads that say yes in one cell, as far as their answers mean anything."""


def legal_cells() -> list[Shown]:
    """All that a cell may show, from the rules in words."""
    found = []
    for answers in product([False, True], repeat=len(HEADS)):
        shown = frozenset(head for head, yes in zip(HEADS, answers, strict=True) if yes)
        if len(shown & {"free", "pawn", "rock"}) > 1:
            continue
        if any(head in shown and not means(head, shown) for head in HEADS):
            continue
        if {"rock", "mark"} <= shown and "glow" not in shown:
            continue
        found.append(shown)
    return found


def means(head: str, shown: Shown) -> bool:
    """Whether the answer of a head means anything beside what else is shown."""
    if head == "mark":
        return "pawn" not in shown
    if head == "glow":
        return bool(shown & {"pawn", "rock"})
    return True


def legal_boards(cells: int, numbers: Mapping[str, tuple[int, int]]) -> Iterator[tuple[Shown, ...]]:
    """All that a board may show, if each of these heads says yes to so many cells: at least, at most."""
    for board in product(legal_cells(), repeat=cells):
        counted = {head: sum(head in shown for shown in board) for head in numbers}
        if all(least <= counted[head] <= most for head, (least, most) in numbers.items()):
            yield board
