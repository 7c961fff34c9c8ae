"""What controls depend on that nobody sees: the simplest memory of the controls given before that explains all that was seen.

A memory is a few states; every control leads from each to one. Looked for are such of two states (a control sets, unsets or turns it), numbers
that controls count up, or begin anew, until they stop or start again, the last controls in a certain order, and the last one alone. Those left
are told apart by histories made for it, which lead back to where a control went two ways: the next is the one on whose end they differ most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, count, permutations, product
from math import comb, log2
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aam_vision.agents.encoding import Malformed, field
from aam_vision.interrogation.controls.giving import Giving, Step
from aam_vision.model.query import Situation
from aam_vision.model.remembered import MOST_LATE, SWITCHED, ControlMemory, LateControls, Remembered
from aam_vision.model.strips import GroundAction, State
from aam_vision.support.wording import listed

Table = npt.NDArray[np.uint8]
STATES = 26
"""States of a memory, at most."""
SWITCHES, COUNTS = 20_000, 2_500
"""Ways in which all controls may act on a switch, or on a number, that are looked at."""
ORDERS = 2_000
"""Orders of controls, at most, of one length."""
NAMES = "memory", "remembered", *(f"memory-{chr(letter)}" for letter in range(ord("a"), ord("z") + 1))
"""What the names of its predicates begin with: the first that no other predicate's name begins with."""
LIKELIEST = 64
"""Memories that are told apart at a time."""
PROBES, STARTS, LONGEST = 3, 24, 4
"""What went two ways, the latest ones, to which histories lead that are made for it; situations in which these go on; and their controls, at most."""
EXPERIMENTS, CONFIRMED, TELLING, LITTLE = 150, 12, 0.02, 0.1
"""Histories that are made, at most; of these that have to end as the simplest memory says, where none tells it from others any more; how much
one has to tell, at least; and what it counts that a memory says nothing of its end."""


class Candidates(NamedTuple):
    """Memories, the simplest first."""

    tables: Table
    """(memories, controls, states): the state that each control leads to."""
    begins: Table
    """(memories,): the state in which a history begins."""
    bits: npt.NDArray[np.float64]
    """(memories,): the more, the less likely it is beforehand."""
    doing: npt.NDArray[np.bool_]
    """(memories,): whether only controls count that do something that is seen."""
    words: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    """By state, in words."""


@dataclass(frozen=True)
class _One:
    """One memory: by control its row of the table, and the rest as of several."""

    rows: tuple[tuple[int, ...], ...]
    begins: int
    bits: float
    words: str
    values: tuple[str, ...]
    doing: bool = False


def candidates(names: Sequence[str]) -> Candidates:
    """All memories of these controls that are looked for."""
    every = [*_switches(names), *_numbers(names), *_orders(names), *_last(names)]
    doing = [
        replace(one, bits=one.bits + 1, words=f"{one.words}, where that did something", doing=True)
        for one in every
    ]
    found = sorted([*every, *doing], key=lambda one: one.bits)
    tables = np.tile(np.arange(STATES, dtype=np.uint8), (len(found), len(names), 1))
    for number, one in enumerate(found):
        for control, row in enumerate(one.rows):
            tables[number, control, : len(row)] = row
    begins = np.array([one.begins for one in found], dtype=np.uint8)
    bits, counted = np.array([one.bits for one in found]), np.array([one.doing for one in found])
    words, values = tuple(one.words for one in found), tuple(one.values for one in found)
    return Candidates(tables, begins, bits, counted, words, values)


def _assignments(kinds: int, controls: int, most: int) -> Iterator[tuple[int, ...]]:
    """The ways to give every control one of some kinds of doing; of more than so many, those in which but a few do otherwise than the rest."""
    if kinds**controls <= most:
        yield from product(range(kinds), repeat=controls)
        return
    for number in count():
        ways = kinds * comb(controls, number) * (kinds - 1) ** number
        if ways > most:
            return
        most -= ways
        for usual, places in product(range(kinds), combinations(range(controls), number)):
            others = [kind for kind in range(kinds) if kind != usual]
            for some in product(others, repeat=number):
                by_place = dict(zip(places, some, strict=True))
                yield tuple(by_place.get(place, usual) for place in range(controls))


def _bits(assigned: Sequence[int]) -> float:
    """How complicated it is to say what every control does: what most do, and what others do."""
    (usual, number), *_ = Counter(assigned).most_common(1)
    return 2 * (len(assigned) - number) + (usual != 0)


def _named(names: Sequence[str], assigned: Sequence[int], kind: int) -> str:
    """The controls of a kind, in words."""
    own = [name for name, one in zip(names, assigned, strict=True) if one == kind]
    if len(own) == len(names):
        return "any control"
    if len(own) > len(names) / 2:
        others = [name for name, one in zip(names, assigned, strict=True) if one != kind]
        return f"any control but {listed(others)}"
    return " or ".join(own)


