"""Guesses at the preconditions of actions that were never executed, and the best places to try these.

Nothing is known of such an action but its refusals. Its preconditions are guessed from how often its atoms hold, from
the preconditions of other actions (``Transfer``), from the atoms that were true together (``CoOccurrence``) and from the
refusals (``sample``). All that only orders questions: nothing is concluded from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.beliefs.binding_grid import (
    Places,
    Samples,
    StateGrid,
    Truth,
    best_choices,
    distinct_share,
)
from aam_vision.interrogation.beliefs.candidates import (
    PRIOR_NEGATIVE,
    PRIOR_POSITIVE,
    Beliefs,
    Transfer,
    atoms_alike,
)
from aam_vision.interrogation.beliefs.cooccurrence import CoOccurrence
from aam_vision.interrogation.beliefs.habits import APART, REVERSED, among_more, apart, reversed_order
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.literals import Literals, bits, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses
from aam_vision.model.strips import State
from aam_vision.planning.joins import Row

DELETED = 0.97
"""Probability that an atom which a step deletes is required, as it nearly always is in written domains."""
KEPT = 0.5
"""The same for an atom that held in every success and is not deleted, before it is weighed by how rare it is."""
HIDDEN = 0.05
"""The same for an atom that was hidden in every success."""
CERTAIN_CHANCE = 0.99
"""The highest probability that refusals give a literal which is not proven: some doubt is left to be tested."""
COOCCURRENCE_SITUATIONS = 12
"""Situations that are searched for atoms which are true together: so many for each question."""
EFFECT = 0.2
"""Value of seeing whether an atom is changed, where refuting a positive candidate counts 1; most are not changed."""
NEGATIVE = 0.02
"""Value of refuting a negative candidate: the cautious model leaves it out anyway."""
FIRST_SUCCESS = 0.5
"""Value of a first success, for each of the action's atoms: whatever did not hold is refuted by it, or soon after."""
PROOF = 0.03
"""Value of a refusal with one possible reason; with n, an n-th of that. Higher: more steps only prove the model."""
SHARED_TRIES = 6
"""Tries at a first success that share the steps to the state in which they can be made."""
EXTRA_PRECONDITIONS = 0.5
"""Positive preconditions of an action beyond one for each parameter, before anything is known about it."""
NEVER_TRUE = 0.25
"""Factor for the prior of an atom whose predicate was true nowhere (of one object twice, if the atom names one twice): another
action may bring it about."""
RARE = 1.5
"""Factor for that of an atom that never holds by chance; less for one that does, since it is seldom required."""
MAX_UNUSED = 0.5
"""Probability, at most, that an atom is required because no action seen so far requires its predicate."""
CHANGED_USES = 2
"""Atoms of such a predicate that are required, if an executed action changes it, as on the average of written domains; one, if none does."""
POSTERIOR_SAMPLES = 600
"""Samples of the precondition of an action that was never executed. More: better estimates, slower."""
SWEEPS = 6
"""Times that every literal of every sample is drawn again."""
UNMET = 0.15
"""Factor for the odds of a set for every expected clause that it does not satisfy."""
NEVER_TOGETHER = 0.03
"""Factor for the odds of a literal for every chosen one that was never true together with it."""
MAX_RAISE = 1.5
"""By how much log odds are raised at most to reach the expected size: not all sets that large can hold."""
MIN_SIZE = 0.5
"""Sizes of samples below this count as this, so that their logarithm exists."""


