"""Probable preconditions of an action that was never seen to succeed, and where it is best tried.

Only the refusals of such an action are known. How probable a precondition is depends on how often its atom holds,
on the preconditions of other actions (``transfer``), on the atoms that can hold together (``cooccurrence``) and on the
refusals (``gibbs``). This only orders questions: nothing is concluded from it.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.beliefs import constants
from aam_vision.interrogation.beliefs.beam_search import Samples, best_choices
from aam_vision.interrogation.beliefs.binding_grid import StateGrid
from aam_vision.interrogation.beliefs.candidates import Beliefs
from aam_vision.interrogation.beliefs.cooccurrence import CoOccurrence
from aam_vision.interrogation.beliefs.expected_value import expected_value
from aam_vision.interrogation.beliefs.gibbs import clause_members, sample
from aam_vision.interrogation.beliefs.transfer import Transfer
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.joins import Row
from aam_vision.strips import LiftedAtom


class UnexecutedAction:
    """The guesses at one action's precondition at one moment."""

    def __init__(
        self,
        name: str,
        action: ActionHypotheses,
        beliefs: Beliefs,
        transfer: Transfer,
        unused: dict[str, int],
        never_together: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> None:
        """``unused`` counts, for predicates that no executed action may require, the candidates of the other actions.

        ``never_together`` are pairs of the action's atoms that were never true together.
        """
        self.action = action
        self._name, self._beliefs, self._transfer, self._unused = name, beliefs, transfer, unused
        self.prior = {literal: self._probability(literal) for literal in action.undecided.singles()}
        self._alone = np.array([*self.prior.values()], dtype=np.float64)
        atoms = np.array(
            [(one.positive or one.negative).bit_length() - 1 for one in self.prior], dtype=np.intp
        )
        positive = np.array([bool(one.positive) for one in self.prior], dtype=np.bool_)
        self._samples = sample(
            self.prior,
            action.clauses,
            self._candidates_by_parameter(),
            never_together[np.ix_(atoms, atoms)] & np.outer(positive, positive),
            min(self._expected_size, len(action.index.atoms) / 2) - action.proven.positive.bit_count(),
            rng,
        )

    @cached_property
    def chances(self) -> dict[Literals, float]:
        """The probability that each undecided literal is required, after the refusals."""
        chances = (self._samples.sum(axis=0) + self._alone) / (constants.POSTERIOR_SAMPLES + 1)
        return dict(zip(self.prior, chances.tolist(), strict=True))

    @property
    def _expected_size(self) -> float:
        """The expected number of positive preconditions."""
        return self.action.index.header.arity + constants.EXTRA_PRECONDITIONS

    @cached_property
    def _guesses(self) -> Samples:
        return Samples(
            list(self.prior),
            self._samples.astype(np.float32),
            -np.log([1 - chance for chance in self.chances.values()]),
        )

    @property
    def gain(self) -> float:
        """The value of a first success."""
        return constants.FIRST_SUCCESS * len(self.action.index.atoms)

    def best_in(self, grid: StateGrid, distance: int) -> tuple[Row, float] | None:
        """The best choice of arguments in a state that is ``distance`` steps away, and its value per step.

        The next best choices can be tried there, too: so these steps are shared among as many tries as make the
        most of them.
        """
        first: Row | None = None
        most = total = 0.0
        for number, (objects, value) in enumerate(self._best_tries(grid), 1):
            first = first or objects
            total += value
            most = max(most, total / (distance + number))
        return None if first is None else (first, most)

    def _best_tries(self, grid: StateGrid) -> list[tuple[Row, float]]:
        """The best choices of arguments in a state, each with its value; one of those that violate the same."""
        action = self.action
        choices = best_choices(grid, action.index, action.proven, self._guesses)
        alone = np.exp(choices.violated @ np.log(1 - self._alone))
        success = (choices.met + alone) / (constants.POSTERIOR_SAMPLES + 1)
        for inside in clause_members(list(self.prior), action.clauses).T:
            success[choices.violated[:, inside].all(axis=1)] = 0
        value = expected_value(success, self.gain, choices.violated.sum(axis=1))
        tries: dict[bytes, tuple[Row, float]] = {}
        for place in np.argsort(-value, kind="stable"):
            if value[place] <= 0 or len(tries) == constants.SHARED_TRIES:
                break
            tries.setdefault(choices.violated[place].tobytes(), (choices.rows[place], float(value[place])))
        return list(tries.values())

    def _candidates_by_parameter(self) -> list[Literals]:
        """For each parameter the candidates that name it: an action nearly always requires one of them."""
        index, proven = self.action.index, self.action.proven.positive
        named = [
            sum(bit for atom, bit in index.bit.items() if parameter in atom.arguments)
            for parameter in range(index.header.arity)
        ]
        candidates = [
            Literals(mask & self.action.undecided.positive, 0) for mask in named if not mask & proven
        ]
        return [some for some in candidates if some]

    def _probability(self, literal: Literals) -> float:
        """The probability that the action requires a literal, before any refusal.

        Every predicate has a use: one that no executed action may require is required by some other one.
        """
        if literal.negative:
            return constants.PRIOR_NEGATIVE
        index, bit = self.action.index, literal.positive
        prior = min(constants.PRIOR_POSITIVE, self._expected_size / len(index.atoms))
        atom = index.atom(bit)
        if atom.predicate not in self._beliefs.ever_true:
            return prior * constants.NEVER_TRUE
        prior *= constants.RARE * (1 - self._beliefs.rate(self._name, bit))
        if _reversed(atom, index.header.types):
            prior *= constants.REVERSED
        odds = self._transfer.factor(self._name, atom)
        prior = prior * odds / (1 - prior + prior * odds)
        unused = self._unused.get(atom.predicate)
        return prior if unused is None else 1 - (1 - prior) * (1 - min(constants.MAX_UNUSED, 1 / unused))


class UnexecutedActions:
    """The guesses at all actions that were never executed; kept until more is known."""

    def __init__(self) -> None:
        self._cooccurrence = CoOccurrence()
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

        Their samples are drawn from a child of the generator that depends on the evidence: so equal evidence has equal
        samples.
        """
        hypotheses, nodes = evidence.hypotheses, evidence.visited
        executed = [action.version for action in hypotheses.actions.values() if action.successes]
        unused = _unused(hypotheses)
        searched = nodes[: (len(evidence.exchanges) + 1) * constants.COOCCURRENCE_SITUATIONS]
        found: dict[str, UnexecutedAction] = {}
        for number, (name, action) in enumerate(hypotheses.actions.items()):
            if action.successes:
                continue
            key = number, action.version, len(nodes), *executed
            basis = key, len(searched), evidence.learned, unused
            if name not in self._known or self._known[name][0] != basis:
                never_together = self._cooccurrence.never_together(action.index, searched)
                own = _child(rng, key)
                guesses = UnexecutedAction(name, action, beliefs, transfer, unused, never_together, own)
                self._known[name] = basis, guesses
            found[name] = self._known[name][1]
        return found


def _child(rng: np.random.Generator, key: tuple[int, ...]) -> np.random.Generator:
    """A generator that depends on the seed of ``rng`` and the key, and not on what was drawn from ``rng``."""
    seeds = rng.bit_generator.seed_seq
    assert isinstance(seeds, np.random.SeedSequence), "generators made by default_rng have one"
    return np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, *key)))


def _unused(hypotheses: Hypotheses) -> dict[str, int]:
    """Predicates that no executed action may require, and how many candidates of the other actions each has."""
    used: set[str] = set()
    candidates: Counter[str] = Counter()
    for action in hypotheses.actions.values():
        predicates = [atom.predicate for atom in action.index.select(action.positive)]
        if action.successes:
            used.update(predicates)
        else:
            candidates.update(predicates)
    return {predicate: count for predicate, count in candidates.items() if predicate not in used}


def _reversed(atom: LiftedAtom, kinds: tuple[str, ...]) -> bool:
    """Whether parameters of one type are named in another order than in the header, as in ``on(?y, ?x)``."""
    named = [argument for argument in atom.arguments if isinstance(argument, int)]
    return any(kinds[a] == kinds[b] and a > b for a, b in combinations(named, 2))
