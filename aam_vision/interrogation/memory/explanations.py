"""Which invented facts explain all that an agent did.

A fact explains the attempts of an interrogation if, with it, some STRIPS model does: for each action the strictest precondition that its
executed steps allow is violated by all of its refused ones, and no atom was added, deleted and left by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import combinations, count
from typing import Final, NamedTuple

from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.memory.facts import (
    NAME,
    Change,
    InventedCounter,
    InventedFact,
    Row,
    Rows,
    number_of,
)
from aam_vision.interrogation.memory.histories import BEGINNING, Attempt
from aam_vision.model.strips import ActionHeader, GroundAction, Predicate, State, Vocabulary

MOST = 4
"""Changes of a fact by actions, at most, that are looked for."""
MOST_TRIED = 4_000
"""Facts of one kind that are tried, at most."""
CYCLES: Final = range(2, 9)
"""The numbers that are 0 again, of counters that are looked for."""
SAMPLED = 40
"""Executed, and refused, steps of an action that are looked at first: most facts already fail on them."""


class Effects(NamedTuple):
    """What steps of an action were seen to do to its atoms in the vocabulary, as masks."""

    on: int = 0
    """Atoms that were true afterwards some time."""
    off: int = 0
    added: int = 0
    deleted: int = 0

    @property
    def unsteady(self) -> int:
        """Atoms that were added or deleted, and not always."""
        return (self.added | self.deleted) & self.on & self.off

    def together(self, other: Effects) -> Effects:
        """Those of more steps."""
        return Effects(*(one | more for one, more in zip(self, other, strict=True)))


class _Seen(NamedTuple):
    """What one attempt shows of the atoms of its action that are in the vocabulary."""

    parent: int
    action: GroundAction
    executed: bool
    held: int
    unknown: int
    slots: tuple[tuple[int, Row], ...]
    """The bits of the fact's atoms, each with its objects."""
    effects: Effects


@dataclass(frozen=True)
class Strictest:
    """What is known of one action once a fact is added."""

    index: AtomIndex
    positive: int
    """Atoms that held before all executed steps, as far as was seen: the action may need them."""
    negative: int
    refusals: tuple[tuple[int, int], ...]
    """For each refusal the literals of these that did not hold, one of which is needed."""
    effects: Mapping[bool, Effects]
    """What it does, by the value of the fact; mostly the same."""
    own: int
    """The bits of the fact's atoms."""
    case: int = 0
    """The bit of the fact's atom on whose value its effects depend; 0 if they do not."""

    def after(self, state: State, seen: State, objects: Sequence[str]) -> State:
        """The state after an executed step, without the fact; ``seen``: the state before it, with the fact."""
        held, _ = self.index.values(seen, tuple(objects))
        done, facts = self.effects[bool(held & self.case)], self.index.facts
        true = (state.true - facts(done.deleted, objects)) | facts(done.added, objects)
        return State(true, state.objects, state.unknown)

    def does_as(self, other: Strictest) -> bool:
        """Whether it surely does what another one does, whatever is true of either's fact."""
        return not self.case and not other.case and self.effects == other.effects

    def says_as(self, other: Strictest) -> bool:
        """Whether it is executed where another one is, whatever is true of either's fact."""
        mine, theirs = ((one.positive, one.negative, one.refusals) for one in (self, other))
        spoken = self.positive | self.negative
        for one, excess in self.refusals:
            spoken |= one | excess
        return mine == theirs and not spoken & self.own

    @property
    def needs_fact(self) -> bool:
        """Whether nothing but the fact explains some of its effects, or of its refusals."""
        return bool(self.case) or any(not (one | excess) & ~self.own for one, excess in self.refusals)

    def held(self, visible: int, rows: Rows, objects: Sequence[str]) -> int:
        """The atoms that hold before a step: those in the vocabulary, and the fact's own, which is true of ``rows``."""
        for bit, place, row in self._places:
            if (row if place is None else (objects[place],)) in rows:
                visible |= bit
        return visible

    @cached_property
    def _places(self) -> list[tuple[int, int | None, Row]]:
        """The fact's own atoms: the bit, and the parameter that names the object, or the objects that are the same in all steps."""
        found: list[tuple[int, int | None, Row]] = []
        for atom, bit in self.index.bit.items():
            if bit & self.own:
                place = next((one for one in atom.arguments if isinstance(one, int)), None)
                found.append((bit, place, () if place is not None else atom.ground(()).objects))
        return found

    def executes(self, held: int) -> bool | None:
        """Whether a step is executed for certain (True) or refused for certain (False), by what holds; None if neither."""
        if held not in self._executes:
            lacking, excess = self.positive & ~held, self.negative & held
            sure = any(not (one & ~lacking or other & ~excess) for one, other in self.refusals)
            self._executes[held] = (False if sure else None) if lacking or excess else True
        return self._executes[held]

    @cached_property
    def _executes(self) -> dict[int, bool | None]:
        return {}


