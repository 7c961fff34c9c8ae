"""The probability that a surviving candidate is a precondition, which orders the questions.

A literal that holds nearly everywhere survives many successes by chance; one that rarely holds does not.
If it holds by chance with probability b, then m different successes multiply the odds that it is a precondition
by (1/b)^m. The estimate only orders and groups questions: nothing is concluded from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from math import prod
from statistics import mean

from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses, atoms
from aam_vision.model.strips import ActionHeader, LiftedAtom
from aam_vision.planning.joins import bindings

# The constants of the beliefs: they order the questions, and no conclusion depends on them.
#
# Priors and odds describe domains as people write them; the better they fit, the fewer questions are asked.

PRIOR_POSITIVE = 0.3
"""Probability of a positive precondition. Higher: fewer candidates are put to the test together, and more refused."""
PRIOR_NEGATIVE = 0.02
"""The same of a negative one, which hardly any domain has."""
MAX_EXPECTED = 4
"""Positive preconditions that an action is expected to have at most, however many atoms it has."""
LIKELY = 0.5
"""Literals more probable than this are taken for preconditions. Higher: larger groups are refuted together, and more of
these groups are refused."""
RATE_SITUATIONS = 12
"""Situations in which the base rates of predicates are measured. More: better odds, slower."""
JOINT_SITUATIONS = 40
"""Situations in which it is counted how often a candidate holds beside the others."""
JOINT_BINDINGS = 60
"""Bindings that are counted in each of them."""
SMOOTHING = 0.5
"""Pseudo-count of true and of false atoms in every rate, so that none is 0 or 1 (Jeffreys prior)."""
REQUIRED_ELSEWHERE = 3.0
"""Factor for the odds of an atom if other actions require the same element of P*."""
NOT_REQUIRED_ELSEWHERE = 0.6
"""The same if other actions have the element, but do not require it."""
SHAPE_ONLY = 0.5
"""Weight of actions that require an atom of the same shape, where none has the same element."""


class Beliefs:
    """Probabilities of undecided literals, from how often each predicate holds under random arguments.

    Only the successes so far count: those of states made for a question say nothing about chance.
    """

    def __init__(self, hypotheses: Hypotheses, nodes: Sequence[Node]) -> None:
        self._hypotheses = hypotheses
        self._states = [node.state for node in nodes]
        self._walked = {name: action.successes for name, action in hypotheses.actions.items()}
        sample = nodes[:: max(1, len(nodes) // RATE_SITUATIONS)]
        self._rates: dict[str, float] = {}
        for predicate in hypotheses.vocabulary.predicates:
            true = possible = 0
            for node in sample:
                true += len(node.index.rows.get(predicate.name, ()))
                possible += prod(len(node.state.objects.of_type(kind)) for kind in predicate.types)
            self._rates[predicate.name] = (true + SMOOTHING) / (possible + 2 * SMOOTHING)

    def rate(self, name: str, bit: int) -> float:
        """The frequency at which an atom of the action holds under random arguments."""
        return self._rates[self._hypotheses[name].index.atom(bit).predicate]

    @cached_property
    def ever_true(self) -> set[str]:
        """The predicates of which some atom was true in some situation."""
        return {predicate for state in self._states for predicate, _ in state.true}

    @cached_property
    def ever_coinciding(self) -> set[str]:
        """The predicates of which some atom that names an object twice was true in some situation."""
        return {
            predicate
            for state in self._states
            for predicate, objects in state.true
            if len(set(objects)) < len(objects)
        }

    def probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        """The probability that an undecided literal is a precondition."""
        if literal.negative:
            return PRIOR_NEGATIVE
        prior = min(PRIOR_POSITIVE, MAX_EXPECTED / len(action.index.atoms))
        return self.posterior(prior, name, literal)

    def posterior(self, prior: float, name: str, literal: Literals) -> float:
        """The probability after the successes so far; that of a negative literal stays the prior."""
        if literal.negative:
            return prior
        return _posterior(prior, self.rate(name, literal.positive), self._walked[name])


class NaturalBeliefs(Beliefs):
    """The same where only natural states are seen, in which atoms depend on each other.

    A stone that is at a goal stands on a goal cell: that both held in every success is evidence for one of
    them only. So the base rate of a positive candidate is measured where all equally rare or rarer candidates of its
    action hold, and successes with the same values of the action's atoms count once.
    """

    def __init__(self, hypotheses: Hypotheses, nodes: Sequence[Node]) -> None:
        super().__init__(hypotheses, nodes)
        # the states as known now: later exchanges may recover hidden values
        self._sample = [node.index for node in nodes[:: max(1, len(nodes) // JOINT_SITUATIONS)]]
        self._chances: dict[tuple[str, int, int], float] = {}
        self._as_rare: dict[tuple[str, int], int] = {}

    def probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        """The probability that an undecided literal is a precondition."""
        if literal.negative:
            rate = self.rate(name, literal.negative)
            return _posterior(PRIOR_NEGATIVE, 1 - rate, action.kinds_of_success)
        return _posterior(
            PRIOR_POSITIVE, self._chance(name, literal.positive, action), action.kinds_of_success
        )

    def _chance(self, name: str, bit: int, action: ActionHypotheses) -> float:
        """The frequency at which the candidate holds where all equally rare or rarer ones do, in the situations seen."""
        own = self.rate(name, bit)
        if (name, bit) not in self._as_rare:
            others = bits(action.index.everything & ~bit)
            self._as_rare[name, bit] = sum(other for other in others if self.rate(name, other) <= own)
        rarer = action.positive & self._as_rare[name, bit]
        if not rarer:
            return own
        key = (name, rarer, bit)
        if key not in self._chances:
            required = atoms(action, rarer)
            holds = total = 0
            for index in self._sample:
                for objects in islice(bindings(index, action.index.header, required), JOINT_BINDINGS):
                    total += 1
                    holds += action.index.fact(bit, objects) in index.state.true
            self._chances[key] = (holds + SMOOTHING) / (total + 2 * SMOOTHING)
        return self._chances[key]


def _posterior(prior: float, chance: float, successes: int) -> float:
    return prior / (prior + (1 - prior) * chance**successes)


def atoms_alike(evidence: Evidence, name: str) -> list[int]:
    """Atoms of an action that were one atom in every success, as masks of two or more.

    What a lift does on the floor ``n0`` with ``n0`` passengers in it may be due to the floor or to the number.
    """
    index = evidence.hypotheses[name].index
    if not index.merges:
        return []
    found: list[int] | None = None
    for edge in evidence.edges:
        if edge.action.name == name:
            groups = index.coinciding(edge.action.objects)
            common = groups if found is None else [one & other for one in found for other in groups]
            found = [some for some in common if some.bit_count() > 1]
            if not found:
                break
    return found or []


# Transfer from executed actions to others, by the elements of P* that both have.
#
# The paper names the parameters of a lifted atom by type and number (Sec. "Formal Framework"), so that
# ``at(?thing1, ?location2)`` of one action and of another are one element. Authors of domains give such parameters
# the same roles again and again: in the packaged domains an element that one action requires is required by
# half of the others that have it, and an element that one does not require by a sixth.
# No agent has to be like that: this only orders questions.

Element = tuple[str, tuple[str, ...]]


def element(atom: LiftedAtom, header: ActionHeader) -> Element:
    """The element of P* that an atom of this action is: its predicate, and its arguments by type and number."""
    names = [f"{kind}{header.types[: i + 1].count(kind)}" for i, kind in enumerate(header.types)]
    return atom.predicate, tuple(names[a] if isinstance(a, int) else a for a in atom.arguments)


def shape(atom: LiftedAtom, header: ActionHeader) -> Element:
    """The atom's predicate, and the types and the relative order of its arguments, without their numbers."""
    named = sorted({a for a in atom.arguments if isinstance(a, int)})
    kinds = header.types
    rank = {a: sum(kinds[a] == kinds[b] for b in named if b < a) for a in named}
    return atom.predicate, tuple(f"{kinds[a]}{rank[a]}" if isinstance(a, int) else a for a in atom.arguments)


