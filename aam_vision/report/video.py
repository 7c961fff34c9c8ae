"""The queries of an image agent's run as an animated GIF: every image with the question and the outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.report.album import Picture, picture
from aam_vision.report.recorded import Recorded
from aam_vision.support.wording import counted

MAX_FRAMES = 500
"""Frames of a video, at most."""
MAX_BYTES = 12_000_000
"""Bytes of a video, at most; a larger one is made again with smaller images."""
WIDTHS = (360, 240, 160)
"""Widths of the images in pixels, tried in turn."""
ENDS = 3
"""Steps at the end of a plan that are shown even where many have to be left out."""

_COLOURS = 248
"""Colours of the palette that all images share; the rest are for captions."""
_STRIP = 58
_BORDER = 6
_PAPER, _INK, _GOOD, _BAD = (24, 28, 34), (236, 240, 244), (30, 98, 60), (170, 20, 40)
_MS = {"before": 700, "done": 450, "last": 1100, "refused": 1600}


@dataclass(frozen=True)
class Shot:
    """One frame: an image and its caption."""

    image: str
    title: str
    text: str
    kind: str
    """``before``, ``done``, ``last`` (the last step, done) or ``refused``."""


@dataclass(frozen=True)
class Video:
    """An animated GIF, and what it shows and leaves out, in words."""

    gif: bytes
    about: str


def video(run: Recorded) -> Video | None:
    """All queries of a run, in order; None if none of them has an image."""
    queries = [*_queries(run)]
    shots, left_out = _fitting(queries)

    @cache
    def image(name: str) -> Picture | None:
        return picture(run.folder, name)

    shown = [shot for shot in shots if image(shot.image) is not None]
    if not shown:
        return None
    images = {shot.image: found for shot in shown if (found := image(shot.image)) is not None}
    lost = len(shots) - len(shown)
    gif, size = animated(shown, images)
    notes = [f"{counted(len(shown), 'image')} of {counted(len(queries), 'query')}"]
    if left_out:
        notes.append(f"left out: {left_out}")
    if lost:
        notes.append(f"{counted(lost, 'image')} missing in {run.folder}")
    if size < WIDTHS[0]:
        notes.append(f"made smaller, {size} pixels wide")
    return Video(gif, "; ".join(notes))


def animated(shots: Sequence[Shot], images: Mapping[str, Picture]) -> tuple[bytes, int]:
    """The frames, at least one, as an animated GIF, and the width of its images in pixels: smaller where the file would be too large."""
    gif, size = b"", 0
    for size in WIDTHS:
        gif = _gif(shots, images, size)
        if len(gif) <= MAX_BYTES:
            break
    return gif, size


def _queries(run: Recorded) -> Iterator[list[Shot]]:
    """The frames of every query but the examination's: the situation it begins in, then each step."""
    number = 0
    for place, entry in enumerate(run.transcript.entries):
        if not isinstance(entry, Asked) or entry.looks or place in run.examined:
            continue
        number += 1
        query, executed = entry.query, entry.response.executed
        start, end = run.sights.get(query.initial.handle), run.sights.get(entry.response.final.handle)
        if start is None or end is None:
            continue
        steps = len(query.plan)
        shots = [Shot(start.image, f"Query {number}", "before", "before")]
        images = [*end.passed, end.image] if executed else []
        if len(images) != executed:  # only recent journals name the images in between
            images = [""] * (executed - 1) + [end.image]
        for position, (step, seen) in enumerate(zip(query.plan, images, strict=False), 1):
            kind = "last" if position == steps else "done"
            title = f"Query {number}, step {position} of {steps}: done"
            if seen:
                shots.append(Shot(seen, title, str(step), kind))
        if executed < steps:
            title = f"Query {number}, step {executed + 1} of {steps}: REFUSED"
            shots.append(Shot(end.image, title, str(query.plan[executed]), "refused"))
        yield shots


