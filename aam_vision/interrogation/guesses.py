"""A first success of an action that no walk has shown: an educated guess at what it needs.

Nothing is known of such an action, but atoms that rarely hold are seldom true together by chance. So the guess
is a situation, reachable with the actions known so far, in which as many of the action's rare atoms hold
as can: greedily, the rarest first, each kept if some arguments and some reachable state still satisfy all. A
refusal leaves a clause, and the next guess satisfies one of its literals first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from aam_vision.interrogation.action_hypotheses import ActionHypotheses
from aam_vision.interrogation.atoms import Literals, bits
from aam_vision.interrogation.beliefs import Beliefs
from aam_vision.interrogation.evidence import Evidence
from aam_vision.interrogation.moves import Ask
from aam_vision.interrogation.paths import Paths, PlannedProbe
from aam_vision.planning.planner import Limits, Planner, Verdict, cpu_seconds

SEEDS = 8
"""Literals of the latest clause that a guess may start from."""


@dataclass
class Guesses:
    """Finds first successes; remembers what was tried in vain."""

    beliefs: Beliefs
    planner: Planner
    limits: Limits
    seconds: float
    """CPU seconds that all guessing together may take."""
    spent: float = 0.0
    _hopeless: set[tuple[int, str, Literals]] = field(default_factory=set)

    def guess(self, evidence: Evidence, name: str, paths: list[Paths]) -> Ask | None:
        """A query whose last step is the unseen action, where it is most likely to succeed; None if none is open."""
        begun = cpu_seconds()
        try:
            return next(self._guesses(evidence, name, paths, begun), None)
        finally:
            self.spent += cpu_seconds() - begun

    def _guesses(self, evidence: Evidence, name: str, paths: list[Paths], begun: float) -> Iterator[Ask]:
        action = evidence.hypotheses[name]
        rare = sorted(bits(action.positive), key=lambda bit: self.beliefs.rate(name, bit))
        for seed in _seeds(name, action, self.beliefs):
            wanted = [Literals(bit, 0) for bit in rare if bit != seed]
            for path in paths:
                if self.spent + cpu_seconds() - begun > self.seconds:
                    return
                holding = path.gather(action, Literals(seed, 0), wanted)
                if holding is None or (path.problem, name, holding) in self._hopeless:
                    continue
                planned = path.reach(action, holding, self.planner, self.limits)
                if not isinstance(planned, PlannedProbe):
                    if planned is Verdict.LIMIT:
                        self._hopeless.add((path.problem, name, holding))
                    continue
                state = planned.start.state
                for step in planned.path:
                    state = evidence.predict(state, step)
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
