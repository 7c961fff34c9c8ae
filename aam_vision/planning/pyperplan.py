"""pyperplan behind the Planner protocol, in process, and searches of our own where pyperplan's would take too long.

One breadth-first search serves all starts and finds a plan with the fewest steps. It sees the part of the problem that the
goals need (``Task``). pyperplan makes it over a few states of small tasks. Where more have to be
looked at, it is made over arrays, which finds the same plan; where that ends at its
limit, a greedy best-first search follows, guided by the additive heuristic, unless it could look at few states beside the starts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from time import process_time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aam_vision.model.strips import GroundAction
from aam_vision.planning.fact_tables import Mask, Numbers, Sets, distinct
from aam_vision.planning.grounding import Operator
from aam_vision.planning.joins import Fact
from aam_vision.planning.planner import Found, Limits, SearchProblem, Verdict

FEW = 50
"""States that pyperplan's own search looks at."""

LARGE = 4000
"""Steps of a task up to which pyperplan's own search is tried and a guided search looks at as many states as it may; with
more steps at fewer, so that it takes no longer. More: farther plans in large worlds, slower."""


class PyperplanPlanner:
    """Breadth-first search by pyperplan, and searches over arrays of states where that is too long."""

    name = "pyperplan"

    def __init__(self) -> None:
        self._facts = FactNumbers()
        self._numbered = NumberedOperators((), self._facts)
        """The operators of the last search: the next one is often over the same."""

    def solve(self, problem: SearchProblem, limits: Limits) -> Found | Verdict:
        """A plan (one with the fewest steps, if few states have to be looked at), or why there is none."""
        if not problem.goals:
            return Verdict.UNSOLVABLE
        if self._numbered.operators is not problem.operators:
            self._numbered = NumberedOperators(problem.operators, self._facts)
        task = self._numbered.task(problem)
        try:
            found = _searched(task, limits)
        except LimitReached:
            return Verdict.LIMIT
        if found is None:
            return Verdict.UNSOLVABLE
        return task.found(found)


def _searched(task: Task, limits: Limits) -> Steps | None:
    """The plan that the searches find, one after the other.

    Raises:
        LimitReached: all of them ended at their limits.
    """
    try:
        if len(task.starts) < FEW and len(task.steps) <= LARGE:
            try:
                return _by_pyperplan(task, min(FEW, limits.states))
            except LimitReached:
                pass
        return breadth_first(task, limits.states, limits.seconds)
    except LimitReached:
        if not limits.guided:
            raise
        fewer = limits.guided * LARGE // max(LARGE, len(task.steps))
        if fewer < 2 * len(task.starts):
            raise  # it would do little more than estimate the starts
        return best_first(task, fewer, limits.seconds)


class _Step(NamedTuple):
    """Something that pyperplan may choose, as sets of bits: a start, a step, or, last of all, a goal."""

    required: int
    kept: int
    add: int
    start: int = -1
    step: int = -1
    goal: int = -1


class _SmallTask:
    """A task as pyperplan's searches need it, which gives up at a limit; a state is an integer.

    Its first bit says that a start was chosen, its second that a goal was reached.
    """

    def __init__(self, task: Task, limit: int) -> None:
        self._left = limit
        self._starts = [
            _Step(0, 0, 1 | bits << 2, start=place) for place, bits in enumerate(_bits(packed(task.states)))
        ]
        parts = [packed_sets(sets) for sets in (task.required, task.delete, task.add)]
        masks = zip(*map(_bits, parts), strict=True)
        self._steps = [
            _Step(1 | required << 2, ~(delete << 2), add << 2, step=place)
            for place, (required, delete, add) in enumerate(masks)
        ]
        self._steps += [
            _Step(1 | wanted << 2, -1, 2, goal=place)
            for place, wanted in enumerate(_bits(packed_sets(task.wanted)))
        ]
        self.initial_state = 0

    def goal_reached(self, state: int) -> bool:
        return bool(state & 2)

    def get_successor_states(self, state: int) -> list[tuple[_Step, int]]:
        self._left -= 1
        if self._left < 0:
            raise LimitReached
        steps = self._steps if state else self._starts
        return [(one, state & one.kept | one.add) for one in steps if one.required & state == one.required]


