"""The first screen of the page: the abilities, the verdict, and one pair of pictures."""

from __future__ import annotations

from dataclasses import dataclass

from aam_vision.interrogation.evidence.entries import Asked
from aam_vision.interrogation.task.verdict import COMPLETE, NOT_STRIPS, Verdict
from aam_vision.report.abilities import Abilities
from aam_vision.report.account import Account
from aam_vision.report.controls import ControlsAccount
from aam_vision.report.ending import ShownExample
from aam_vision.report.events import Event, ShownImage

_GRADES = {COMPLETE: "proven", NOT_STRIPS: "estimated"}
"""Classes of the style sheet by status; every other run is ``open``."""


@dataclass(frozen=True)
class FirstScreen:
    """What a person sees first."""

    abilities: Abilities
    verdict: Verdict
    grade: str
    """The class of the verdict in the style sheet."""
    wrong: bool
    """Whether the agent is not as was assumed: then the verdict comes first."""
    shown: tuple[ShownImage, ...]
    """Two pictures, or one, or none."""
    about: str
    """What the pictures show, in words; empty without pictures."""
    examples: tuple[ShownExample, ...]
    """The two situations that show what is wrong, if anything is."""


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
    return FirstScreen(
        account.abilities,
        account.verdict,
        _GRADES.get(status, "open"),
        wrong,
        shown,
        about,
        examples,
    )


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
