"""The page of a run: ``report.html``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import AttemptedStep
from aam_vision.interrogation.task.verdict import NOT_STRIPS
from aam_vision.model.pddl import domain_text
from aam_vision.model.strips import Location, Mode
from aam_vision.report import chart, english, rendering
from aam_vision.report.account import Account, ActionAccount, ProofStep
from aam_vision.report.controls import ControlsAccount, controls_of
from aam_vision.report.ending import ShownExample
from aam_vision.report.events import LETTER_HEIGHT, Event, Line, ShownImage
from aam_vision.report.screen import FirstScreen
from aam_vision.support import wording

MAX_EVENTS = 300
"""Questions that are listed, at most, and lines of an action whose proofs are shown."""


def page(account: Account) -> str:
    """The page of a run, as HTML."""
    actions = [_ActionView(one, [*_views(account, one)]) for one in account.actions]
    questions = _questions(account)
    events = [*questions, *(p.event for a in actions for v in a.lines for p in v.why if p.event is not None)]
    controls = controls_of(account)
    screen = first_screen(account, controls)
    names = [shown.image for event in events for shown in event.shown]
    pictures = rendering.pictures(
        account.run.folder,
        [
            *(shown.image for shown in screen.shown),
            *_named(screen.examples),
            *(() if controls is None else controls.shown),
            *names,
        ],
    )
    figures = account.run.figures
    name = str(figures["env"]) if figures is not None else account.model.vocabulary.name
    curves = chart.curves(account)
    most = max((curve.points[-1][0] for curve in curves), default=0)
    return rendering.rendered(
        "report.html.jinja",
        account=account,
        actions=actions,
        chart=chart,
        controls=controls,
        counted=wording.counted,
        times=wording.times,
        curves=curves,
        english=english,
        figures=figures,
        letters=LETTER_HEIGHT,
        most=most,
        pddl=_pddl(account, actions),
        pictures=pictures,
        questions=questions,
        screen=screen,
        title=f"What the agent of {name} can do" if controls is None else f"What the controls of {name} do",
    )


@dataclass(frozen=True)
class _LineView:
    line: Line
    why: list[ProofStep]


@dataclass(frozen=True)
class _ActionView:
    account: ActionAccount
    lines: list[_LineView]

    def of(self, kind: str) -> list[_LineView]:
        """The lines of one part: ``needs``, ``changes``, ``open`` or ``cannot_matter``."""
        wanted = {line.pal for line in getattr(self.account, kind)}
        return [view for view in self.lines if view.line.pal in wanted]


def _views(account: Account, action: ActionAccount) -> Iterable[_LineView]:
    left = (*action.open[:MAX_EVENTS], *action.cannot_matter[:MAX_EVENTS])
    shown = (*action.needs, *action.changes, *left)
    return (_LineView(line, account.why(line)) for line in shown)


def _questions(account: Account) -> list[Event]:
    """One event for each query, with its last attempted step in the focus."""
    last: dict[int, AttemptedStep] = {step.entry: step for step in account.steps}
    return [
        account.events.event(last[number])
        for number, entry in enumerate(account.transcript.entries)
        if isinstance(entry, Asked) and number in last
    ][:MAX_EVENTS]


def _named(examples: Iterable[ShownExample]) -> Iterable[str]:
    """The images of the examples."""
    return (name for one in examples for name in (one.image, one.image_after) if name is not None)


def _pddl(account: Account, actions: list[_ActionView]) -> list[tuple[str, str | None, str]]:
    """The lines of the PDDL text, each with the anchor of its proof, and its status."""
    by_text: dict[tuple[str, Location, str], Line] = {}
    for view in actions:
        for one in view.lines:
            line = one.line
            if line.mode is not Mode.ABSENT:
                by_text[line.pal.action, line.pal.location, _pddl_literal(line, view)] = line
    found: list[tuple[str, str | None, str]] = []
    name, location = "", Location.PRE
    for text in domain_text(account.model).splitlines():
        words = text.strip()
        if words.startswith("(:action "):
            name = words.removeprefix("(:action ")
        elif words.startswith((":precondition", ":effect")):
            location = Location.PRE if words.startswith(":pre") else Location.EFF
        bare = words
        while bare.count(")") > bare.count("("):
            bare = bare.removesuffix(")")
        said = by_text.get((name, location, bare))
        anchor, status = (None, "") if said is None else (said.anchor, said.status)
        found.append((text, anchor, status))
    return found


def _pddl_literal(line: Line, view: _ActionView) -> str:
    names = view.account.header.parameters
    atom = line.pal.atom
    arguments = [f"?{names[a]}" if isinstance(a, int) else a for a in atom.arguments]
    text = f"({' '.join([atom.predicate, *arguments])})"
    return text if line.mode is Mode.POSITIVE else f"(not {text})"


# The first screen of the page: the abilities, the verdict, and one pair of pictures.


def first_screen(account: Account, controls: ControlsAccount | None = None) -> FirstScreen:
    """The first screen of a run; ``controls`` if it knew only these."""
    ending = account.run.ending
    status = "" if ending is None else ending.ending.status
    examples = () if ending is None else ending.examples
    if controls is not None and status == NOT_STRIPS and not examples:
        examples = controls.two_ways
    wrong = status == NOT_STRIPS
    shown, about = _of_examples(examples) if wrong else ((), "")
    told = account.abilities.deeds
    best = None if controls is None or not told else controls.telling(told[0].action)
    if not wrong and (event := best or _telling(account)) is not None:
        shown, about = event.shown, f"{event.name}: {event.step}"
    return FirstScreen(account.abilities, account.verdict, status, shown, about, examples)


def _of_examples(examples: tuple[ShownExample, ...]) -> tuple[tuple[ShownImage, ...], str]:
    """The two pictures side by side: before the step, or after it where it began in one and the same picture."""
    before = [one.image for one in examples]
    after = [one.image_after or one.image for one in examples]
    images, word = (before, "before") if len(set(before)) == len(before) else (after, "after")
    refused = any(one.outcome == "refused" for one in examples)
    shown = tuple(
        ShownImage(image, f"{word} {one.step.partition('(')[0]}: {_outcome(one, refused)}", ())
        for image, one in zip(images, examples, strict=True)
        if image is not None
    )
    return shown, "Two situations that went differently" if shown else ""


def _outcome(one: ShownExample, refused: bool) -> str:
    """The outcome of an example: what changed only matters if neither step was refused."""
    return one.outcome if one.outcome == "refused" or not refused else "executed"


def _telling(account: Account) -> Event | None:
    """The most telling executed step with a picture before it and another after it; None if no step has both.

    Steps of queries come before walks; then those in whose pictures the arguments can be marked; then actions that
    change much.
    """
    best: tuple[tuple[bool, bool, int], Event] | None = None
    for step in account.steps if account.run.sights else ():
        if not step.executed:
            continue
        schema = account.model.schema(step.action.name)
        asked = isinstance(account.transcript.entries[step.entry], Asked)
        key = asked, step.before is not None and step.after is not None, len(schema.add | schema.delete)
        if best is not None and key <= best[0]:
            continue
        event = account.events.event(step)
        if len(event.shown) == 2 and event.shown[0].image != event.shown[1].image:
            best = key, event
    return None if best is None else best[1]
