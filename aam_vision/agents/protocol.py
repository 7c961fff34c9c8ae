"""The agent protocol: one JSON object a line, a question and its answer, each with the question's number.

``docs/agent-protocol.md`` describes it, ``protocol.schema.json`` states it as a JSON Schema. Answers are checked in
full: names, types, numbers, and that the answer fits the question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aam_vision.agents.encoding import (
    MAX_NAMES,
    Malformed,
    dumps,
    field,
    loads,
    optional,
    read_atoms,
    read_plan,
    read_state,
    read_vocabulary,
    show,
    typed,
)
from aam_vision.agents.perception import Box, Cell, Point, Scene
from aam_vision.model.query import Access
from aam_vision.model.strips import ROOT_TYPE, ActionHeader, GroundAction, Objects, State, Types, Vocabulary

VERSION = 1
MAX_PROBLEMS = 1000
MAX_SNAPSHOT = 1 << 16
"""Characters of a snapshot's name at most."""

Start = str | dict[str, Any]
"""Where a run or walk begins: ``start``, ``here``, ``{"snapshot": name}``, or a state."""


@dataclass(frozen=True)
class Hello:
    """An agent's description of itself."""

    vocabulary: Vocabulary
    """If the agent shows images, only the predicates that it states facts about."""
    headers: tuple[ActionHeader, ...]
    problems: tuple[Objects, ...]
    access: Access
    """The strongest access that it allows."""
    walks: bool
    deterministic: bool
    version: str
    shown: tuple[Shown, ...] = ()
    """For each problem how it is shown; empty if states are atoms."""
    copies: int | None = None
    """How many processes of it may run at a time; None for any number."""
    controls: bool = False
    """Whether its actions are controls: each can always be given, and changes something or nothing."""
    by_hand: bool = False
    """Whether a person sets its problem up again."""
    refuses_surely: bool = False
    """Whether no refusal of it is a mistake."""


@dataclass(frozen=True)
class Reached:
    """A situation that an agent has shown."""

    state: State
    snapshot: str | None


def line(question: dict[str, Any], number: int) -> bytes:
    """A question as it is sent, without the end of the line."""
    return dumps({"id": number, **question}).encode()


def answer(received: bytes, number: int) -> dict[str, Any]:
    """The answer in a line.

    Raises:
        Malformed: it is not an answer, or answers another question.
    """
    found = loads(received)
    if field(found, "id", int) != number:
        raise Malformed(f"an answer to question {show(found['id'])}, where {number} was asked")
    assert isinstance(found, dict)
    return found


def complaint(found: dict[str, Any]) -> str | None:
    """Why the agent cannot answer, in its own words; None if it can."""
    if "error" not in found:
        return None
    text = field(found, "error", str)[:200]
    return "".join(c if c.isprintable() else "?" for c in text)


def read_hello(found: dict[str, Any]) -> Hello:
    """Read an agent's description of itself.

    Raises:
        Malformed: it speaks another version, or contradicts itself.
    """
    if (version := field(found, "protocol", int)) != VERSION:
        raise Malformed(f"version {show(version)} of the protocol, where {VERSION} is spoken")
    images = optional(found, "images", bool, False)
    vocabulary, headers = read_vocabulary(found, least=0 if images else 1)
    access = field(found, "access", str)
    if access not in {each.value for each in Access}:
        raise Malformed(f"the access {show(access)}: use one of {', '.join(each.value for each in Access)}")
    if images and Access(access).constructs:
        raise Malformed("settable access with images: no state can be set there; snapshot is the most")
    problems = field(found, "problems", list)
    if not 0 < len(problems) <= MAX_PROBLEMS:
        raise Malformed(f"{len(problems)} problems: there must be 1 to {MAX_PROBLEMS}")
    objects = tuple(_objects(problem, vocabulary) for problem in problems)
    pairs = zip(problems, objects, strict=True) if images else ()
    shown = tuple(read_shown(problem, vocabulary, own) for problem, own in pairs)
    copies: int | None = optional(found, "copies", int)
    if copies is not None and copies < 1:
        raise Malformed(f"{show(copies)} copies: at least one runs")
    controls: bool = optional(found, "controls", bool, False)
    if controls and not Access(access).returns:
        raise Malformed(f"{access} access with controls: they need snapshot, or settable")
    by_hand: bool = optional(found, "by_hand", bool, False)
    if by_hand and not (images and Access(access).episodic and len(problems) == 1):
        raise Malformed("by_hand goes with images, reset access and one problem")
    return Hello(
        vocabulary,
        headers,
        objects,
        Access(access),
        optional(found, "walks", bool, False),
        optional(found, "deterministic", bool, True),
        optional(found, "version", str, "")[:200],
        shown,
        copies,
        controls,
        by_hand,
        optional(found, "refuses_surely", bool, False),
    )


