"""Scenes that a person describes over a picture of any origin: where the cells are, and how many things of each look there are.

No simulator is needed. All pictures of a folder show the same scene; it is kept in ``scene.json`` beside their labels, in which the
problem of such pictures is called ``pictures``. Where pictures have no cells, nothing needs to be described: there is one thing of
each look, and a picture shows some of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from aam_vision.agents.encoding import loads
from aam_vision.agents.perception import Box, Reading, Scene, VisualVocabulary
from aam_vision.envs.grids import cell_names, grid_boxes, grid_scene
from aam_vision.model.strips import Objects
from aam_vision.support.commandline import write_atomically
from aam_vision.support.errors import UnusableInput
from aam_vision.support.files import read_limited

FILE: Final = "scene.json"
PROBLEM: Final = "pictures"
"""The name of the problem."""
MOST_BYTES: Final = 100_000
MOST_CELLS: Final = 64
"""Rows at most, and columns."""
MOST_THINGS: Final = 1000
"""Of one look at most."""


@dataclass(frozen=True)
class Description:
    """What a person has said about the pictures.

    Attributes:
        rows: of cells.
        columns: of cells.
        box: of the whole grid in the picture.
        place: the type of the cells.
        things: look -> how many things have it.
    """

    rows: int
    columns: int
    box: Box
    place: str
    things: Mapping[str, int]

    def scene(self, visual: VisualVocabulary) -> Scene:
        """The scene: cells are called ``cell-ROW-COLUMN``, from 1, things ``LOOK-NUMBER``."""
        named_cells = cell_names(self.rows, self.columns, "cell-{row}-{column}")
        cells = {name: cell for cell, name in named_cells.items()}
        kinds = _kinds_of_things(visual)
        looks = {
            f"{look}-{number + 1}": look for look, count in self.things.items() for number in range(count)
        }
        named = {**dict.fromkeys(cells, self.place), **{thing: kinds[look] for thing, look in looks.items()}}
        boxes = grid_boxes(self.rows, self.columns, self.box)
        return grid_scene(Objects(named, visual.types), cells, looks=looks, boxes=boxes)

    def write(self, folder: Path) -> None:
        """Keep it in a folder of labels."""
        write_atomically(folder / FILE, json.dumps(asdict(self), indent=2) + "\n")


def pictured_scene(folder: Path, visual: VisualVocabulary) -> Scene | None:
    """The scene of the pictures of a folder of labels; of a board None, as long as nobody has described it.

    Without cells, there is a thing of each look, which is called like it.

    Raises:
        UnusableInput: the description cannot be used, or the vocabulary speaks of things that no look stands for.
    """
    if not visual.cellless:
        description = read_description(folder, visual)
        return None if description is None else description.scene(visual)
    check_types(visual)
    kinds = _kinds_of_things(visual, Reading.FOUND)
    return Scene.of_things(Objects(kinds, visual.types), {look: look for look in kinds})


def place_types(visual: VisualVocabulary) -> tuple[str, ...]:
    """The types that cells may have: first those in which things are searched for."""
    entries = sorted(visual.perceived, key=lambda one: one.reading is not Reading.WHERE)
    return tuple(dict.fromkeys(one.predicate.types[-1] for one in entries if one.reading is not Reading.ON))


def looks(visual: VisualVocabulary) -> tuple[str, ...]:
    """The looks that things may have."""
    return tuple(_kinds_of_things(visual))


def described(facts: object, visual: VisualVocabulary) -> Description:
    """A description as JSON has it, which may be anybody's; UnusableInput if it is none, or does not fit the vocabulary."""
    names = {"rows", "columns", "box", "place", "things"}
    if not isinstance(facts, dict) or set(facts) != names:
        raise UnusableInput(f"a description of a scene has {', '.join(sorted(names))}")
    rows, columns = (_whole(facts[name], name, 1, MOST_CELLS) for name in ("rows", "columns"))
    edges = facts["box"]
    shares = isinstance(edges, list) and all(type(edge) in (int, float) and 0 <= edge <= 1 for edge in edges)
    if not shares or len(edges) != 4:
        raise UnusableInput(f"box {edges!r}: give top, bottom, left and right as shares of the picture")
    top, bottom, left, right = (float(edge) for edge in edges)
    if bottom - top < 0.01 or right - left < 0.01:
        raise UnusableInput(
            "the grid is empty: put its bottom below its top, and its right edge to the right of its left one"
        )
    if facts["place"] not in place_types(visual):
        raise UnusableInput(
            f"no type {facts['place']!r} of cells: use one of {', '.join(place_types(visual))}"
        )
    things = facts["things"]
    if not isinstance(things, dict) or not set(things) <= set(looks(visual)):
        raise UnusableInput(f"things: say how many there are of {', '.join(looks(visual)) or 'nothing'}")
    counts = {look: _whole(things.get(look, 0), look, 0, MOST_THINGS) for look in looks(visual)}
    return Description(rows, columns, (top, bottom, left, right), str(facts["place"]), counts)


def read_description(folder: Path, visual: VisualVocabulary) -> Description | None:
    """The description in a folder of labels; None if there is none.

    Raises:
        UnusableInput: there is a file that cannot be used.
    """
    path = folder / FILE
    try:
        return described(loads(read_limited(path, MOST_BYTES)), visual)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, UnusableInput) as error:
        raise UnusableInput(f"{path}: {error}; correct it, or describe the scene again elsewhere") from None


def check_types(visual: VisualVocabulary) -> None:
    """Refuse a vocabulary of which a described scene cannot show something.

    Raises:
        UnusableInput: a predicate is about things of a type that no look stands for, or a look stands for a type that is none.
    """
    kinds = _kinds_of_things(visual, Reading.FOUND if visual.cellless else Reading.WHERE)
    for entry in visual.read_as(Reading.ON):
        (wanted,) = entry.predicate.types
        if not any(visual.types.is_a(kind, wanted) for kind in kinds.values()):
            raise UnusableInput(
                f"{entry.predicate.name} is about things of type {wanted}, and no look is called {wanted} or like a type "
                f"below it ({', '.join(kinds) or 'there is none'}): rename the look"
            )
    # without cells nothing would be asked of such things, and so nothing be learned about them
    for wanted, one in ((seen.predicate.types[0], seen) for seen in visual.read_as(Reading.FOUND)):
        for look in one.heads:
            if not visual.types.is_a(kinds[look], wanted):
                raise UnusableInput(f"look {look} is of type {kinds[look]}, which is no {wanted}")
    for entry in visual.read_as(Reading.SHOWN):
        for wanted in entry.predicate.types:
            if not any(visual.types.is_a(kind, wanted) for kind in kinds.values()):
                raise UnusableInput(
                    f"{entry.predicate.name} is about things of type {wanted}, and no look is said to be of it: say of which type each is, "
                    f'found({{"{next(iter(kinds))}": "{wanted}", ...}}, ...)'
                )


def _kinds_of_things(visual: VisualVocabulary, reading: Reading = Reading.WHERE) -> dict[str, str]:
    """Look -> the type of things that have it: what is said, or the type of that name, if it is one of those that the predicate is about."""
    return {
        look: one.kinds.get(
            look, look if look in visual.types.parents and visual.types.is_a(look, kind) else kind
        )
        for one in visual.read_as(reading)
        for look in one.heads
        for kind in one.predicate.types[:1]
    }


def _whole(value: Any, name: str, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise UnusableInput(f"{name} {value!r}: give a whole number from {least} to {most}")
    return value
