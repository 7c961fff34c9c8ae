"""What a single step is worth: how likely it succeeds, and how much nearer to the true model that brings.

The printed model is the cautious one, so it is a *success* that mends it: every positive candidate that did not
hold is gone, and every effect that shows is known. A refusal only leaves a clause, or a proof of what the
model says already. So a step is worth its probability of success times what it would then mend; proofs
count for little, but for something. The estimates only order questions: nothing is concluded from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

import numpy as np

from aam_vision.interrogation.beliefs.binding_grid import Array, StateGrid
from aam_vision.interrogation.beliefs.candidates import PRIOR_NEGATIVE, Beliefs
from aam_vision.interrogation.beliefs.transfer import Transfer
from aam_vision.interrogation.beliefs.unexecuted_actions import PROOF, UnexecutedActions
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals, bits

DELETED = 0.97
"""Probability that what a step deletes is required, as it nearly always is in written domains."""
KEPT = 0.5
"""The same for what held in every success and is not deleted, before it is weighed by how rare it is."""
HIDDEN = 0.05
"""The same for what no success has shown: an image hid whether it held."""
EFFECT = 0.2
"""Worth of seeing whether an atom is changed; most are not."""
NEGATIVE = 0.02
"""Worth of refuting a negative candidate: the cautious model leaves it out anyway."""


class StepValue:
    """Values steps under what is known at one moment."""

    def __init__(
        self,
        evidence: Evidence,
        unseen: UnexecutedActions,
        rng: np.random.Generator,
    ) -> None:
        hypotheses = self._hypotheses = evidence.hypotheses
        self.beliefs = Beliefs(hypotheses, evidence.visited)
        self._prior: dict[str, dict[Literals, float]] = {}
        self._chances: dict[str, dict[Literals, float]] = {}
        for name, action in hypotheses.actions.items():
            if action.successes:
                prior = {one: self._probability(name, one, action) for one in action.undecided.singles()}
                self._prior[name], self._chances[name] = prior, _sharpened(prior, action.clauses)
        transfer = Transfer(hypotheses, lambda name, bit: self._prior[name][Literals(bit, 0)])
        self.unseen = unseen.at(evidence, self.beliefs, transfer, rng)
        for name, guesses in self.unseen.items():
            self._prior[name], self._chances[name] = guesses.prior, guesses.chances

    def chance(self, name: str, literal: Literals) -> float:
        """The probability that an undecided literal is a precondition."""
        return self._chances[name][literal]

    def success(self, name: str, violated: Literals) -> float:
        """The probability that a step which violates these candidates succeeds.

        Literals are independent before refusals; a clause of which little is left if none of the violated
        ones is required makes a success improbable. Clauses overlap much, so only the one that does so most counts.
        """
        if name in self.unseen:
            return self.unseen[name].success(violated)
        action, prior = self._hypotheses[name], self._prior[name]
        if action.certain_to_fail(violated):
            return 0.0
        probability = _none(prior, violated)
        least = 1.0
        for clause in action.clauses:
            rest = clause.without(violated)
            least = min(least, (1 - _none(prior, rest)) / (1 - _none(prior, clause)))
        return probability * least

    def mends(self, name: str, held: int, dim: int) -> float:
        """What a success where ``held`` is true and ``dim`` unknown would add to the model."""
        action = self._hypotheses[name]
        refuted = action.certainly_violated(held, dim)
        shown = self.shown(action, held, dim)
        return (
            refuted.positive.bit_count()
            + NEGATIVE * refuted.negative.bit_count()
            + EFFECT * shown.bit_count()
        )

    @staticmethod
    def shown(action: ActionHypotheses, held: int, dim: int) -> int:
        """Undecided effects that a success there would show."""
        return action.undecided_effects & ~dim & ((action.adds & ~held) | (action.deletes & held))

    def step(self, name: str, held: int, dim: int) -> float:
        """The worth of a step; zero if it can tell nothing."""
        action = self._hypotheses[name]
        violated = action.violated(held, dim)
        if name in self.unseen:
            return self.unseen[name].value(violated)
        success = self.success(name, violated)
        mends = self.mends(name, held, dim)
        if success == 0 or mends == 0:
            return 0.0
        return success * mends + (1 - success) * PROOF / max(1, violated.size())

    def everywhere(self, name: str, grid: StateGrid) -> Array:
        """The worth of the action in a state under every choice of arguments; zero where one is used twice."""
        action, prior = self._hypotheses[name], self._prior[name]
        index, proven = action.index, action.proven
        shape = tuple(len(grid.state.objects.of_type(kind)) for kind in index.header.types)
        doubt = np.zeros(shape)  # minus the logarithm of the probability that nothing violated is required
        mends, count = np.zeros(shape), np.zeros(shape)
        left = [np.full(shape, -log(_none(prior, clause))) for clause in action.clauses]
        usable = grid.distinct(index)
        undecided, effects = action.undecided, action.undecided_effects
        for atom, bit in index.bit.items():
            parts = [m & bit for m in (*proven, *undecided, effects)]
            if not any(parts):
                continue
            held, dim = grid.true(atom, index), grid.unknown(atom, index)
            off = np.logical_not(np.logical_or(held, dim))
            if proven.positive & bit:
                usable &= held
            if proven.negative & bit:
                usable &= off
            for literal, violated, certain, gain in (
                (Literals(undecided.positive & bit, 0), np.logical_not(held), off, 1.0),
                (Literals(0, undecided.negative & bit), np.logical_or(held, dim), held, NEGATIVE),
            ):
                if literal:
                    weight = -log(1 - prior[literal])
                    doubt += violated * weight
                    mends += certain * np.float64(gain)
                    count += violated
                    for clause, rest in zip(action.clauses, left, strict=True):
                        if literal.within(clause):
                            rest -= violated * weight
            if effects & bit:
                shown = np.logical_or(
                    off if action.adds & bit else False, held if action.deletes & bit else False
                )
                mends += shown * EFFECT
        least = np.ones(shape)
        for clause, rest in zip(action.clauses, left, strict=True):
            kept = -np.expm1(-np.maximum(rest, 0.0).round(9)) / (1 - _none(prior, clause))
            least = np.minimum(least, kept)
        success = np.exp(-doubt) * usable * least
        value = success * mends + (1 - success) * PROOF / np.maximum(count, 1)
        return np.where((success > 0) & (mends > 0), value, 0.0)

    def most(self, name: str) -> float:
        """No step of the action is worth more than about this."""
        if name in self.unseen:
            return self.unseen[name].worth
        action = self._hypotheses[name]
        chances = self._chances[name]
        effects = EFFECT * action.undecided_effects.bit_count()
        return effects + sum(
            (1 - chance) * (1 if literal.positive else NEGATIVE) + PROOF * chance
            for literal, chance in chances.items()
        )

    def _probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        bit = literal.positive or literal.negative
        if literal.negative:
            return PRIOR_NEGATIVE
        if not action.held & bit:
            return HIDDEN
        if action.deletes & bit and not action.keeps & bit:
            return DELETED
        rate = self.beliefs.rate(name, bit)
        return KEPT / (KEPT + (1 - KEPT) * rate)


def _sharpened(prior: Mapping[Literals, float], clauses: Sequence[Literals]) -> dict[Literals, float]:
    """The probabilities after refusals, each clause taken for itself."""
    chances = dict(prior)
    for clause in clauses:
        inside = 1 - _none(chances, clause)
        for literal in clause.singles():
            chances[literal] = max(chances[literal], min(0.99, chances[literal] / inside))
    return chances


def _none(chances: Mapping[Literals, float], literals: Literals) -> float:
    """The probability that none of the literals is a precondition."""
    product = 1.0
    for bit in bits(literals.positive):
        product *= 1 - chances[Literals(bit, 0)]
    for bit in bits(literals.negative):
        product *= 1 - chances[Literals(0, bit)]
    return product
