"""The verdict on a run in words: how sure its model is, why, and on which assumption.

Terminal, notebook, report and ``explain`` say it in these words. It rests on plain values (``Ending``), so that it can be
made of a result as well as of the ``result.json`` of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aam_vision.interrogation.examination.findings import ENOUGH, Diagnosis, Exam, Family
from aam_vision.support.wording import counted, some

COMPLETE = "complete"
OPEN = "open"
BUDGET = "budget"
NOT_STRIPS = "not-strips"
FAILED = "failed"

STRIPS = "the agent is a deterministic STRIPS agent in this vocabulary, and is seen rightly"
"""The assumption of every result that takes answers at their word."""
INDEPENDENT = (
    "the agent is a deterministic STRIPS agent in this vocabulary, and errors are independent from look to look; "
    "one that is the same at every look, such as a classifier's, is not found by looking again"
)
"""The assumption of every result that weighs answers."""
ASSUMED = "refusals are right, states are seen rightly, and probabilities depend on nothing but the action and what is named, and do not drift"
"""The assumption of every result with outcomes."""
_FAMILIES = {
    Family.RANDOM: "random: the same step from the same situation has several outcomes",
    Family.CONDITIONAL: "conditional: the outcome depends on the state, or concerns objects, in a way that STRIPS cannot express",
    Family.HIDDEN: "hidden: what happens depends on something that no predicate of the vocabulary expresses",
    Family.MISREAD: "misread: the classifier is wrong about a picture",
    Family.CHANGING: "changing: the same step of the same situation had another outcome later",
    Family.UNKNOWN: "unknown: no experiment within the access could tell what is behind it",
}


_OPTIONS = {"step": "--max-steps", "quer": "--max-queries", "CPU second": "--max-seconds"}
"""What a budget is of, and the option that sets it."""


@dataclass(frozen=True)
class Ending:
    """How a run ended: all that the verdict on it rests on."""

    status: str
    proven: bool
    """Whether it is proven that no query could tell any more, under the assumption."""
    why: str
    missing: str
    """What is missing for ``complete``, in a line; empty if nothing is, or no model fits."""
    exam: Exam
    weighed: bool
    """Whether answers were weighed, instead of taken at their word."""
    open: int
    """Groups of pal tuples that some query may settle."""
    cannot_matter: int
    """Undetermined groups that no reachable situation tells anything about."""
    doubt: str
    diagnosis: Diagnosis | None
    invented: str = ""
    """What the vocabulary was extended by to explain what the agent does, in sentences; empty if it was not."""
    changed: str = ""
    """Since when the agent is as the model says, and what was different before, in sentences; empty if it has not changed."""
    random: str = ""
    """How often what the model says comes of each control, in sentences, where chance decides that."""
    seen: str = ""
    """What the test of the user's own classifiers came to, in a line, if they have passed it."""


@dataclass(frozen=True)
class Verdict:
    """How sure a model is, why, and on which assumption."""

    title: str
    """How it ended, in a few words."""
    main: str
    """The reason, as a sentence."""
    assumption: str
    """What that assumes, as a sentence; empty where nothing is claimed."""
    examination: str
    """Whether the assumption was examined, and what that came to; empty where nothing is claimed, and none was asked for."""
    details: tuple[str, ...] = ()
    """What more there is to say, in sentences: of what is open, or of what is wrong."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of it but the title, in the order in which it is read."""
        told = (self.main, self.examination, *self.details[:1], self.assumption, *self.details[1:])
        return tuple(text for text in told if text)


def lacking(
    exam: Exam, never: Sequence[str], cut: str, *, weighed: bool, untested: str, distinct: bool = False
) -> str:
    """What a result lacks to be complete though no query could tell any more, in a line; empty if it lacks nothing.

    ``never``: the actions that were never executed; ``distinct``: that one of them could name an object twice, and no step did. ``cut``:
    what cut the examination short, if anything did. ``untested``: that classifiers have not passed their test, in a line.
    """
    if weighed:
        return "the answers were weighed, so nothing is proven"
    named = " (no step named an object twice; --repeated-arguments asks symbolic agents that, too)" * distinct
    told = [f"never executed: {some(never, 3)}{named}"] if never else []
    if untested:
        told.append(untested)
    if not exam.enough:
        cure = "raise --max-steps or --max-seconds" if cut == BUDGET else f"--exam {ENOUGH + 1}"
        told.append(f"{counted(exam.steps, 'step')} examined, {ENOUGH} are needed ({cure})")
    return "; ".join(told)