def _switches(names: Sequence[str]) -> Iterator[_One]:
    """What controls set (1), unset (2), or turn (3)."""
    rows = ((0, 1), (1, 1), (0, 0), (1, 0))
    hows = {1: "set by", 2: "unset by", 3: "turned by"}
    for assigned in _assignments(len(rows), len(names), SWITCHES):
        if {1, 3} & {*assigned}:
            words = [
                f"{how} {_named(names, assigned, kind)}" for kind, how in hows.items() if kind in assigned
            ]
            by_control = tuple(rows[one] for one in assigned)
            yield _One(by_control, 0, 1 + _bits(assigned), listed(words), SWITCHED)


def _numbers(names: Sequence[str]) -> Iterator[_One]:
    """Numbers that controls count up (1) or begin anew (2), until they stop or start again."""
    for assigned in _assignments(3, len(names), COUNTS):
        if 1 not in assigned:
            continue
        anew, counted = 2 in assigned, f"how often {_named(names, assigned, 1)} was given"
        for most in range(2, STATES):
            numbers = range(most + 1)
            bits, values = 2 + _bits(assigned) + 2 * log2(most), tuple(map(str, numbers))
            kept, zero = tuple(numbers), (0,) * (most + 1)
            up = tuple(min(one + 1, most) for one in numbers)
            rows = tuple((kept, up, zero)[one] for one in assigned)
            if anew:
                since = f"{counted} since {_named(names, assigned, 2)} (up to {most})"
                yield _One(rows, most, bits, since, values)
                yield _One(rows, 0, bits + 1, since, values)
                continue
            yield _One(rows, 0, bits, f"{counted} (up to {most})", values)
            around = tuple((one + 1) % (most + 1) for one in numbers)
            rows = tuple((kept, around)[one] for one in assigned)
            yield _One(rows, 0, bits, f"{counted} (from 0 on again after {most})", values)


def _orders(names: Sequence[str]) -> Iterator[_One]:
    """How many controls of an order were given last: of its beginning, as long as can be."""
    for length in (2, 3):
        if len(names) ** length > ORDERS:
            return
        for order in product(range(len(names)), repeat=length):
            rows = tuple(
                tuple(_matched(order, at, control) for at in range(length + 1))
                for control in range(len(names))
            )
            told = " and then ".join(names[one] for one in order)
            bits, values = 2 + length * log2(len(names)), tuple(map(str, range(length + 1)))
            yield _One(rows, 0, bits, f"how many controls of the order {told} were given last", values)


def _matched(order: Sequence[int], at: int, control: int) -> int:
    """How many controls of an order were given last, once another one follows so many."""
    given = [*order[:at], control]
    return next(
        one for one in range(min(len(order), at + 1), -1, -1) if given[len(given) - one :] == [*order[:one]]
    )


def _last(names: Sequence[str]) -> Iterator[_One]:
    """Which control was given last."""
    if len(names) < STATES:
        rows = tuple((number + 1,) * (len(names) + 1) for number in range(len(names)))
        yield _One(rows, 0, 4, "the control that was given last", ("none", *names))


class _History(NamedTuple):
    """Controls that are given in a situation, and then, where something went two ways, the control that did."""

    start: Situation
    way: tuple[GroundAction, ...]
    last: GroundAction
    expected: State | None
    """What the simplest memory says that is seen then, if it says anything."""
    tells: bool
    """Whether others say something else."""


