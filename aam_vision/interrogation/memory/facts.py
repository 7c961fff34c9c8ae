"""Invented facts: what an agent may remember.

A fact is of the whole, or of each object of a type. All are false when a history begins; whatever may be true then is the same fact with
the other sign. Steps that are executed set and unset it. A counter is a number that executed steps count up or down; what matters is
whether it is at least 1.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

from aam_vision.agents.encoding import Malformed
from aam_vision.agents.encoding import field as field_of
from aam_vision.interrogation.memory.histories import BEGINNING
from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from aam_vision.support.wording import listed

NAME = "memory"
AT_FIRST: Final = "at-first"
MOST_NUMBERS: Final = 40
"""Numbers of which a model with a counter speaks, at most."""
Row = tuple[str, ...]
Rows = frozenset[Row]


class Change(NamedTuple):
    """What an executed step of an action does to a fact."""

    action: str
    place: int | None
    """The parameter that names the fact's object; None for a fact of the whole."""
    value: bool | None
    """Whether it is true then, or a number one more; None for a number that is as when a history begins."""

    def row(self, objects: Sequence[str]) -> Row:
        """The objects of the fact that a step changes."""
        return () if self.place is None else (objects[self.place],)


@dataclass(frozen=True)
class InventedFact:
    """A fact that no predicate of the vocabulary speaks of."""

    predicate: Predicate
    changes: tuple[Change, ...]
    cases: tuple[tuple[str, int | None], ...] = ()
    """The actions whose effects depend on it, with the parameter that names its object."""

    @cached_property
    def _place(self) -> Mapping[str, int | None]:
        return dict(self.cases)

    def _cases(self, name: str) -> dict[bool, str]:
        """The names of the two actions for one whose effects depend on the fact, by its value."""
        return {True: f"{name}-with-{self.predicate.name}", False: f"{name}-without-{self.predicate.name}"}

    @property
    def size(self) -> int:
        """How complicated it is: the actions that change it."""
        return len(self.changes)

    @property
    def needed(self) -> str:
        """The predicate by which an action depends on it."""
        return self.predicate.name

    @property
    def holding(self) -> str:
        """What matters of it, in words: that it is so."""
        return "true"

    def as_needed(self, atom: LiftedAtom, header: ActionHeader) -> str | None:
        """How it is told that an action needs it; None if that goes without saying."""
        return ""

    def headers(self, headers: Iterable[ActionHeader]) -> tuple[ActionHeader, ...]:
        """The actions of the model, for those of the agent."""
        found: list[ActionHeader] = []
        for header in headers:
            names = self._cases(header.name).values() if header.name in self._place else (header.name,)
            found += [replace(header, name=name) for name in names]
        return tuple(found)

    def as_modelled(self, step: GroundAction, rows: Rows) -> GroundAction:
        """A step of the agent as one of the model, where the fact is true of these objects."""
        if step.name not in self._place:
            return step
        row = Change(step.name, self._place[step.name], True).row(step.objects)
        return GroundAction(self._cases(step.name)[row in rows], step.objects)

    def as_given(self, step: GroundAction) -> GroundAction:
        """A step of the model as the agent is given it."""
        return GroundAction(self._given.get(step.name, step.name), step.objects)

    @cached_property
    def _given(self) -> Mapping[str, str]:
        return {own: name for name, _ in self.cases for own in self._cases(name).values()}

    @property
    def beginning(self) -> Rows:
        """The objects of which it is true when a history begins."""
        return Rows()

    @property
    def kind(self) -> str | None:
        """The type of the objects that it is of; None if it is of the whole."""
        return self.predicate.types[0] if self.predicate.types else None

    @cached_property
    def _by_action(self) -> Mapping[str, list[Change]]:
        found: dict[str, list[Change]] = defaultdict(list)
        for change in sorted(self.changes, key=lambda one: bool(one.value)):  # deletes come first, as in PDDL
            found[change.action].append(change)
        return found

    def after(self, rows: Rows, step: GroundAction) -> Rows:
        """The objects of which it is true after an executed step."""
        for change in self._by_action.get(step.name, ()):
            row = change.row(step.objects)
            rows = rows | {row} if change.value else rows - {row}
        return rows

    def tells(self, rows: Rows) -> bool:
        """Whether the model has words for it."""
        return True

    def of_numbers(self, among: range) -> InventedFact:
        """The same fact in a model that speaks of other numbers."""
        return self

    def along(self, attempts: Sequence[tuple[Any, ...]], after: list[Rows]) -> list[Rows]:
        """The objects of which it is true after each attempt; ``after`` has those of the first ones, and gets the others.

        Args:
            attempts: each begins with its parent's number, its action, and whether that was executed.
            after: what is known already.
        """
        for parent, action, executed, *_ in attempts[len(after) :]:
            rows = self.beginning if parent == BEGINNING else after[parent]
            after.append(self.after(rows, action) if executed else rows)
        return after

    def room(self, rows: Rows) -> int | None:
        """The steps that may be executed before it is what the model has no word for; None for any number."""
        return None

    def added(self, state: State, rows: Rows) -> State:
        """A state with the fact, true of these objects."""
        atoms = frozenset([Atom(self.predicate.name, row) for row in rows])
        return State(state.true | atoms, state.objects, state.unknown)

    def without(self, state: State) -> State:
        """A state of the model as the agent shows it."""
        name = self.predicate.name
        true = frozenset([one for one in state.true if one.predicate != name])
        return State(true, state.objects, state.unknown)

    def within(self, vocabulary: Vocabulary) -> Vocabulary:
        """The vocabulary, with the fact's predicate as its last."""
        return replace(vocabulary, predicates=(*vocabulary.predicates, self.predicate))

    def json(self) -> dict[str, Any]:
        """The fact as plain data."""
        changes = [list(change) for change in self.changes]
        cases = [list(case) for case in self.cases]
        return {"name": self.predicate.name, "type": self.kind, "changes": changes, "cases": cases}

    def told(self) -> str:
        """What it is, in words."""
        of = "" if self.kind is None else f" of each {self.kind}"
        return f"{self.predicate.name} is an invented fact{of}: false when a history begins"