def verdict(ending: Ending) -> Verdict:
    """The verdict on a run."""
    if ending.status == NOT_STRIPS and ending.diagnosis is not None:
        return _not_strips(ending.diagnosis)
    title, why, weighed = ending.status, _sentence(ending.why), (*_weighed(ending), *_went_on(ending))
    if ending.proven:
        title = f"{title}: {ending.missing}" if ending.missing else title
        left = (_left(ending),) if ending.cannot_matter or ending.open else ()
        return Verdict(title, why, assumption(ending), _sentence(str(ending.exam)), (*weighed, *left))
    if ending.doubt:
        why = _sentence(ending.doubt) if "nothing is certain" in ending.why else why
        return Verdict(f"{title}: nothing is certain", why, assumption(ending), "", weighed)
    examined = _sentence(str(ending.exam)) if ending.exam.steps else ""
    return Verdict(title, why, assumption(ending), examined, (*weighed, _left(ending)))


def assumption(ending: Ending) -> str:
    """The assumption that a result rests on, as a sentence."""
    if ending.weighed:
        return f"Assumed: {INDEPENDENT}."
    if ending.status == COMPLETE:
        return f"Assumed and examined: {STRIPS}{f': {ending.seen}' if ending.seen else ''}."
    return f"Assumed: {STRIPS}."


def kind_of_fault(found: Diagnosis) -> tuple[str, ...]:
    """The family of a diagnosis, and what shows it, in sentences."""
    learns = "; --chance learns how often each comes" * (found.family is Family.RANDOM and not found.further)
    told = [f"{_capital(_FAMILIES[found.family])}{learns}."]
    if found.literal is not None:
        told.append(f"The outcome depends on {found.literal}.")
    if found.tried:
        times = "once" if found.seen == 1 else f"{found.seen} times"
        told.append(f"The unexpected outcome was seen {times} in {counted(found.tried, 'try')}.")
    if found.pixels_differ is not None:
        told.append(
            "The two pictures differ, so something is visible that the vocabulary does not name."
            if found.pixels_differ
            else "The two pictures are equal, pixel by pixel: the difference cannot be seen."
        )
    return tuple(told)


def _not_strips(found: Diagnosis) -> Verdict:
    false = f"So it is not true that {STRIPS}: nothing in the model below is certain."
    details = (*kind_of_fault(found), *([found.further] if found.further else []), false)
    title = f"{NOT_STRIPS}: no STRIPS model fits"
    if found.otherwise:
        title, details = f"{title}, or pictures are misread", (found.otherwise, *details)
    return Verdict(title, _sentence(found.why, capital=False), "", "", details)


def _weighed(ending: Ending) -> tuple[str, ...]:
    """How the answers were treated, if they were not taken at their word."""
    if not ending.weighed:
        return ()
    if ending.invented or ending.changed:
        return ("Looks err, so each situation was looked at until it was certain: nothing is proven.",)
    found = ending.diagnosis
    why, further = ("", "") if found is None else (f" ({found.why})", found.further)
    told = f"The answers were weighed{why}: nothing is proven, and everything has a probability."
    return (told, further) if further else (told,)


def _went_on(ending: Ending) -> tuple[str, ...]:
    """What was invented, or has changed, and why that was looked for, if it was."""
    found = ending.invented or ending.changed
    if not found or ending.diagnosis is None:
        return ()
    return (found, f"The run went on from a diagnosis: {ending.diagnosis.why}.")


def _left(ending: Ending) -> str:
    """How much is undetermined, and of which kind, as a sentence."""
    groups = counted(ending.open, "group")
    if ending.open:
        told = f"{groups} of lines {_are(ending.open)} open"
        if ending.cannot_matter:
            told += f", and {ending.cannot_matter} cannot matter"
        more = [option for word, option in _OPTIONS.items() if ending.status == BUDGET and word in ending.why]
        return f"{told}: raise {more[0]} to settle more." if more else f"{told}."
    if not ending.cannot_matter:
        return "Nothing is open."
    number = counted(ending.cannot_matter, "group")
    return (
        f"{number} of lines {_are(ending.cannot_matter)} undetermined, but cannot matter: "
        "no reachable situation tells the difference."
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _sentence(text: str, *, capital: bool = True) -> str:
    text = text.strip() or "the reason was not recorded"
    text = _capital(text) if capital else text
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
