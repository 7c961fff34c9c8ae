"""The ground task of positive STRIPS with states as integers: one bit a fact, and one for its complement.

The encoding is that of :mod:`aam_vision.planning.positive`. Operators are numbered once for all searches over them; in a
search the operators that apply in a state follow from those of the state before and from the facts that the step made true.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from aam_vision.joins import Fact
from aam_vision.planning.bitmasks import mask_of, numbers_in
from aam_vision.planning.grounding import Operator
from aam_vision.planning.planner import SearchProblem
from aam_vision.strips import GroundAction


class NumberedOperator(NamedTuple):
    """An operator as sets of bits; ``source`` is the number of a start, a step, or a goal operator."""

    number: int
    source: int | GroundAction | Operator
    required: int
    add: int
    delete: int


class _Masks(NamedTuple):
    positive: int
    negative: int
    add: int
    delete: int


class NumberedOperators:
    """Operators whose facts are numbered, for any number of searches."""

    def __init__(self, operators: Sequence[Operator]) -> None:
        self.operators = operators
        self._numbers: dict[Fact, int] = {}
        self._masks = [self._masks_of(operator) for operator in operators]
        self._positive = self._negative = self._changing = 0
        for masks in self._masks:
            self._positive |= masks.positive
            self._negative |= masks.negative
            self._changing |= masks.add | masks.delete

    def _mask(self, facts: Iterable[Fact]) -> int:
        """The bits of the facts; new facts get new ones."""
        return mask_of(self._numbers.setdefault(fact, len(self._numbers)) for fact in facts)

    def _known(self, facts: Iterable[Fact]) -> int:
        """The bits of those facts that have one."""
        return mask_of(self._numbers[fact] for fact in facts if fact in self._numbers)

    def _masks_of(self, operator: Operator) -> _Masks:
        add = self._mask(operator.add)
        return _Masks(
            self._mask(operator.positive),
            self._mask(operator.negative),
            add,
            self._mask(operator.delete) & ~add,
        )

    def task(self, problem: SearchProblem) -> Task:
        """The task of a problem over these operators."""
        goals = [self._masks_of(goal) for goal in problem.goals]
        positive, negative = self._positive, self._negative
        for goal in goals:
            positive |= goal.positive
            negative |= goal.negative
        starts = [(self._known(true), self._known(unknown)) for true, unknown in problem.starts]
        always, ever = -1, self._changing
        for true, unknown in starts:
            always &= true
            ever |= true | unknown
        relevant, negated = positive & ~(always & ~self._changing), negative & ever
        size = len(self._numbers)
        begun, reached = 1 << (2 * size), 2 << (2 * size)

        def symbols(true: int, false: int) -> int:
            return (true & relevant) | (false & negated) << size

        beginning = [
            NumberedOperator(number, number, 0, symbols(true, negated & ~true & ~unknown) | begun, 0)
            for number, (true, unknown) in enumerate(starts)
        ]
        steps = [
            NumberedOperator(
                number,
                source.action,
                symbols(masks.positive, masks.negative) or begun,
                symbols(masks.add, masks.delete),
                symbols(masks.delete, masks.add),
            )
            for number, (source, masks) in enumerate(
                zip(self.operators, self._masks, strict=True), len(starts)
            )
        ]
        ending = [
            NumberedOperator(number, goal, symbols(masks.positive, masks.negative) or begun, reached, 0)
            for number, (goal, masks) in enumerate(
                zip(problem.goals, goals, strict=True), len(starts) + len(steps)
            )
        ]
        return Task(beginning, [*steps, *ending], reached)


class SearchState:
    """A state of a search: its bits, and how it came about, from which the operators that apply in it follow."""

    __slots__ = ("_applicable", "_before", "_made", "bits")

    def __init__(self, bits: int, before: SearchState | None = None, made: int = 0) -> None:
        self.bits = bits
        self._before = before
        self._made = made
        """The bits that the last step made true."""
        self._applicable: list[NumberedOperator] | None = None

    def __hash__(self) -> int:
        return hash(self.bits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SearchState) and self.bits == other.bits

    def applicable(self, task: Task) -> list[NumberedOperator]:
        """The operators that apply, in the order of their numbers."""
        if self._applicable is None:
            bits = self.bits
            before = [] if self._before is None else self._before.applicable(task)
            found = {one.number: one for one in before if one.required & bits == one.required}
            for one in task.needing(self._made):
                if one.required & bits == one.required:
                    found[one.number] = one
            self._applicable = [found[number] for number in sorted(found)]
            self._before = None  # no longer needed: states must not keep all those before them alive
        return self._applicable


class Task:
    """A search task: starts to choose from in an empty state, then steps; an operator of a goal ends it."""

    def __init__(
        self, starts: Sequence[NumberedOperator], operators: Sequence[NumberedOperator], reached: int
    ) -> None:
        self.initial_state = SearchState(0)
        self.operators = operators
        self.reached = reached
        """The bit that an operator of a goal makes true."""
        self._starts = starts
        self._needing: dict[int, list[NumberedOperator]] = defaultdict(list)
        for operator in operators:
            for bit in numbers_in(operator.required):
                self._needing[bit].append(operator)

    def needing(self, made: int) -> Iterator[NumberedOperator]:
        """The operators that require one of these bits."""
        for bit in numbers_in(made):
            yield from self._needing.get(bit, ())

    def goal_reached(self, state: SearchState) -> bool:
        """Whether an operator of a goal was applied."""
        return bool(state.bits & self.reached)

    def get_successor_states(self, state: SearchState) -> list[tuple[NumberedOperator, SearchState]]:
        """The operators that apply, each with the state to which it leads."""
        bits = state.bits
        if not bits:
            return [(start, SearchState(start.add, None, start.add)) for start in self._starts]
        successors = []
        for operator in state.applicable(self):
            after = (bits & ~operator.delete) | operator.add
            successors.append((operator, SearchState(after, state, after & ~bits)))
        return successors
