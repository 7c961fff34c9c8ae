"""Pages of templates: one file that fetches nothing, and runs no code of others."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import jinja2
from markupsafe import Markup

from aam_vision.report.album import Picture, picture

MAX_IMAGES_BYTES = 2_500_000
"""Bytes of all images in a page: above that they are made smaller."""

_SIZES = ((240, 32), (180, 24), (120, 16), (80, 12))
"""Widths in pixels and numbers of colours, tried in turn where images take too much space."""


def rendered(template: str, **values: object) -> str:
    """A page, as HTML; all values are escaped. The style sheet and the script are those of all pages."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("aam_vision.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["variables"] = _variables
    script = _resource("report.js")
    return environment.get_template(template).render(
        css=Markup(_resource("report.css")),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        **values,
    )


def pictures(folder: Path, names: Iterable[str]) -> dict[str, Picture]:
    """The images of these names, so small that the page stays small."""
    full = {name: one for name in dict.fromkeys(names) if (one := picture(folder, name)) is not None}
    found = full
    for width, colours in _SIZES:
        if sum(len(one.png) for one in found.values()) <= MAX_IMAGES_BYTES:
            break
        found = {name: one.smaller(width, colours) for name, one in full.items()}
    return found


def _variables(text: str) -> Markup:
    """A text with its ``?names`` marked, so that no line is broken within one."""
    return Markup("").join(  # plain text is escaped
        Markup('<span class="variable">{}</span>').format(part) if part.startswith("?") else part
        for part in re.split(r"(\?[a-z0-9_-]+)", text)
    )


def _resource(name: str) -> str:
    return (files("aam_vision.report") / "templates" / name).read_text(encoding="utf-8")
