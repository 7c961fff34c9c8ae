"""Search problems as arrays of bits: one bit a literal, and only the literals and operators that the goals need.

Facts are numbered once for all searches of a planner. A search sees the *relevant part*: the operators that make a literal
true which a goal or another such operator requires, and those literals. A plan with the fewest steps has no other operator,
and starts that differ in nothing else are one. A fact of which nothing is known at a start is neither true nor false there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aam_vision.fact_tables import Mask, Numbers, Sets, distinct
from aam_vision.joins import Fact
from aam_vision.planning.grounding import Operator
from aam_vision.planning.planner import SearchProblem
from aam_vision.strips import GroundAction

Words = npt.NDArray[np.uint64]
"""Sets of literals, 64 to a word; shape (sets, words)."""
Start = tuple[frozenset[Fact], frozenset[Fact]]
"""What is true in a state and what is unknown."""


@dataclass(frozen=True)
class Task:
    """The relevant part of a search problem."""

    steps: Sequence[GroundAction]
    goals: Sequence[Operator]
    starts: Numbers
    """Where each different start stands among those of the problem; shape (starts,)."""
    states: Mask
    """The literals that hold at each of them; shape (starts, literals)."""
    required: Sets
    """The literals that each step requires."""
    add: Sets
    delete: Sets
    wanted: Sets
    """The literals that each goal requires."""


class _Pairs:
    """Pairs of an operator and a literal, by the operators."""

    def __init__(self, literals: Sequence[Sequence[int]]) -> None:
        self.operator: Numbers = np.repeat(np.arange(len(literals)), [len(some) for some in literals])
        self.literal: Numbers = np.array([one for some in literals for one in some], dtype=np.int64)

    def sets(self, operators: Mask, place: Numbers, size: int) -> Sets:
        """The literals of some operators, numbered by their places below ``size``; one without a place is left out."""
        rows = np.cumsum(operators) - 1
        kept = operators[self.operator] & (place[self.literal] >= 0)
        return Sets(rows[self.operator[kept]], place[self.literal[kept]], int(operators.sum()), size)


class FactNumbers:
    """Numbers of facts, and the facts of states as numbers: the next search often has the same starts.

    Literal ``2 n`` is that the fact of number ``n`` is true, literal ``2 n + 1`` that it is false.
    """

    def __init__(self) -> None:
        self._numbers: dict[Fact, int] = {}
        self._known: dict[frozenset[Fact], Numbers] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def literals(self, true: Iterable[Fact], false: Iterable[Fact] = ()) -> list[int]:
        """The literals that some facts are true and others false; facts that are new get numbers."""
        numbers = self._numbers
        return [2 * numbers.setdefault(fact, len(numbers)) for fact in true] + [
            2 * numbers.setdefault(fact, len(numbers)) + 1 for fact in false
        ]

    def of(self, facts: frozenset[Fact]) -> Numbers:
        """The numbers of facts."""
        if facts not in self._known:
            self._known[facts] = np.array(self.literals(facts), dtype=np.int64) // 2
        return self._known[facts]

    def holding(self, starts: Sequence[Start]) -> Mask:
        """The literals that hold at each start; shape (starts, literals)."""
        for true, unknown in starts:
            self.of(true), self.of(unknown)
        holding = np.zeros((len(starts), 2 * len(self)), dtype=bool)
        holding[:, 1::2] = True
        for row, (true, unknown) in zip(holding, starts, strict=True):
            numbers = self.of(true)
            row[2 * numbers] = True
            row[2 * numbers + 1] = False
            row[2 * self.of(unknown) + 1] = False
        return holding


class NumberedOperators:
    """Operators with numbered facts, for any number of searches."""

    def __init__(self, operators: Sequence[Operator], facts: FactNumbers) -> None:
        self.operators = operators
        self._facts = facts
        self._required = _Pairs([facts.literals(one.positive, one.negative) for one in operators])
        self._add = _Pairs([facts.literals(one.add, one.delete - one.add) for one in operators])

    def task(self, problem: SearchProblem) -> Task:
        """The relevant part of a problem over these operators."""
        facts = self._facts
        wanted = _Pairs([facts.literals(goal.positive, goal.negative) for goal in problem.goals])
        holding = facts.holding(problem.starts)
        made = np.zeros(holding.shape[1], dtype=bool)
        made[self._add.literal] = True
        constant: Mask = np.all(holding, axis=0)
        constant[::2] &= ~made[1::2]
        constant[1::2] &= ~made[::2]
        steps, relevant = self._relevant(wanted.literal, constant)
        place = np.full(len(relevant), -1, dtype=np.int64)
        size = int(relevant.sum())
        place[relevant] = np.arange(size)
        turned = np.full(len(relevant), -1, dtype=np.int64)
        turned[::2], turned[1::2] = place[1::2], place[::2]
        states = np.ascontiguousarray(holding[:, relevant])
        first, _ = distinct(packed(states))
        starts = np.sort(first)
        every = np.ones(len(problem.goals), dtype=bool)
        return Task(
            [self.operators[number].action for number in np.flatnonzero(steps).tolist()],
            problem.goals,
            starts,
            states[starts],
            self._required.sets(steps, place, size),
            self._add.sets(steps, place, size),
            self._add.sets(steps, turned, size),
            wanted.sets(every, place, size),
        )

    def _relevant(self, wanted: Numbers, constant: Mask) -> tuple[Mask, Mask]:
        """The operators and the literals that may be of use; what holds everywhere for ever is of none."""
        relevant = np.zeros(len(constant), dtype=bool)
        steps = np.zeros(len(self.operators), dtype=bool)
        new = wanted
        while True:
            relevant[new] = True
            relevant &= ~constant
            more = steps.copy()
            more[self._add.operator[relevant[self._add.literal]]] = True
            fresh = more & ~steps
            if not fresh.any():
                return steps, relevant
            steps = more
            new = self._required.literal[fresh[self._required.operator]]


def packed(sets: Mask) -> Words:
    """Sets of literals in words."""
    count, size = sets.shape
    words = max(-(-size // 64), 1)
    filled = np.zeros((count, words * 8), dtype=np.uint8)
    some = np.packbits(sets, axis=1, bitorder="little")
    filled[:, : some.shape[1]] = some
    return filled.view(np.uint64)


def packed_sets(sets: Sets) -> Words:
    """The same of sets given by their members."""
    words = np.zeros((len(sets), max(-(-sets.size // 64), 1)), dtype=np.uint64)
    bits = np.left_shift(np.uint64(1), (sets.members & 63).astype(np.uint64))
    np.bitwise_or.at(words, (sets.rows, sets.members >> 6), bits)
    return words


def unpacked(words: Words, size: int) -> Mask:
    """The sets of so many literals, one a column."""
    data = words.view(np.uint8)
    return np.unpackbits(data, axis=1, count=size, bitorder="little").view(bool)
