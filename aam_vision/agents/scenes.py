"""Scenes as JSON: the description, by the user, of each problem of an agent that shows images.

The board, the names of places and things, what stands where in the first image, and the facts that no image shows; see
``perception.Scene``. All of it is checked here against the objects and the limits below, regardless of its author.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aam_vision.agents.encoding import MAX_NAMES, Malformed, field, read_atoms, show, typed
from aam_vision.perception import Box, Cell, Scene
from aam_vision.strips import ROOT_TYPE, Objects, Types, Vocabulary

MAX_CELLS = 64
"""Rows of a board at most, and columns."""
MAX_PAIRS = 200_000
"""Things (what has a look, or no cells) times places at most: so many atoms may be unknown in every state."""
MAX_SIDE = 4096
"""Pixels of a side of an image at most."""
MAX_PIXELS = 4_000_000
"""Pixels of an image at most."""


@dataclass(frozen=True)
class Shown:
    """How a problem is shown: its scene, and the height and width of every image."""

    scene: Scene
    size: tuple[int, int]


def shown_json(scene: Scene, size: tuple[int, int]) -> dict[str, Any]:
    """A problem as an agent that shows images tells it in its hello."""
    told: dict[str, Any] = {
        "rows": scene.rows,
        "columns": scene.columns,
        "cells": {place: [list(cell) for cell in cells] for place, cells in scene.cells.items()},
        "looks": dict(scene.looks),
        "anchors": dict(scene.anchors),
        "facts": [[fact.predicate, *fact.objects] for fact in sorted(scene.facts)],
    }
    if scene.spots is not None:
        told["spots"] = dict(scene.spots)
    if scene.boxes is not None:
        told["boxes"] = [[*cell, *box] for cell, box in scene.boxes.items()]
    return {"objects": dict(scene.objects), "size": list(size), "scene": told}


def read_shown(problem: object, vocabulary: Vocabulary, objects: Objects) -> Shown:
    """Read what ``shown_json`` has written; looks, anchors, facts, spots and boxes may be left out.

    Args:
        problem: the JSON.
        vocabulary: the types, and the predicates of the facts.
        objects: those of the problem, which are read already.

    Raises:
        Malformed: something is missing, of another kind, beyond a limit, or refers to something that does not exist.
    """
    height, width = (_whole(side, "a side of the images", MAX_SIDE) for side in _pair(problem, "size"))
    if height * width > MAX_PIXELS:
        raise Malformed(f"images of {height} x {width} pixels are larger than {MAX_PIXELS} in all")
    told = field(problem, "scene", dict)
    rows, columns = (_whole(field(told, side, int), side, MAX_CELLS) for side in ("rows", "columns"))
    spots = _spots(field(told, "spots", dict), vocabulary) if "spots" in told else None
    things, places = _texts(told, "looks"), field(told, "cells", dict)
    everything = {**objects, **(spots or {})}
    movable = sum(name in things or not places.get(name) for name in everything)
    if len(places) > MAX_NAMES or movable * len(everything) > MAX_PAIRS:
        raise Malformed(f"{movable} things among {len(everything)} things and places are too many together")
    anchors = _texts(told, "anchors")
    for name in (*things, *anchors, *places):
        if name not in everything:
            raise Malformed(f"{show(name)} is not an object of the problem")
    for place in anchors.values():
        if not places.get(place):
            raise Malformed(f"{show(place)} is not a place with cells")
    return Shown(
        Scene(
            objects,
            rows,
            columns,
            {place: _cells(cells, rows, columns) for place, cells in places.items()},
            things,
            anchors,
            read_atoms(field(told, "facts", list), vocabulary, objects) if "facts" in told else frozenset(),
            spots,
            _boxes(field(told, "boxes", list), rows, columns) if "boxes" in told else None,
        ),
        (height, width),
    )


def _spots(value: dict[str, Any], vocabulary: Vocabulary) -> Objects:
    """Places that are not objects; only the concepts of the environment know their types."""
    own = Types({kind: ROOT_TYPE for kind in value.values() if isinstance(kind, str)})
    return Objects(typed(value, own), vocabulary.types)


def _cells(value: object, rows: int, columns: int) -> tuple[Cell, ...]:
    if not isinstance(value, list):
        raise Malformed(f"{show(value)} is not a list of cells")
    return tuple(_cell(cell, rows, columns) for cell in value)


def _cell(value: object, rows: int, columns: int) -> Cell:
    match value:
        case [int(row), int(column)] if 0 <= row < rows and 0 <= column < columns:
            return int(row), int(column)
    raise Malformed(f"{show(value)} is not a [row, column] of a board of {rows} x {columns}")


def _boxes(value: list[Any], rows: int, columns: int) -> dict[Cell, Box]:
    found = {}
    for item in value:
        if not isinstance(item, list) or len(item) != 6:
            raise Malformed(f"{show(item)} is not a [row, column, top, bottom, left, right]")
        edges = [edge for edge in item[2:] if type(edge) in (int, float) and 0 <= edge <= 1]
        if len(edges) < 4 or not (edges[0] < edges[1] and edges[2] < edges[3]):
            raise Malformed(f"{show(item)} is not a part of an image: give shares of its height and width")
        top, bottom, left, right = map(float, edges)
        found[_cell(item[:2], rows, columns)] = (top, bottom, left, right)
    return found


def _texts(told: dict[str, Any], name: str) -> dict[str, str]:
    value = field(told, name, dict) if name in told else {}
    for text in value.values():
        if not isinstance(text, str):
            raise Malformed(f"{show(text)} among the {name} is not a name")
    return dict(value)


def _pair(value: object, name: str) -> list[Any]:
    pair = field(value, name, list)
    if len(pair) != 2:
        raise Malformed(f"{name!r} is {show(pair)}, which is not [height, width]")
    return list(pair)


def _whole(value: object, what: str, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise Malformed(f"{what}: {show(value)} is not a number from 1 to {most}")
    return value