class Transfer:
    """Factors for the odds of an action's preconditions, from those of executed actions."""

    def __init__(self, hypotheses: Hypotheses, chance: Callable[[str, int], float]) -> None:
        """``chance`` gives the probability that a positive candidate of an executed action is required."""
        self._hypotheses = hypotheses
        elements: dict[Element, list[float]] = {}
        shapes: dict[Element, list[float]] = {}
        for name, action in hypotheses.actions.items():
            if not action.successes:
                continue
            for atom, bit in action.index.bit.items():
                if action.proven.positive & bit:
                    required = 1.0
                else:
                    required = chance(name, bit) if action.positive & bit else 0.0
                elements.setdefault(element(atom, action.index.header), []).append(required)
                shapes.setdefault(shape(atom, action.index.header), []).append(required)
        self._elements = {key: mean(chances) for key, chances in elements.items()}
        self._shapes = {key: mean(chances) for key, chances in shapes.items()}

    def factor(self, name: str, atom: LiftedAtom) -> float:
        """The factor for the odds of an atom of an action not executed yet; 1 if no other action has a similar one."""
        header = self._hypotheses[name].index.header
        same = self._elements.get(element(atom, header))
        similar = self._shapes.get(shape(atom, header))
        if similar is None:
            return 1.0
        required = ((same if same is not None else similar * SHAPE_ONLY) + similar) / 2
        return required * REQUIRED_ELSEWHERE + (1 - required) * NOT_REQUIRED_ELSEWHERE