def _bits(sets: Words) -> list[int]:
    """Sets of literals as integers."""
    return [int.from_bytes(words.tobytes(), "little") for words in sets]


def _by_pyperplan(task: Task, limit: int) -> Steps | None:
    """The plan that pyperplan's breadth-first search finds; what it logs is not shown."""
    from pyperplan.search import breadth_first_search

    logging.getLogger().disabled, before = True, logging.getLogger().disabled
    try:
        plan: list[_Step] | None = breadth_first_search(_SmallTask(task, limit))
    finally:
        logging.getLogger().disabled = before
    return None if plan is None else Steps(plan[0].start, [one.step for one in plan[1:-1]], plan[-1].goal)


# Breadth-first and greedy best-first search that look at many states at once, as arrays of bits.


BLOCK = 256
"""States that a blind search expands together."""
BEST = 8
"""States that a guided search expands together. More: broader and faster, less greedy."""
CELLS = 4_000_000
"""Pairs of a state and a step that are compared together."""


class LimitReached(Exception):
    """Raised when a search has looked at as many states as it may, or for as long."""


class Steps(NamedTuple):
    """A plan: which start of the task, which of its steps, and the goal that holds in the end."""

    start: int
    steps: Sequence[int]
    goal: int


class _States:
    """The states of one search, and how each came about."""

    def __init__(self, task: Task) -> None:
        self._size = task.states.shape[1]
        self._required = task.required.columns(self._size)
        self._wanted = task.wanted.columns(self._size)
        self._delete, self._add = task.delete, task.add
        first, self._second = self._rarest(task)
        self._by_first = Sets(first, np.arange(len(first)), self._size + 1, len(first))
        """By literal, the steps of whose required literals it is the rarest."""
        self._rarest_ones: Numbers = np.unique(first)
        self._seen: set[bytes] = set()
        self._words: list[Words] = []
        self._before: list[Numbers] = []
        self._by: list[Numbers] = []
        self.count = 0
        none = np.full(len(task.states), -1, dtype=np.int64)
        self.note(packed(task.states), none, np.arange(len(none)))

    def _rarest(self, task: Task) -> Numbers:
        """Two literals that each step requires and that hold least often at the starts; shape (2, steps)."""
        steps, literals = task.required.rows, task.required.members
        rarest = np.lexsort((literals, task.states.sum(axis=0)[literals], steps))
        steps, literals = steps[rarest], literals[rarest]
        place = np.arange(len(steps)) - np.searchsorted(steps, steps)
        pivots = np.full((2, len(task.required)), self._size, dtype=np.int64)
        for rank, pivot in enumerate(pivots):
            pivot[steps[place == rank]] = literals[place == rank]
        return pivots

    def note(self, words: Words, before: Numbers, by: Numbers) -> Numbers:
        """Add the states that are new, in the order given; their numbers."""
        keys = np.ascontiguousarray(words).view(f"V{words.itemsize * words.shape[1]}").ravel().tolist()
        first = dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))
        known = self._seen.intersection(first)
        new = np.array(sorted(place for key, place in first.items() if key not in known), dtype=np.int64)
        self._seen.update(first)
        self._words.append(words[new])
        self._before.append(before[new])
        self._by.append(by[new])
        self.count += len(new)
        return np.arange(self.count - len(new), self.count)

    def words(self, numbers: Numbers) -> Words:
        """The states of these numbers."""
        if len(self._words) > 1:
            self._words = [np.concatenate(self._words)]
        return self._words[0][numbers]

    def literals(self, words: Words) -> Mask:
        """What holds in each state; shape (states, literals)."""
        return unpacked(words, self._size)

    def reached(self, words: Words) -> tuple[int, int] | None:
        """The place of the first state in which a goal holds, and the first such goal."""
        for begin in range(0, len(words), BLOCK):
            true = self._holding(words[begin : begin + BLOCK])
            holds = np.ones((len(true), self._wanted.shape[1]), dtype=bool)
            for wanted in self._wanted:
                holds &= true[:, wanted]
            if holds.any():
                place = int(holds.any(axis=1).argmax())
                return begin + place, int(holds[place].argmax())
        return None

    def successors(self, numbers: Numbers) -> Numbers:
        """Add the states that follow these and are new: by the order of the states, then by that of the steps."""
        added = [np.empty(0, dtype=np.int64)]
        block = max(CELLS // max(self._required.shape[1], 1), 1)
        for begin in range(0, len(numbers), block):
            some = numbers[begin : begin + block]
            words = self.words(some)
            holds = self._holding(words)
            state, place = np.nonzero(holds[:, self._rarest_ones])
            found, step = self._by_first.of(self._rarest_ones[place])
            state = state[found]
            fine = holds[state, self._second[step]]
            state, step = state[fine], step[fine]
            for required in self._required:
                fine = holds[state, required[step]]
                state, step = state[fine], step[fine]
            order = np.lexsort((step, state))
            state, step = state[order], step[order]
            after = words[state]
            place, literal = self._delete.of(step)
            np.bitwise_and.at(after, (place, literal >> 6), ~_bit(literal))
            place, literal = self._add.of(step)
            np.bitwise_or.at(after, (place, literal >> 6), _bit(literal))
            added.append(self.note(after, some[state], step))
        return np.concatenate(added)

    def _holding(self, words: Words) -> Mask:
        """What holds in each state, with a last literal that always does; shape (states, literals + 1)."""
        holding = np.ones((len(words), self._size + 1), dtype=bool)
        holding[:, :-1] = self.literals(words)
        return holding

    def plan(self, number: int, goal: int) -> Steps:
        """The plan to a state, in which a goal holds."""
        before, by = np.concatenate(self._before), np.concatenate(self._by)
        steps: list[int] = []
        while before[number] >= 0:
            steps.append(int(by[number]))
            number = int(before[number])
        return Steps(int(by[number]), steps[::-1], goal)


def _bit(literals: Numbers) -> Words:
    """The bit of each literal in its word."""
    bits: Words = np.left_shift(np.uint64(1), (literals & 63).astype(np.uint64))
    return bits


def breadth_first(task: Task, limit: int, seconds: float) -> Steps | None:
    """A plan with the fewest steps, of several the first by the order of starts and steps; None if there is none.

    Raises:
        LimitReached: so many states were expanded, or so many CPU seconds have passed.
    """
    deadline = process_time() + seconds
    states = _States(task)
    expanded = 0
    while expanded < states.count:
        if expanded >= limit or process_time() > deadline:
            raise LimitReached
        numbers = np.arange(expanded, min(expanded + BLOCK, states.count, limit))
        found = states.reached(states.words(numbers))
        if found is not None:
            return states.plan(expanded + found[0], found[1])
        states.successors(numbers)
        expanded += len(numbers)
    return None


def best_first(task: Task, limit: int, seconds: float) -> Steps | None:
    """A plan, found by always going on from the states that seem nearest to a goal; None if there is none.

    Raises:
        LimitReached: so many states were estimated, or so many CPU seconds have passed.
    """
    deadline = process_time() + seconds
    states, heuristic = _States(task), AdditiveHeuristic(task)
    queue: list[tuple[float, int]] = []
    new = np.arange(states.count)
    estimated = -len(new)
    while True:
        words = states.words(new)
        found = states.reached(words)
        if found is not None:
            return states.plan(int(new[found[0]]), found[1])
        for estimate, number in zip(heuristic(states.literals(words)).tolist(), new.tolist(), strict=True):
            if estimate < np.inf:
                heappush(queue, (estimate, number))
        estimated += len(new)
        if not queue:
            return None
        if estimated >= limit or process_time() > deadline:
            raise LimitReached
        best = [heappop(queue)[1] for _ in range(min(BEST, len(queue)))]
        new = states.successors(np.array(best, dtype=np.int64))


# The additive heuristic (Bonet and Geffner, 2001): how far states are from the nearest goal, many at once.
#
# Deletes are ignored, and what an operator requires is taken to be reached one thing after the other. That guides a search
# through worlds in which a blind one ends at its limits.


Costs = npt.NDArray[np.float32]

FAR = np.float32(1e6)
"""The cost of what cannot be reached."""


class AdditiveHeuristic:
    """Estimates the steps from states to the nearest goal; infinite where there is no way even without deletes."""

    def __init__(self, task: Task) -> None:
        self._size = task.states.shape[1]
        self._required = task.required.columns(self._size)
        self._wanted = task.wanted.columns(self._size)
        self._needing = task.required.turned()
        """By literal, the steps that require it."""
        self._makes = task.add
        """By step, the literals that it makes true."""
        self._free: Numbers = np.flatnonzero(task.required.count(np.arange(len(task.required))) == 0)
        """Steps that require nothing."""
        self._block = max(CELLS // max(len(task.required), len(task.add.members), 1), 1)

    def __call__(self, states: Mask) -> Costs:
        """The estimate for each state; shapes (states, literals), (states,)."""
        parts = [self._estimated(states[i : i + self._block]) for i in range(0, len(states), self._block)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)

    def _estimated(self, states: Mask) -> Costs:
        """What became cheaper is passed on until nothing does: first all that is true, then what was reached last."""
        costs = np.full((self._size + 1, len(states)), FAR, dtype=np.float32)
        costs[:-1][states.T] = 0
        costs[-1] = 0
        cheaper = np.flatnonzero(states.any(axis=0))
        steps = self._different(np.concatenate([self._free, self._needing.of(cheaper)[1]]))
        while len(steps):
            reached = 1 + _summed(costs, self._required[:, steps])
            near = reached.min(axis=1) < FAR
            makers, made = self._makes.of(steps[near])
            order = np.argsort(made, kind="stable")
            made = made[order]
            begin = np.flatnonzero(np.diff(made, prepend=-1))
            literals = made[begin]
            if not len(literals):
                break
            cheapest = np.minimum.reduceat(reached[near][makers[order]], begin, axis=0)
            known = costs[literals]
            fell = (cheapest < known).any(axis=1)
            cheaper = literals[fell]
            costs[cheaper] = np.minimum(cheapest[fell], known[fell])
            steps = self._different(self._needing.of(cheaper)[1])
        nearest: Costs = _summed(costs, self._wanted).min(axis=0)
        return np.where(nearest >= FAR, np.float32(np.inf), nearest)

    def _different(self, steps: Numbers) -> Numbers:
        """The steps in order, each once: a mark for every step is faster than sorting them."""
        marks = np.zeros(self._required.shape[1], dtype=bool)
        marks[steps] = True
        return np.flatnonzero(marks)


def _summed(costs: Costs, columns: Numbers) -> Costs:
    """The summed costs of the members of each set; shape (sets, states)."""
    total = np.zeros((columns.shape[1], costs.shape[1]), dtype=np.float32)
    for column in columns:
        total += costs[column]
    return total


# Search problems as arrays of bits: one bit a literal, and only the literals and operators that the goals need.
#
# Facts are numbered once for all searches of a planner. A search sees the *relevant part*: the operators that make a literal
# true which a goal or another such operator requires, and those literals. A plan with the fewest steps has no other operator,
# and starts that differ in nothing else are one. A fact of which nothing is known at a start is neither true nor false there.


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

    def found(self, plan: Steps) -> Found:
        """A plan of the task as one of the search problem."""
        steps = tuple([self.steps[step] for step in plan.steps])
        return Found(int(self.starts[plan.start]), steps, self.goals[plan.goal])


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
        self._last: tuple[list[Start], Mask] = [], np.zeros((0, 0), dtype=bool)
        """The starts of the last search, and the literals that hold there."""

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
        """The literals that hold at each start; shape (starts, literals). What was a start of the last search is not looked at again."""
        for true, unknown in starts:
            self.of(true), self.of(unknown)
        before, known = self._last
        same = next(
            (place for place, (one, other) in enumerate(zip(starts, before, strict=False)) if one != other),
            min(len(starts), len(before)),
        )
        holding = np.zeros((len(starts), 2 * len(self)), dtype=bool)
        holding[:, 1::2] = True
        holding[:same, : known.shape[1]] = known[:same]
        for row, (true, unknown) in zip(holding[same:], starts[same:], strict=True):
            numbers = self.of(true)
            row[2 * numbers] = True
            row[2 * numbers + 1] = False
            row[2 * self.of(unknown) + 1] = False
        self._last = list(starts), holding
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
