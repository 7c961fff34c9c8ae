"""Enumeration of all states that the agent may reach, where there are few enough.

This is exact, where h^2 only considers pairs of literals, and costs more. An effect that may or may not happen is taken
both ways, so that no reachable state of any possible model is missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from aam_vision.interrogation.completeness.closed_sets import NONE, Closed, Closure, may_undo
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.ground_literals import GroundLiterals
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.joins import Fact
from aam_vision.planning.interchangeable import PossibleOperator

MAX_UNCERTAIN = 6
"""Undecided effects of one step. More: more cases are decided exactly, with twice as many successors each."""


class Transition(NamedTuple):
    """A step with all that it may require and do as far as is known."""

    name: str
    literals: GroundLiterals
    operator: PossibleOperator
    action: ActionHypotheses


def exhaust(
    steps: Sequence[Transition], start: Iterable[Fact], closed: Closure, limit: int
) -> Closure | None:
    """The part of ``closed`` that some step may reveal in a state which is reachable by steps that reveal nothing.

    None if more than ``limit`` pairs of a state and a step would have to be looked at.
    """
    start = frozenset(start)
    fluents = _fluents([step.operator for step in steps])
    possible = [step for step in steps if _may_execute(step, start, fluents)]
    prepared = [
        one for step in possible if (one := _Prepared(step, start, fluents, closed[step.name])).executable
    ]
    revealed: dict[str, Closed] = {}
    first = _mask(start, fluents)
    seen, queue = {first}, [first]
    looked = 0
    while queue:
        state = queue.pop()
        looked += len(prepared)
        if looked > limit:
            return None
        for step in prepared:
            if state & step.true == step.true and not state & step.false and step.may_succeed(state):
                reveals = step.reveals(state)
                if reveals:
                    revealed[step.name] = reveals.joined(revealed.get(step.name, NONE))
                if reveals.literals:
                    continue
                if len(step.uncertain) > MAX_UNCERTAIN:
                    return None
                for after in step.outcomes(state):
                    if after not in seen:
                        seen.add(after)
                        queue.append(after)
    return revealed


class _Prepared:
    """A step over the bits of a state, and the atoms whose values may reveal something."""

    def __init__(
        self, step: Transition, start: frozenset[Fact], fluents: Mapping[Fact, int], closed: Closed
    ) -> None:
        operator, action = step.operator, step.action
        self.name = step.name
        self._closed = closed
        self._held = 0
        self._watched: list[tuple[int, int]] = []
        for bit in bits(closed.literals.positive | closed.literals.negative | closed.effects):
            fact = step.literals.facts[bit]
            if fact in fluents:
                self._watched.append((fluents[fact], bit))
            elif fact in start:
                self._held |= bit
        self._adds, self._deletes = closed.effects & action.adds, closed.effects & action.deletes
        self._always = self._adds & self._deletes
        self._always |= sum(bit for bit in bits(self._adds) if may_undo(action, step.literals, bit))
        self.executable = True
        """Whether no clause is violated for good by facts that never change."""
        self._clauses: list[tuple[int, int]] = []
        for clause in action.clauses:
            true, false = step.literals.holding(clause)
            if any(fact in start for fact in true if fact not in fluents):
                continue
            if any(fact not in start for fact in false if fact not in fluents):
                continue
            on, off = _mask(frozenset(true), fluents), _mask(frozenset(false), fluents)
            self._clauses.append((on, off))
            self.executable = self.executable and bool(on or off)
        self.true = _mask(operator.positive, fluents)
        self.false = _mask(operator.negative, fluents)
        self._add = _mask(operator.add, fluents)
        self._delete = _mask(operator.delete - operator.add, fluents)
        may_add, may_delete = operator.may_add - operator.add, operator.may_delete - operator.add
        self.uncertain = sorted(
            {(fluents[fact], True) for fact in may_add} | {(fluents[fact], False) for fact in may_delete}
        )

    def may_succeed(self, state: int) -> bool:
        """Whether some literal of every clause holds."""
        return all(state & on or ~state & off for on, off in self._clauses)

    def reveals(self, state: int) -> Closed:
        """The closed literals and effects that the step may reveal if it is asked in this state."""
        held = self._held | sum(bit for fluent, bit in self._watched if state & fluent)
        literals, _ = self._closed
        violated = Literals(literals.positive & ~held, literals.negative & held)
        shown = 0 if violated else self._always | (self._adds & ~held) | (self._deletes & held)
        return Closed(violated, shown)

    def outcomes(self, state: int) -> list[int]:
        """The states that it may lead to."""
        certain = (state & ~self._delete) | self._add
        return [(certain & keep) | adds for keep, adds in self._happening]

    @cached_property
    def _happening(self) -> list[tuple[int, int]]:
        """By which uncertain effects happen, the bits that they leave, and those that they add."""
        found = [(-1, 0)]
        for bit, added in self.uncertain:  # the first one varies most slowly
            left, set_ = (-1, bit) if added else (~bit, 0)
            found = [one for keep, adds in found for one in ((keep, adds), (keep & left, adds & left | set_))]
        return found


def _may_execute(step: Transition, start: frozenset[Fact], fluents: Mapping[Fact, int]) -> bool:
    """Whether no fact that never changes forbids the step."""
    return all(fact in fluents or fact in start for fact in step.operator.positive) and not any(
        fact not in fluents and fact in start for fact in step.operator.negative
    )


def _fluents(operators: Sequence[PossibleOperator]) -> dict[Fact, int]:
    """A bit for every fact that some operator may change."""
    facts: set[Fact] = set()
    for operator in operators:
        facts |= operator.add | operator.delete | operator.may_add | operator.may_delete
    return {fact: 1 << place for place, fact in enumerate(sorted(facts))}


def _mask(facts: frozenset[Fact], fluents: Mapping[Fact, int]) -> int:
    return sum(fluents[fact] for fact in facts if fact in fluents)
