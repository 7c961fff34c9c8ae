"""How a recorded run ended: the verdict on it, and the situations that show what is wrong, from ``result.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from aam_vision.agents.encoding import Malformed, field, loads
from aam_vision.interrogation.examination.findings import Diagnosis, Exam, Family
from aam_vision.interrogation.task.undetermined import CANNOT_MATTER
from aam_vision.interrogation.task.verdict import COMPLETE, NOT_STRIPS, OPEN, STRIPS, Ending, Verdict, verdict
from aam_vision.support.errors import UnusableInput
from aam_vision.support.files import read_limited

_UNEXAMINED = "complete under its assumptions"
_EARLIER = {_UNEXAMINED: OPEN, "contradicted": NOT_STRIPS}
"""The words of earlier versions for how a run ended."""


@contextmanager
def undamaged(path: Path) -> Iterator[None]:
    """Refuse a file of a run, which may be anybody's, in which something within finds nothing, or a value of another kind: UnusableInput."""
    try:
        yield
    except (OSError, ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise UnusableInput(f"{path}: damaged, or of another version ({error})") from None


@dataclass(frozen=True)
class ShownExample:
    """One of the two situations that show what is wrong."""

    step: str
    outcome: str
    image: str | None
    """The name of the image before the step, where one was kept."""
    image_after: str | None
    """The name of the image after the step, where one was kept and the step was executed."""


@dataclass(frozen=True)
class RecordedEnding:
    """How a run ended, as its ``result.json`` tells."""

    ending: Ending
    examples: tuple[ShownExample, ...] = ()
    certain: tuple[str, str] | None = None
    """Of a run that knew only controls: what is certain within the cases that were found, and of cases beyond them."""
    cases_missing: bool = False
    """Whether such a run is not complete because something was seen that no case explains, or a control never did anything."""

    @property
    def verdict(self) -> Verdict:
        """How sure the model is, why, and on which assumption."""
        if self.certain is None:
            return verdict(self.ending)
        return of_controls(self.ending, *self.certain, cases_missing=self.cases_missing)


def read_ending(figures: Mapping[str, Any]) -> RecordedEnding:
    """How a run ended. Raises Malformed: a figure is not as ``summary`` writes it."""
    told = dict(figures)
    status = field(told, "status", str)
    kinds = [one.get("kind") for one in told.get("undetermined") or [] if isinstance(one, dict)]
    proven = bool(told.get("proven"))
    known = [kind == CANNOT_MATTER or (kind is None and proven) for kind in kinds]  # earlier ones have none
    diagnosis, examples = _diagnosis(told.get("diagnosis"))
    ending = Ending(
        status,
        proven,
        _text(told, "why"),
        _text(told, "missing"),
        Exam(*(_number(told, f"exam_{name}") for name in ("steps", "wrong", "further"))),
        bool(told.get("noise")),
        known.count(False),
        known.count(True),
        _text(told, "doubt"),
        diagnosis,
        _text(told, "invented"),
        _text(told, "changed"),
        _text(told, "random"),
        _text(told, "seen"),
    )
    within, beyond = (_text(told, f"certain_{where}") for where in ("within", "beyond"))
    if not (within and beyond):
        return RecordedEnding(ending, examples)
    idle = told.get("idle") and not told.get("idle_covered")
    missing = not ending.why and bool(told.get("unexplained") or idle)
    return RecordedEnding(ending, examples, (within, beyond), missing)


class OpenGroup(NamedTuple):
    """Lines of a model that ``result.json`` calls undetermined together."""

    action: str
    location: str
    texts: tuple[str, ...]
    kind: str


def read_undetermined(path: Path, *, ended: bool = False) -> tuple[str, list[OpenGroup]]:
    """How a run ended (the file has to say so if it ``ended``), and what it left undetermined; nothing where there is no such file.

    Raises:
        UnusableInput: the file is damaged.
    """
    if path.is_symlink() or not path.is_file():
        return "", []
    with undamaged(path):
        told = loads(read_limited(path, MAX_BYTES))
        groups = [
            OpenGroup(
                field(entry, "action", str),
                field(entry, "location", str),
                tuple(map(str, field(entry, "group", list))),
                str(entry.get("kind")),
            )
            for entry in field(told, "undetermined", list)
        ]
        return field(told, "status", str) if ended else str(told.get("status", "")), groups


PLANS_FORGET: Final = "what it remembers changes with every control that is given, which plans of operators do not say: none can be made or told"
"""Why there are no plans where controls are learned with what is remembered."""


def refuse_remembering(path: Path) -> None:
    """Refuse a ``result.json`` of controls that were learned with what is remembered. Raises UnusableInput: it is that, or damaged."""
    if path.is_symlink() or not path.is_file():
        return
    with undamaged(path):
        told = loads(read_limited(path, MAX_BYTES))
    if isinstance(told, dict) and told.get("memory"):
        raise UnusableInput(f"{path.parent}: {PLANS_FORGET}")


def in_todays_words(figures: dict[str, Any]) -> None:
    """Have ``result.json`` of an earlier version say in the words of today how its run ended."""
    if figures.setdefault("proven", figures["status"] in (COMPLETE, _UNEXAMINED)):
        figures.setdefault("why", "no query could tell any more")
    figures["status"] = _EARLIER.get(figures["status"], figures["status"])


OF_CHANCE: Final = (
    "probabilities depend on the control alone, snapshots bring everything back, and states are seen rightly"
)
"""The assumption of every result of controls whose outcomes are random."""


def of_controls(ending: Ending, within: str, beyond: str, *, cases_missing: bool = False) -> Verdict:
    """The verdict on a run that knew only controls: its two statements, never one for the other."""
    usual = verdict(ending)
    if not ending.exam.steps:  # the last walk examines controls, of which ``beyond`` tells
        usual = replace(usual, examination="")
    if ending.status == NOT_STRIPS and ending.diagnosis is None:
        false = f"So it is not true that {STRIPS}: nothing in the model below is certain."
        return Verdict(f"{NOT_STRIPS}: no STRIPS model fits", f"{ending.why}.", "", "", (false,))
    first = f"{within[:1].upper()}{within[1:]}."
    if cases_missing:  # the name of a control may come first
        return replace(usual, title=ending.status, main=f"{beyond}.", details=(first,))
    more = tuple(text for text in (ending.invented, ending.random) if text)
    if ending.random:
        usual = replace(usual, assumption=f"Assumed: {OF_CHANCE}.")
    return replace(usual, main=first, details=(f"Beyond these cases: {beyond}.", *more))


def unfinished(so_far: str) -> Verdict:
    """The verdict on a run that has no ``result.json``: it was stopped, or goes on. ``so_far``: what its answers tell as yet, as a sentence."""
    why = "The run has not come to its end: it was stopped, or it still goes on."
    cure = "--resume goes on with a run that was stopped."
    return Verdict("not at its end", why, "", "", (so_far, cure))


def _diagnosis(told: Any) -> tuple[Diagnosis | None, tuple[ShownExample, ...]]:
    if told is None:
        return None, ()
    try:
        family = Family(field(told, "family", str))
    except ValueError as error:
        raise Malformed(str(error)) from None
    pixels_differ = told.get("pixels_differ")
    if pixels_differ not in (None, True, False):
        raise Malformed("'pixels_differ' is neither true nor false")
    found = Diagnosis(
        family,
        _text(told, "culprit"),
        _text(told, "why"),
        (),
        _text(told, "literal") or None,
        _number(told, "seen"),
        _number(told, "tried"),
        None if pixels_differ is None else bool(pixels_differ),
        steps=_number(told, "steps"),
        otherwise=_text(told, "otherwise"),
        further=_text(told, "further"),
    )
    examples = []
    for one in field(told, "examples", list)[:2]:
        images = (_text(one, name) or None for name in ("image", "image_after"))
        examples.append(ShownExample(_text(one, "step"), _text(one, "outcome"), *images))
    return found, tuple(examples)


def _text(told: Any, name: str) -> str:
    """A text, made safe for terminals, which obey some characters; empty where there is none."""
    if not isinstance(told, dict) or told.get(name) is None:
        return ""
    return printable(field(told, name, str))


def _number(told: dict[str, Any], name: str) -> int:
    """A count; 0 where there is none."""
    if told.get(name) is None:
        return 0
    found: int = field(told, name, int)
    if not 0 <= found < 2**63:
        raise Malformed(f"{name!r} is no count")
    return found


def printable(text: str) -> str:
    """A text of a stranger, made safe for terminals, which obey some characters."""
    return "".join(c if c.isprintable() else "?" for c in text[:1000])


# ``result.json`` as a report reads it; the file may be anybody's.


MAX_BYTES = 50_000_000
"""Bytes of ``result.json`` at most."""
_COUNTS = ("queries", "steps", "failed_steps", "walk_steps", "resets", "seed")


def read_figures(path: Path, *, chance: bool) -> Mapping[str, Any] | None:
    """``result.json`` of a run (with ``chance``: that learned how often); None if there is none. Raises UnusableInput: it is damaged, or lacks figures."""
    if path.is_symlink() or not path.is_file():
        return None
    with undamaged(path):
        found: dict[str, Any] = loads(read_limited(path, MAX_BYTES))
        for name in (*_COUNTS, *(() if chance else ("lower_bound",))):
            if field(found, name, int) < 0:
                raise Malformed(f"{name!r} is {found[name]}, and not a number from 0")
        for name in ("env", "status", "access", "why" if chance else "policy"):
            found[name] = printable(field(found, name, str))
        in_todays_words(found)
        if not chance:
            field(found, "curve", list)
            read_ending(found)
    return found
