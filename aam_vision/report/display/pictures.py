"""Images side by side, for rich to print."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

import numpy as np
from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderResult
from rich.control import Control
from rich.segment import ControlType, Segment
from rich.style import Style

from aam_vision.agents.perception import Frame
from aam_vision.report.album import Picture, few_colours

LEAST = 12, 5
"""Columns and rows of an image at least: smaller ones cannot be recognized."""
MOST = 44
"""Columns of an image at most."""
GAP = 2
COLOURS = 24
"""Steps of a colour channel: with more, equal neighbours are few, and drawing takes longer."""


@dataclass(frozen=True)
class Pictures:
    """One or two images beside each other, as large as fits; the last one alone where space is narrow."""

    pictures: Sequence[tuple[str, Picture]]
    """Captions and images."""
    graphics: Graphics
    height: int
    """Available rows, captions included."""
    _drawn: dict[tuple[int, Graphics], list[list[Segment]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        if (width, self.graphics) not in self._drawn:
            self._drawn[width, self.graphics] = [*self._lines(width)]
        for line in self._drawn[width, self.graphics]:
            yield from line
            yield Segment.line()

    def _lines(self, width: int) -> Iterator[list[Segment]]:
        shown = list(self.pictures)
        while len(shown) > 1 and _share(width, len(shown)) < LEAST[0]:
            del shown[0]
        sizes = [_fitting(one, min(MOST, _share(width, len(shown))), self.height - 1) for _, one in shown]
        if not shown or any(columns < LEAST[0] or rows < LEAST[1] for columns, rows in sizes):
            return
        yield [
            Segment(caption[:columns].ljust(columns + GAP), Style(dim=True))
            for (caption, _), (columns, _) in zip(shown, sizes, strict=True)
        ]
        blocks = [
            _half_blocks(one, *size)
            if self.graphics is Graphics.BLOCKS
            else [[Segment(" " * size[0])]] * size[1]
            for (_, one), size in zip(shown, sizes, strict=True)
        ]
        last = max(rows for _, rows in sizes) - 1
        for row in range(last + 1):
            line = []
            for block, (columns, rows) in zip(blocks, sizes, strict=True):
                line += block[row] if row < rows else [Segment(" " * columns)]
                line.append(Segment(" " * GAP))
            if row == last and self.graphics is not Graphics.BLOCKS:
                line.append(self._draw([one for _, one in shown], sizes))
            yield line

    def _draw(self, pictures: Sequence[Picture], sizes: Sequence[tuple[int, int]]) -> Segment:
        """The sequences that draw all images, the cursor being at the end of the last row left for them; to rich, control codes without width."""
        up = max(rows for _, rows in sizes) - 1
        text, left = clearing(self.graphics), 1
        for place, (one, (columns, rows)) in enumerate(zip(pictures, sizes, strict=True)):
            # saved cursor, up, to the column, the image, and back
            start = f"\x1b7\x1b[{up}A" if up else "\x1b7"
            text += f"{start}\x1b[{left}G{sequence(self.graphics, one, place, columns, rows)}\x1b8"
            left += columns + GAP
        return Segment(text, None, [(ControlType.CURSOR_FORWARD, 0)])


def remove(kind: Graphics, console: Console) -> None:
    """Remove images that stay on the terminal when its rows are erased."""
    if text := clearing(kind):
        control = Control()
        control.segment = Segment(text, None, [(ControlType.CURSOR_FORWARD, 0)])
        console.control(control)


def _share(width: int, pictures: int) -> int:
    return (width - GAP * pictures) // pictures


def _fitting(picture: Picture, columns: int, rows: int) -> tuple[int, int]:
    """Columns and rows of the largest size that fits, cells being twice as high as wide."""
    scale = min(columns / picture.width, 2 * rows / picture.height)
    return max(0, int(picture.width * scale)), max(0, round(picture.height * scale / 2))


def _half_blocks(picture: Picture, columns: int, rows: int) -> list[list[Segment]]:
    """Every cell shows two pixels, one above the other: as the colours of an upper half-block and of its ground."""
    step = 255 / COLOURS
    frame = pixels(picture, columns, 2 * rows)
    coarse = ((frame / step).round() * step).astype(int)  # (2 rows, columns, 3)
    found = []
    for row in range(rows):
        line: list[tuple[int, Style]] = []
        for upper, lower in zip(coarse[2 * row].tolist(), coarse[2 * row + 1].tolist(), strict=True):
            style = _style(tuple(upper), tuple(lower))
            if line and line[-1][1] is style:
                line[-1] = line[-1][0] + 1, style
            else:
                line.append((1, style))
        found.append([Segment("▀" * number, style) for number, style in line])
    return found


@lru_cache(maxsize=4096)
def _style(upper: tuple[int, int, int], lower: tuple[int, int, int]) -> Style:
    return Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower))


# Images in terminals: which terminals can show them, and the escape sequences for it.
#
# A terminal is recognized by environment variables alone: a terminal that does not answer a question would block the
# run.
#
# Sources: kitty's "Terminal graphics protocol", iTerm2's "Inline Images Protocol", and for sixels the VT3xx graphics
# manual of Digital, chapter 14.


CHUNK = 4096
"""Characters of one piece of an image in kitty's protocol, at most."""
CELL = 8, 16
"""Pixels of a cell, across and down, where a terminal does not say."""
_KITTY_IDS = (7_340_001, 7_340_002)
"""Numbers of the images, one for each place, so that a new image replaces the older one."""


