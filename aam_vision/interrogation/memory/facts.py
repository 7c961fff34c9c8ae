"""Invented facts: what an agent may remember, and which of that explains all that it did.

A fact is of the whole, or of each object of a type. All are false when a history begins; whatever may be true then is the same fact with
the other sign. Steps that are executed set and unset it. A fact explains the attempts of an interrogation if, with it, some STRIPS model
does: for each action the strictest precondition that its executed steps allow is violated by all of its refused ones, and no atom was
added, deleted and left by it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, count
from typing import Any, NamedTuple

from aam_vision.agents.encoding import Malformed, field
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.memory.histories import BEGINNING, Attempt
from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Predicate,
    State,
    Vocabulary,
)

NAME = "memory"
MOST = 4
"""Changes of a fact by actions, at most, that are looked for."""
MOST_TRIED = 6_000
"""Facts of one kind that are tried, at most."""
SAMPLED = 40
"""Executed, and refused, steps of an action that are looked at first: most facts already fail on them."""
Row = tuple[str, ...]
Rows = frozenset[Row]


class Change(NamedTuple):
    """What an executed step of an action does to a fact."""

    action: str
    place: int | None
    """The parameter that names the fact's object; None for a fact of the whole."""
    value: bool

    def row(self, objects: Sequence[str]) -> Row:
        """The objects of the fact that a step changes."""
        return () if self.place is None else (objects[self.place],)


@dataclass(frozen=True)
class InventedFact:
    """A fact that no predicate of the vocabulary speaks of."""

    predicate: Predicate
    changes: tuple[Change, ...]

    @property
    def kind(self) -> str | None:
        """The type of the objects that it is of; None if it is of the whole."""
        return self.predicate.types[0] if self.predicate.types else None

    @cached_property
    def _by_action(self) -> Mapping[str, list[Change]]:
        found: dict[str, list[Change]] = defaultdict(list)
        for change in sorted(self.changes, key=lambda one: one.value):  # deletes come first, as in PDDL
            found[change.action].append(change)
        return found

    def after(self, rows: Rows, step: GroundAction) -> Rows:
        """The objects of which it is true after an executed step."""
        for change in self._by_action.get(step.name, ()):
            row = change.row(step.objects)
            rows = rows | {row} if change.value else rows - {row}
        return rows

    def added(self, state: State, rows: Rows) -> State:
        """A state with the fact, true of these objects."""
        atoms = frozenset([Atom(self.predicate.name, row) for row in rows])
        return State(state.true | atoms, state.objects, state.unknown)

    def within(self, vocabulary: Vocabulary) -> Vocabulary:
        """The vocabulary, with the fact's predicate as its last."""
        return replace(vocabulary, predicates=(*vocabulary.predicates, self.predicate))

    def json(self) -> dict[str, Any]:
        """The fact as plain data."""
        changes = [list(change) for change in self.changes]
        return {"name": self.predicate.name, "type": self.kind, "changes": changes}


def read_fact(told: Any, vocabulary: Vocabulary, headers: Sequence[ActionHeader]) -> InventedFact:
    """The fact that ``InventedFact.json`` wrote.

    Raises:
        Malformed: it is none of this vocabulary and these actions.
    """
    name, kind = field(told, "name", str), told.get("type")
    types = vocabulary.types
    if any(predicate.name == name for predicate in vocabulary.predicates) or not re.fullmatch(
        rf"{NAME}-\d+", name
    ):
        raise Malformed("an invented fact has no name of its own")
    if kind is not None and not (isinstance(kind, str) and kind in {ROOT_TYPE, *types.parents}):
        raise Malformed("an invented fact is of no known type")
    arities = {header.name: header.arity for header in headers}
    changes = []
    for one in field(told, "changes", list):
        action, place, value = one
        number = isinstance(place, int) and not isinstance(place, bool)
        if action not in arities or not isinstance(value, bool) or number is (kind is None):
            raise Malformed("a change of an invented fact is none")
        if number and not 0 <= place < arities[action]:
            raise Malformed("a change of an invented fact is of no parameter")
        changes.append(Change(action, place, value))
    return InventedFact(Predicate(name, () if kind is None else (kind,)), tuple(changes))


