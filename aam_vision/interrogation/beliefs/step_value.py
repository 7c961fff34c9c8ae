"""The value of a single step: how likely it succeeds, and how much nearer to the true model that brings.

The estimates only order questions: nothing is concluded from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from aam_vision.interrogation.beliefs import constants
from aam_vision.interrogation.beliefs.binding_grid import StateGrid, Truth
from aam_vision.interrogation.beliefs.candidates import Beliefs
from aam_vision.interrogation.beliefs.expected_value import Array, expected_value
from aam_vision.interrogation.beliefs.transfer import Transfer
from aam_vision.interrogation.beliefs.unexecuted_actions import UnexecutedActions
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.joins import Row
from aam_vision.strips import LiftedAtom, State


class StepValue:
    """The value of steps under what is known at one moment."""

    def __init__(
        self,
        evidence: Evidence,
        unexecuted: UnexecutedActions,
        rng: np.random.Generator,
    ) -> None:
        hypotheses = self._hypotheses = evidence.hypotheses
        self._beliefs = Beliefs(hypotheses, evidence.visited)
        self._prior: dict[str, dict[Literals, float]] = {}
        self._chances: dict[str, dict[Literals, float]] = {}
        for name, action in hypotheses.actions.items():
            if action.successes:
                prior = {one: self._probability(name, one, action) for one in action.undecided.singles()}
                self._prior[name], self._chances[name] = prior, _after_refusals(prior, action.clauses)
        transfer = Transfer(hypotheses, lambda name, bit: self._prior[name][Literals(bit, 0)])
        self.unexecuted = unexecuted.at(evidence, self._beliefs, transfer, rng)
        for name, guesses in self.unexecuted.items():
            self._chances[name] = guesses.chances

    def chance(self, name: str, literal: Literals) -> float:
        """The probability that an undecided literal is a precondition."""
        return self._chances[name][literal]

    def success(self, name: str, violated: Literals) -> float:
        """The probability that a step which violates these candidates succeeds; the action was executed before."""
        action = self._hypotheses[name]
        if action.certain_to_fail(violated):
            return 0.0
        return float(_success(self._prior[name], action.clauses, dict.fromkeys(violated.singles(), np.True_)))

    def of_rows(self, name: str, state: State, rows: Sequence[Row]) -> Array:
        """The value of steps with these arguments, distinct objects each; shape ``(rows,)``."""
        index = self._hypotheses[name].index
        values = np.array([index.values(state, row) for row in rows], dtype=np.object_).reshape(-1, 2)

        def truth(atom: LiftedAtom) -> tuple[Truth, Truth]:
            held, unknown = (values & index.bit[atom]).T.astype(np.bool_)
            return held, unknown

        return self._value(name, truth, np.ones(len(rows), dtype=np.bool_))

    def of_all_rows(self, name: str, grid: StateGrid) -> Array:
        """The value of the action under every choice of arguments; zero where an object is named twice."""
        index = self._hypotheses[name].index
        return self._value(
            name, lambda atom: (grid.true(atom, index), grid.unknown(atom, index)), grid.distinct(index)
        )

    def _value(
        self,
        name: str,
        truth: Callable[[LiftedAtom], tuple[Truth | np.bool_, Truth | np.bool_]],
        executable: Truth,
    ) -> Array:
        """The value of steps, given where an atom is true and where it is unknown; shape of ``executable``."""
        action = self._hypotheses[name]
        proven, undecided, effects = action.proven, action.undecided, action.undecided_effects
        relevant = union([proven, undecided, Literals(effects, 0)])
        violated: dict[Literals, Truth | np.bool_] = {}
        gain = np.zeros(executable.shape)
        for atom, bit in action.index.bit.items():
            if not bit & (relevant.positive | relevant.negative):
                continue
            held, unknown = truth(atom)
            false = np.logical_not(np.logical_or(held, unknown))
            if proven.positive & bit:
                executable = np.logical_and(executable, held)
            if proven.negative & bit:
                executable = np.logical_and(executable, false)
            if undecided.positive & bit:
                violated[Literals(bit, 0)] = np.logical_not(held)
                gain += false
            if undecided.negative & bit:
                violated[Literals(0, bit)] = np.logical_or(held, unknown)
                gain += constants.NEGATIVE * np.asarray(held)
            if effects & bit:
                added = np.logical_and(bool(action.adds & bit), false)
                deleted = np.logical_and(bool(action.deletes & bit), held)
                gain += constants.EFFECT * np.logical_or(added, deleted)
        success = _success(self._prior[name], action.clauses, violated) * executable
        reasons = np.zeros(executable.shape)
        for where in violated.values():
            reasons += where
        return expected_value(success, gain, reasons)

    def upper_bound(self, name: str) -> float:
        """About the highest value of any step of the action."""
        if name in self.unexecuted:
            return self.unexecuted[name].gain
        action = self._hypotheses[name]
        chances = self._chances[name]
        effects = constants.EFFECT * action.undecided_effects.bit_count()
        return effects + sum(
            (1 - chance) * (1 if literal.positive else constants.NEGATIVE) + constants.PROOF * chance
            for literal, chance in chances.items()
        )

    def _probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        bit = literal.positive or literal.negative
        if literal.negative:
            return constants.PRIOR_NEGATIVE
        if not action.held & bit:
            return constants.HIDDEN
        if action.deletes & bit and not action.keeps & bit:
            return constants.DELETED
        rate = self._beliefs.rate(name, bit)
        return constants.KEPT / (constants.KEPT + (1 - constants.KEPT) * rate)


def _success(
    prior: Mapping[Literals, float],
    clauses: Sequence[Literals],
    violated: Mapping[Literals, Truth | np.bool_],
) -> Array:
    """The probability that steps succeed, given where each undecided literal is violated.

    Literals are independent before refusals; a clause of which little is left if none of the violated
    ones is required makes a success improbable. Clauses overlap much, so only the one that does so most counts.
    """
    none_violated: Any = 1.0  # the probability that nothing violated is required
    for literal, where in violated.items():
        none_violated = none_violated * (1 - where * prior[literal])
    least: Any = 1.0
    for clause in clauses:
        none_left: Any = 1.0  # the same of the clause's other literals
        for literal in clause.singles():
            none_left = none_left * (1 - (1 - violated.get(literal, False)) * prior[literal])
        least = np.minimum(least, (1 - none_left) / (1 - _none(prior, clause)))
    return np.asarray(none_violated * least)


def _after_refusals(prior: Mapping[Literals, float], clauses: Sequence[Literals]) -> dict[Literals, float]:
    """The probabilities after refusals, each clause taken for itself."""
    chances = dict(prior)
    for clause in clauses:
        inside = 1 - _none(chances, clause)
        for literal in clause.singles():
            chances[literal] = max(chances[literal], min(constants.CERTAIN_CHANCE, chances[literal] / inside))
    return chances


def _none(chances: Mapping[Literals, float], literals: Literals) -> float:
    """The probability that none of the literals is a precondition."""
    return prod(1 - chances[literal] for literal in literals.singles())