class Memories:
    """The memories that explain all that was seen, and the histories by which they are told apart.

    ``giving``: gives the controls, as yet without a memory.
    """

    def __init__(self, giving: Giving) -> None:
        self._giving = giving
        self._names = [one.name for one in giving.controls]
        self._candidates = candidates(self._names)
        taken = [one.name for one in giving.vocabulary.predicates]
        self._named = next(name for name in NAMES if not any(one.startswith(f"{name}-") for one in taken))
        self._left = np.arange(len(self._candidates.words))
        """The memories that explain what was seen, by their numbers."""
        begins = self._candidates.begins
        self._states: dict[Hashable, Table] = {one.handle: begins for one in giving.initial()}
        """By handle, what is remembered there, for each memory that is left."""
        self._situations = {one.handle: one for one in giving.initial()}
        self._led: dict[tuple[Hashable, GroundAction], Situation] = {}
        self._outcomes: dict[tuple[State, GroundAction], dict[State, list[Hashable]]] = {}
        """By what was seen and the control, where it was given, by what was seen afterwards."""
        self.steps: list[Step] = []
        """All that was given, in order."""

    def take_in(self, steps: Iterable[Step]) -> None:
        """Leave the memories that explain these steps, too."""
        for before, control, after in steps:
            if (before.handle, control) in self._led:
                continue
            self.steps.append(Step(before, control, after))
            self._led[before.handle, control] = after
            self._situations[after.handle] = after
            remembered = self._states[before.handle]
            then = self._then(self._left, control, remembered, did=before.state != after.state)
            if after.handle in self._states:  # the agent says that it is where it was before
                self._leave(self._states[after.handle] == then)
                remembered = self._states[before.handle]
            else:
                self._states[after.handle] = then
            if before.state.unknown or after.state.unknown:
                continue  # what was not seen went no other way
            outcomes = self._outcomes.setdefault((before.state, control), {})
            explains = np.ones(len(self._left), dtype=bool)
            for seen, others in outcomes.items():
                for other in others if seen != after.state else ():
                    explains &= self._states[other] != remembered
            outcomes.setdefault(after.state, []).append(before.handle)
            if not explains.all():
                self._leave(explains)

    def told_apart(self, rng: np.random.Generator) -> ControlMemory | None:
        """The simplest memory that explains all, after histories that tell it from others and confirm it; None if there is none.

        Raises:
            StepsSpent: no more controls may be given.
            AgentFailed: the agent can no longer answer.
            ResourcesSpent: no more time or memory may be taken.
        """
        confirmed, simplest = 0, -1
        for _ in range(EXPERIMENTS):
            if not len(self._left):
                return None
            if self._left[0] != simplest:
                confirmed, simplest = 0, self._left[0]
            history = self._most_telling(rng)
            if history is None or (confirmed >= CONFIRMED and not history.tells):
                return self._simplest()
            here = history.start
            for control in (*history.way, history.last):
                here = self._give(here, control)
            confirmed += history.expected == here.state
        return self._simplest() if len(self._left) and confirmed >= CONFIRMED else None

    def rule_out(self, memory: ControlMemory) -> None:
        """Leave the simplest memory out, if it is this one still: what it does not explain is told in another way."""
        if len(self._left) and self._simplest() == memory:
            self._leave(np.arange(len(self._left)) > 0)

    def _leave(self, which: npt.NDArray[np.bool_]) -> None:
        self._left = self._left[which]
        self._states = {handle: states[which] for handle, states in self._states.items()}

    def _give(self, here: Situation, control: GroundAction) -> Situation:
        known = self._led.get((here.handle, control))
        if known is None:
            known = self._giving.led(here, control)
            self.take_in([Step(here, control, known)])
        return known

    def _then(
        self, some: npt.NDArray[np.intp], control: GroundAction, remembered: Table, *, did: bool
    ) -> Table:
        """What some memories are after a control."""
        then = self._candidates.tables[some, self._names.index(control.name), remembered]
        return then if did else np.where(self._candidates.doing[some], remembered, then)

    def _simplest(self) -> ControlMemory:
        number = self._left[0]
        table, begins = self._candidates.tables[number], int(self._candidates.begins[number])
        reached = [begins]
        for state in reached:
            reached += [one for one in dict.fromkeys(table[:, state].tolist()) if one not in reached]
        numbered = {state: place for place, state in enumerate(sorted(reached))}
        moves = {
            name: tuple(numbered[int(table[place, state])] for state in numbered)
            for place, name in enumerate(self._names)
        }
        kinds = self._kinds([*numbered])
        values = tuple(self._candidates.values[number][state] for state in numbered)
        words = self._candidates.words[number]
        doing = bool(self._candidates.doing[number])
        return ControlMemory(moves, numbered[begins], kinds, words, values, self._named, doing)

    def _kinds(self, states: Sequence[int]) -> tuple[int, ...]:
        """The kinds of some states of the simplest memory: as few as tell apart all that went different ways."""
        apart = {
            (int(self._states[one][0]), int(self._states[other][0]))
            for outcomes in self._two_ways.values()
            for some, others in permutations(outcomes.values(), 2)
            for one, other in product(some, others)
        }
        kinds: list[list[int]] = []
        for state in states:
            kind = next((one for one in kinds if not any((state, other) in apart for other in one)), None)
            if kind is None:
                kinds.append([state])
            else:
                kind.append(state)
        return tuple(next(place for place, kind in enumerate(kinds) if state in kind) for state in states)

    @property
    def _two_ways(self) -> Mapping[tuple[State, GroundAction], Mapping[State, Sequence[Hashable]]]:
        """What went two ways."""
        return {key: outcomes for key, outcomes in self._outcomes.items() if len(outcomes) > 1}

    # --- histories that tell memories apart -------------------------------------------------------

    def _most_telling(self, rng: np.random.Generator) -> _History | None:
        """The history on whose end the likeliest memories differ most for its length; any if they hardly do, and None if there is none."""
        likeliest = min(len(self._left), LIKELIEST)
        bits = self._candidates.bits[self._left[:likeliest]]
        weights = 2.0 ** (bits[0] - bits)
        weights /= weights.sum()
        best, found, others = TELLING, None, list[_History]()
        for (seen, control), outcomes in [*self._two_ways.items()][-PROBES:]:
            expected = np.zeros((likeliest, STATES), dtype=np.intp)
            """(memories, states): the outcome that was seen, from 1 on; 0 if none was."""
            for number, handles in enumerate(outcomes.values(), 1):
                for handle in handles:
                    expected[np.arange(likeliest), self._states[handle][:likeliest]] = number
            for start, way, remembered in self._ways_back(seen, likeliest, rng):
                if self._known(start, way, seen, control):
                    continue
                which = expected[np.arange(likeliest), remembered]
                telling = (
                    _telling(np.bincount(which, weights, len(outcomes) + 1).tolist()) / (len(way) + 1) ** 0.5
                )
                if telling > best or (found is None and which[0]):
                    outcome = [*outcomes][which[0] - 1] if which[0] else None
                    history = _History(start, way, control, outcome, telling > best)
                    if history.tells:
                        best, found = telling, history
                    else:
                        others.append(history)
        return found or (others[int(rng.integers(len(others)))] if others else None)

    def _known(self, start: Situation, way: Sequence[GroundAction], seen: State, last: GroundAction) -> bool:
        """Whether a history was made before, or is known not to lead to where this is seen."""
        here: Situation | None = start
        for control in way:
            here = self._led.get((here.handle, control)) if here is not None else None
        return here is not None and (here.state != seen or (here.handle, last) in self._led)

    def _ways_back(
        self, seen: State, likeliest: int, rng: np.random.Generator
    ) -> Iterator[tuple[Situation, tuple[GroundAction, ...], Table]]:
        """Controls that probably lead to where this is seen, with what each of the likeliest memories is then."""
        numbers: dict[State, int] = {seen: 0}
        led: dict[int, dict[GroundAction, int]] = {}
        before: dict[int, list[int]] = {}
        for (state, control), outcomes in self._outcomes.items():
            one = numbers.setdefault(state, len(numbers))
            after = numbers.setdefault(next(reversed(outcomes)), len(numbers))
            led.setdefault(one, {})[control] = after
            before.setdefault(after, []).append(one)
        away = {0: 0}
        near = [0]
        for at in near:
            for one in before.get(at, ()) if away[at] < LONGEST else ():
                if one not in away:
                    away[one] = away[at] + 1
                    near.append(one)
        starts = [handle for handle, one in self._situations.items() if numbers.get(one.state) in away]
        if len(starts) > STARTS:
            starts = [starts[int(place)] for place in rng.permutation(len(starts))[:STARTS]]
        for handle in starts:
            start = self._situations[handle]
            waiting: list[tuple[int, tuple[GroundAction, ...], Table]]
            waiting = [(numbers[start.state], (), self._states[handle][:likeliest])]
            while waiting:
                at, way, remembered = waiting.pop()
                if not at:
                    yield start, way, remembered
                for control, after in led.get(at, {}).items():
                    if len(way) + 1 + away.get(after, LONGEST) <= LONGEST:
                        then = self._then(self._left[:likeliest], control, remembered, did=at != after)
                        waiting.append((after, (*way, control), then))


