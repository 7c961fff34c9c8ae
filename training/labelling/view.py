"""What the labelling page shows of a picture, as JSON."""

from __future__ import annotations

from typing import Any, Final

from aam_vision.perception import Box, Frame, Perceived, Scene, VisualVocabulary, board_box
from aam_vision.training.labelling.draft import Draft

KEYS: Final = "123456789abcdefghijklmopqrtvwxyz"
"""By which answers are toggled: neither n, s, u nor 0, which mean something else."""


def view_of(visual: VisualVocabulary, draft: Draft, frame: Frame) -> dict[str, Any]:
    """A picture, its places, and what is said about them."""
    height, width = frame.shape[:2]
    scene = draft.index.scene
    problems = draft.problems()
    wrong = {place for problem in problems for place in problem.places}
    told = _descriptions(visual)
    taken: set[tuple[int, ...]] = set()
    places = []
    for number, name in enumerate(draft.index.places):
        cells = draft.index.cells[number]
        large = len(cells) > 1 or cells in taken
        taken.add(cells)
        boxes = [box_of(scene, cell, height, width) for cell in cells]
        asked = draft.asked(number)
        places.append(
            {
                "name": name,
                "boxes": [[round(edge, 5) for edge in box] for box in boxes if box is not None],
                "large": large,
                "asked": asked,
                "yes": [head for head in asked if draft.yes[head, number]],
                "unsure": bool(draft.unsure[number]),
                "wrong": number in wrong,
            }
        )
    return {
        "width": width,
        "height": height,
        "heads": [
            {"name": head, "key": KEYS[number % len(KEYS)], "description": told[head]}
            for number, head in enumerate(draft.heads)
        ],
        "places": places,
        "problems": [
            {"places": list(problem.places), "why": problem.why, "number": problem.number}
            for problem in problems
        ],
    }


def _descriptions(visual: VisualVocabulary) -> dict[str, str]:
    """What the user wrote about every classifier's predicate."""
    found: dict[str, str] = {}
    for entry in visual.entries:
        if isinstance(entry, Perceived):
            for head in entry.heads.values():
                found.setdefault(head, f"{entry.predicate.name}: {entry.description}")
    return found


def box_of(scene: Scene, cell: int, height: int, width: int) -> Box | None:
    """Top, bottom, left and right edge of a cell, as shares of the picture; None if it is nowhere."""
    row, column = divmod(cell, scene.columns)
    if scene.boxes is not None:
        return scene.boxes.get((row, column))
    top, bottom, left, right = board_box(height, width, scene.rows, scene.columns)
    down, across = (bottom - top) / scene.rows / height, (right - left) / scene.columns / width
    return (
        top / height + row * down,
        top / height + (row + 1) * down,
        left / width + column * across,
        left / width + (column + 1) * across,
    )
