"""What a single step is worth: how likely it succeeds, and how much nearer to the true model that brings.

The printed model is the cautious one, so it is a *success* that mends it: every positive candidate that did not
hold is gone, and every effect that shows is known. A refusal only leaves a clause, or a proof of what the
model says already. So a step is worth its probability of success times what it would then mend; proofs
count for little, but for something. The estimates only order questions: nothing is concluded from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import log

import numpy as np

from aam_vision.interrogation.action_hypotheses import ActionHypotheses
from aam_vision.interrogation.atoms import Literals, bits
from aam_vision.interrogation.beliefs import PRIOR_NEGATIVE, PRIOR_POSITIVE, Beliefs
from aam_vision.interrogation.evidence import Node
from aam_vision.interrogation.grids import Array, StateGrid, Truth
from aam_vision.interrogation.hypotheses import Hypotheses
from aam_vision.interrogation.posterior import SAMPLES, sample
from aam_vision.strips import LiftedAtom

EXPECTED_PRECONDITIONS = 3.5
"""Positive preconditions of an action, before anything is known of it; domains of the IPC have 2 to 6."""
DELETED = 0.97
"""Probability that what a step deletes is required, as it nearly always is in written domains."""
KEPT = 0.5
"""The same for what held in every success and is not deleted, before it is weighed by how rare it is."""
EFFECT = 0.2
"""Worth of seeing whether an atom is changed; most are not."""
NEGATIVE = 0.02
"""Worth of refuting a negative candidate: the cautious model leaves it out anyway."""
FIRST = 0.5
"""Worth of a first success, for each of the action's atoms: whatever did not hold is refuted by it, or soon after."""
PROOF = 0.03
"""Worth of a refusal with one possible reason; with n, an n-th of that."""