@dataclass(frozen=True)
class InventedCounter(InventedFact):
    """A number that steps count up and down; as a fact, whether it is at least 1."""

    first: int = 0
    """The number when a history begins."""
    cycle: int = 0
    """The number that is 0 again; 0 if there is none."""
    every: bool = False
    """Whether each executed step counts up, of whatever action, but for those after which it is as when a history begins."""

    @property
    def size(self) -> int:
        return 1 + len(self.back) if self.every else len(self.changes)

    @cached_property
    def back(self) -> tuple[str, ...]:
        """The actions after which it is as when a history begins."""
        return tuple(change.action for change in self.changes if change.value is None)

    @property
    def beginning(self) -> Rows:
        return _as_rows(self.first)

    def after(self, rows: Rows, step: GroundAction) -> Rows:
        if step.name in self.back:
            return self.beginning
        by = self.by(step.name)
        return _as_rows(self._stepped(number_of(rows), by)) if by else rows

    @property
    def shift(self) -> int:
        """What is added to numbers that are told, so that the first is not below 0."""
        return 0 if self.cycle else max(0, -self.first)

    def by(self, action: str) -> int:
        """By how much an executed step of an action changes the number."""
        return self._by.get(action, 0)

    @cached_property
    def _by(self) -> Mapping[str, int]:
        return {one.action: 1 if one.value else -1 for one in self.changes if one.value is not None}

    def _stepped(self, number: int, by: int) -> int:
        return (number + by) % self.cycle if self.cycle else number + by

    def added(self, state: State, rows: Rows) -> State:
        return super().added(state, rows & {()})

    def in_model(
        self, vocabulary: Vocabulary, headers: Sequence[ActionHeader], numbers: Iterable[int]
    ) -> ModelledCounter:
        """The counter as a deterministic STRIPS model has it.

        Args:
            vocabulary: of the agent.
            headers: of the agent.
            numbers: that were counted; the model speaks of these and of one more at both ends, and of ``MOST_NUMBERS`` at most: then of
                those around the first one and where it begins to matter.
        """
        types = vocabulary.types.parents
        among = range(self.cycle) if self.cycle else _window(self.first, {self.first, *numbers})
        taken = [one.name for one in vocabulary.predicates]
        named = ("one-below", f"above-{self.shift}", AT_FIRST)
        words = [_free(one, taken, self.predicate.name) for one in named]
        number, thing = (_free(one, types, self.predicate.name) for one in ("number", "thing"))
        spoken = {kind for predicate in vocabulary.predicates for kind in predicate.types}
        spoken |= {kind for header in headers for kind in header.types}
        root = ROOT_TYPE in spoken  # what is of any object may not be of a number
        within = {kind: thing if own == ROOT_TYPE and root else own for kind, own in types.items()}
        within |= {number: ROOT_TYPE} | ({thing: ROOT_TYPE} if root else {})
        predicate = Predicate(self.predicate.name, (number,))
        return ModelledCounter(
            predicate,
            self.changes,
            self.cases,
            self.first,
            self.cycle,
            self.every,
            among,
            Types(within),
            thing if root else ROOT_TYPE,
            *words,
        )


