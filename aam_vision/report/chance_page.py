"""The page of a run that learned how often: ``report.html`` with every outcome as a bar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from aam_vision import wording
from aam_vision.chance.frequency import Frequency
from aam_vision.files import read_limited
from aam_vision.interrogation.task.verdict import COMPLETE, NOT_STRIPS
from aam_vision.pddl import chance_domain_text
from aam_vision.report import chance, english, rendering
from aam_vision.report.chance_account import ActionAccount, ChanceAccount
from aam_vision.report.ending import MAX_BYTES
from aam_vision.report.events import LETTER_HEIGHT, Event, ShownImage

MOST, MOST_BESIDE = 420, 220
"""Characters of the actions that are described on the first screen, about; and beside pictures."""
MOST_NUMBER = 1e9
"""Figures of a stranger that are shown are below this."""
BRIEF = 2
"""Effects of an outcome that are told there."""


@dataclass(frozen=True)
class Deed:
    """An action on the first screen: what follows its name, and the frequency that is drawn.

    That of an action with conditional effects is of one of its cases, and would be taken for the action's: none is drawn.
    """

    name: str
    words: str
    found: Frequency | None


@dataclass(frozen=True)
class FirstScreen:
    """What a person sees first."""

    deeds: tuple[Deed, ...]
    others: str
    """The actions that are only named, as a sentence; empty if there are none."""
    shown: tuple[ShownImage, ...]
    """The picture before and after the most telling step, or none."""
    about: str
    grade: str
    """The class of the verdict in the style sheet."""
    wrong: bool
    """Whether the agent is not as was assumed: then the verdict comes first."""


def page(account: ChanceAccount) -> str:
    """The page of a run, as HTML."""
    figures = account.figures
    screen = first_screen(account)
    events = list(_events(account))
    names = [
        *(shown.image for shown in screen.shown),
        *(one.image for event in events for one in event.shown),
    ]
    name = account.model.vocabulary.name if figures is None else str(figures["env"])
    return rendering.rendered(
        "chance.html.jinja",
        account=account,
        actions=account.actions,
        assumed=account.assumed,
        compared=list(_compared(account)),
        counted=wording.counted,
        english=english,
        figures=figures,
        letters=LETTER_HEIGHT,
        pddl=chance_domain_text(account.model),
        pictures=rendering.pictures(account.run.folder, names),
        screen=screen,
        times=wording.times,
        title=f"What the agent of {name} does, and how often",
        truth=_truth(account),
        verdict=account.verdict,
    )


def first_screen(account: ChanceAccount) -> FirstScreen:
    """The first screen of a run: actions with several outcomes before those that always do the same."""
    deeds, rest = list[Deed](), list[str]()
    told = _telling(account)
    left = MOST if told is None else MOST_BESIDE
    for action in sorted(account.actions, key=lambda action: -min(2, len(action.outcomes))):
        deed = _deed(action)
        left -= len(deed.name) + len(deed.words)
        if left < 0 and deeds:
            rest.append(action.name)
        else:
            deeds.append(deed)
    status = "" if account.figures is None else account.figures["status"]
    return FirstScreen(
        tuple(deeds),
        f"There {'is' if len(rest) == 1 else 'are'} also {wording.some(rest, 8)}." if rest else "",
        () if told is None else told[1],
        "" if told is None else told[0],
        {COMPLETE: "proven", NOT_STRIPS: "estimated"}.get(status, "open"),
        status == NOT_STRIPS,
    )


def _deed(action: ActionAccount) -> Deed:
    if action.best is None:
        return Deed(action.name, " was never executed.", None)
    words = chance.doing(action.known, most=BRIEF).removeprefix(action.name)
    return Deed(action.name, words, None if len(action.known.cases) > 1 else action.best.way.found)


def _telling(account: ChanceAccount) -> tuple[str, tuple[ShownImage, ...]] | None:
    """What two pictures show, and these: of the first outcome that is not the one most often meant, or of any."""
    best: tuple[str, tuple[ShownImage, ...]] | None = None
    for action in account.actions:
        for one in action.outcomes:
            if one.example is None or len(one.example.shown) < 2:
                continue
            before, after = one.example.shown
            shown = (before, replace(after, caption=f"{after.caption}: {one.words}"))
            told = f"{one.example.name}: {one.example.step}; {one.words}", shown
            if one is not action.best:
                return told
            best = best or told
    return best


def _events(account: ChanceAccount) -> Iterator[Event]:
    for action in account.actions:
        yield from (one.example for one in action.outcomes if one.example is not None)
        yield from (one.refusal for one in action.conditions if one.refusal is not None)


def _compared(account: ChanceAccount) -> Iterator[tuple[str, str]]:
    """The figures of the comparison with the truth, as far as ``result.json`` has them."""
    told = account.figures or {}

    def number(name: str) -> float | None:
        value = told.get(name)
        return value if isinstance(value, int | float) and 0 <= value < MOST_NUMBER else None

    if (distance := number("variational_distance")) is not None:
        yield "Variational distance", f"{distance:.3f}"
    if (wrong := number("wrong_certain")) is not None:
        yield "Certain and wrong", f"{wrong:.0f}"
    intervals, right = number("intervals"), number("intervals_right")
    if intervals is not None and right is not None:
        yield "Intervals that are right", f"{right:.0f} of {intervals:.0f}"
    if isinstance(told.get("exact"), bool):
        same = "same where compared" if told.get("equivalent") is True else "another"
        yield "Structure", "exact" if told["exact"] else same


def _truth(account: ChanceAccount) -> str | None:
    """The text of ``truth.pddl``, which may be anybody's; None if there is none."""
    path = account.run.folder / "truth.pddl"
    if path.is_symlink() or not path.is_file():
        return None
    return read_limited(path, MAX_BYTES).decode(errors="replace")
