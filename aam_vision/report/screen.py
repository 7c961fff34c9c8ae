"""The first screen of a report, the same for every kind of agent: a row an action, the verdict, and one pair of pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aam_vision.interrogation.chance.intervals import Frequency
from aam_vision.interrogation.task.verdict import COMPLETE, NOT_STRIPS, Verdict
from aam_vision.report.ending import ShownExample
from aam_vision.report.events import ShownImage

EXPLAINED: Final = 8
"""Actions that have a row; if there are more, the others are named."""
ROOM: Final = 460
"""Characters of all rows, about: with more, fewer conditions and changes are described."""

_GRADES = {COMPLETE: "proven", NOT_STRIPS: "estimated"}
"""Classes of the style sheet by status; every other run is ``open``."""


@dataclass(frozen=True)
class Deed:
    """One action in a clause: ``if ?to is clear: ?p is at ?to``."""

    action: str
    words: str
    found: Frequency | None = None
    """How often that comes about, if it is drawn. That of one of several cases would be taken for the action's: it is not."""

    def __str__(self) -> str:
        return f"{self.action}: {self.words}"


@dataclass(frozen=True)
class Abilities:
    """What an agent can do: a number, some actions described, and the others named."""

    beginning: str
    deeds: tuple[Deed, ...]
    others: str
    """The actions that are only named, as a sentence; empty if there are none."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The paragraph, sentence by sentence."""
        return tuple(filter(None, [self.beginning, *(f"{deed}." for deed in self.deeds), self.others]))

    def __str__(self) -> str:
        return " ".join(self.parts)


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