class Explanation:
    """A fact, and what follows from it and all attempts about every action."""

    def __init__(self, fact: InventedFact, actions: Mapping[str, Strictest]) -> None:
        self.fact = fact
        self.actions = actions

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What it predicts follows from this."""
        return self.fact, *(
            (one.positive, one.negative, one.refusals, one.effects[True], one.effects[False])
            for one in self.actions.values()
        )


class Explanations:
    """The facts that explain some attempts."""

    def __init__(
        self, vocabulary: Vocabulary, headers: Sequence[ActionHeader], attempts: Sequence[Attempt]
    ) -> None:
        self._vocabulary = vocabulary
        taken = {predicate.name for predicate in vocabulary.predicates}
        self._name = next(name for n in count(1) if (name := f"{NAME}-{n}") not in taken)
        self._headers = {header.name: header for header in headers}
        self._done = {one.action.name for one in attempts if one.executed}
        self._indexes = {name: AtomIndex(vocabulary, header) for name, header in self._headers.items()}
        effects = [effects_of(self._indexes[one.action.name], one) for one in attempts]
        self._effects = dict.fromkeys(self._headers, Effects())
        for one, own in zip(attempts, effects, strict=True):
            self._effects[one.action.name] = self._effects[one.action.name].together(own)
        self.coherent = True
        """Whether plans have led where their steps do."""
        self._attempts = list(zip(self._predicted(attempts), effects, strict=True))

    def _predicted(self, attempts: Sequence[Attempt]) -> list[Attempt]:
        """The attempts with the states that were not seen, as far as they follow from those before."""
        found: list[Attempt] = []
        for one in attempts:
            before, after = one.before, one.after
            if before is None and one.parent != BEGINNING:
                before = found[one.parent].after
            if one.executed and before is not None:
                expected = self._expected(before, one.action)
                if after is not None and (expected.true ^ after.true) - expected.unknown - after.unknown:
                    self.coherent = False
                after = expected if after is None else after
            found.append(one._replace(before=before, after=after if one.executed else before))
        return found

    def _expected(self, state: State, step: GroundAction) -> State:
        """The state after an executed step, as far as it follows from what its action was seen to do."""
        index, effects, objects = self._indexes[step.name], self._effects[step.name], step.objects
        held, unknown = index.values(state, objects)
        keeps = index.everything & ~(effects.added | effects.deleted)
        can_hold = index.everything & ~effects.off | keeps & (held | unknown)
        can_fail = index.everything & ~effects.on | keeps & ~held
        open_ = can_hold & can_fail | index.shared(objects) | effects.unsteady
        own = index.facts(index.everything, objects)
        true = (state.true - own) | index.facts(can_hold & ~can_fail & ~open_, objects)
        return State(true, state.objects, (state.unknown - own) | (index.facts(open_, objects) - true))

    def smallest(self, but: Collection[InventedFact] = ()) -> list[Explanation]:
        """The facts, but for some, that explain all attempts with fewest changes, and those with one more, simplest first."""
        if not self.coherent:
            return []
        trials = [self._trials(kind) for kind in (None, *self._kinds())]
        trials += [self._trials(None, how) for how in (_CounterTrials, _CycleTrials)]
        found: list[Explanation] = []
        fewest = MOST
        for size in range(1, MOST + 1):
            if size > fewest + 1:
                break
            for trial in trials:
                own = [one for one in trial.explaining(size) if one.fact not in but]
                found += own
                if own and fewest == MOST:
                    fewest = size
        # a fact is simpler than a number
        found.sort(key=lambda one: (isinstance(one.fact, InventedCounter), one.fact.size))
        return found

    def by(self, facts: Sequence[InventedFact]) -> list[Explanation]:
        """The explanations by those of some facts that explain all attempts."""
        if not self.coherent:
            return []
        trials = {kind: self._trials(kind) for kind in dict.fromkeys(one.kind for one in facts)}
        return [found for fact in facts if (found := trials[fact.kind].explained_by(fact))]

    def _kinds(self) -> list[str]:
        """The types of which a fact may be: those of parameters, and what they are kinds of; narrow ones last."""
        types = self._vocabulary.types
        spoken = {
            kind for header in self._headers.values() for own in header.types for kind in types.ancestry(own)
        }
        known = sorted(spoken, key=lambda kind: (len(list(types.ancestry(kind))), kind))
        # of two types with the same parameters the wider one says the same
        served = {kind: self._places(kind) for kind in known}
        return [
            kind
            for number, kind in enumerate(known)
            if served[kind] and all(served[kind] != served[other] for other in known[:number])
        ]

    def _places(self, kind: str) -> list[tuple[str, int]]:
        types = self._vocabulary.types
        return [
            (name, place)
            for name, header in self._headers.items()
            for place, own in enumerate(header.types)
            if types.is_a(own, kind)
        ]

    def _trials(self, kind: str | None, how: type[_Trials] | None = None) -> _Trials:
        predicate = Predicate(self._name, () if kind is None else (kind,))
        places = [(name, None) for name in self._headers] if kind is None else self._places(kind)
        options = [
            Change(name, place, value)
            for name, place in places
            if name in self._done
            for value in (True, False)
        ]
        vocabulary = InventedFact(predicate, ()).within(self._vocabulary)
        indexes = {name: AtomIndex(vocabulary, header) for name, header in self._headers.items()}
        return (how or _Trials)(predicate, options, indexes, self._attempts, self._effects)


def effects_of(index: AtomIndex, one: Attempt) -> Effects:
    """What an attempt shows of its action's effects."""
    if one.after is None or not one.executed:
        return Effects()
    objects = one.action.objects
    now, hidden = index.values(one.after, objects)
    known = index.everything & ~(hidden | index.shared(objects))
    added = deleted = 0
    if one.before is not None:
        was, unknown = index.values(one.before, objects)
        added, deleted = known & now & ~was & ~unknown, known & was & ~now & ~unknown
    return Effects(known & now, known & ~now, added, deleted)


