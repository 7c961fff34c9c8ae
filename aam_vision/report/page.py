"""The page of a run, ``report.html``, and that of a gate: one file that fetches nothing, and runs no code of others."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

from markupsafe import Markup

from aam_vision.agents.perception import Frame
from aam_vision.model.pddl import domain_text
from aam_vision.model.pddl.writing import literals_text
from aam_vision.model.strips import Location, Mode
from aam_vision.report import chart, english
from aam_vision.report.abilities import Clip
from aam_vision.report.account import MAX_LINES, Account, Line
from aam_vision.report.album import Picture, few_colours, picture
from aam_vision.report.chance import frequency, percent
from aam_vision.report.events import LETTER_HEIGHT
from aam_vision.support import wording
from aam_vision.support.templates import rendered

MAX_IMAGES_BYTES = 2_500_000
"""Bytes of all images in a page: above that they are made smaller."""

_SIZES = ((240, 32), (180, 24), (120, 16), (80, 12))
"""Widths in pixels and numbers of colours, tried in turn where images take too much space."""


def page(account: Account) -> str:
    """The page of a run, as HTML; all values are escaped."""
    why = {line: account.why(line) for action in account.actions for line in action.lines}
    events = [*(account.questions or ()), *(step.event for steps in why.values() for step in steps)]
    events += [one.example for action in account.actions for one in action.outcomes or ()]
    screen = account.screen
    names = [
        *(shown.image for shown in screen.shown),
        *(name for deed in screen.abilities.deeds for clip in deed.clips for name in clip.images),
        *(name for one in screen.examples for name in (one.image, one.image_after) if name is not None),
        *(() if account.controls is None else account.controls.shown),
        *(shown.image for event in events if event is not None for shown in event.shown),
    ]
    curves = chart.curves(account)
    return laid_out(
        "report.html.jinja",
        account=account,
        chart=chart,
        controls=account.controls,
        curves=curves,
        english=english,
        figures=account.run.figures,
        most=max((curve.points[-1][0] for curve in curves), default=0),
        most_lines=MAX_LINES,
        pddl=_pddl(account, why),
        pictures=_pictures(account.run.folder, names),
        screen=screen,
        percent=percent,
        times=wording.times,
        why=why,
    )


def laid_out(template: str, **values: object) -> str:
    """A page of this template, with the style and the script of all pages; all values are escaped."""
    css, script = (
        (files("aam_vision.report") / "templates" / name).read_text(encoding="utf-8")
        for name in ("report.css", "report.js")
    )
    return rendered(
        "aam_vision.report",
        template,
        {"variables": _variables},
        css=Markup(css),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        counted=wording.counted,
        letters=LETTER_HEIGHT,
        **values,
    )


def _pddl(account: Account, shown: Mapping[Line, object]) -> list[tuple[str, str | None, str]]:
    """The lines of the PDDL text, each with the anchor of its proof, and its status."""

    def literal(line: Line) -> str:  # as PDDL writes it
        header, true = account.indexes[line.pal.action].header, line.mode is Mode.POSITIVE
        atoms = ([line.pal.atom], []) if true else ([], [line.pal.atom])
        (text,) = literals_text(*atoms, header, account.model.vocabulary)
        return text

    by_text = {
        (line.pal.action, line.pal.location, literal(line)): line
        for line in shown
        if line.mode is not Mode.ABSENT
    }
    found: list[tuple[str, str | None, str]] = []
    name, location = "", Location.PRE
    for text in domain_text(account.model).splitlines():
        words = text.strip()
        if words.startswith("(:action "):
            name = words.removeprefix("(:action ")
        elif words.startswith((":precondition", ":effect")):
            location = Location.PRE if words.startswith(":pre") else Location.EFF
        while words.count(")") > words.count("("):
            words = words.removesuffix(")")
        said = by_text.get((name, location, words))
        found.append((text, None, "") if said is None else (text, said.anchor, said.status))
    return found


def _pictures(folder: Path, names: Iterable[str]) -> dict[str, Picture]:
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


# The page of a gate: for each kind of objective how often two versions of a policy achieve it, and an example of each end side by side.


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
