"""The probability that a surviving candidate is a precondition, which orders the questions.

A literal that holds nearly everywhere survives many successes by chance; one that rarely holds does not.
If it holds by chance with probability b, then m different successes multiply the odds that it is a precondition
by (1/b)^m. The estimate only orders and groups questions: nothing is concluded from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from math import prod

from aam_vision.interrogation.beliefs import constants
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.ground_literals import atoms
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.joins import bindings


class Beliefs:
    """Probabilities of undecided literals, from how often each predicate holds under random arguments.

    Only the successes so far count: those of states made for a question say nothing about chance.
    """

    def __init__(self, hypotheses: Hypotheses, nodes: Sequence[Node]) -> None:
        self._hypotheses = hypotheses
        self._states = [node.state for node in nodes]
        self._walked = {name: action.successes for name, action in hypotheses.actions.items()}
        sample = nodes[:: max(1, len(nodes) // constants.RATE_SITUATIONS)]
        self._rates: dict[str, float] = {}
        for predicate in hypotheses.vocabulary.predicates:
            true = possible = 0
            for node in sample:
                true += len(node.index.rows.get(predicate.name, ()))
                possible += prod(len(node.state.objects.of_type(kind)) for kind in predicate.types)
            self._rates[predicate.name] = (true + 0.5) / (possible + 1)

    def rate(self, name: str, bit: int) -> float:
        """The frequency at which an atom of the action holds under random arguments."""
        return self._rates[self._hypotheses[name].index.atom(bit).predicate]

    @cached_property
    def ever_true(self) -> set[str]:
        """The predicates of which some atom was true in some situation."""
        return {predicate for state in self._states for predicate, _ in state.true}

    def probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        """The probability that an undecided literal is a precondition."""
        if literal.negative:
            return constants.PRIOR_NEGATIVE
        prior = min(constants.PRIOR_POSITIVE, constants.MAX_EXPECTED / len(action.index.atoms))
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
        self._sample = [node.index for node in nodes[:: max(1, len(nodes) // constants.JOINT_SITUATIONS)]]
        self._chances: dict[tuple[str, int, int], float] = {}

    def probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        """The probability that an undecided literal is a precondition."""
        if literal.negative:
            rate = self.rate(name, literal.negative)
            return _posterior(constants.PRIOR_NEGATIVE, 1 - rate, action.kinds_of_success)
        return _posterior(
            constants.PRIOR_POSITIVE, self._chance(name, literal.positive, action), action.kinds_of_success
        )

    def _chance(self, name: str, bit: int, action: ActionHypotheses) -> float:
        """The frequency at which the candidate holds where all equally rare or rarer ones do, in the situations seen."""
        own = self.rate(name, bit)
        rarer = sum(other for other in bits(action.positive & ~bit) if self.rate(name, other) <= own)
        if not rarer:
            return own
        key = (name, rarer, bit)
        if key not in self._chances:
            required = atoms(action, rarer)
            holds = total = 0
            for index in self._sample:
                for objects in islice(
                    bindings(index, action.index.header, required), constants.JOINT_BINDINGS
                ):
                    total += 1
                    holds += bool(action.index.values(index.state, objects)[0] & bit)
            self._chances[key] = (holds + 0.5) / (total + 1)
        return self._chances[key]


def _posterior(prior: float, chance: float, successes: int) -> float:
    return prior / (prior + (1 - prior) * chance**successes)
