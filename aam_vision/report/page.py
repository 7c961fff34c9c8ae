"""The page of a run: ``report.html``."""

from __future__ import annotations

from collections.abc import Mapping

from aam_vision.model.pddl import domain_text
from aam_vision.model.strips import Location, Mode
from aam_vision.report import chart, english, rendering
from aam_vision.report.account import MAX_LINES, Account, Line
from aam_vision.report.chance import percent
from aam_vision.report.events import LETTER_HEIGHT
from aam_vision.support import wording


def page(account: Account) -> str:
    """The page of a run, as HTML."""
    why = {line: account.why(line) for action in account.actions for line in action.lines}
    events = [*(account.questions or ()), *(step.event for steps in why.values() for step in steps)]
    events += [one.example for action in account.actions for one in action.outcomes or ()]
    screen = account.screen
    names = [
        *(shown.image for shown in screen.shown),
        *(name for one in screen.examples for name in (one.image, one.image_after) if name is not None),
        *(() if account.controls is None else account.controls.shown),
        *(shown.image for event in events if event is not None for shown in event.shown),
    ]
    curves = chart.curves(account)
    return rendering.rendered(
        "report.html.jinja",
        account=account,
        chart=chart,
        controls=account.controls,
        counted=wording.counted,
        curves=curves,
        english=english,
        figures=account.run.figures,
        letters=LETTER_HEIGHT,
        most=max((curve.points[-1][0] for curve in curves), default=0),
        most_lines=MAX_LINES,
        pddl=_pddl(account, why),
        pictures=rendering.pictures(account.run.folder, names),
        screen=screen,
        percent=percent,
        times=wording.times,
        why=why,
    )


def _pddl(account: Account, shown: Mapping[Line, object]) -> list[tuple[str, str | None, str]]:
    """The lines of the PDDL text, each with the anchor of its proof, and its status."""
    by_text = {
        (line.pal.action, line.pal.location, _literal(account, line)): line
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


def _literal(account: Account, line: Line) -> str:
    """A line as PDDL writes it."""
    names, atom = account.indexes[line.pal.action].header.parameters, line.pal.atom
    arguments = [f"?{names[a]}" if isinstance(a, int) else a for a in atom.arguments]
    text = f"({' '.join([atom.predicate, *arguments])})"
    return text if line.mode is Mode.POSITIVE else f"(not {text})"