@dataclass(frozen=True)
class ModelledCounter(InventedCounter):
    """A counter in a STRIPS model: its numbers are objects, and every action has the number as one more parameter.

    One that counts has the number that follows, too, and one that brings it back the first: it is two actions, as a number may be the first already.
    What numbers follow each other, and which are large enough, are facts that no step changes.
    """

    among: range = range(0)
    """The numbers of which the model speaks."""
    types: Types = field(default_factory=Types, compare=False)
    thing: str = ROOT_TYPE
    """The type of all objects that are no numbers."""
    below: str = "one-below"
    """The predicate of a number and the next one."""
    above: str = "above-0"
    """The predicate of numbers that are large enough."""
    at_first: str = AT_FIRST
    """The predicate of the number when a history begins, where some action brings it back."""

    @property
    def needed(self) -> str:
        return self.above

    @property
    def holding(self) -> str:
        return f"at least {1 + self.shift}"

    def as_needed(self, atom: LiftedAtom, header: ActionHeader) -> str | None:
        before = atom.arguments[0] == header.arity - self._more(header.name)
        if not before and self.by(self._agents(header.name)) > 0:
            return None  # it is one more afterwards
        return f"{self.holding} {'' if before else 'afterwards '}is "

    def _object(self, number: int) -> str:
        """The object that stands for a number."""
        told = number + self.shift
        return f"{self.predicate.name}-{told if told >= 0 else f'minus-{-told}'}"

    def headers(self, headers: Iterable[ActionHeader]) -> tuple[ActionHeader, ...]:
        found: list[ActionHeader] = []
        for header in super().headers(headers):
            comes_back = self._given.get(header.name, header.name) in self.back
            for name in (header.name, *[f"{header.name}-{AT_FIRST}"] * comes_back):
                names = ("number", "then")[: self._more(name)]
                more = [_free(one, header.parameters, self.predicate.name) for one in names]
                types = (*map(self._retyped, header.types), *[self.predicate.types[0]] * len(more))
                found.append(ActionHeader(name, (*header.parameters, *more), types))
        return tuple(found)

    def _agents(self, name: str) -> str:
        """The agent's name of an action of the model."""
        stem = name.removesuffix(f"-{AT_FIRST}")
        given = self._given.get(stem, stem)
        return given if given in self.back else self._given.get(name, name)

    def _more(self, name: str) -> int:
        """The parameters that an action has more than the agent's."""
        given = self._agents(name)
        if given in self.back:
            return 1 if name.endswith(f"-{AT_FIRST}") else 2
        return 2 if self.by(given) else 1

    def _retyped(self, kind: str) -> str:
        return self.thing if kind == ROOT_TYPE else kind

    def as_modelled(self, step: GroundAction, rows: Rows) -> GroundAction:
        number, then = number_of(rows), number_of(self.after(rows, step))
        name, objects = super().as_modelled(step, rows)
        if then == number and step.name in self.back:
            name = f"{name}-{AT_FIRST}"
        more = (number,) if then == number else (number, then)
        return GroundAction(name, (*objects, *map(self._object, more)))

    def as_given(self, step: GroundAction) -> GroundAction:
        objects = step.objects[: len(step.objects) - self._more(step.name)]
        return GroundAction(self._agents(step.name), objects)

    def tells(self, rows: Rows) -> bool:
        return number_of(rows) in self.among

    def of_numbers(self, among: range) -> InventedFact:
        return self if self.cycle else replace(self, among=among)

    def room(self, rows: Rows) -> int | None:
        if self.cycle:
            return None
        number = number_of(rows)
        return max(0, min(self.among[-1] - number, number - self.among[0]))

    def added(self, state: State, rows: Rows) -> State:
        now = Atom(self.predicate.name, (self._object(number_of(rows)),))
        return State(state.true | self._unchanging | {now}, self._with_numbers(state.objects), state.unknown)

    @cached_property
    def _unchanging(self) -> frozenset[Atom]:
        """Which numbers follow each other, and which are large enough."""
        steps = [(one, self._stepped(one, 1)) for one in self.among]
        follow = [Atom(self.below, (self._object(a), self._object(b))) for a, b in steps if b in self.among]
        first = [Atom(self.at_first, (self._object(self.first),))] * bool(self.back)
        return frozenset(
            [*follow, *first, *[Atom(self.needed, (self._object(one),)) for one in self.among if one >= 1]]
        )

    def _with_numbers(self, objects: Objects) -> Objects:
        if objects not in self._extended:
            kinds = {name: self._retyped(kind) for name, kind in objects.items()}
            kinds |= {self._object(one): self.predicate.types[0] for one in self.among}
            self._extended[objects] = Objects(kinds, self.types)
            self._plain[self._extended[objects]] = objects
        return self._extended[objects]

    @cached_property
    def _extended(self) -> dict[Objects, Objects]:
        return {}

    @cached_property
    def _plain(self) -> dict[Objects, Objects]:
        return {}

    def without(self, state: State) -> State:
        own = {self.predicate.name, self.below, self.above, *[self.at_first] * bool(self.back)}
        true = frozenset([one for one in state.true if one.predicate not in own])
        return State(true, self._plain[state.objects], state.unknown)

    def within(self, vocabulary: Vocabulary) -> Vocabulary:
        (number,) = self.predicate.types
        known = [replace(one, types=tuple(map(self._retyped, one.types))) for one in vocabulary.predicates]
        own = [self.predicate, Predicate(self.below, (number, number)), Predicate(self.above, (number,))]
        own += [Predicate(self.at_first, (number,))] * bool(self.back)
        constants = {name: self._retyped(kind) for name, kind in vocabulary.constants.items()}
        return replace(vocabulary, predicates=(*known, *own), types=self.types, constants=constants)

    def json(self) -> dict[str, Any]:
        counted = {
            "first": self.first,
            "cycle": self.cycle,
            "every": self.every,
            "among": [self.among.start, self.among.stop],
        }
        return {**super().json(), "type": None, **counted}

    def told(self) -> str:
        name, shown = (
            self.predicate.name,
            [one + self.shift for one in (self.first, self.among[0], self.among[-1])],
        )
        parts = [f"{name} is an invented number: {shown[0]} when a history begins"]
        if self.cycle:
            parts.append(f"it is 0 again where it would be {self.cycle}")
        for value, way in ((1, "up"), (-1, "down")):
            if own := [action for action, by in self._by.items() if by == value]:
                other = f"every {'other ' * bool(self.back)}executed step"
                parts.append(f"counted {way} by {other if self.every else listed(own)}")
        if self.back:
            parts.append(f"{shown[0]} again after {listed(self.back)}")
        tried = "" if self.cycle else f" (the model speaks of {shown[1]} to {shown[2]})"
        return f"{'; '.join(parts)}{tried}"


