"""Outlines in label files: which pixels of a picture show a thing, in the form of COCO's ``segmentation``.

That is a list of polygons, each ``[x1, y1, x2, y2, ...]`` in pixels, or uncompressed run lengths, ``{"size": [height, width],
"counts": [...]}``: column by column, how many pixels do not show it, then how many do, and so on by turns (Lin et al., "Microsoft COCO", 2014).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aam_vision.agents.perception import Mask
from aam_vision.support.errors import UnusableInput


def read_outline(facts: object, size: tuple[int, int]) -> Mask:
    """The pixels, (height, width), of an outline as JSON has it.

    Raises:
        UnusableInput: it is none, is outside of a picture of that size, or has no pixel.
    """
    if isinstance(facts, dict):
        found = _of_runs(facts, size)
    elif isinstance(facts, list) and facts:
        found = np.zeros(size, bool)
        for polygon in facts:
            found |= _of_polygon(polygon, size)
    else:
        raise UnusableInput("write [[x1, y1, x2, y2, ...], ...] in pixels, or COCO's size and counts")
    if not found.any():
        raise UnusableInput("has no pixel; leave it out where the thing does not show")
    return found


def outline_facts(mask: Mask) -> dict[str, Any]:
    """A mask as run lengths; see ``read_outline``."""
    pixels = mask.ravel(order="F")
    changes = np.flatnonzero(np.diff(pixels, prepend=False))
    counts = np.diff(np.concatenate([[0], changes, [len(pixels)]]))
    return {"size": list(mask.shape), "counts": counts.tolist()}


def _of_runs(facts: dict[str, Any], size: tuple[int, int]) -> Mask:
    counts = facts.get("counts")
    if facts.get("size") != list(size):
        raise UnusableInput(
            f"is for a picture of size {facts.get('size')!r}, and this one is {list(size)} (height, width)"
        )
    if not isinstance(counts, list) or not all(type(one) is int and one >= 0 for one in counts):
        raise UnusableInput("counts: give whole numbers, column by column; compressed ones are not read")
    if sum(counts) != size[0] * size[1]:
        raise UnusableInput(f"counts are of {sum(counts)} pixels, and the picture has {size[0] * size[1]}")
    shows = np.arange(len(counts)) % 2 == 1
    return np.repeat(shows, counts).reshape(size, order="F")


def _of_polygon(polygon: object, size: tuple[int, int]) -> Mask:
    from PIL import Image, ImageDraw

    height, width = size
    if (
        not isinstance(polygon, list)
        or len(polygon) < 6
        or len(polygon) % 2
        or not all(type(one) in (int, float) for one in polygon)
    ):
        raise UnusableInput("a polygon is [x1, y1, x2, y2, x3, y3, ...] in pixels, of three points at least")
    points = np.array(polygon, float).reshape(-1, 2)
    outside = ((points < 0) | (points > (width, height)) | ~np.isfinite(points)).any(1)
    if outside.any():
        x, y = points[outside.argmax()]
        raise UnusableInput(f"the point {x:g}, {y:g} is outside of the picture of {width}x{height} pixels")
    paper = Image.new("1", (width, height))
    ImageDraw.Draw(paper).polygon([(x, y) for x, y in points.tolist()], fill=1, outline=1)
    return np.array(paper, bool)
