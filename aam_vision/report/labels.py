"""Names of things at their places in a picture without cells, none over another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aam_vision.perception import Point

SIZE: Final = 0.042
"""Height of the letters, as a share of the picture's width."""
LETTER: Final = 0.64
"""Width of a letter, at most on average, as a share of its height."""


@dataclass(frozen=True)
class Label:
    """A name, and the middle of its text in shares of the picture's width and height."""

    text: str
    across: float
    down: float
    marked: bool
    """Whether it is about an argument of the step."""


def labels(positions: Mapping[str, Point], parameters: Mapping[str, str]) -> tuple[Label, ...]:
    """Labels of things, each moved down until it covers none above, and into the picture.

    Args:
        positions: of the things.
        parameters: what the step calls those that it is about: thing to ``?x``.
    """
    found: list[Label] = []
    for name, (across, down) in sorted(positions.items(), key=lambda item: (item[1][1], item[0])):
        text = f"{parameters[name]} {name}" if name in parameters else name
        half = min(0.5, len(text) * SIZE * LETTER / 2)
        label = Label(
            text, min(max(across, half), 1 - half), min(max(down, SIZE), 1 - SIZE), name in parameters
        )
        while any(_overlap(label, other) for other in found):
            label = Label(text, label.across, label.down + SIZE / 4, label.marked)
        found.append(label)
    return tuple(found)


def _overlap(one: Label, other: Label) -> bool:
    wide = (len(one.text) + len(other.text)) * SIZE * LETTER / 2
    return abs(one.across - other.across) < wide and abs(one.down - other.down) < SIZE * 1.1
