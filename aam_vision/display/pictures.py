"""Images side by side, for rich to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rich.color import Color
from rich.console import Console, ConsoleOptions, RenderResult
from rich.control import Control
from rich.segment import ControlType, Segment
from rich.style import Style

from aam_vision.display.graphics import Graphics, clearing, pixels, sequence
from aam_vision.report.album import Picture

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
            _half_blocks(one, *size) if self.graphics is Graphics.BLOCKS else _room(*size)
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
        """The escape sequences that draw all images, once the cursor is at the end of the last row left for them.

        To rich these are control codes, which take no space.
        """
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
        console.control(_control(text))


def _control(text: str) -> Control:
    made = Control()
    made.segment = Segment(text, None, [(ControlType.CURSOR_FORWARD, 0)])
    return made


def _share(width: int, pictures: int) -> int:
    return (width - GAP * pictures) // pictures


def _fitting(picture: Picture, columns: int, rows: int) -> tuple[int, int]:
    """Columns and rows of the largest size that fits, cells being twice as high as wide."""
    scale = min(columns / picture.width, 2 * rows / picture.height)
    return max(0, int(picture.width * scale)), max(0, round(picture.height * scale / 2))


def _room(columns: int, rows: int) -> list[list[Segment]]:
    return [[Segment(" " * columns)] for _ in range(rows)]


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