class Worth:
    """Values steps under the hypotheses at one moment."""

    def __init__(self, hypotheses: Hypotheses, nodes: Sequence[Node], rng: np.random.Generator) -> None:
        self._hypotheses = hypotheses
        self.beliefs = Beliefs(hypotheses, nodes)
        self._ever_true = {name for node in nodes for name, rows in node.index.rows.items() if rows}
        self._unused = _unused(hypotheses)
        self._chances: dict[str, dict[Literals, float]] = {}
        for name, action in hypotheses.actions.items():
            chances = {literal: self._probability(name, literal, action) for literal in _undecided(action)}
            for clause in action.clauses:
                inside = 1 - _none(chances, clause)
                for literal in clause.singles():
                    chances[literal] = max(chances[literal], min(0.99, chances[literal] / inside))
            self._chances[name] = chances
        self._prior = {
            name: {literal: self._probability(name, literal, action) for literal in _undecided(action)}
            for name, action in hypotheses.actions.items()
        }
        self._samples = {
            name: sample(self._prior[name], action.clauses, rng)
            for name, action in hypotheses.actions.items()
            if not action.successes and action.clauses
        }

    def chance(self, name: str, literal: Literals) -> float:
        """The probability that an undecided literal is a precondition."""
        return self._chances[name][literal]

    def guesses(self, name: str) -> list[Literals]:
        """What an unseen action may require after its refusals, the most probable first; empty before any."""
        drawn = self._samples.get(name, {})
        return sorted(drawn, key=lambda required: -drawn[required])

    def success(self, name: str, violated: Literals) -> float:
        """The probability that a step which violates these candidates succeeds.

        Literals are independent before refusals; a clause of which little is left if none of the violated
        ones is required makes a success improbable. Clauses overlap much, so only the one that does so most counts.
        """
        action, prior = self._hypotheses[name], self._prior[name]
        if action.certain_to_fail(violated):
            return 0.0
        probability = _none(prior, violated)
        least = 1.0
        for clause in action.clauses:
            rest = clause.without(violated)
            least = min(least, (1 - _none(prior, rest)) / (1 - _none(prior, clause)))
        if name not in self._samples:
            return probability * least
        hits = sum(
            times
            for required, times in self._samples[name].items()
            if not (required.positive & violated.positive or required.negative & violated.negative)
        )
        return (hits + probability * least) / (SAMPLES + 1)

    def mends(self, name: str, held: int, dim: int) -> float:
        """What a success where ``held`` is true and ``dim`` unknown would add to the model."""
        action = self._hypotheses[name]
        refuted = action.certainly_violated(held, dim)
        shown = self.shown(action, held, dim)
        if not action.successes:
            return FIRST * len(action.index.atoms)
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
        if not action.successes:
            mends = np.full(shape, FIRST * len(index.atoms))
        least = np.ones(shape)
        for clause, rest in zip(action.clauses, left, strict=True):
            kept = -np.expm1(-np.maximum(rest, 0.0).round(9)) / (1 - _none(prior, clause))
            least = np.minimum(least, kept)
        success = np.exp(-doubt) * usable * least
        if name in self._samples:
            hits = self._hits(name, grid, usable)
            success = np.where(success > 0, (hits + success) / (SAMPLES + 1), 0.0)
        value = success * mends + (1 - success) * PROOF / np.maximum(count, 1)
        return np.where((success > 0) & (mends > 0), value, 0.0)

    def _hits(self, name: str, grid: StateGrid, usable: Truth) -> Array:
        """How many samples of what an unseen action may require hold, under every choice of arguments."""
        index = self._hypotheses[name].index
        true = {bit: grid.true(atom, index) for atom, bit in index.bit.items()}
        dim = {bit: grid.unknown(atom, index) for atom, bit in index.bit.items()}
        hits = np.zeros(usable.shape)
        for required, times in self._samples[name].items():
            met = usable
            for bit in bits(required.positive):
                met = met & true[bit]
            for bit in bits(required.negative):
                met = met & np.logical_not(np.logical_or(true[bit], dim[bit]))
            hits += times * met
        return hits

    def most(self, name: str) -> float:
        """No step of the action is worth more than about this."""
        action = self._hypotheses[name]
        chances = self._chances[name]
        effects = EFFECT * action.undecided_effects.bit_count()
        if action.successes:
            return effects + sum(
                (1 - chance) * (1 if literal.positive else NEGATIVE) + PROOF * chance
                for literal, chance in chances.items()
            )
        return FIRST * len(action.index.atoms)

    def _probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        bit = literal.positive or literal.negative
        if literal.negative:
            return PRIOR_NEGATIVE
        if not action.successes:
            return self._first_guess(name, bit, action)
        if action.deletes & bit and not action.keeps & bit:
            return DELETED
        rate = self.beliefs.rate(name, bit)
        return KEPT / (KEPT + (1 - KEPT) * rate)

    def _first_guess(self, name: str, bit: int, action: ActionHypotheses) -> float:
        """The probability that an unseen action requires an atom.

        A predicate is there for something: one that no action seen so far may require is required by some unseen
        one.
        """
        prior = min(PRIOR_POSITIVE, EXPECTED_PRECONDITIONS / len(action.index.atoms))
        atom = next(atom for atom, own in action.index.bit.items() if own == bit)
        if atom.predicate not in self._ever_true:
            return prior / 2
        prior *= 1.5 * (
            1 - self.beliefs.rate(name, bit)
        )  # what nearly always holds is seldom worth requiring
        if _reversed(atom, action):
            prior /= 2
        places = self._unused.get(atom.predicate)
        return prior if places is None else 1 - (1 - prior) * (1 - min(0.5, 1 / places))


def _reversed(atom: LiftedAtom, action: ActionHypotheses) -> bool:
    """Whether parameters of one type are named in another order than in the header, as in ``on(?y, ?x)``."""
    named = [argument for argument in atom.arguments if isinstance(argument, int)]
    kinds = action.index.header.types
    return any(kinds[a] == kinds[b] and a > b for a, b in combinations(named, 2))


def _unused(hypotheses: Hypotheses) -> dict[str, int]:
    """Predicates that no action seen so far may require, with the atoms of unseen actions they occur in."""
    used: set[str] = set()
    places: dict[str, int] = {}
    for action in hypotheses.actions.values():
        for atom in action.index.select(action.positive):
            if action.successes:
                used.add(atom.predicate)
            else:
                places[atom.predicate] = places.get(atom.predicate, 0) + 1
    return {predicate: count for predicate, count in places.items() if predicate not in used}


def _undecided(action: ActionHypotheses) -> list[Literals]:
    return list(action.undecided.singles())


def _none(chances: dict[Literals, float], literals: Literals) -> float:
    """The probability that none of the literals is a precondition."""
    product = 1.0
    for bit in bits(literals.positive):
        product *= 1 - chances[Literals(bit, 0)]
    for bit in bits(literals.negative):
        product *= 1 - chances[Literals(0, bit)]
    return product
