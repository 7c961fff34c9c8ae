"""How likely a surviving candidate is a precondition: the odds that order the questions.

A literal that holds nearly everywhere survives many successes by chance; one that rarely holds does not.
If it holds by chance with probability b, then after m different successes the odds that it is a precondition
are those it started with, times (1/b)^m. The estimate only orders questions and groups them: nothing is
ever concluded from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from math import prod

from aam_vision.interrogation.beliefs.constants import (
    JOINT_BINDINGS,
    JOINT_SITUATIONS,
    MAX_EXPECTED,
    PRIOR_NEGATIVE,
    PRIOR_POSITIVE,
    RATE_SITUATIONS,
)
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.ground_literals import atoms
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.joins import bindings


class Beliefs:
    """Probabilities of undecided literals, from how often each predicate holds under random arguments.

    Only the successes of the walks count: those in states made for a question say nothing about chance.
    """

    def __init__(self, hypotheses: Hypotheses, nodes: Sequence[Node]) -> None:
        self._states = [node.state for node in nodes]
        self._walked = {name: action.successes for name, action in hypotheses.actions.items()}
        sample = nodes[:: max(1, len(nodes) // RATE_SITUATIONS)]
        self._rates: dict[str, float] = {}
        for predicate in hypotheses.vocabulary.predicates:
            true = possible = 0
            for node in sample:
                true += len(node.index.rows.get(predicate.name, ()))
                possible += prod(len(node.state.objects.of_type(kind)) for kind in predicate.types)
            self._rates[predicate.name] = (true + 0.5) / (possible + 1)
        self._predicate = {
            (name, bit): atom.predicate
            for name, action in hypotheses.actions.items()
            for atom, bit in action.index.bit.items()
        }

    def rate(self, name: str, bit: int) -> float:
        """How often an atom of the action holds under random arguments."""
        return self._rates[self._predicate[name, bit]]

    def ever_true(self, predicate: str) -> bool:
        """Whether any atom of the predicate was true in any situation."""
        return predicate in self._ever_true

    @cached_property
    def _ever_true(self) -> set[str]:
        return {predicate for state in self._states for predicate, _ in state.true}

    def probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        """The probability that an undecided literal is a precondition."""
        if literal.negative:
            return PRIOR_NEGATIVE
        prior = min(PRIOR_POSITIVE, MAX_EXPECTED / len(action.index.atoms))
        return self.posterior(prior, name, literal)

    def posterior(self, prior: float, name: str, literal: Literals) -> float:
        """The probability, which was ``prior`` before any success was seen; of a negative literal it stays so."""
        if literal.negative:
            return prior
        return _posterior(prior, self.rate(name, literal.positive), self._walked[name])


class NaturalBeliefs(Beliefs):
    """The same where only natural states are seen, in which atoms go together.

    A stone that is at a goal stands on a goal cell: that both held in every success is evidence for one of
    them only. So the chance of a positive candidate is taken where all candidates of its action hold that are as
    rare or rarer, and successes with the same values of the action's atoms count once.
    """

    def __init__(self, hypotheses: Hypotheses, nodes: Sequence[Node]) -> None:
        super().__init__(hypotheses, nodes)
        # as they are known now: later exchanges may add to what is known of a situation
        self._sample = [node.index for node in nodes[:: max(1, len(nodes) // JOINT_SITUATIONS)]]
        self._chances: dict[tuple[str, int, int], float] = {}

    def probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        """The probability that an undecided literal is a precondition."""
        if literal.negative:
            rate = self.rate(name, literal.negative)
            return _posterior(PRIOR_NEGATIVE, 1 - rate, action.kinds_of_success)
        return _posterior(
            PRIOR_POSITIVE, self._chance(name, literal.positive, action), action.kinds_of_success
        )

    def _chance(self, name: str, bit: int, action: ActionHypotheses) -> float:
        """How often the candidate holds where all others do that are as rare, in situations seen before."""
        mine = self.rate(name, bit)
        rarer = sum(other for other in bits(action.positive & ~bit) if self.rate(name, other) <= mine)
        if not rarer:
            return mine
        key = (name, rarer, bit)
        if key not in self._chances:
            required = atoms(action, rarer)
            holds = total = 0
            for index in self._sample:
                for objects in islice(bindings(index, action.index.header, required), JOINT_BINDINGS):
                    total += 1
                    holds += bool(action.index.values(index.state, objects)[0] & bit)
            self._chances[key] = (holds + 0.5) / (total + 1)
        return self._chances[key]


def _posterior(prior: float, chance: float, successes: int) -> float:
    return prior / (prior + (1 - prior) * chance**successes)
