"""The end of an examination: steps that meet mistakes which last, of an agent that may refuse by mistake.

A share of wrong steps is bounded on the assumption that these are independent. A mistake may last, though: for some attempts of
an action, or for a while. Then the attempts near each other come out alike. No refusal may be met in the steps of the
bound, walks show none at all, and the refusals that prove a precondition may all be one mistake, as they are repeated at once. So each
action is executed many times more, and after that one refusal for every conclusion is attempted once more, unless the
examination has met one. These steps do not count for the bound: those alike would make it too low.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence, Node, supported
from aam_vision.interrogation.evidence.moves import Ask, Asked, Stop
from aam_vision.interrogation.examination.predictions import LASTING, Predictions, Way
from aam_vision.interrogation.policies.decorators import replay
from aam_vision.model.query import Access

EXECUTED = 100
"""Executed steps that were asked for, as many of each action, before mistakes that last count as met. Steps of walks do not count."""
LONGEST = 8
"""Steps of a plan at most."""
SEARCHED = 100
"""States that are searched for an action that was executed too seldom, around all beginnings together."""


@dataclass
class Lasting:
    """The last steps of the examination of an agent that may refuse by mistake."""

    access: Access
    _predictions: tuple[Evidence, int, Predictions] | None = field(default=None, init=False, repr=False)
    """What follows from an evidence of this version; kept to save time."""

    def next(
        self, evidence: Evidence, starts: Sequence[Node], stop: Stop, rng: np.random.Generator
    ) -> Ask | None:
        """The next plan; None if all was met, or nothing more can be had. ``starts``: where it may begin."""
        asked = sum(one.move is not None and one.move.why == LASTING for one in evidence.exchanges)
        if asked >= 2 * EXECUTED:
            return None
        found = self._executed(evidence, starts, rng) or self._refused(evidence)
        return None if found is None else Ask(*found, LASTING, stopped=stop, examines=True)

    def _executed(
        self, evidence: Evidence, starts: Sequence[Node], rng: np.random.Generator
    ) -> tuple[Node, Way] | None:
        """The shortest plan to the action executed least, with as few steps as possible of others than those executed too seldom."""
        executed = executions(evidence)
        wanted = EXECUTED // max(1, len(executed))
        predictions = self._worked_out(evidence)
        best: tuple[tuple[float, int], Node, Way] | None = None
        for start in starts:
            for way, state in predictions.surroundings(start.state, SEARCHED // len(starts), LONGEST - 1):
                options = predictions.executable(state)
                for name in dict.fromkeys(step.name for step in options):
                    seldom = sum(executed[step.name] < wanted for step in way) + 1
                    rank = seldom / (len(way) + 1), -executed[name]
                    if executed[name] < wanted and (best is None or rank > best[0]):
                        same = [step for step in options if step.name == name]
                        best = rank, start, (*way, same[int(rng.integers(len(same)))])
        return None if best is None else best[1:]

    def _refused(self, evidence: Evidence) -> tuple[Node, Way] | None:
        """A refusal again, for a conclusion that no refusal of the examination supports."""
        if not self.access.restarts:
            return None
        lately = evidence.refusals[len(evidence.refusals) - _refusals(evidence) :]
        for refusals in supported(evidence).values():
            if any(refusal in lately for refusal in refusals):
                continue
            for refusal in refusals:
                if self.access.episodic:
                    start, way = replay(evidence, refusal.at)
                    return start, (*way, refusal.action)
                if refusal.at.situation is not None:
                    return refusal.at, (refusal.action,)
        return None

    def _worked_out(self, evidence: Evidence) -> Predictions:
        version, known = evidence.hypotheses.version, self._predictions
        if known is None or known[0] is not evidence or known[1] != version:
            known = self._predictions = evidence, version, Predictions(evidence)
        return known[2]


def executions(evidence: Evidence) -> Counter[str]:
    """How many executed steps of each action were asked for, of the actions that were ever executed."""
    found = Counter({name: 0 for name, action in evidence.hypotheses.actions.items() if action.successes})
    for exchange in evidence.exchanges:
        if isinstance(exchange.entry, Asked):
            found.update(step.name for step in exchange.entry.executed)
    return found


def _refusals(evidence: Evidence) -> int:
    """How many steps were refused in the examination."""
    found = 0
    for exchange in reversed(evidence.exchanges):
        if exchange.move is None or not exchange.move.examines:
            break
        entry = exchange.entry
        found += isinstance(entry, Asked) and entry.response.executed < len(entry.query.plan)
    return found