def told(fact: InventedFact, model: Model) -> str:
    """What the fact is, who changes it and who needs it, as a sentence."""
    name = fact.predicate.name
    of = "" if fact.kind is None else f" of each {fact.kind}"
    parts = [f"{name} is an invented fact{of}: false when a history begins"]
    for value, verb in ((True, "made true by"), (False, "made false by")):
        if own := [change for change in fact.changes if change.value is value]:
            parts.append(f"{verb} {', '.join(_named(change.action, change.place, model) for change in own)}")
    needs: dict[bool, list[str]] = {True: [], False: []}
    for schema in model.actions:
        for value, atoms in ((True, schema.positive), (False, schema.negative)):
            for atom in sorted(atoms, key=str):
                if atom.predicate == name:
                    of_it = atom.arguments[0] if atom.arguments else None
                    needs[value].append(_named(schema.header.name, of_it, model))
    for value, verb in ((True, "needed by"), (False, "excluded by")):
        if needs[value]:
            parts.append(f"{verb} {', '.join(needs[value])}")
    return f"{'; '.join(parts)}."


def _named(action: str, argument: int | str | None, model: Model) -> str:
    """An action, and of which object it changes or needs the fact."""
    if argument is None:
        return action
    parameters = model.schema(action).header.parameters
    return f"{action} (of {f'?{parameters[argument]}' if isinstance(argument, int) else argument})"


class _Seen(NamedTuple):
    """What one attempt shows of the atoms of its action that are in the vocabulary."""

    parent: int
    action: GroundAction
    executed: bool
    held: int
    unknown: int
    slots: tuple[tuple[int, Row], ...]
    """The bits of the fact's atoms, each with its objects."""


@dataclass(frozen=True)
class Strictest:
    """What is known of one action once a fact is added."""

    index: AtomIndex
    positive: int
    """Atoms that held before all executed steps, as far as was seen: the action may need them."""
    negative: int
    refusals: tuple[tuple[int, int], ...]
    """For each refusal the literals of these that did not hold, one of which is needed."""
    add: int
    delete: int

    def executes(self, state: State, objects: Sequence[str]) -> bool | None:
        """Whether a step is executed for certain (True) or refused for certain (False); None if neither."""
        held, _ = self.index.values(state, tuple(objects))
        lacking, excess = self.positive & ~held, self.negative & held
        if not lacking and not excess:
            return True
        sure = any(not (one & ~lacking or other & ~excess) for one, other in self.refusals)
        return False if sure else None


class Explanation:
    """A fact, and what follows from it and all attempts about every action."""

    def __init__(self, fact: InventedFact, actions: Mapping[str, Strictest]) -> None:
        self.fact = fact
        self.actions = actions

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What it predicts follows from this."""
        return self.fact, *(
            (one.positive, one.negative, one.refusals, one.add, one.delete) for one in self.actions.values()
        )

    @cached_property
    def model(self) -> Model:
        """The strictest model that explains the attempts; the fact's own changes are effects in it."""
        schemas = []
        for one in self.actions.values():
            bits = {True: 0, False: 0}
            for change in self.fact.changes:
                if change.action == one.index.header.name:
                    arguments = () if change.place is None else (change.place,)
                    bits[change.value] |= one.index.bit[LiftedAtom(self.fact.predicate.name, arguments)]
            select = one.index.select
            needs = select(one.positive), select(one.negative)
            effects = select(one.add | bits[True]), select(one.delete | bits[False])
            schemas.append(ActionSchema(one.index.header, *needs, *effects))
        return Model(next(iter(self.actions.values())).index.vocabulary, tuple(schemas))


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
        self._effects = {
            name: _effects(AtomIndex(vocabulary, header), attempts) for name, header in self._headers.items()
        }
        self.steady = all(one.steady for one in self._effects.values())
        """Whether no atom of the vocabulary was added, deleted and left by the same action, as far as is seen and follows."""
        self._attempts = self._predicted(attempts) if self.steady else []

    def _predicted(self, attempts: Sequence[Attempt]) -> list[Attempt]:
        """The attempts with the states that were not seen, as far as they follow from those before."""
        found: list[Attempt] = []
        for one in attempts:
            before, after = one.before, one.after
            if before is None and one.parent != BEGINNING:
                before = found[one.parent].after
            if one.executed and before is not None:
                expected = self._effects[one.action.name].after(before, one.action.objects)
                if after is not None and (expected.true ^ after.true) - expected.unknown - after.unknown:
                    self.steady = False  # a plan has led elsewhere than its steps do
                after = expected if after is None else after
            found.append(one._replace(before=before, after=after if one.executed else before))
        return found

    def smallest(self, but: Collection[InventedFact] = ()) -> list[Explanation]:
        """The facts, but for some, that explain all attempts with fewest changes, and those with one more, simplest first."""
        if not self.steady:
            return []
        kinds: list[str | None] = [None, *self._kinds()]
        trials = [self._trials(kind) for kind in kinds]
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
        return found

    def by(self, facts: Sequence[InventedFact]) -> list[Explanation]:
        """The explanations by those of some facts that explain all attempts."""
        if not self.steady:
            return []
        trials = {kind: self._trials(kind) for kind in {one.kind: None for one in facts}}
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

    def _trials(self, kind: str | None) -> _Trials:
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
        return _Trials(predicate, options, indexes, self._attempts, self._effects)