class _Trials:
    """Facts of one kind, tried on some attempts."""

    def __init__(
        self,
        predicate: Predicate,
        options: Sequence[Change],
        indexes: Mapping[str, AtomIndex],
        attempts: Sequence[tuple[Attempt, Effects]],
        effects: Mapping[str, Effects],
    ) -> None:
        self._predicate = predicate
        self._options = options
        self._indexes = indexes
        self._effects = effects
        self._own = {
            name: sum(bit for atom, bit in index.bit.items() if atom.predicate == predicate.name)
            for name, index in indexes.items()
        }
        self._unsteady = {name for name, own in effects.items() if own.unsteady}
        self._seen = [self._of(one, own) for one, own in attempts]
        self._sample = self._sampled()

    def explaining(self, size: int) -> Iterator[Explanation]:
        """The facts with so many changes that explain all attempts."""
        tried = 0
        for changes in self._changes(size):
            for fact in () if _contrary(changes) else self._of_changes(changes):
                tried += 1
                if tried > MOST_TRIED:
                    return
                if found := self.explained_by(fact):
                    yield found

    def _changes(self, size: int) -> Iterable[tuple[Change, ...]]:
        """What steps may change, so many changes together."""
        return combinations(self._options, size)

    def _of_changes(self, changes: tuple[Change, ...]) -> Iterable[InventedFact]:
        """The facts with these changes; one that is never true is none."""
        return [InventedFact(self._predicate, changes)] if any(change.value for change in changes) else []

    def explained_by(self, fact: InventedFact) -> Explanation | None:
        """What follows from a fact; None if it does not explain all attempts."""
        if self._strictest(fact, self._sample) is None:
            return None
        found = self._strictest(fact, self._seen)
        if found is None:
            return None
        cases = tuple((name, _place(one)) for name, one in found.items() if one.case)
        return Explanation(replace(fact, cases=cases), found)

    def _of(self, one: Attempt, effects: Effects) -> _Seen:
        index, name = self._indexes[one.action.name], self._predicate.name
        objects, own = one.action.objects, self._own[one.action.name]
        held, unknown = (
            (0, index.everything & ~own) if one.before is None else index.values(one.before, objects)
        )
        slots = tuple((bit, row) for bit, (predicate, row) in index.grounded(objects) if predicate == name)
        return _Seen(one.parent, one.action, one.executed, held, unknown, slots, effects)

    def _sampled(self) -> list[_Seen]:
        """Attempts of the actions that nothing visible explains, and what was before them."""
        plain = self._strictest(InventedFact(self._predicate, ()), self._seen, partial=True)
        assert plain is not None
        kept: dict[tuple[str, bool], list[int]] = defaultdict(list)
        for number, one in enumerate(self._seen):
            if one.action.name not in plain:
                kept[one.action.name, one.executed].append(number)
        wanted: set[int] = set()
        for numbers in kept.values():
            for number in numbers[:: max(1, len(numbers) // SAMPLED)]:
                while number != BEGINNING and number not in wanted:
                    wanted.add(number)
                    number = self._seen[number].parent
        order = {old: new for new, old in enumerate(sorted(wanted))}
        order[BEGINNING] = BEGINNING
        return [self._seen[old]._replace(parent=order[self._seen[old].parent]) for old in sorted(wanted)]

    def _strictest(
        self, fact: InventedFact, seen: Sequence[_Seen], *, partial: bool = False
    ) -> dict[str, Strictest] | None:
        """What follows about every action; None if that does not explain all, unless what it explains is wanted."""
        positive = {name: index.everything for name, index in self._indexes.items()}
        negative = dict(positive)
        refused: dict[str, list[tuple[int, int]]] = {name: [] for name in self._indexes}
        after: list[Rows] = []
        nothing = fact.beginning
        changing = {change.action for change in fact.changes}
        # of thousands of steps few differ in their effects
        sides: dict[tuple[str, int, bool], dict[Effects, None]] = defaultdict(dict)
        for parent, action, executed, held, unknown, slots, effects in seen:
            rows = nothing if parent == BEGINNING else after[parent]
            for bit, row in slots:
                if row in rows:
                    held |= bit
            if executed and action.name in self._unsteady:
                for bit, row in slots:
                    sides[action.name, bit, row in rows][effects] = None
            if executed:
                positive[action.name] &= held | unknown
                negative[action.name] &= ~held | unknown
                after.append(fact.after(rows, action) if action.name in changing else rows)
            else:
                refused[action.name].append((held, unknown))
                after.append(rows)
        found: dict[str, Strictest] = {}
        for name, index in self._indexes.items():
            own, never = positive[name], negative[name]
            lacking = {(own & ~held, never & (held | unknown)) for held, unknown in refused[name]}
            if (0, 0) in lacking:
                if partial:
                    continue
                return None
            same = dict.fromkeys((True, False), self._effects[name])
            one = Strictest(index, own, never, tuple(sorted(lacking)), same, self._own[name])
            steady = one if name not in self._unsteady else self._in_cases(one, sides)
            if steady is None and not partial:
                return None
            if steady is not None:
                found[name] = steady
        return found

    def _in_cases(
        self, action: Strictest, sides: Mapping[tuple[str, int, bool], Iterable[Effects]]
    ) -> Strictest | None:
        """An action with effects that depend on the fact; None if they are not steady then, either."""
        index = action.index
        for atom, bit in index.bit.items():
            if bit & self._own[index.header.name] and all(isinstance(one, int) for one in atom.arguments):
                seen = {value: sides.get((index.header.name, bit, value), ()) for value in (True, False)}
                by = {value: reduce(Effects.together, own, Effects()) for value, own in seen.items()}
                if not any(one.unsteady for one in by.values()):
                    return replace(action, effects=by, case=bit)
        return None


class _CounterTrials(_Trials):
    """Counters, tried on some attempts."""

    def _changes(self, size: int) -> Iterable[tuple[Change, ...]]:
        """What steps may change, and that each counts; with an action that brings the number back, too."""
        back = [Change(option.action, None, None) for option in self._options if option.value]
        yield from super()._changes(size)
        if size == 1 < len(self._every):
            yield self._every
        if size == 2 < len(self._every):
            for last in back:
                yield (*(one for one in self._every if one.action != last.action), last)
        if size > 1:
            yield from ((*own, last) for own in super()._changes(size - 1) for last in back)

    @cached_property
    def _every(self) -> tuple[Change, ...]:
        """That each executed step counts."""
        return tuple(Change(name, None, True) for name in self._indexes)

    def _of_changes(self, changes: tuple[Change, ...]) -> Iterable[InventedFact]:
        """Those that are at least 1 from where some step was attempted that nothing visible explains."""
        counter = self._counter(changes, 0)
        after = counter.along(self._sample, [])
        before = (counter.beginning if one.parent == BEGINNING else after[one.parent] for one in self._sample)
        firsts = {1 - number_of(rows) for rows in before}
        return [self._counter(changes, first) for first in sorted(firsts, key=lambda one: (abs(one), one))]

    def _counter(self, changes: tuple[Change, ...], first: int, cycle: int = 0) -> InventedCounter:
        every = len(changes) == len(self._every) and not any(one.value is False for one in changes)
        return InventedCounter(self._predicate, changes, first=first, cycle=cycle, every=every)


class _CycleTrials(_CounterTrials):
    """Counters that begin anew after some steps, tried on some attempts."""

    def _of_changes(self, changes: tuple[Change, ...]) -> Iterable[InventedFact]:
        if not all(change.value for change in changes):  # one that is brought back needs no cycle
            return []
        return [self._counter(changes, first, cycle) for cycle in CYCLES for first in range(cycle)]


def _place(action: Strictest) -> int | None:
    """The parameter of the atom on whose value an action's effects depend."""
    arguments = action.index.atom(action.case).arguments
    return int(arguments[0]) if arguments else None


def _contrary(changes: Sequence[Change]) -> bool:
    """Whether an action both sets and unsets the fact of the same object."""
    return len({(change.action, change.place) for change in changes}) < len(changes)
