"""The account of a run: its first screen, and every action with its lines and the proofs of these. Page and terminal lay it out.

``account_of`` makes that of a run, whatever kind of agent it was of.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from aam_vision.interrogation.evidence.transcript import AttemptedStep
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.task.verdict import COMPLETE, NOT_STRIPS, Verdict
from aam_vision.model.strips import ActionHeader, Location, Mode, Model, PalTuple, Vocabulary
from aam_vision.report.abilities import Abilities
from aam_vision.report.differences import Difference
from aam_vision.report.ending import MAX_BYTES, ShownExample, printable
from aam_vision.report.events import Event, Events, ShownImage
from aam_vision.report.recorded import Recorded, Weighing
from aam_vision.support.files import read_limited
from aam_vision.support.wording import counted, times

if TYPE_CHECKING:
    from aam_vision.report.chance import Way
    from aam_vision.report.control_account import Controls

MAX_LINES: Final = 300
"""Open lines of an action whose proofs are shown, at most, and questions that are listed."""
MOST: Final = 1e9
"""Figures of a stranger that are shown are below this."""
_GRADES = {COMPLETE: "proven", NOT_STRIPS: "estimated"}
"""Classes of the style sheet by status; every other run is ``open``."""
_COUNTS = {
    "queries": "Queries",
    "lower_bound": "Least possible",
    "steps": "Steps attempted",
    "walk_steps": "of them walked",
    "failed_steps": "could not be done",
    "resets": "Resets",
    "looks": "Looks",
    "exam_steps": "Steps of the examination",
}
_COUNTS_OF_CONTROLS = {
    "queries": "Queries",
    "lower_bound": "Least possible",
    "steps": "Controls given",
    "watched_steps": "of them watched in the end",
    "discoveries": "Operators discovered",
    "looks": "Looks",
    "exam_steps": "Steps of the examination",
}


@dataclass(frozen=True)
class ProofStep:
    """A step of a proof: an event, and what follows from it."""

    text: str
    event: Event | None = None
    consequences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A pal tuple with its mode in the model: a line of the page."""

    pal: PalTuple
    mode: Mode
    text: str
    """The literal, e.g. ``not clear(?to)``."""
    words: str
    """The literal in plain English."""
    status: str
    """``proven``, ``by definition``, ``seen once``, ``one of several``, ``cannot matter``, ``open`` or ``estimated``; where answers are
    weighed, ``certain`` or ``doubtful``; the latter, too, where the assumption behind all proofs proved false."""
    differs: Mode | None = None
    """The mode in the ground truth, if that is another one."""
    probability: float | None = None
    """Probability of the mode, where answers are weighed."""

    @property
    def tag(self) -> str:
        """The status, with the probability where there is one."""
        if self.probability is None:
            return self.status
        return f"{self.status}, {'over 99.99%' if self.probability > 0.9999 else f'{self.probability:.2%}'}"

    @property
    def anchor(self) -> str:
        """A name that is unique on the page and safe in HTML."""
        pal = self.pal
        # both an atom and its negation may be needed, as far as is known
        sign = "-not" if pal.location is Location.PRE and self.text.startswith("not ") else ""
        arguments = "-".join(str(a) for a in pal.atom.arguments)
        return f"why-{pal.action}-{pal.location.value}{sign}-{pal.atom.predicate}-{arguments}"


@dataclass(frozen=True)
class Outcome:
    """One outcome of an action with chance."""

    words: str
    effects: tuple[str, ...]
    """The literals that are true afterwards."""
    way: Way
    open: tuple[str, ...]
    """Effects of which it was not seen whether the outcome has them."""
    example: Event | None
    """A step that came out so."""

    @property
    def figures(self) -> str:
        """``69% (63-74%), 190 of 276 trials``."""
        found = self.way.found
        if not found.trials:
            return "not counted: no trial tells it from the others"
        return f"{100 * found.probability:.0f}% ({self.way.limits}), {found.hits} of {counted(found.trials, 'trial')}"


@dataclass(frozen=True)
class Kind:
    """Trials of an action with chance before which the same of its atoms held."""

    held: tuple[str, ...]
    hits: tuple[int, ...]
    """How often each outcome came, or what looks like it there."""
    counted: bool
    """Whether they tell all outcomes apart."""