def _telling(shares: Sequence[float]) -> float:
    """How much it tells what comes, where memories of these shares expect nothing known (the first), and one outcome each."""
    unknown, *known = shares
    differing = (1 - unknown) ** 2 - sum(share**2 for share in known)
    return differing + LITTLE * unknown * (1 - unknown)


def read_memory(told: Mapping[str, Any], controls: Sequence[str]) -> Remembered:
    """What ``json`` gave. Raises Malformed: it is something else, or of other controls than these."""
    if "late" in told:
        if not 1 <= (late := field(told, "late", int)) <= MOST_LATE:
            raise Malformed(f"'late' has to be 1 to {MOST_LATE}")
        return LateControls(late)
    kinds = tuple(field(told, "kinds", list))
    values = tuple(map(str, field(told, "values", list)))
    states = range(len(kinds))
    moves = {
        str(name): tuple(after)
        for name, after in field(told, "moves", dict).items()
        if isinstance(after, list)
    }
    words, name, doing = field(told, "words", str), field(told, "name", str), field(told, "doing", bool)
    memory = ControlMemory(moves, field(told, "begins", int), kinds, words, values, name, doing)
    rows = [(memory.begins,), kinds, *moves.values()]
    if sorted(moves) != sorted(controls) or any(len(row) != len(kinds) for row in (values, *moves.values())):
        raise Malformed("'memory' is not of these controls")
    if not kinds or any(type(one) is not int or one not in states for row in rows for one in row):
        raise Malformed("'memory' names states that it has not")
    return memory
