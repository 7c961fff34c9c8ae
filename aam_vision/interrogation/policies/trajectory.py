"""The policy for ``trajectory`` access: as few attempted steps as possible, each one of our own choice.

There is no way back, and the agent does not act on its own: so every step counts, those on the way to a test included.
The next test is the one worth most per step (``StepValue``) within sight of where the agent stands (``Lookahead``). If
none is in sight, one is planned for, or the agent goes where it sees farther. Successes that correct the model are worth
most; refusals that prove what the model says already are worth least.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import takewhile

import numpy as np

from aam_vision.interrogation.beliefs.binding_grid import StateGrid
from aam_vision.interrogation.beliefs.constants import LIKELY
from aam_vision.interrogation.beliefs.step_value import StepValue
from aam_vision.interrogation.beliefs.unexecuted_actions import UnexecutedActions
from aam_vision.interrogation.completeness.stopping import indistinguishability_of, sound_stop
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Aim, Ask, Move
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, union
from aam_vision.interrogation.policies.lookahead import Lookahead, Test
from aam_vision.interrogation.queries.aims import asked_for
from aam_vision.interrogation.queries.derived import Derived
from aam_vision.interrogation.queries.first_success import in_smallest_clause, planned_states
from aam_vision.interrogation.queries.reachability import BOLD, PlannedNearMiss, Reachability
from aam_vision.planning.planner import Limits, Planner, Verdict
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.strips import GroundAction

TEST = "test"
"""The purpose of a step within sight that may tell something."""
MAX_FRUITLESS = 25
"""Questions in a row that told nothing, after which none is asked any more."""
MAX_LOOKING = 3
"""The same for going where one sees farther."""
MAX_PLANS = 12
"""Searches made for one move."""
SEEDS = 2
"""Literals of the smallest clause that a plan to a first success may start from."""


@dataclass
class TrajectoryPolicy:
    """Few steps under ``trajectory`` access.

    ``work`` bounds the choices of arguments that are looked at for one move.
    """

    planner: Planner = field(default_factory=PyperplanPlanner)
    limits: Limits = field(default_factory=lambda: Limits(states=3000))
    work: int = 20_000
    _unexecuted: UnexecutedActions = field(default_factory=UnexecutedActions)
    _reachability: Derived[Reachability] = field(default_factory=Derived)

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move: the best test within sight, else one that is planned for, else stop."""
        fruitless = sum(
            1 for _ in takewhile(lambda exchange: not exchange.told, reversed(evidence.exchanges))
        )
        if fruitless > MAX_FRUITLESS:
            return sound_stop(indistinguishability_of(evidence))
        node = evidence.current
        value = StepValue(evidence, self._unexecuted, rng)
        lookahead = Lookahead(evidence, node, value, _stale(evidence), work=self.work)
        test = lookahead.best()
        first = self._first_success(evidence, node, value)
        if first is not None and (test is None or first.value > test.value):
            test = first
        if test is not None:
            ask = self._ask(evidence, node, test.plan, test.why)
            if ask is not None:
                return replace(ask, aims=(Aim(TEST, *test.about),))
        stop = sound_stop(indistinguishability_of(evidence))
        if not lookahead.exhausted and not stop.complete:
            ask = self._planned(evidence, node, value)
            if ask is None and lookahead.farthest and fruitless < MAX_LOOKING:
                ask = self._ask(evidence, node, lookahead.farthest, "see what is farther away")
            if ask is not None:
                return ask
        return stop

    def _planned(self, evidence: Evidence, node: Node, value: StepValue) -> Ask | None:
        """A test that no state within sight allows, reached by a plan."""
        paths = self._paths_from(evidence, node)
        targets = [
            (value.chance(name, literal), name, literal)
            for name, action in evidence.hypotheses.actions.items()
            if action.successes
            for literal in action.undecided.singles()
        ]
        for _, name, literal in sorted(targets)[:MAX_PLANS]:
            action = evidence.hypotheses[name]
            others = sorted((value.chance(name, other), other) for other in action.undecided.singles())
            trusted = [other for chance, other in reversed(others) if chance >= LIKELY and other != literal]
            holding = paths.gather(action, union([action.proven, literal.opposite()]), trusted)
            if holding is None:
                continue
            planned = self._reach(paths, action, holding)
            if isinstance(planned, PlannedNearMiss):
                plan = (*planned.path, planned.step)
                ask = self._ask(evidence, node, plan, f"plan to test {', '.join(action.index.text(literal))}")
                if ask is not None:
                    return ask
        return None

    def _paths_from(self, evidence: Evidence, node: Node) -> Reachability:
        """What can be reached from here; refusals of actions that were never executed leave it as it was."""
        executed = [one.version for one in evidence.hypotheses.actions.values() if one.successes]
        return self._reachability.on(
            (node.number, evidence.learned, executed),
            lambda: Reachability(evidence.hypotheses, [node], required=BOLD),
        )

    def _reach(
        self, paths: Reachability, action: ActionHypotheses, holding: Literals
    ) -> PlannedNearMiss | Verdict:
        return paths.reach(action, holding, self.planner, self.limits)

    def _first_success(self, evidence: Evidence, node: Node, value: StepValue) -> Test | None:
        """The best way to where an action that was never executed may be, by what it is most likely to require."""
        best: Test | None = None
        for name, unexecuted in value.unexecuted.items():
            action, chances = unexecuted.action, unexecuted.chances
            likely = sorted((one for one in chances if one.positive), key=lambda one: -chances[one])
            seeds = in_smallest_clause(action, likely)[:SEEDS] or [NOTHING]
            for (_, path, _), state in planned_states(
                evidence,
                action,
                [self._paths_from(evidence, node)],
                first=[union([action.proven, seed]) for seed in seeds],
                likely=likely,
                reach=self._reach,
            ):
                found = unexecuted.best_in(StateGrid(state, evidence.hypotheses.vocabulary), len(path))
                if found is None:
                    continue
                objects, worth = found
                plan = (*path, GroundAction(name, objects))
                violated = action.certainly_violated(*action.index.values(state, objects))
                if not evidence.was_asked(node, plan) and worth > (best.value if best else 0):
                    best = Test(plan, worth, f"see {name} succeed", (name, violated))
        return best

    def _ask(self, evidence: Evidence, node: Node, plan: tuple[GroundAction, ...], why: str) -> Ask | None:
        """The question, up to the first step that may tell anything; None if it was asked before."""
        state = node.state
        for number, step in enumerate(plan, 1):
            action = evidence.hypotheses[step.name]
            held, dim = action.index.values(state, step.objects)
            if action.certainly_violated(held, dim) or action.shown_effects(held, dim):
                plan = plan[:number]
                break
            state = evidence.predict(state, step)
        return None if evidence.was_asked(node, plan) else Ask(node, plan, why)


def _stale(evidence: Evidence) -> Counter[tuple[str, Literals]]:
    """How often each test was made and told nothing."""
    fruitless = (ask.aims for ask, exchange in asked_for(evidence, TEST) if not exchange.told)
    return Counter((aim.action, aim.literals) for aims in fruitless for aim in aims)
