"""The lines of a report: pal tuples with their modes, and how each is known."""

from __future__ import annotations

from dataclasses import dataclass

from aam_vision.strips import Mode, PalTuple


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
    """``proven``, ``one of several``, ``cannot matter``, ``open`` or ``estimated``; where answers are weighed, ``certain`` or
    ``doubtful``; the latter, too, where the assumption behind all proofs proved false."""
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
        arguments = "-".join(str(a) for a in self.pal.atom.arguments)
        return f"why-{self.pal.action}-{self.pal.location.value}-{self.pal.atom.predicate}-{arguments}"
