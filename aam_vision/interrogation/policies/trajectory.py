"""The policy for ``trajectory`` access: as few attempted steps as possible, each one of our own choice.

There is no way back and nobody acts but us, so every step counts, those on the way to a test included. The next
test is the one worth most per step (``worth``) within sight of where the agent stands (``outlook``);
if nothing is in sight, one is planned for, or the agent goes where it sees farther. Successes that mend the
model come first by what they are worth; refusals that prove what the model says already come last.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from aam_vision.interrogation.atoms import union
from aam_vision.interrogation.evidence import Evidence, Node
from aam_vision.interrogation.guesses import Guesses
from aam_vision.interrogation.moves import Ask, Move
from aam_vision.interrogation.outlook import Outlook
from aam_vision.interrogation.paths import Paths, PlannedProbe
from aam_vision.interrogation.stopping import equivalence_of, sound_stop
from aam_vision.interrogation.worth import Worth
from aam_vision.planning.planner import Limits, Planner
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.strips import GroundAction

MAX_FRUITLESS = 25
"""Questions in a row that told nothing, after which none is asked any more."""
MAX_PLANS = 12
"""Searches made for one move."""


@dataclass
class TrajectoryPolicy:
    """Few steps under ``trajectory`` access.

    ``work`` bounds the choices of arguments that are looked at for one move.
    """

    planner: Planner = field(default_factory=PyperplanPlanner)
    limits: Limits = field(default_factory=lambda: Limits(seconds=1000.0, states=3000))
    work: int = 20_000
    guessing_seconds: float = 60.0
    """CPU seconds for planned guesses at unseen actions."""
    _guesses: Guesses | None = None
    _asked: set[tuple[int, tuple[GroundAction, ...]]] = field(default_factory=set)
    _version: int = -1
    _fruitless: int = 0

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move: the best test within sight, else one that is planned for, else stop."""
        version = evidence.hypotheses.version
        self._fruitless = self._fruitless + 1 if version == self._version else 0
        self._version = version
        if self._fruitless > MAX_FRUITLESS:
            return sound_stop(equivalence_of(evidence))
        node = evidence.current
        worth = Worth(evidence.hypotheses, evidence.visited, rng)
        outlook = Outlook(evidence, node, worth, work=self.work)
        test = outlook.best()
        if test is not None:
            ask = self._ask(evidence, node, test.plan, test.why)
            if ask is not None:
                return ask
        stop = sound_stop(equivalence_of(evidence))
        if not outlook.exhausted and not stop.complete:
            ask = self._planned(evidence, node, worth)
            if ask is None and outlook.farthest:
                ask = self._ask(evidence, node, outlook.farthest, "see what is farther away")
            if ask is not None:
                return ask
        return stop

    def _planned(self, evidence: Evidence, node: Node, worth: Worth) -> Ask | None:
        """A test that no state within sight allows, reached by a plan."""
        paths = Paths(evidence.hypotheses, [node])
        for name, action in evidence.hypotheses.actions.items():
            if not action.successes:
                ask = self._planned_guess(evidence, node, worth, paths, name)
                if ask is not None:
                    return ask
        targets = [
            (worth.chance(name, literal), name, literal)
            for name, action in evidence.hypotheses.actions.items()
            if action.successes
            for literal in action.undecided.singles()
        ]
        for _, name, literal in sorted(targets)[:MAX_PLANS]:
            action = evidence.hypotheses[name]
            others = sorted((worth.chance(name, other), other) for other in action.undecided.singles())
            trusted = [other for chance, other in reversed(others) if chance >= 0.5 and other != literal]
            holding = paths.gather(action, union([action.proven, literal.opposite()]), trusted)
            if holding is None:
                continue
            planned = paths.reach(action, holding, self.planner, self.limits)
            if isinstance(planned, PlannedProbe):
                plan = (*planned.path, planned.step)
                ask = self._ask(evidence, node, plan, f"plan to test {', '.join(action.index.text(literal))}")
                if ask is not None:
                    return ask
        return None

    def _planned_guess(
        self, evidence: Evidence, node: Node, worth: Worth, paths: Paths, name: str
    ) -> Ask | None:
        """A plan to where an unseen action may be executable: by its rare atoms, then by its refusals."""
        why = f"see {name} succeed"
        if self._guesses is None:
            self._guesses = Guesses(worth.beliefs, self.planner, self.limits, self.guessing_seconds)
        guess = self._guesses.guess(evidence, name, [paths])
        ask = self._ask(evidence, node, guess.plan, why) if guess else None
        action = evidence.hypotheses[name]
        for required in worth.guesses(name)[:MAX_PLANS]:
            if ask is not None:
                break
            planned = paths.reach(action, required, self.planner, self.limits)
            if isinstance(planned, PlannedProbe):
                ask = self._ask(evidence, node, (*planned.path, planned.step), why)
        return ask

    def _ask(self, evidence: Evidence, node: Node, plan: tuple[GroundAction, ...], why: str) -> Ask | None:
        """The question, up to the first step that may tell anything; None if it was asked before."""
        state = node.state
        for number, step in enumerate(plan, 1):
            action = evidence.hypotheses[step.name]
            held, dim = action.index.values(state, step.objects)
            if action.certainly_violated(held, dim) or Worth.shown(action, held, dim):
                plan = plan[:number]
                break
            state = evidence.predict(state, step)
        if (node.number, plan) in self._asked:
            return None
        self._asked.add((node.number, plan))
        return Ask(node, plan, why)
