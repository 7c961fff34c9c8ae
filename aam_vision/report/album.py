"""The images of a run: ``frames/NAME.png`` in its folder, each once, with few colours and so small."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from aam_vision.agents.perception import Box, Frame
from aam_vision.model.strips import Atom, State
from aam_vision.support.files import read_limited
from aam_vision.support.pictures import pixels_only

FOLDER = "frames"
COLOURS = 64
"""Colours of a palette: flat drawings look the same, at a sixth of the size."""
QUICK = 2
"""Level of compression while a run goes on: a third of the time of the usual one for a quarter more bytes."""
MAX_BYTES = 2_000_000
"""Bytes of a file that is read, at most."""

_NAME = re.compile(r"[0-9a-f]{32}")


class Album:
    """Keeps images while a run goes on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._kept: set[str] = set()

    def clear(self) -> None:
        """Remove the images of an earlier run in this folder."""
        if self._folder.is_dir() and not self._folder.is_symlink():
            for path in self._folder.glob("*.png"):
                if _NAME.fullmatch(path.stem):
                    path.unlink()

    def keep(self, frame: Frame) -> str:
        """Keep an image, uint8, (H, W, 3), and return its name."""
        digest = hashlib.sha256(repr(frame.shape).encode())
        digest.update(frame.tobytes())
        name = digest.hexdigest()[:32]
        if name not in self._kept:
            self._write(name, frame)
            self._kept.add(name)
        return name

    def _write(self, name: str, frame: Frame) -> None:
        if self._folder.is_symlink():  # a link would lead out of the run's folder
            self._folder.unlink()
        self._folder.mkdir(exist_ok=True)
        partial = self._folder / f"{name}.partial"
        partial.unlink(missing_ok=True)
        with partial.open("xb") as file:
            few_colours(frame).save(file, "PNG", compress_level=QUICK)
        partial.replace(self._folder / f"{name}.png")


def few_colours(frame: Frame) -> Any:
    """The image, uint8, (H, W, 3), with a palette, as Pillow has it."""
    from PIL import Image

    method = Image.Quantize.FASTOCTREE
    return Image.fromarray(frame).quantize(COLOURS, method=method, dither=Image.Dither.NONE)


@dataclass(frozen=True)
class Picture:
    """An image to be shown: PNG, its size in pixels as it was seen."""

    name: str
    width: int
    height: int
    png: bytes

    @property
    def uri(self) -> str:
        """The image as part of a page."""
        return f"data:image/png;base64,{b64encode(self.png).decode()}"

    def rgb(self) -> Any:
        """The image in all its colours, as Pillow has it."""
        from PIL import Image

        with Image.open(BytesIO(self.png), formats=["PNG"]) as image:
            return image.convert("RGB")

    def scaled(self, share: float, method: Any) -> Any:
        """The same with so large a share of its pixels across and down."""
        image = self.rgb()
        return image.resize([max(1, round(side * share)) for side in image.size], method)

    def smaller(self, width: int, colours: int) -> Picture:
        """The same image with at most so many pixels a row."""
        from PIL import Image

        small = self.scaled(min(1.0, width / self.width), Image.Resampling.LANCZOS)
        buffer = BytesIO()
        method = Image.Quantize.FASTOCTREE
        small.quantize(colours, method=method, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
        return Picture(self.name, self.width, self.height, buffer.getvalue())


def picture(folder: Path, name: str) -> Picture | None:
    """A kept image; None if it is missing, or not a small PNG. The file may be anybody's."""
    from PIL import Image

    path = folder / FOLDER / f"{name}.png"
    if not _NAME.fullmatch(name) or path.is_symlink() or path.parent.is_symlink():
        return None
    try:
        png = pixels_only(read_limited(path, MAX_BYTES))
        with Image.open(BytesIO(png), formats=["PNG"]) as image:
            width, height = image.size
            image.load()
    except Exception:  # a damaged file fails in as many ways as there are bytes
        return None
    return Picture(name, width, height, png)


# An image with the atoms as they were read drawn on its cells, those that are doubtful in red.

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
