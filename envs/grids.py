"""Boards of square cells: scenes, and which cell is next to which."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from aam_vision.agents.perception import Box, Cell, Scene
from aam_vision.model.strips import Atom, Objects, Types
from aam_vision.support.recent import PerObject

STEPS: Final = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
"""Direction -> change of row and column."""


def grid_scene(objects: Objects, cells: Mapping[str, Cell], **more: Any) -> Scene:
    """The scene of a board on which every place is one cell.

    Args:
        objects: of the problem.
        cells: the cell of each place.
        more: the other fields of ``Scene``; the board is as large as its cells need.
    """
    size = {
        "rows": max(row for row, _ in cells.values()) + 1,
        "columns": max(column for _, column in cells.values()) + 1,
    }
    return Scene(objects=objects, cells={name: (cell,) for name, cell in cells.items()}, **{**size, **more})


def board_scene(
    rows: int, columns: int, types: Mapping[str, str], kinds: Mapping[str, str], **more: Any
) -> Scene:
    """The scene of a board whose cells ``cell-ROW-COLUMN``, from 0, are objects of type ``cell``.

    Args:
        rows: height of the board in cells.
        columns: width of the board in cells.
        types: the type hierarchy, each type with its parent.
        kinds: the other objects with their types; and the cells that are of another type, below ``cell``.
        more: the other fields of ``Scene``.
    """
    cells = {f"cell-{row}-{column}": (row, column) for row in range(rows) for column in range(columns)}
    return grid_scene(Objects({**dict.fromkeys(cells, "cell"), **kinds}, Types(types)), cells, **more)


def grid_boxes(rows: int, columns: int, box: Box = (0, 1, 0, 1)) -> dict[Cell, Box]:
    """Where the cells of a grid are that takes up a part of the image, by default all of it."""
    top, bottom, left, right = box
    downs = [top + (bottom - top) * row / rows for row in range(rows + 1)]
    acrosses = [left + (right - left) * column / columns for column in range(columns + 1)]
    return {
        (row, column): (downs[row], downs[row + 1], acrosses[column], acrosses[column + 1])
        for row in range(rows)
        for column in range(columns)
    }


def places_by_cell(scene: Scene) -> dict[Cell, str]:
    """The place at every cell, in the order of the scene's places; a larger place counts at its first cell."""
    return {cells[0]: name for name, cells in scene.cells.items() if cells}


def neighbours(
    named: Mapping[Cell, str], steps: Mapping[str, tuple[int, int]] = STEPS
) -> Iterator[tuple[str, str, str]]:
    """All (place, next place, direction), in the order of the places; ``steps`` are those of direction -> (down, right)."""
    for (row, column), start in named.items():
        for direction, (down, right) in steps.items():
            end = named.get((row + down, column + right))
            if end is not None:
                yield start, end, direction


class Passages:
    """Atoms that say that one leads from a cell to the next, where neither is a wall.

    Args:
        atom: makes the atom of (place, next place, direction); atoms of objects that a problem does not have are
            left out.
        directions: those of ``STEPS`` that count.
    """

    def __init__(
        self, atom: Callable[[str, str, str], Atom], directions: Collection[str] = tuple(STEPS)
    ) -> None:
        steps = {direction: STEPS[direction] for direction in directions}

        def candidates(scene: Scene) -> list[tuple[Atom, str, str]]:
            made = [(atom(*step), step[0], step[1]) for step in neighbours(places_by_cell(scene), steps)]
            return [each for each in made if all(name in scene.objects for name in each[0].objects)]

        self._candidates = PerObject(candidates)

    def between(
        self, scene: Scene, floor: Collection[str], perhaps: Collection[str]
    ) -> tuple[list[Atom], list[Atom]]:
        """The true atoms and the unknown ones; ``perhaps`` are the places that are floor or may be."""
        true, unknown = [], []
        for atom, start, end in self._candidates(scene):
            if start in floor and end in floor:
                true.append(atom)
            elif start in perhaps and end in perhaps:
                unknown.append(atom)
        return true, unknown


def cell_names(rows: int, columns: int, name: str) -> dict[Cell, str]:
    """The name of every cell of a board; ``name`` is a format of ``row`` and ``column``, from 1."""
    return {
        (row, column): name.format(row=row + 1, column=column + 1)
        for row in range(rows)
        for column in range(columns)
    }


def places_of(atoms: Collection[Atom], *predicates: str) -> set[str]:
    """The last objects of the atoms of these predicates."""
    return {atom.objects[-1] for atom in atoms if atom.predicate in predicates}
