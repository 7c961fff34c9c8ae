"""How likely a surviving candidate is a precondition: the odds that order the questions.

A literal that holds nearly everywhere survives many successes by chance; one that rarely holds does not.
Its *base rate* b is how often it holds under random arguments in the situations seen; after m different
successes the odds that it is a precondition are those it started with, times (1/b)^m. The estimate only
orders questions and groups them: nothing is ever concluded from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from aam_vision.interrogation.evidence import Node
from aam_vision.interrogation.hypotheses import ActionHypotheses, Hypotheses, Literals

PRIOR_POSITIVE = 0.3
PRIOR_NEGATIVE = 0.02
SAMPLES = 12
"""Situations in which base rates are measured."""


class Beliefs:
    """Probabilities of undecided literals, from how often each predicate holds.

    With ``by_kind`` successes with the same values of the action's atoms count once: better where
    situations are much alike, as on one board. Without, only the successes of the walks count: those in
    states made for a question say nothing about chance.
    """

    def __init__(self, hypotheses: Hypotheses, nodes: Sequence[Node], *, by_kind: bool = True) -> None:
        self._by_kind = by_kind
        self._actions = hypotheses.actions
        self._walked = {name: action.successes for name, action in hypotheses.actions.items()}
        sample = nodes[:: max(1, len(nodes) // SAMPLES)]
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

    def split(self, name: str, action: ActionHypotheses) -> tuple[list[Literals], list[Literals]]:
        """Undecided literals that are probably preconditions, and those that probably are not."""
        trusted: list[Literals] = []
        suspects: list[Literals] = []
        for literal in action.undecided.singles():
            likely = self.probability(name, literal, action) > 0.5
            (trusted if likely else suspects).append(literal)
        return trusted, suspects

    def likely(self, name: str, literal: Literals) -> float:
        """The probability that a literal is a precondition, undecided or not."""
        return self.probability(name, literal, self._actions[name])

    def probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        """The probability that an undecided literal is a precondition."""
        successes = action.kinds_of_success if self._by_kind else self._walked[name]
        rate = self.rate(name, literal.positive or literal.negative)
        prior = PRIOR_POSITIVE if literal.positive else PRIOR_NEGATIVE
        if literal.negative and not self._by_kind:
            return prior
        chance = (1 - prior) * (rate if literal.positive else 1 - rate) ** successes
        return prior / (prior + chance)