class Graphics(Enum):
    """How a terminal shows images."""

    KITTY = "kitty"
    ITERM2 = "iterm2"
    SIXEL = "sixel"
    BLOCKS = "blocks"
    """By half-block characters, two pixels each."""


def graphics(environment: Mapping[str, str]) -> Graphics | None:
    """How a terminal of this environment shows images; None if it should show none."""
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if environment.get("NO_COLOR") or term in ("", "dumb", "unknown", "linux"):
        return None
    if "TMUX" in environment or term.startswith(("tmux", "screen")):
        return Graphics.BLOCKS  # tmux and screen drop sequences that they do not know
    if "KITTY_WINDOW_ID" in environment or term in ("xterm-kitty", "xterm-ghostty") or program == "ghostty":
        return Graphics.KITTY
    if program in ("iTerm.app", "WezTerm", "mintty") or environment.get("LC_TERMINAL") == "iTerm2":
        return Graphics.ITERM2
    if term.startswith(("foot", "mlterm", "contour", "yaft")) or "sixel" in term:
        return Graphics.SIXEL
    return Graphics.BLOCKS


def sequence(kind: Graphics, picture: Picture, place: int, columns: int, rows: int) -> str:
    """The escape sequence that draws an image over so many cells to the right of the cursor and below it; ``place`` is 0 or 1, where several are."""
    if kind is Graphics.KITTY:
        return _kitty(picture.png, _KITTY_IDS[place], columns, rows)
    if kind is Graphics.ITERM2:
        size = f"size={len(picture.png)};width={columns};height={rows}"
        return f"\x1b]1337;File=inline=1;{size};preserveAspectRatio=1:{b64encode(picture.png).decode()}\a"
    return sixels(pixels(picture, columns * CELL[0], rows * CELL[1]))


def clearing(kind: Graphics) -> str:
    """The escape sequence that removes drawn images, where writing over them does not."""
    if kind is not Graphics.KITTY:
        return ""
    return "".join(f"\x1b_Ga=d,d=I,i={number},q=2\x1b\\" for number in _KITTY_IDS)


def pixels(picture: Picture, width: int, height: int) -> Frame:
    """The image at another size, uint8, (height, width, 3)."""
    from PIL import Image

    found: Frame = np.asarray(picture.rgb().resize((width, height), Image.Resampling.BOX))
    return found


def sixels(frame: Frame) -> str:
    """An image, uint8, (H, W, 3), in sixels: bands of six rows, each drawn once for every colour in it."""
    palette = few_colours(frame)
    numbers = np.asarray(palette)  # (H, W)
    height, width = numbers.shape
    table = np.asarray(palette.getpalette()).reshape(-1, 3)
    parts = [f'\x1bP0;1q"1;1;{width};{height}']
    for number in np.unique(numbers):
        red, green, blue = (round(100 * int(value) / 255) for value in table[number])
        parts.append(f"#{number};2;{red};{green};{blue}")
    for top in range(0, height, 6):
        band = numbers[top : top + 6]
        weights = 1 << np.arange(len(band))[:, None]
        for number in np.unique(band):
            parts.append(f"#{number}{_runs((weights * (band == number)).sum(axis=0))}$")
        parts.append("-")
    return "".join(parts) + "\x1b\\"


def _runs(bits: np.ndarray) -> str:
    """A row of sixels, equal neighbours together."""
    starts = np.flatnonzero(np.diff(bits, prepend=-1))
    lengths = np.diff(starts, append=len(bits))
    found = []
    for start, length in zip(starts, lengths, strict=True):
        mark = chr(63 + int(bits[start]))
        found.append(f"!{length}{mark}" if length > 3 else mark * int(length))
    return "".join(found)


def _kitty(png: bytes, number: int, columns: int, rows: int) -> str:
    data = b64encode(png).decode()
    chunks = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
    keys = f"a=T,f=100,i={number},p=1,c={columns},r={rows},C=1,q=2,"
    found = []
    for position, chunk in enumerate(chunks):
        more = int(position < len(chunks) - 1)
        found.append(f"\x1b_G{keys if not position else ''}m={more};{chunk}\x1b\\")
    return "".join(found)