def _fitting(queries: Sequence[Sequence[Shot]]) -> tuple[list[Shot], str]:
    """As many frames as allowed, and what is left out: the middle of long plans, then whole queries."""
    if sum(map(len, queries)) <= MAX_FRAMES:
        return [shot for query in queries for shot in query], ""
    kept: list[Shot] = []
    for number, query in enumerate(queries):
        short = [*query[:1], *query[1:][-ENDS:]]
        if len(kept) + len(short) > MAX_FRAMES:
            left = len(queries) - number
            last = "the last query" if left == 1 else f"the last {left} queries"
            return kept, f"all but the last {ENDS} steps of every plan, and {last}"
        kept += short
    return kept, f"all but the last {ENDS} steps of every plan"


def _gif(shots: Sequence[Shot], images: Mapping[str, Picture], width: int) -> bytes:
    """The frames as one file, every image as wide as said, on a ground that holds the largest."""
    from PIL import Image

    small = {name: _scaled(one, width) for name, one in images.items()}
    size = max(one.width for one in small.values()), max(one.height for one in small.values())
    palette, fonts = _palette(list(small.values())), _fonts()
    frames = (_frame(shot, small[shot.image], size, fonts) for shot in shots)
    flat = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in frames]
    buffer = BytesIO()
    durations = [_MS[shot.kind] for shot in shots]
    options = {"save_all": True, "duration": durations, "loop": 0, "optimize": False}
    flat[0].save(buffer, "GIF", append_images=flat[1:], **options)
    return buffer.getvalue()


def _scaled(one: Picture, width: int) -> Any:
    from PIL import Image

    share = width / max(one.width, one.height)
    return one.scaled(share, Image.Resampling.LANCZOS if share < 1 else Image.Resampling.NEAREST)


def _palette(images: Sequence[Any]) -> Any:
    """One palette for all frames: of the images' colours, and those of the captions."""
    from PIL import Image

    some = images[:: max(1, len(images) // 30)]
    width, height = max(one.width for one in some), sum(one.height for one in some)
    sheet = Image.new("RGB", (width, height))
    top = 0
    for one in some:
        sheet.paste(one, (0, top))
        top += one.height
    found = sheet.quantize(_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colours = found.getpalette()[: 3 * _COLOURS]
    colours += [0] * (3 * _COLOURS - len(colours))
    halves = [
        tuple((a + b) // 2 for a, b in zip(_INK, ground, strict=True)) for ground in (_GOOD, _BAD, _PAPER)
    ]
    for colour in (_PAPER, _INK, _GOOD, _BAD, *halves):
        colours += colour
    palette = Image.new("P", (1, 1))
    palette.putpalette([*colours, *[0] * (768 - len(colours))])
    return palette


def _fonts() -> tuple[Any, Any]:
    """The fonts of a caption's title and text: matplotlib's own, which every machine has."""
    import matplotlib
    from PIL import ImageFont

    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return (
        ImageFont.truetype(str(folder / "DejaVuSans-Bold.ttf"), 13),
        ImageFont.truetype(str(folder / "DejaVuSans.ttf"), 12),
    )


def _frame(shot: Shot, image: Any, size: tuple[int, int], fonts: tuple[Any, Any]) -> Any:
    """An image above its caption; a refused step has a frame around it, too."""
    from PIL import Image, ImageDraw

    refused = shot.kind == "refused"
    width, height = max(size[0], WIDTHS[-1]) + 2 * _BORDER, size[1] + 2 * _BORDER
    frame = Image.new("RGB", (width, height + _STRIP), _BAD if refused else _PAPER)
    frame.paste(_PAPER, (_BORDER, _BORDER, width - _BORDER, height - _BORDER))
    frame.paste(image, ((width - image.width) // 2, (height - image.height) // 2))
    drawing = ImageDraw.Draw(frame)
    ground = {"refused": _BAD, "before": _PAPER}.get(shot.kind, _GOOD)
    drawing.rectangle((0, height, width, height + _STRIP), fill=ground)
    lines = [
        (shot.title, fonts[0]),
        *((line, fonts[1]) for line in _wrapped(shot.text, fonts[1], width - 12)),
    ]
    for number, (text, font) in enumerate(lines):
        drawing.text((6, height + 4 + 17 * number), text, font=font, fill=_INK)
    return frame


def _wrapped(text: str, font: Any, width: int) -> list[str]:
    """A text in two lines at most."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines if len(lines) <= 2 else [lines[0], f"{lines[1]} ..."]