def _objects(problem: object, vocabulary: Vocabulary) -> Objects:
    kinds = typed(field(problem, "objects", dict), vocabulary.types)
    for name, kind in vocabulary.constants.items():
        if kinds.setdefault(name, kind) != kind:
            raise Malformed(f"object {name} is a {kinds[name]} in a problem, and a {kind} as a constant")
    return Objects(kinds, vocabulary.types)


def read_steps(
    found: dict[str, Any], steps: int, headers: dict[str, ActionHeader], objects: Objects
) -> list[tuple[GroundAction, dict[str, Any]]]:
    """The actions of a walk, and the answer's description of the situation after each.

    Raises:
        Malformed: it does not answer such a question.
    """
    walked = field(found, "steps", list)
    if len(walked) > steps:
        raise Malformed(f"{len(walked)} steps walked, where at most {steps} were asked for")
    return [(read_plan([field(step, "action", list)], headers, objects)[0], step) for step in walked]


def read_snapshot(found: dict[str, Any]) -> str | None:
    """The agent's name for a situation, None if it has none.

    Raises:
        Malformed: it is not such a name.
    """
    snapshot: str | None = optional(found, "snapshot", str)
    if snapshot is not None and len(snapshot) > MAX_SNAPSHOT:
        raise Malformed(f"a snapshot of {len(snapshot)} characters; at most {MAX_SNAPSHOT} are allowed")
    return snapshot


def read_reached(found: dict[str, Any], vocabulary: Vocabulary, objects: Objects) -> Reached:
    """The situation that an answer shows in atoms.

    Raises:
        Malformed: it shows none of this vocabulary and these objects.
    """
    return Reached(read_state(field(found, "state", dict), vocabulary, objects), read_snapshot(found))


# Scenes as JSON: the description, by the user, of each problem of an agent that shows images.
#
# The board, the names of places and things, what stands where in the first image, and the facts that no image shows; see
# ``perception.Scene``. All of it is checked here against the objects and the limits below, regardless of its author.


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
        "looks": dict(scene.looks),
        "anchors": dict(scene.anchors),
        "facts": [[fact.predicate, *fact.objects] for fact in sorted(scene.facts)],
    }
    if scene.cells:
        cells = {place: [list(cell) for cell in cells] for place, cells in scene.cells.items()}
        told = {"rows": scene.rows, "columns": scene.columns, "cells": cells, **told}
    if scene.points:
        told["points"] = {thing: list(point) for thing, point in scene.points.items()}
    if scene.spots is not None:
        told["spots"] = dict(scene.spots)
    if scene.boxes is not None:
        told["boxes"] = [[*cell, *box] for cell, box in scene.boxes.items()]
    return {"objects": dict(scene.objects), "size": list(size), "scene": told}


def read_shown(problem: object, vocabulary: Vocabulary, objects: Objects) -> Shown:
    """Read what ``shown_json`` has written; only the size, or for boards rows, columns and cells, may not be left out.

    Raises:
        Malformed: something is missing, of another kind, beyond a limit, or refers to something that does not exist.
    """
    height, width = (_whole(side, "a side of the images", MAX_SIDE) for side in _pair(problem, "size"))
    if height * width > MAX_PIXELS:
        raise Malformed(f"images of {height} x {width} pixels are larger than {MAX_PIXELS} in all")
    told = field(problem, "scene", dict)
    rows = columns = 0
    if any(name in told for name in ("rows", "columns", "cells", "boxes")):
        rows, columns = (_whole(field(told, side, int), side, MAX_CELLS) for side in ("rows", "columns"))
    spots = _spots(told["spots"], vocabulary) if optional(told, "spots", dict) is not None else None
    things, places = _texts(told, "looks"), field(told, "cells", dict) if rows else {}
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
            read_atoms(optional(told, "facts", list, []), vocabulary, objects),
            spots,
            _boxes(field(told, "boxes", list), rows, columns) if "boxes" in told else None,
            _points(optional(told, "points", dict, {}), things),
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


def _points(value: dict[str, Any], things: dict[str, str]) -> dict[str, Point]:
    found: dict[str, Point] = {}
    for thing, point in value.items():
        match point:
            case [int() | float() as across, int() | float() as down] if 0 <= across <= 1 and 0 <= down <= 1:
                found[thing] = float(across), float(down)
            case _:
                raise Malformed(
                    f"{show(point)} is not a place in an image: give shares of its width and height"
                )
        if thing not in things:
            raise Malformed(f"{show(thing)} is pointed at, and has no look")
    return found


def _texts(told: dict[str, Any], name: str) -> dict[str, str]:
    value: dict[str, Any] = optional(told, name, dict, {})
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
