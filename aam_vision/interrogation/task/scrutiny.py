"""How far an agent's answers are taken at their word: a strategy of the loop.

Whatever the strategy, an atom that changed though no executed step names its objects shows that a state was misread,
or that the agent is not a STRIPS agent. ``TAKEN_AT_THEIR_WORD`` goes on and calls nothing certain in the end.
``DOUBTED`` ends the interrogation at once, so that something better can be done (``task.robust``), and calls nothing
certain that follows from too few refusals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from aam_vision.agents.counting import CountingAgent
from aam_vision.errors import InconsistentAgent
from aam_vision.interrogation.evidence.anomalies import unexplained_changes
from aam_vision.interrogation.evidence.entries import Entry, Walked
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Stop
from aam_vision.interrogation.evidence.refusal_support import REFUSALS, Claim, unconfirmed
from aam_vision.interrogation.examination.pixels import is_steady, unseen_change
from aam_vision.query import Access, refuses_surely
from aam_vision.strips import GroundAction
from aam_vision.wording import counted


@dataclass(frozen=True)
class Scrutiny:
    """How to treat answers that cannot be right."""

    ends_at_once: bool
    """Whether the first sign of a misread state ends the interrogation."""
    counts_refusals: bool
    """Whether a conclusion needs several refusals, of an agent that may refuse by mistake."""

    def of(self, agent: CountingAgent) -> Inspection:
        """The inspection of one agent's answers."""
        return Inspection(
            agent,
            self.ends_at_once or agent.access is Access.SETTABLE,
            self.counts_refusals and not refuses_surely(agent),
            agent.vocabulary.constants,
        )


TAKEN_AT_THEIR_WORD = Scrutiny(ends_at_once=False, counts_refusals=False)
DOUBTED = Scrutiny(ends_at_once=True, counts_refusals=True)


class Verdict(NamedTuple):
    """How an interrogation ended, after all that is in doubt."""

    stop: Stop
    doubt: str
    """Why nothing is certain, if so."""
    unconfirmed: tuple[Claim, ...]


@dataclass
class Inspection:
    """The inspection of one agent's answers, as they come in."""

    agent: CountingAgent
    ends_at_once: bool
    counts_refusals: bool
    constants: Collection[str]
    misread: list[str] = field(default_factory=list)
    """Signs that states were misread."""
    steady: bool | None = None
    """Whether the camera shows the same pixels again; None until that matters."""

    def check(self, entry: Entry, name: Callable[[], str]) -> None:
        """Look at one answer before anything is concluded from it; ``name`` tells what it is called.

        Raises:
            InconsistentAgent: it cannot be right, and that ends the interrogation.
        """
        if changed := unexplained_changes(entry, self.constants):
            sign = f"{name()} changed {changed[0]}, which no step of it names"
            self._doubt(f"{sign}: a state was misread, or this is no STRIPS agent")
        elif step := self._unseen_change(entry):
            self._doubt(f"{step}: the image changed, but no atom did: misread, or a predicate is missing")

    def _doubt(self, sign: str) -> None:
        self.misread.append(sign)
        if self.ends_at_once:
            raise InconsistentAgent(sign)

    def _unseen_change(self, entry: Entry) -> GroundAction | None:
        """An executed step that changed the image and no atom, unless the camera's own noise may be the reason."""
        if self.steady is False:
            return None
        if isinstance(entry, Walked):
            steps = [(one.before, one.action, one.after) for one in entry.steps]
        elif entry.response.executed == 1:
            steps = [(entry.query.initial, entry.query.plan[0], entry.response.final)]
        else:
            return None
        for before, action, after in steps:
            if unseen_change(self.agent, before, action, after, self.constants):
                if self.steady is None:
                    self.steady = is_steady(self.agent, steps[-1][2])
                return action if self.steady else None
        return None

    def verdict(self, evidence: Evidence, stop: Stop, doubt: str = "") -> Verdict:
        """The end, and what of it is certain."""
        doubt = doubt or (self.misread[0] if self.misread else "")
        weak = unconfirmed(evidence) if self.counts_refusals else ()
        if doubt and stop.complete:
            stop = Stop(False, f"nothing is certain: {doubt}")
        elif weak and stop.complete:
            rest = f"{counted(len(weak), 'conclusion')} {'rests' if len(weak) == 1 else 'rest'}"
            why = f"{rest} on fewer than {REFUSALS} refusals, and could not be asked for again"
            stop = Stop(False, why)
        return Verdict(stop, doubt, weak)