def _free(name: str, taken: Iterable[str], prefix: str) -> str:
    """A name that is not taken."""
    return f"{prefix}-{name}" if name in taken else name


def _window(first: int, known: Collection[int]) -> range:
    """The numbers of which a model speaks."""
    every = range(min(known) - 1, max(known) + 2)
    if len(every) <= MOST_NUMBERS:
        return every
    least, most = min(0, first), max(1, first)
    spare = MOST_NUMBERS - len(range(least, most + 1))
    if spare < 0:
        return range(max(least, first + 1 - MOST_NUMBERS), most + 1)[:MOST_NUMBERS]
    lower, higher = max(0, least - every[0]), max(0, every[-1] - most)
    below = min(lower, max(spare // 2, spare - higher))
    return range(least - below, most + min(higher, spare - below) + 1)


def number_of(rows: Rows) -> int:
    """The number that rows stand for."""
    return next(int(row[0]) for row in rows if row)


@cache
def _as_rows(number: int) -> Rows:
    """A number as objects: its own name, and none at all where it is at least 1, as of a fact that is true."""
    return Rows({(str(number),), ()} if number >= 1 else {(str(number),)})


def read_fact(told: Any, vocabulary: Vocabulary, headers: Sequence[ActionHeader]) -> InventedFact:
    """The fact that ``InventedFact.json`` wrote.

    Raises:
        Malformed: it is none of this vocabulary and these actions.
    """
    name, kind = field_of(told, "name", str), told.get("type")
    types = vocabulary.types
    if any(predicate.name == name for predicate in vocabulary.predicates) or not re.fullmatch(
        r"[a-z][a-z0-9_-]*", name
    ):
        raise Malformed("an invented fact has no name of its own")
    if kind is not None and not (isinstance(kind, str) and kind in {ROOT_TYPE, *types.parents}):
        raise Malformed("an invented fact is of no known type")
    arities = {header.name: header.arity for header in headers}
    cases = [(action, place) for action, place in field_of(told, "cases", list)]
    changes = [Change(*one) for one in field_of(told, "changes", list)]
    for action, place, value in [*changes, *[(*case, True) for case in cases]]:
        number = isinstance(place, int) and not isinstance(place, bool)
        known = isinstance(value, bool) or (value is None and "first" in told)
        if action not in arities or not known or number is (kind is None):
            raise Malformed("a change of an invented fact is none")
        if number and not 0 <= place < arities[action]:
            raise Malformed("a change of an invented fact is of no parameter")
    predicate = Predicate(name, () if kind is None else (kind,))
    if "first" not in told:
        return InventedFact(predicate, tuple(changes), tuple(cases))
    first, cycle = field_of(told, "first", int), field_of(told, "cycle", int)
    among = field_of(told, "among", list)
    whole = all(isinstance(one, int) and not isinstance(one, bool) for one in among) and len(among) == 2
    if kind is not None or not whole or not 0 <= cycle <= among[1] - among[0] <= MOST_NUMBERS:
        raise Malformed("an invented number is none")
    if first not in range(*((0, cycle) if cycle else among)):
        raise Malformed("an invented number begins where there is none")
    every = field_of(told, "every", bool)
    counter = InventedCounter(predicate, tuple(changes), tuple(cases), first, cycle, every)
    return counter.in_model(vocabulary, headers, range(*among)[1:-1])


def told(fact: InventedFact, model: Model) -> str:
    """What the fact is, who changes it and who needs it, as a sentence."""
    parts = [fact.told()]
    if not isinstance(fact, InventedCounter):
        for value, verb in ((True, "made true by"), (False, "made false by")):
            if own := [change for change in fact.changes if change.value is value]:
                parts.append(
                    f"{verb} {', '.join(_named(change.action, change.place, model) for change in own)}"
                )
    needs: dict[tuple[bool, str], list[str]] = defaultdict(list)
    for schema in model.actions:
        for value, atoms in ((True, schema.positive), (False, schema.negative)):
            for atom in sorted(atoms, key=str):
                if (
                    atom.predicate == fact.needed
                    and (told := fact.as_needed(atom, schema.header)) is not None
                ):
                    of_it = (
                        None if isinstance(fact, InventedCounter) or not atom.arguments else atom.arguments[0]
                    )
                    needs[value, told].append(_named(schema.header.name, of_it, model))
    for action, _ in fact.cases:
        parts.append(
            f"{action} has other effects where it is {fact.holding}, so it is two actions in the model"
        )
    parts += [
        f"{told}{'needed' if value else 'excluded'} by {', '.join(names)}"
        for (value, told), names in sorted(needs.items(), reverse=True)
    ]
    return f"{'; '.join(parts)}."


def _named(action: str, argument: int | str | None, model: Model) -> str:
    """An action, and of which object it changes or needs the fact."""
    if argument is None:
        return action
    parameters = model.schema(action).header.parameters
    return f"{action} (of {f'?{parameters[argument]}' if isinstance(argument, int) else argument})"