@dataclass(frozen=True, kw_only=True)
class ActionAccount:
    """The findings about one action."""

    header: ActionHeader
    sentence: str
    needs: tuple[Line, ...]
    open: tuple[Line, ...]
    """Pal tuples that are not in the model, and may belong there."""
    successes: int
    refusals: int
    changes: tuple[Line, ...] = ()
    cannot_matter: tuple[Line, ...] = ()
    """Undetermined pal tuples that are not in the model, of which no reachable situation tells anything."""
    settled: int | None = None
    """Number of pal tuples that were shown to be absent, where they are counted."""
    probabilities: tuple[Line, ...] = ()
    """These pal tuples one by one, where answers are weighed."""
    outcomes: tuple[Outcome, ...] | None = None
    """Of an agent with chance, instead of changes."""
    shared: str = ""
    """What all outcomes change, in words; empty if that is nothing."""
    kinds: tuple[Kind, ...] = ()
    unseen: float | None = None
    """The probability up to which a further outcome is not excluded, where the outcomes are certain."""

    @property
    def name(self) -> str:
        return self.header.name

    @property
    def tried(self) -> str:
        """How often it was attempted, as a sentence."""
        refused = f"refused {times(self.refusals)}" if self.refusals else "never refused"
        return f"Done {times(self.successes)}, {refused}."

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines whose proofs are shown."""
        left = (*self.open[:MAX_LINES], *self.cannot_matter[:MAX_LINES])
        return (*self.needs, *self.changes, *left)


@dataclass(frozen=True)
class FirstScreen:
    """What a person sees first."""

    abilities: Abilities
    verdict: Verdict
    status: str
    """How the run ended; empty if it did not."""
    shown: tuple[ShownImage, ...]
    """Two pictures, or one, or none."""
    about: str
    """What the pictures show, in words; empty without pictures."""
    examples: tuple[ShownExample, ...] = ()
    """The two situations that show what is wrong, if anything is."""

    @property
    def grade(self) -> str:
        """The class of the verdict in the style sheet."""
        return _GRADES.get(self.status, "open")

    @property
    def wrong(self) -> bool:
        """Whether the agent is not as was assumed: then the verdict comes first."""
        return self.status == NOT_STRIPS


class Account(ABC):
    """The findings of one run; what only one kind of agent has is empty for the others."""

    run: Recorded
    model: Model
    """What was learned."""
    events: Events
    indexes: Mapping[str, AtomIndex]
    """By action its atoms."""
    contradiction: str | None
    """Why some answers are left out; None if none are."""
    weighing: Weighing | None = None
    """The weights of the answers, where they proved unreliable."""
    controls: Controls | None = None
    """What each control does, of a run that knew only these."""
    steps: Sequence[AttemptedStep]
    """The attempted steps in the answers that count."""

    @property
    def questions(self) -> Sequence[Event] | None:
        """One event for each query, with its last attempted step in the focus; None where queries are not listed."""
        return None

    @property
    def decided(self) -> tuple[int, int] | None:
        """How many pal tuples are known, and how many there are, where they are counted."""
        return None

    @property
    def progress(self) -> Sequence[tuple[int, float]]:
        """The share of pal tuples decided after each query, where answers decide."""
        return ()

    @property
    def differences(self) -> Sequence[Difference] | None:
        """The differences to the ground truth, line by line; None where there is no truth, or lines do not tell."""
        return None

    @property
    def compared(self) -> Sequence[tuple[str, str]]:
        """Figures of the comparison with the ground truth, where they say more than the lines."""
        return ()

    @property
    @abstractmethod
    def title(self) -> str:
        """What the page is about."""

    @property
    @abstractmethod
    def verdict(self) -> Verdict:
        """How sure the model is, why, and on which assumption."""

    @property
    @abstractmethod
    def abilities(self) -> Abilities:
        """The abilities of the agent in a paragraph."""

    @property
    @abstractmethod
    def actions(self) -> Sequence[ActionAccount]:
        """Every action, in the order of the headers."""

    @property
    def truth_text(self) -> str | None:
        """The ground truth, where the differences do not tell it: the run's ``truth.pddl``."""
        path = self.run.folder / "truth.pddl"
        if self.differences is not None or path.is_symlink() or not path.is_file():
            return None
        return read_limited(path, MAX_BYTES).decode(errors="replace")

    @property
    @abstractmethod
    def cost(self) -> str:
        """What the run cost, as a sentence; empty where it did not come to its end."""

    @abstractmethod
    def why(self, line: Line) -> list[ProofStep]:
        """The proof of a line, or what is known about it, step by step."""

    @abstractmethod
    def sources(self, line: Line) -> Sequence[Event]:
        """The answers on which a line rests."""

    def settle(self, line: Line) -> str:
        """What would settle an open line, in words; empty if that is not known."""
        return ""

    @abstractmethod
    def explained(self, pal: PalTuple) -> list[tuple[str, list[ProofStep]]]:
        """What the answers say of a pal tuple: titles, each with its steps."""

    @abstractmethod
    def pair(self) -> tuple[str, tuple[ShownImage, ...]]:
        """The two most telling pictures, after what they show in words; neither if there are none."""

    @property
    def examples(self) -> tuple[ShownExample, ...]:
        """The two situations that show what is wrong, if anything is."""
        return ()

    @cached_property
    def screen(self) -> FirstScreen:
        """The first screen, the same for every kind of agent: a row an action, the verdict, and one pair of pictures."""
        about, shown = self.pair()
        status = "" if self.run.figures is None else str(self.run.figures["status"])
        return FirstScreen(self.abilities, self.verdict, status, shown, about, self.examples)

    @property
    def vocabulary(self) -> Vocabulary:
        return self.run.transcript.vocabulary

    @property
    def name(self) -> str:
        """The name of the agent."""
        return self.vocabulary.name if self.run.figures is None else str(self.run.figures["env"])

    @property
    def changed(self) -> tuple[str, ...]:
        """What is different from the model learned earlier, in sentences; none where there was no such model."""
        told = (self.run.figures or {}).get("differences")
        texts = [one.get("text") for one in told if isinstance(one, dict)] if isinstance(told, list) else []
        return tuple(printable(text) for text in texts if isinstance(text, str))

    def number(self, name: str) -> float | None:
        """A figure of ``result.json``, which may be anybody's; None if it is missing, or no number that could be."""
        value: Any = (self.run.figures or {}).get(name)
        return value if type(value) in (int, float) and 0 <= value < MOST else None

    @property
    def shown_figures(self) -> Iterator[tuple[str, str]]:
        """The run in figures: names and values."""
        looked = self.run.looked or self.weighing is not None
        for name, title in (_COUNTS if self.controls is None else _COUNTS_OF_CONTROLS).items():
            if (number := self.number(name)) is not None and (name != "looks" or looked):
                yield title, times(int(number)) if name == "discoveries" else str(number)
        if self.run.figures is None:
            yield "Steps attempted", str(len(self.steps))
        if self.decided is not None:
            word = "decided" if self.weighing is None else "certain"
            yield f"Pal tuples {word}", f"{self.decided[0]} of {self.decided[1]}"
        if isinstance(version := (self.run.figures or {}).get("checkpoint"), dict):
            yield from ((f"SHA-256 of {printable(k)}", printable(str(sha))) for k, sha in version.items())
        if (accuracy := self.number("accuracy")) is not None:
            yield "Accuracy", f"{accuracy:.3f}"
        for name, title in (("cpu_s", "CPU time"), ("perception_s", "of it reading images")):
            if (seconds := self.number(name)) is not None:
                yield title, f"{seconds:.1f} s"


def account_of(run: Recorded) -> Account:
    """The account that fits a run: of chance, of proofs, or of weights where answers proved unreliable. Raises UnusableInput: a file is damaged."""
    if run.within is not None:
        from aam_vision.report.chance_account import ChanceAccount

        return ChanceAccount(run)
    from aam_vision.report.told_account import ToldAccount, WeighedAccount

    weighed = run.figures is not None and run.figures.get("noise") and not run.looked
    return WeighedAccount(run) if weighed else ToldAccount(run)