@dataclass(frozen=True)
class _Effects:
    """What executed steps of an action were seen to do to its atoms in the vocabulary."""

    index: AtomIndex
    on: int
    """Atoms that were true afterwards some time."""
    off: int
    added: int
    deleted: int

    @property
    def steady(self) -> bool:
        """Whether no atom was added or deleted, and not always."""
        return not (self.added | self.deleted) & self.on & self.off

    def after(self, state: State, objects: tuple[str, ...]) -> State:
        """The state after an executed step, as far as it follows."""
        index = self.index
        held, unknown = index.values(state, objects)
        keeps = index.everything & ~(self.added | self.deleted)
        can_hold = index.everything & ~self.off | keeps & (held | unknown)
        can_fail = index.everything & ~self.on | keeps & ~held
        shared = index.shared(objects)
        sure, open_ = can_hold & ~can_fail & ~shared, can_hold & can_fail | shared
        own = index.facts(index.everything, objects)
        true = (state.true - own) | index.facts(sure, objects)
        return State(true, state.objects, (state.unknown - own) | (index.facts(open_, objects) - true))


def _effects(index: AtomIndex, attempts: Sequence[Attempt]) -> _Effects:
    on = off = added = deleted = 0
    for one in attempts:
        if one.action.name != index.header.name or one.after is None or not one.executed:
            continue
        objects = one.action.objects
        now, hidden = index.values(one.after, objects)
        known = index.everything & ~(hidden | index.shared(objects))
        on, off = on | known & now, off | known & ~now
        if one.before is not None:
            was, unknown = index.values(one.before, objects)
            added |= known & now & ~was & ~unknown
            deleted |= known & was & ~now & ~unknown
    return _Effects(index, on, off, added, deleted)


class _Trials:
    """Facts of one kind, tried on some attempts."""

    def __init__(
        self,
        predicate: Predicate,
        options: Sequence[Change],
        indexes: Mapping[str, AtomIndex],
        attempts: Sequence[Attempt],
        effects: Mapping[str, _Effects],
    ) -> None:
        self._predicate = predicate
        self._options = options
        self._indexes = indexes
        self._effects = effects
        self._own = {
            name: sum(bit for atom, bit in index.bit.items() if atom.predicate == predicate.name)
            for name, index in indexes.items()
        }
        self._seen = [self._of(one) for one in attempts]
        self._sample = self._sampled()

    def explaining(self, size: int) -> Iterator[Explanation]:
        """The facts with so many changes that explain all attempts."""
        tried = 0
        for changes in combinations(self._options, size):
            if not any(change.value for change in changes) or _contrary(changes):
                continue
            tried += 1
            if tried > MOST_TRIED:
                return
            if found := self.explained_by(InventedFact(self._predicate, changes)):
                yield found

    def explained_by(self, fact: InventedFact) -> Explanation | None:
        """What follows from a fact; None if it does not explain all attempts."""
        if self._strictest(fact, self._sample) is None:
            return None
        found = self._strictest(fact, self._seen)
        return None if found is None else Explanation(fact, found)

    def _of(self, one: Attempt) -> _Seen:
        index, name = self._indexes[one.action.name], self._predicate.name
        objects, own = one.action.objects, self._own[one.action.name]
        held, unknown = (
            (0, index.everything & ~own) if one.before is None else index.values(one.before, objects)
        )
        slots = tuple((bit, row) for bit, (predicate, row) in index.grounded(objects) if predicate == name)
        return _Seen(one.parent, one.action, one.executed, held, unknown, slots)

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
        nothing: Rows = frozenset()
        changing = {change.action for change in fact.changes}
        for parent, action, executed, held, unknown, slots in seen:
            rows = nothing if parent == BEGINNING else after[parent]
            for bit, row in slots:
                if row in rows:
                    held |= bit
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
            effects = self._effects[name]
            found[name] = Strictest(index, own, never, tuple(sorted(lacking)), effects.added, effects.deleted)
        return found


def _contrary(changes: Sequence[Change]) -> bool:
    """Whether an action both sets and unsets the fact of the same object."""
    return len({(change.action, change.place) for change in changes}) < len(changes)
