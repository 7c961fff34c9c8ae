"""The page of a gate: for each kind of objective how often two versions of a policy achieve it, and an example of each end side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from typing import Any

from aam_vision.agents.perception import Frame
from aam_vision.report.abilities import Clip
from aam_vision.report.album import Picture, few_colours
from aam_vision.report.page import laid_out
from aam_vision.report.pursuits import frequency

WITHIN = 0.05
"""Half width for which intervals of rates are narrowest."""
Films = tuple[Sequence[Frame], Sequence[Frame]]
"""The images of the example's pursuit by the old version, and by the new one."""


def side_by_side(told: Mapping[str, Any], films: Mapping[str, Films]) -> str:
    """The page, as HTML, of what ``compare --gate --json`` prints of two policies, with films by kind of objective; all values are escaped."""
    pictures: dict[str, Picture] = {}
    shown, rates = dict[str, list[Clip]](), dict[str, list[Any]]()
    for one in told["objectives"]:
        name, made = one["name"], one["pairs"]
        rates[name] = [
            frequency(round(one[version] * made), made, one["alpha"], WITHIN) if made else None
            for version in "ab"
        ]
        shown[name] = []
        for version, film in zip("ab", films.get(name, ()), strict=False):
            images = [_picture(frame) for frame in film]
            pictures |= {image.name: image for image in images}
            words = f"{version.upper()}: {one['witness'][version]}"
            shown[name].append(Clip(tuple(image.name for image in images), words))
    return laid_out("gate.html.jinja", pictures=pictures, rates=rates, shown=shown, told=told)


def _picture(frame: Frame) -> Picture:
    """An image, uint8, (H, W, 3), as part of a page."""
    buffer = BytesIO()
    few_colours(frame).save(buffer, "PNG", optimize=True)
    png = buffer.getvalue()
    return Picture(sha256(png).hexdigest()[:32], frame.shape[1], frame.shape[0], png)