class UnexecutedAction:
    """The guesses at one action's precondition at one moment."""

    def __init__(
        self,
        name: str,
        action: ActionHypotheses,
        beliefs: Beliefs,
        transfer: Transfer,
        unused: dict[str, float],
        never_together: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> None:
        """``unused``: of predicates that no executed action may require, how probable each candidate is because of that.

        ``never_together`` are pairs of the action's atoms that were never true together.
        """
        self.action = action
        self._name, self._beliefs, self._transfer, self._unused = name, beliefs, transfer, unused
        self.prior = {literal: self._probability(literal) for literal in action.undecided.singles()}
        self._alone = np.array([*self.prior.values()], dtype=np.float64)
        self._tries: dict[State, list[tuple[Row, float]]] = {}
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
        chances = (self._samples.sum(axis=0) + self._alone) / (POSTERIOR_SAMPLES + 1)
        return dict(zip(self.prior, chances.tolist(), strict=True))

    @property
    def _expected_size(self) -> float:
        """The expected number of positive preconditions."""
        return self.action.index.header.arity + EXTRA_PRECONDITIONS

    @cached_property
    def _guesses(self) -> Samples:
        return Samples(
            list(self.prior),
            self._samples.astype(np.float32),
            -np.log([1 - chance for chance in self.chances.values()]),
        )

    @cached_property
    def _inside_clauses(self) -> NDArray[np.bool_]:
        """Which literals are in which clauses, shape ``(clauses, literals)``."""
        return clause_members(list(self.prior), self.action.clauses).T

    @property
    def gain(self) -> float:
        """The value of a first success."""
        return FIRST_SUCCESS * len(self.action.index.atoms)

    def likeliest(self, grid: StateGrid, *, repeated: bool) -> float:
        """The number of guesses that hold under the best arguments in a state; ``repeated``: these may name an object twice."""
        choices = best_choices(grid, self.action.index, self.action.proven, self._guesses, repeated=repeated)
        return float(choices.met.max(initial=0))

    def best_in(self, grid: StateGrid, distance: int) -> tuple[Row, float] | None:
        """The best choice of arguments in a state that is ``distance`` steps away, and its value per step.

        The next best choices can be tried there, too: so these steps are shared among as many tries as make the
        most of them.
        """
        first: Row | None = None
        most = total = 0.0
        tries = self._tries.get(grid.state)
        if tries is None:
            tries = self._tries[grid.state] = self._best_tries(grid)
        for number, (objects, value) in enumerate(tries, 1):
            first = first or objects
            total += value
            most = max(most, total / (distance + number))
        return None if first is None else (first, most)

    def _best_tries(self, grid: StateGrid) -> list[tuple[Row, float]]:
        """The best choices of arguments in a state, each with its value; one of those that violate the same.

        As far as the guesses tell, an action is executed as often with distinct objects as with others: so where only few choices
        are distinct, each of these is likelier than any of the others.
        """
        action = self.action
        choices = best_choices(grid, action.index, action.proven, self._guesses)
        alone = np.exp(choices.violated @ np.log(1 - self._alone))
        success = (choices.met + alone) / (POSTERIOR_SAMPLES + 1)
        for inside in self._inside_clauses:
            success[choices.violated[:, inside].all(axis=1)] = 0
        if action.index.repeated:
            share = distinct_share(grid.state.objects, action.index.header.types)
            if 0 < share < 1:
                rows = map(choices.row, range(len(success)))
                success[[len(set(row)) < len(row) for row in rows]] *= min(1.0, share / (1 - share))
        value = expected_value(success, self.gain, choices.violated.sum(axis=1))
        tries: dict[bytes, tuple[Row, float]] = {}
        for place in np.argsort(-value, kind="stable"):
            if value[place] <= 0 or len(tries) == SHARED_TRIES:
                break
            tries.setdefault(
                choices.violated[place].tobytes(), (choices.row(int(place)), float(value[place]))
            )
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
            return PRIOR_NEGATIVE
        index, bit = self.action.index, literal.positive
        prior = min(PRIOR_POSITIVE, self._expected_size / len(index.atoms))
        atom = index.atom(bit)
        if atom.predicate not in self._beliefs.ever_true:
            return prior * NEVER_TRUE
        twice = len(set(atom.arguments)) < len(atom.arguments)
        if twice and atom.predicate not in self._beliefs.ever_coinciding:
            prior *= NEVER_TRUE
        prior *= RARE * (1 - self._beliefs.rate(self._name, bit))
        odds = self._transfer.factor(self._name, atom)
        kinds = index.header.types
        if apart(atom, kinds):
            prior *= APART
        if reversed_order(atom, kinds) and not (odds > 1 and among_more(atom, kinds)):
            prior *= REVERSED  # unless other actions of this domain name one of several pairs so
        prior = prior * odds / (1 - prior + prior * odds)
        unused = self._unused.get(atom.predicate)
        return prior if unused is None else 1 - (1 - prior) * (1 - unused)


class UnexecutedActions:
    """The guesses at all actions that were never executed; kept until more is known."""

    def __init__(self) -> None:
        self._cooccurrence = CoOccurrence()
        self._known: dict[str, tuple[object, UnexecutedAction]] = {}
        """By action, each with everything that it depends on."""

    def at(
        self,
        evidence: Evidence,
        beliefs: Beliefs,
        transfer: Transfer,
        rng: np.random.Generator,
    ) -> dict[str, UnexecutedAction]:
        """The guesses by action.

        Their samples are drawn from a child of the generator that depends on the evidence: so equal evidence has equal
        samples. Actions of which the same is known have the same samples, too: their header decides which is tried first, not chance.
        """
        hypotheses, visited = evidence.hypotheses, evidence.visited
        searched = visited[: (len(evidence.exchanges) + 1) * COOCCURRENCE_SITUATIONS]
        executed = [action.version for action in hypotheses.actions.values() if action.successes]
        unused = _unused(hypotheses)
        found: dict[str, UnexecutedAction] = {}
        for name, action in hypotheses.actions.items():
            if action.successes:
                continue
            key = action.version, len(visited), *executed
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


def _unused(hypotheses: Hypotheses) -> dict[str, float]:
    """Predicates that no executed action may require, and how probable each candidate of the other actions is therefore."""
    used, changed = set[str](), set[str]()
    candidates: Counter[str] = Counter()
    for action in hypotheses.actions.values():
        predicates = [atom.predicate for atom in action.index.select(action.positive)]
        if action.successes:
            used.update(predicates)
            adds, deletes, keeps = action.effects
            changed.update(atom.predicate for atom in action.index.select((adds | deletes) & ~keeps))
        else:
            candidates.update(predicates)
    return {
        predicate: min(MAX_UNUSED, (CHANGED_USES if predicate in changed else 1) / count)
        for predicate, count in candidates.items()
        if predicate not in used
    }


# The value of a single step: how likely it succeeds, and how much nearer to the true model that brings.
#
# The estimates only order questions: nothing is concluded from them.


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
        self._required: dict[str, Required] = {}
        self._chances: dict[str, dict[Literals, float]] = {}
        self._relevant: dict[str, Relevant] = {}
        self._success: dict[tuple[str, Literals], float] = {}
        self._places: dict[str, Places] = {}
        for name, action in hypotheses.actions.items():
            if action.successes:
                alike = atoms_alike(evidence, name)
                prior = {
                    one: self._probability(name, one, action, alike) for one in action.undecided.singles()
                }
                required = self._required[name] = Required(prior, action.clauses, alike)
                self._relevant[name] = Relevant(action, required.literals)
                self._chances[name] = _after_refusals(prior, action.clauses)
        transfer = Transfer(hypotheses, lambda name, bit: self._required[name].prior[Literals(bit, 0)])
        self.unexecuted = unexecuted.at(evidence, self._beliefs, transfer, rng)
        for name, guesses in self.unexecuted.items():
            self._chances[name] = guesses.chances

    def chance(self, name: str, literal: Literals) -> float:
        """The probability that an undecided literal is a precondition."""
        return self._chances[name][literal]

    def success(self, name: str, violated: Literals) -> float:
        """The probability that a step which violates these candidates succeeds; the action was executed before."""
        if (name, violated) not in self._success:
            required = self._required[name]
            where = np.array([literal.within(violated) for literal in required.literals], dtype=np.bool_)
            possible = not self._hypotheses[name].certain_to_fail(violated)
            self._success[name, violated] = (
                float(required.success(where.reshape(-1, 1))[0]) if possible else 0.0
            )
        return self._success[name, violated]

    def of_rows(self, name: str, state: State, rows: Sequence[Row]) -> Array:
        """The value of steps with these arguments, distinct objects each unless an object may be named twice; shape ``(rows,)``."""
        relevant = self._relevant[name].atoms
        masks = [self._hypotheses[name].index.values(state, row) for row in rows]
        values = [[(held & bit, unknown & bit) for held, unknown in masks] for bit in relevant]
        both = np.array(values, dtype=np.bool_).reshape(len(relevant), len(rows), 2)
        return self._value(name, both[:, :, 0], both[:, :, 1])

    def of_all_rows(self, name: str, grid: StateGrid) -> Array:
        """The value of the action under every choice of arguments; zero where an object is named twice, if that is not allowed."""
        known = self._places.get(name)
        if known is None or known.objects != grid.state.objects:
            index = self._hypotheses[name].index
            known = self._places[name] = Places(
                grid, index, list(map(index.atom, self._relevant[name].atoms))
            )
        values = np.zeros(known.executable.shape)
        values[known.executable] = self._value(name, *known.values(grid))
        return values

    def _value(self, name: str, held: Truth, unknown: Truth) -> Array:
        """The value of steps, given which of the relevant atoms are true and which unknown, shape ``(atoms, steps)``."""
        relevant, values = self._relevant[name], np.zeros(held.shape[1])
        literals = np.concatenate([held, ~(held | unknown)])
        possible = literals[relevant.proven].all(axis=0)
        literals = literals[:, possible]
        violated = ~literals[relevant.undecided]
        gain = (literals[relevant.telling] * relevant.gains).sum(axis=0)
        success = self._required[name].success(violated)
        values[possible] = expected_value(success, gain, violated.sum(axis=0))
        return values

    def upper_bound(self, name: str) -> float:
        """About the highest value of any step of the action."""
        if name in self.unexecuted:
            return self.unexecuted[name].gain
        action = self._hypotheses[name]
        chances = self._chances[name]
        effects = EFFECT * action.undecided_effects.bit_count()
        return effects + sum(
            (1 - chance) * (1 if literal.positive else NEGATIVE) + PROOF * chance
            for literal, chance in chances.items()
        )

    def _probability(
        self, name: str, literal: Literals, action: ActionHypotheses, alike: Sequence[int]
    ) -> float:
        bit = literal.positive or literal.negative
        if literal.negative:
            return PRIOR_NEGATIVE
        if not action.held & bit:
            return HIDDEN
        if action.deletes & bit and not action.keeps & bit:
            return DELETED
        rate = self._beliefs.rate(name, bit)
        same = next((group for group in alike if group & bit), bit) & action.positive
        odds = KEPT * (APART if apart(action.index.atom(bit), action.index.header.types) else 1)
        return odds / (odds + (1 - KEPT) * rate) / same.bit_count()


class Required:
    """What is believed of the precondition of an action that was executed.

    Literals are independent before refusals, but for those that were one atom in every success: no more than one of these is
    required, and each is as likely as the others.
    """

    def __init__(
        self, prior: Mapping[Literals, float], clauses: Sequence[Literals], alike: Sequence[int]
    ) -> None:
        """``prior``: the probability of each undecided literal before refusals. ``alike``: see ``atoms_alike``."""
        self.prior = prior
        self.literals = sorted(prior, key=lambda one: (one.positive or one.negative, one.negative))
        place = {literal: number for number, literal in enumerate(self.literals)}
        self._chances = np.array([prior[one] for one in self.literals], dtype=np.float64).reshape(-1, 1)
        self._alike = [[place[one] for one in self.literals if some & one.positive] for some in alike]
        self._alone = [place[one] for one in self.literals if not any(some & one.positive for some in alike)]
        self._clauses = [
            ([place[one] for one in clause.singles()], 1 - _none(prior, clause)) for clause in clauses
        ]

    def success(self, violated: Truth) -> Array:
        """The probability that steps succeed, given which undecided literals each violates, shape ``(literals, steps)``.

        A clause of which little is left if none of the violated literals is required makes a success improbable. Clauses overlap
        much, so only the one that does so most counts.
        """
        required = violated * self._chances
        none_violated = np.prod(1 - required[self._alone], axis=0)  # how likely is it that none is required
        for some in self._alike:
            none_violated *= 1 - required[some].sum(axis=0)
        left = 1 - ~violated * self._chances
        least: Array = np.ones(violated.shape[1])
        for clause, required_before in self._clauses:
            least = np.minimum(least, (1 - left[clause].prod(axis=0)) / required_before)
        return np.asarray(none_violated * least)


class Relevant:
    """On which of an action's atoms the value of a step depends; and by its number, first of their truth, then of their falsehood."""

    def __init__(self, action: ActionHypotheses, undecided: Sequence[Literals]) -> None:
        both, effects = union([action.proven, action.undecided]), action.undecided_effects
        self.atoms = list(bits(both.positive | both.negative | effects))
        place = {bit: number for number, bit in enumerate(self.atoms)}

        def number(literal: Literals) -> int:
            return place[literal.positive] if literal.positive else len(place) + place[literal.negative]

        self.proven = [number(one) for one in action.proven.singles()]
        self.undecided = [number(one) for one in undecided]
        told = [(number(one.opposite()), 1 if one.positive else NEGATIVE) for one in undecided]
        told += [(number(Literals(0, bit)), EFFECT) for bit in bits(effects & action.adds)]
        told += [(number(Literals(bit, 0)), EFFECT) for bit in bits(effects & action.deletes)]
        told.sort(key=lambda one: one[0] % len(place))  # by atom
        self.telling = [one for one, _ in told]
        """What a success would refute or show, with its gain."""
        self.gains = np.array([gain for _, gain in told], dtype=np.float64).reshape(-1, 1)


def _after_refusals(prior: Mapping[Literals, float], clauses: Sequence[Literals]) -> dict[Literals, float]:
    """The probabilities after refusals, each clause taken for itself."""
    chances = dict(prior)
    for clause in clauses:
        inside = 1 - _none(chances, clause)
        for literal in clause.singles():
            chances[literal] = max(chances[literal], min(CERTAIN_CHANCE, chances[literal] / inside))
    return chances


def _none(chances: Mapping[Literals, float], literals: Literals) -> float:
    """The probability that none of the literals is a precondition."""
    return prod(1 - chances[literal] for literal in literals.singles())


# The expected value of a step: its chance of success times the gain from that, and a little for a refusal.
#
# The printed model is the cautious one, so it is a *success* that mends it: every positive candidate that did not
# hold is gone, and every effect that shows is known. A refusal only leaves a clause, or proves what the model says
# already, so it counts for little.

Array = NDArray[np.float64]


def expected_value(success: Array, gain: Array | float, violated: Array | NDArray[np.int64]) -> Array:
    """The value of steps; zero where a step must fail, or where its success would tell nothing.

    Args:
        success: the probability of each step's success.
        gain: the value of its success.
        violated: how many candidates it violates, which are the possible reasons of a refusal.
    """
    refusal = (1 - success) * PROOF / np.maximum(violated, 1)
    return np.where((success > 0) & (np.asarray(gain) > 0), success * gain + refusal, 0.0)


# Samples of the precondition of an action that was never executed, by Gibbs sampling.
#
# Every refusal says "one of these is required", and refusals overlap, so that literals are not independent;
# nor can everything be required together. A sample is a set of literals that satisfies every clause. Each literal is
# drawn in turn from its odds given all the others; the odds are scaled until samples have the expected size.
# They only order questions: nothing is concluded from them.


def sample(
    prior: Mapping[Literals, float],
    clauses: Sequence[Literals],
    expected: Sequence[Literals],
    never_together: NDArray[np.bool_],
    size: float,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Sets of literals that satisfy the clauses: which literals each contains, shape ``(samples, literals)``.

    Args:
        prior: the literals, each with its probability regardless of the others.
        clauses: every sample has at least one literal of each.
        expected: the same, but samples without one are only rarer (``UNMET``).
        never_together: pairs of literals that are improbable together, shape ``(literals, literals)``.
        size: how many positive literals a sample should have on average, at least.
        rng: the source of all chance.
    """
    literals = list(prior)
    odds = np.array([log(chance / (1 - chance)) for chance in prior.values()], dtype=np.float64)
    positive = np.array([bool(literal.positive) for literal in literals], dtype=np.bool_)
    members = clause_members(literals, [*clauses, *expected])
    hard = np.arange(members.shape[1]) < len(clauses)
    chosen = rng.random((POSTERIOR_SAMPLES, len(literals))) < _probability(odds)
    for inside in map(np.flatnonzero, members[:, hard].T):  # any start that satisfies the clauses will do
        weights = _probability(odds[inside])
        for lacking in np.flatnonzero(~chosen[:, inside].any(axis=1)):
            chosen[lacking, rng.choice(inside, p=weights / weights.sum())] = True
    chosen = np.ascontiguousarray(chosen.T)  # (literals, samples)
    counts = members.T.astype(np.int64) @ chosen.astype(np.int64)  # (clauses, samples)
    needing, wanting = ([np.flatnonzero(row & kind) for row in members] for kind in (hard, ~hard))
    excluded = list(map(np.flatnonzero, never_together))
    scale = 0.0
    for _ in range(SWEEPS):
        for number, odds_alone in enumerate(odds):
            counts[members[number]] -= chosen[number]
            needed = (counts[needing[number]] == 0).any(axis=0)
            wanted = (counts[wanting[number]] == 0).sum(axis=0)
            given = odds_alone + scale * positive[number] - wanted * log(UNMET)
            given += chosen[excluded[number]].sum(axis=0) * log(NEVER_TOGETHER)
            chosen[number] = needed | (rng.random(POSTERIOR_SAMPLES) < _probability(given))
            counts[members[number]] += chosen[number]
        mean = float(chosen[positive].sum(axis=0).mean())
        scale = min(
            MAX_RAISE,
            max(0.0, scale + log(max(size, MIN_SIZE) / max(mean, MIN_SIZE))),
        )
    return np.ascontiguousarray(chosen.T)


def clause_members(literals: Sequence[Literals], clauses: Sequence[Literals]) -> NDArray[np.bool_]:
    """Which literals are in which clauses, shape ``(literals, clauses)``."""
    inside = np.zeros((len(literals), len(clauses)), dtype=np.bool_)
    for place, literal in enumerate(literals):
        inside[place] = [literal.within(clause) for clause in clauses]
    return inside


def _probability(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-odds))
