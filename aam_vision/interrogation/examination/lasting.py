"""The end of an examination: steps that meet mistakes which last, of an agent that may refuse by mistake.

A share of wrong steps is bounded on the assumption that these are independent. A mistake may last, though: for some attempts of
an action, or for a while. Then the attempts near each other come out alike. No refusal may be met in the steps of the
bound, walks show none at all, and the refusals that prove a precondition may all be one mistake, as they are repeated at once. So each
action is executed many times more, and after that one refusal for every conclusion is attempted once more, unless the
examination has met one. These steps do not count for the bound: those alike would make it too low.

Where every question makes its own state they are asked in long histories, which hardly come up otherwise there. Only their ends are
seen. So there the long plan of an agent that refuses surely is asked again, too, up to where each other action came last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence, Node, supported
from aam_vision.interrogation.evidence.moves import Ask, Asked, Stop
from aam_vision.interrogation.examination.predictions import LASTING, Predictions, Way
from aam_vision.interrogation.policies.decorators import replay
from aam_vision.model.query import Access

EXECUTED = 200
"""Executed steps that were asked for, as many of each action, before mistakes that last count as met. Steps of walks do not count.
A mistake in three of ten attempts, four in a row on average, then escapes one of a hundred examinations of four actions."""
LONGEST = 8
"""Steps of a plan at most, where histories go on from plan to plan."""
HISTORY = 20
"""Steps of a plan where they do not."""
SEARCHED = 100
"""States that are searched for an action that was executed too seldom, around all beginnings together."""


@dataclass
class Lasting:
    """The last steps of the examination: of an agent that may refuse by mistake, or of which only the end of a long plan is seen.

    ``surely``: whether it refuses nothing by mistake. Then the long plan is asked again, once up to every other action.
    """

    access: Access
    surely: bool = False
    _predictions: tuple[Evidence, int, Predictions] | None = field(default=None, init=False, repr=False)
    """What follows from an evidence of this version; kept to save time."""

    def next(
        self,
        evidence: Evidence,
        starts: Sequence[Node],
        stop: Stop,
        rng: np.random.Generator,
        history: Callable[[Node, int], Way],
    ) -> Ask | None:
        """The next plan; None if all was met, or nothing more can be had.

        ``starts``: where it may begin; ``history``: a plan of about so many executed steps, of all actions alike.
        """
        asked = [
            one.move for one in evidence.exchanges if isinstance(one.move, Ask) and one.move.why == LASTING
        ]
        if len(asked) >= 2 * EXECUTED:
            return None
        if self.surely:
            ending = self._ending(evidence)
            return None if ending is None else Ask(*ending, LASTING, stopped=stop, examines=True)
        executed = executions(evidence)
        wanted = EXECUTED // max(1, len(executed))
        seldom = {name for name, count in executed.items() if count < wanted}
        found = None
        if seldom and self.access.constructs and sum(len(one.plan) for one in asked) < 2 * EXECUTED:
            ends = Counter(one.plan[-1].name for one in asked)
            found = _in_history(starts, seldom, lambda name: (ends[name], executed[name]), history)
        elif seldom:
            found = self._executed(evidence, starts, seldom, rng)
        found = found or self._refused(evidence)
        return None if found is None else Ask(*found, LASTING, stopped=stop, examines=True)

    def _ending(self, evidence: Evidence) -> tuple[Node, Way] | None:
        """The longest plan of the examination up to where an action came last with which no long one has ended; None if there is none.

        An effect that an action lacks after several uses shows only there, unless no later step brings about the same.
        """
        moves = [one.move for one in evidence.exchanges if isinstance(one.move, Ask) and one.move.examines]
        longest = max(moves, key=lambda one: len(one.plan), default=None)
        if longest is None:
            return None
        names = [step.name for step in longest.plan]
        ended = {one.plan[-1].name for one in moves if one.why == LASTING or one is longest}
        for length in range(len(names), 0, -1):
            plan = longest.plan[:length]
            if names[length - 1] not in ended and not evidence.was_asked(longest.start, plan):
                return longest.start, plan
        return None

    def _executed(
        self, evidence: Evidence, starts: Sequence[Node], seldom: Set[str], rng: np.random.Generator
    ) -> tuple[Node, Way] | None:
        """A plan with as few steps as possible of others than the actions executed too seldom, each of which may end it alike.

        In the same order again and again they would hardly lead anywhere.
        """
        predictions = self._worked_out(evidence)
        most, best = 0.0, dict[str, list[tuple[Node, Way]]]()
        for start in starts:
            for way, state in predictions.surroundings(start.state, SEARCHED // len(starts), LONGEST - 1):
                rank = (sum(step.name in seldom for step in way) + 1) / (len(way) + 1)
                steps = [step for step in predictions.executable(state) if step.name in seldom]
                if steps and rank > most:
                    most, best = rank, {}
                if rank == most:
                    for step in steps:
                        best.setdefault(step.name, []).append((start, (*way, step)))
        if not best:
            return None
        plans = best[list(best)[int(rng.integers(len(best)))]]
        return plans[int(rng.integers(len(plans)))]

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


def _in_history(
    starts: Sequence[Node],
    seldom: Set[str],
    ended: Callable[[str], tuple[int, int]],
    history: Callable[[Node, int], Way],
) -> tuple[Node, Way] | None:
    """A long plan with actions executed too seldom; it ends with the one of which ``ended`` is least.

    Only its end is seen: what an action brings about there may be overwritten by any other one.
    """
    for start in starts:
        plan = history(start, HISTORY)
        names = [step.name for step in plan]
        if not seldom.isdisjoint(names):
            last = min(dict.fromkeys(names[::-1]), key=ended)
            return start, plan[: len(plan) - names[::-1].index(last)]
    return None


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
