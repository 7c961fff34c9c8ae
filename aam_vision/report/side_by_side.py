"""The page of a gate: for each kind of objective how often two versions of a policy achieve it, and an example of each end side by side."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from io import BytesIO
from typing import Any

from markupsafe import Markup

from aam_vision.agents.perception import Frame
from aam_vision.report.abilities import Clip
from aam_vision.report.album import COLOURS, Picture
from aam_vision.report.pursuits import frequency
from aam_vision.support.templates import rendered
from aam_vision.support.wording import counted

WITHIN = 0.05
"""Half width for which intervals of rates are narrowest."""
Films = tuple[Sequence[Frame], Sequence[Frame]]
"""The images of the example's pursuit by the old version, and by the new one."""


def side_by_side(told: Mapping[str, Any], films: Mapping[str, Films]) -> str:
    """The page, as HTML; all values are escaped.

    Args:
        told: what ``compare --gate --json`` prints of two policies.
        films: by the name of a kind of objective.
    """
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
    css, script = (
        (files("aam_vision.report") / "templates" / name).read_text(encoding="utf-8")
        for name in ("report.css", "report.js")
    )
    return rendered(
        "aam_vision.report",
        "gate.html.jinja",
        {"variables": Markup.escape},
        css=Markup(css),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        counted=counted,
        letters=0,
        pictures=pictures,
        rates=rates,
        shown=shown,
        told=told,
    )


def _picture(frame: Frame) -> Picture:
    """An image, uint8, (H, W, 3), as part of a page."""
    from PIL import Image

    buffer = BytesIO()
    palette = Image.fromarray(frame).quantize(
        COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE
    )
    palette.save(buffer, "PNG", optimize=True)
    png = buffer.getvalue()
    return Picture(sha256(png).hexdigest()[:32], frame.shape[1], frame.shape[0], png)
