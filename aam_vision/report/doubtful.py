"""An image with the atoms as they were read drawn on its cells, those that are doubtful in red."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from io import BytesIO
from pathlib import Path

from aam_vision.agents.perception import Box
from aam_vision.model.strips import Atom, State
from aam_vision.report.album import MAX_BYTES
from aam_vision.support.files import read_limited

CELL = 96
"""Pixels of a cell in which words can be read."""
MOST = 8
"""Times that an image is enlarged at most."""
READ, DOUBTFUL = (255, 255, 255), (255, 60, 60)


def drawn(image: Path, boxes: Mapping[str, Box], state: State, doubtful: Collection[Atom]) -> bytes:
    """The image as PNG, with what was read of each place on it; what is doubtful is red, ``not`` where it was read as false."""
    from PIL import Image, ImageDraw

    with Image.open(BytesIO(read_limited(image, MAX_BYTES)), formats=["PNG"]) as found:
        picture = found.convert("RGB")
    narrowest = min((box[3] - box[2] for box in boxes.values()), default=1.0) * picture.width
    scale = min(MOST, max(1, round(CELL / max(1.0, narrowest))))
    picture = picture.resize((picture.width * scale, picture.height * scale), Image.Resampling.NEAREST)
    draw = ImageDraw.Draw(picture)
    for place, (top, _, left, _) in boxes.items():
        told = [
            (_words(atom, place, true=atom in state.true), DOUBTFUL if atom in doubtful else READ)
            for atom in sorted({*state.true, *doubtful})
            if _is_about(atom, place, boxes)
        ]
        for line, (text, colour) in enumerate(told):
            at = left * picture.width + 3, top * picture.height + 2 + 11 * line
            draw.text(at, text, fill=colour, stroke_width=1, stroke_fill=(0, 0, 0))
    content = BytesIO()
    picture.save(content, "PNG")
    return content.getvalue()


def _is_about(atom: Atom, place: str, places: Collection[str]) -> bool:
    """Whether an atom is about this place and no other one."""
    return place in atom.objects and not any(name in places for name in atom.objects if name != place)


def _words(atom: Atom, place: str, *, true: bool) -> str:
    others = " ".join(name for name in atom.objects if name != place)
    return f"{'' if true else 'not '}{atom.predicate}{' ' if others else ''}{others}"
