"""Proof by exhaustion: every state the agent may reach, where there are few enough to look at all of them.

It is exact where h^2 is only pairwise, and costs more: so it is asked last. What an operator may or may not do
is taken both ways, so that no state of any model still possible is missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from aam_vision.interrogation.hypotheses import bits
from aam_vision.interrogation.literals import GroundLiterals
from aam_vision.joins import Fact
from aam_vision.planning.mutexes import PossibleOperator

MAX_OUTCOMES = 64
"""Outcomes of one operator in one state that are followed."""

PossibleStep = tuple[str, GroundLiterals, PossibleOperator]
"""An action, its literals under a binding, and what it may do at most."""

Values = dict[str, tuple[int, int]]
"""Per action, the atoms that are sometimes true where it may be executed, and those sometimes false."""


def exhaust(
    steps: Sequence[PossibleStep], start: frozenset[Fact], wanted: Mapping[str, int], limit: int
) -> Values | None:
    """The values that each action's wanted atoms take in all states from ``start`` on where it may be executed.

    None if that is not known after looking at ``limit`` pairs of a state and a step.
    """
    number = _fluents([operator for _, _, operator in steps])
    prepared = [
        step
        for name, literals, operator in steps
        if (step := _Step.of(name, literals, operator, start, number, wanted))
    ]
    values: Values = {}
    first = _mask(start, number)
    seen, queue = {first}, [first]
    looked = 0
    while queue:
        state = queue.pop()
        looked += len(prepared)
        if looked > limit:
            return None
        for step in prepared:
            if state & step.true == step.true and not state & step.false:
                on = step.held | sum(bit for fluent, bit in step.watched if state & fluent)
                was_on, was_off = values.get(step.name, (0, 0))
                values[step.name] = was_on | on, was_off | (wanted[step.name] & ~on)
                if len(step.uncertain) > MAX_OUTCOMES.bit_length() - 1:
                    return None
                for after in step.outcomes(state):
                    if after not in seen:
                        seen.add(after)
                        queue.append(after)
    return values


class _Step:
    """An operator over bits of a state, and the wanted atoms whose values are noted before it."""

    def __init__(
        self,
        name: str,
        operator: PossibleOperator,
        held: int,
        watched: list[tuple[int, int]],
        number: Mapping[Fact, int],
    ) -> None:
        self.name = name
        self.held = held
        self.watched = watched
        self.true = _mask(operator.positive, number)
        self.false = _mask(operator.negative, number)
        may_add, may_delete = operator.may_add - operator.add, operator.may_delete - operator.add
        self.on = _mask(operator.add, number)
        self.off = _mask(operator.delete - operator.add, number)
        self.uncertain = sorted(
            {(number[fact], True) for fact in may_add} | {(number[fact], False) for fact in may_delete}
        )

    @classmethod
    def of(
        cls,
        name: str,
        literals: GroundLiterals,
        operator: PossibleOperator,
        start: frozenset[Fact],
        number: Mapping[Fact, int],
        wanted: Mapping[str, int],
    ) -> _Step | None:
        """The step; None where a fact that never changes forbids it."""
        if any(fact not in number and fact not in start for fact in operator.positive):
            return None
        if any(fact not in number and fact in start for fact in operator.negative):
            return None
        held, watched = 0, []
        for bit in bits(wanted[name]):
            fact = literals.facts[bit]
            if fact in number:
                watched.append((number[fact], bit))
            elif fact in start:
                held |= bit
        return cls(name, operator, held, watched, number)

    def outcomes(self, state: int) -> Iterator[int]:
        """The states that it may lead to."""
        sure = (state & ~self.off) | self.on
        for happens in product((False, True), repeat=len(self.uncertain)):
            after = sure
            for (bit, adds), really in zip(self.uncertain, happens, strict=True):
                if really:
                    after = after | bit if adds else after & ~bit
            yield after


def _fluents(operators: Sequence[PossibleOperator]) -> dict[Fact, int]:
    """A bit for every fact that some operator may change."""
    facts: set[Fact] = set()
    for operator in operators:
        facts |= operator.add | operator.delete | operator.may_add | operator.may_delete
    return {fact: 1 << place for place, fact in enumerate(sorted(facts))}


def _mask(facts: frozenset[Fact], number: Mapping[Fact, int]) -> int:
    return sum(number[fact] for fact in facts if fact in number)
