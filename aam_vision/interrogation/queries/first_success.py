"""A first success of an action that no walk has shown: an educated guess at what it needs.

Nothing is known of such an action, but atoms that rarely hold are seldom true together by chance. So the guess
is a situation, reachable with the actions known so far, in which as many of the action's rare atoms hold
as can: greedily, the rarest first, each kept if some arguments and some reachable state still satisfy all. A
refusal leaves a clause, and the next guess satisfies one of its literals first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from aam_vision.interrogation.beliefs.candidates import Beliefs
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.queries.bounded_search import BoundedSearch
from aam_vision.interrogation.queries.reachability import PlannedNearMiss, Reachability

SEEDS = 8
"""Literals of the latest clause that a guess may start from."""


@dataclass
class FirstSuccess:
    """Finds first successes."""

    beliefs: Beliefs
    searches: BoundedSearch

    def guess(self, evidence: Evidence, name: str, paths: list[Reachability]) -> Ask | None:
        """A query whose last step is the unseen action, where it is most likely to succeed; None if none is open."""
        return next(self._guesses(evidence, name, paths), None)

    def _guesses(self, evidence: Evidence, name: str, paths: list[Reachability]) -> Iterator[Ask]:
        action = evidence.hypotheses[name]
        rare = sorted(bits(action.positive), key=lambda bit: self.beliefs.rate(name, bit))
        for seed in _seeds(name, action, self.beliefs):
            wanted = [Literals(bit, 0) for bit in rare if bit != seed]
            for path in paths:
                if self.searches.exhausted:
                    return
                holding = path.gather(action, Literals(seed, 0), wanted)
                planned = None if holding is None else self.searches.reach(path, action, holding)
                if not isinstance(planned, PlannedNearMiss):
                    continue
                state = evidence.predict_plan(planned.start.state, planned.path)
                violated = action.violated(*action.index.values(state, planned.step.objects))
                if not action.certain_to_fail(violated):
                    yield Ask(planned.start, (*planned.path, planned.step), f"see {name} succeed")


def _seeds(name: str, action: ActionHypotheses, beliefs: Beliefs) -> Iterator[int]:
    """What a guess starts from: nothing, or a literal of the smallest clause that refusals have left."""
    if not action.clauses:
        yield 0
        return
    smallest = min(action.clauses, key=Literals.size)
    yield from islice(sorted(bits(smallest.positive), key=lambda bit: beliefs.rate(name, bit)), SEEDS)
