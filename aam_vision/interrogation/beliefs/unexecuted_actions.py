"""Probable preconditions of an action that was never seen to succeed, and where it is best tried.

Only the refusals of such an action are known. How probable a precondition is depends on how often its atom holds,
on the preconditions of other actions (``transfer``), on the atoms that can hold together (``cooccurrence``) and on the
refusals (``gibbs``). This only orders questions: nothing is concluded from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.beliefs.beam_search import Samples, best_choices
from aam_vision.interrogation.beliefs.binding_grid import StateGrid
from aam_vision.interrogation.beliefs.candidates import Beliefs
from aam_vision.interrogation.beliefs.constants import (
    COOCCURRENCE_SITUATIONS,
    EXTRA_PRECONDITIONS,
    FIRST_SUCCESS,
    MAX_UNUSED,
    NEVER_TRUE,
    POSTERIOR_SAMPLES,
    PRIOR_NEGATIVE,
    PRIOR_POSITIVE,
    RARE,
    REVERSED,
    SHARED_TRIES,
)
from aam_vision.interrogation.beliefs.cooccurrence import CoOccurrence
from aam_vision.interrogation.beliefs.expected_worth import expected_worth
from aam_vision.interrogation.beliefs.gibbs import sample
from aam_vision.interrogation.beliefs.transfer import Transfer
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.joins import Row
from aam_vision.strips import LiftedAtom


class UnexecutedAction:
    """The guesses at one action at one moment."""

    def __init__(
        self,
        name: str,
        action: ActionHypotheses,
        beliefs: Beliefs,
        transfer: Transfer,
        unused: dict[str, int],
        apart: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> None:
        """``unused`` are predicates that no seen action requires, with the atoms of unseen actions they occur in.

        ``apart`` are pairs of the action's atoms that were never true together.
        """
        self.action = action
        self._name, self._beliefs, self._transfer, self._unused = name, beliefs, transfer, unused
        self.prior = {literal: self._probability(literal) for literal in action.undecided.singles()}
        places = np.array(
            [(one.positive or one.negative).bit_length() - 1 for one in self.prior], dtype=np.intp
        )
        signs = np.array([bool(one.positive) for one in self.prior], dtype=np.bool_)
        expected = action.index.header.arity + EXTRA_PRECONDITIONS
        self._samples = sample(
            self.prior,
            action.clauses,
            self._naming(),
            apart[np.ix_(places, places)] & np.outer(signs, signs),
            min(expected, len(action.index.atoms) / 2) - action.proven.positive.bit_count(),
            rng,
        )

    @cached_property
    def chances(self) -> dict[Literals, float]:
        """How likely every undecided literal is required, after the refusals."""
        often = self._samples.sum(axis=0)
        return {
            literal: float((often[place] + alone) / (POSTERIOR_SAMPLES + 1))
            for place, (literal, alone) in enumerate(self.prior.items())
        }

    @cached_property
    def _guesses(self) -> Samples:
        return Samples(
            list(self.prior),
            self._samples.astype(np.float32),
            -np.log([1 - chance for chance in self.chances.values()]),
        )

    @property
    def gain(self) -> float:
        """The worth of a first success."""
        return FIRST_SUCCESS * len(self.action.index.atoms)

    def best_in(self, grid: StateGrid, way: int) -> tuple[Row, float] | None:
        """The best choice of arguments in a state that is so many steps away, and what it is worth per step.

        Who goes there can try the next best choices, too: so the steps of the way are shared among as many
        tries as make the most of it.
        """
        first: Row | None = None
        most = total = 0.0
        for number, (objects, value) in enumerate(self.promising(grid, SHARED_TRIES), 1):
            first = first or objects
            total += value
            most = max(most, total / (way + number))
        return None if first is None else (first, most)

    def promising(self, grid: StateGrid, count: int) -> Iterator[tuple[Row, float]]:
        """The best choices of arguments in a state, with the worth of each; one of those that violate the same."""
        action = self.action
        choices = best_choices(grid, action.index, action.proven, self._guesses)
        if not choices.rows:
            return
        alone = np.exp(
            choices.violated @ np.log([1 - chance for chance in self.prior.values()], dtype=np.float64)
        )
        success = (choices.met + alone) / (POSTERIOR_SAMPLES + 1)
        for clause in action.clauses:
            inside = np.array([one.within(clause) for one in self.prior], dtype=np.bool_)
            success[choices.violated[:, inside].all(axis=1)] = 0
        worth = expected_worth(success, self.gain, choices.violated.sum(axis=1))
        told: set[bytes] = set()
        for place in np.argsort(-worth, kind="stable"):
            violated = choices.violated[place].tobytes()
            if worth[place] > 0 and violated not in told:
                told.add(violated)
                yield choices.rows[place], float(worth[place])
                if len(told) == count:
                    return

    def _naming(self) -> list[Literals]:
        """For each parameter the atoms that name it: an action nearly always requires one of them."""
        index, undecided = self.action.index, self.action.undecided.positive
        naming = [
            sum(bit for atom, bit in index.bit.items() if parameter in atom.arguments)
            for parameter in range(index.header.arity)
        ]
        return [
            Literals(mask & undecided, 0)
            for mask in naming
            if mask & undecided and not mask & self.action.proven.positive
        ]

    def _probability(self, literal: Literals) -> float:
        """The probability that the action requires a literal, before any refusal.

        A predicate is there for something: one that no action seen so far may require is required by some unseen
        one.
        """
        if literal.negative:
            return PRIOR_NEGATIVE
        action, bit = self.action, literal.positive
        expected = action.index.header.arity + EXTRA_PRECONDITIONS
        prior = min(PRIOR_POSITIVE, expected / len(action.index.atoms))
        atom = action.index.atoms[bit.bit_length() - 1]
        if not self._beliefs.ever_true(atom.predicate):
            return prior * NEVER_TRUE  # it may be what another action brings about
        prior *= RARE * (
            1 - self._beliefs.rate(self._name, bit)
        )  # what nearly always holds is seldom required
        if _reversed(atom, action):
            prior *= REVERSED
        prior = _times(prior, self._transfer.factor(self._name, atom))
        places = self._unused.get(atom.predicate)
        return prior if places is None else 1 - (1 - prior) * (1 - min(MAX_UNUSED, 1 / places))


class UnexecutedActions:
    """The guesses at all actions that were never seen to succeed; kept while nothing is learnt of them."""

    def __init__(self) -> None:
        self._together = CoOccurrence()
        self._known: dict[str, tuple[object, UnexecutedAction]] = {}
        """By action, and with all that they rest on."""

    def at(
        self,
        evidence: Evidence,
        beliefs: Beliefs,
        transfer: Transfer,
        rng: np.random.Generator,
    ) -> dict[str, UnexecutedAction]:
        """The guesses by action.

        Their samples are drawn from a child of the generator, one for all that is known: so they are the same
        whenever the evidence is the same.
        """
        hypotheses, visited, looks = evidence.hypotheses, evidence.visited, len(evidence.exchanges) + 1
        nodes = visited[: looks * COOCCURRENCE_SITUATIONS]
        seen = [action.version for action in hypotheses.actions.values() if action.successes]
        places = _unused(hypotheses)
        found: dict[str, UnexecutedAction] = {}
        for number, (name, action) in enumerate(hypotheses.actions.items()):
            if action.successes:
                continue
            key = number, action.version, len(visited), *seen
            basis = key, len(nodes), evidence.learned, places
            if name not in self._known or self._known[name][0] != basis:
                apart, own = self._together.apart(action.index, nodes), child(rng, key)
                self._known[name] = (
                    basis,
                    UnexecutedAction(name, action, beliefs, transfer, places, apart, own),
                )
            found[name] = self._known[name][1]
        return found


def child(rng: np.random.Generator, key: tuple[int, ...]) -> np.random.Generator:
    """A generator of its own for every key: it depends on the seed of ``rng``, and not on what was drawn from that."""
    seeds = rng.bit_generator.seed_seq
    assert isinstance(seeds, np.random.SeedSequence), "generators made by default_rng have one"
    return np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, *key)))


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


def _times(probability: float, factor: float) -> float:
    """The probability after its odds were multiplied."""
    return probability * factor / (1 - probability + probability * factor)


def _reversed(atom: LiftedAtom, action: ActionHypotheses) -> bool:
    """Whether parameters of one type are named in another order than in the header, as in ``on(?y, ?x)``."""
    named = [argument for argument in atom.arguments if isinstance(argument, int)]
    kinds = action.index.header.types
    return any(kinds[a] == kinds[b] and a > b for a, b in combinations(named, 2))
