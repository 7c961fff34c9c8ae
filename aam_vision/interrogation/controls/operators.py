"""Transitions of controls, the operators that explain them, and effect patterns.

A control (``right``, ``moveto(loc-1-2)``) can always be given; it changes something or nothing. It is described by an
``ActionHeader``, as an instruction is, and given with arguments as a ``GroundAction``. An operator is one thing that it carries out:
effects on the control's arguments and on objects that the situation implies. Its parameters are those of the control, then the
implicit ones: objects that it changes, and objects that a fact determines (the only room with ``locinroom(?loc, ?room)``). A pattern
is a change with its objects replaced by parameters, in an order that does not depend on their names.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import chain, islice, permutations, product, takewhile
from math import factorial, prod
from typing import NamedTuple

from aam_vision.model.strips import ActionHeader, Atom, Effects, GroundAction, LiftedAtom, State
from aam_vision.support.unchanging import Unchanging

MAX_ORDERS = 720
"""Orders of objects that look alike which are compared; beyond that, the names decide."""


@dataclass(frozen=True, eq=False)
class Transition(Unchanging):
    """A control that was given once. Two of them are equal only if they are the same object."""

    before: State
    control: GroundAction
    after: State

    @cached_property
    def change(self) -> dict[Atom, bool]:
        """The atoms that changed, in a fixed order, each with the value that it has afterwards.

        An atom that is unknown before or afterwards is not seen to change.
        """
        before, after = self.before, self.after
        gained = {atom: True for atom in after.true - before.true if atom not in before.unknown}
        lost = {atom: False for atom in before.true - after.true if atom not in after.unknown}
        return dict(sorted({**gained, **lost}.items()))

    @cached_property
    def kind(self) -> str:
        """The control, and the predicates that changed: ``toggle +open -closed``."""
        signs = {f"{'+' if value else '-'}{atom.predicate}" for atom, value in self.change.items()}
        return " ".join((self.control.name, *sorted(signs)))


def idle(transitions: Mapping[str, Sequence[Transition]]) -> tuple[str, ...]:
    """The controls that never did anything, in order; ``transitions``: by control, all that was seen."""
    return tuple(name for name, seen in transitions.items() if not any(one.change for one in seen))


def moved(atom: LiftedAtom, places: Sequence[int | str]) -> LiftedAtom:
    """The atom with these parameters, or objects, in the places of its own parameters."""
    return atom._replace(arguments=tuple([places[a] if isinstance(a, int) else a for a in atom.arguments]))


class Effect(NamedTuple):
    """A lifted atom that an operator changes, and the value that it gets."""

    atom: LiftedAtom
    becomes: bool

    @property
    def order(self) -> tuple[str, tuple[str, ...], bool]:
        """Sorts effects; parameters come before constants."""
        places = [f"{a:03d}" if isinstance(a, int) else f"~{a}" for a in self.atom.arguments]
        return self.atom.predicate, tuple(places), not self.becomes

    def moved(self, places: Sequence[int | str]) -> Effect:
        """The same on other parameters, or on objects."""
        return Effect(moved(self.atom, places), self.becomes)


class Derivation(NamedTuple):
    """An implicit parameter that the situation determines: the only other object with which the fact holds."""

    parameter: int
    fact: LiftedAtom

    def value(self, state: State, objects: Sequence[str | None]) -> str | None:
        """The object under a binding of the other parameters; None if there is none, or more than one may be meant."""
        found: str | None = None
        known = state.rows.get(self.fact.predicate, [])
        rows: Iterable[tuple[str, ...]] = known
        first = self.fact.arguments[0]
        if first != self.parameter:  # the rows are sorted
            name = objects[first] if isinstance(first, int) else first
            begin = len(known) if name is None else bisect_left(known, (name,))
            rows = takewhile(lambda row: row[0] == name, islice(known, begin, None))
        for row in _matching(rows, self, objects):
            if row in objects:  # no object stands for two parameters
                continue
            if found is not None:
                return None
            found = row
        hidden = (atom.objects for atom in state.unknown if atom.predicate == self.fact.predicate)
        return None if _matching(hidden, self, objects) else found


def _matching(
    rows: Iterable[tuple[str, ...]], derived: Derivation, objects: Sequence[str | None]
) -> list[str]:
    """What stands for the parameter in the rows that agree with the binding elsewhere."""
    found = []
    for row in rows:
        value = ""
        for own, argument in zip(row, derived.fact.arguments, strict=True):
            if argument == derived.parameter:
                value = own
            elif own != (objects[argument] if isinstance(argument, int) else argument):
                break
        else:
            found.append(value)
    return found


class Outcome(Enum):
    """How a transition compares with an operator under a binding."""

    CONTRADICTED = "contradicted"
    """It cannot have been carried out like that: something else is the case afterwards."""
    SEEN = "seen"
    """Its effects are the change, together with what was so already."""
    NOTHING_TO_SEE = "nothing to see"
    """Nothing changed, and it would have changed nothing."""


@dataclass(frozen=True)
class Operator:
    """One thing that a control does.

    ``header`` has the parameters, of which the first ``given`` are the control's. ``pivot`` is the effect by which it
    is recognised: where that was so already, this operator is not carried out (so another one may be, with the same
    effects). None if none of the effects was seen in every example.
    """

    control: str
    given: int
    header: ActionHeader
    effects: tuple[Effect, ...]
    derivations: tuple[Derivation, ...] = ()
    pivot: Effect | None = None

    @cached_property
    def changes(self) -> Effects:
        """Its effects as those of an action."""
        added = frozenset(effect.atom for effect in self.effects if effect.becomes)
        return Effects(added, frozenset(effect.atom for effect in self.effects if not effect.becomes))

    def instructed(self, objects: tuple[str, ...]) -> GroundAction:
        """The control that would carry it out under a binding."""
        return GroundAction(self.control, objects[: self.given])

    def outcome(self, transition: Transition, objects: Sequence[str]) -> Outcome:
        """How a transition of its control compares with it under a binding."""
        return outcome(self.effects, transition, objects)

    def visible(self, state: State, objects: Sequence[str]) -> bool | None:
        """Whether the pivot would be seen to change in a state; None if that is unknown, or there is no pivot."""
        if self.pivot is None:
            return None
        value = state.value(self.pivot.atom.ground(objects))
        return None if value is None else value != self.pivot.becomes


def outcome(effects: Sequence[Effect], transition: Transition, objects: Sequence[str]) -> Outcome:
    """How a transition compares with effects under a binding: added atoms stay although another effect deletes them."""
    expected: dict[Atom, bool] = {}
    for effect in effects:
        atom = effect.atom.ground(objects)
        expected[atom] = expected.get(atom, False) or effect.becomes
    after, change = transition.after, transition.change
    for atom, value in expected.items():
        seen = after.value(atom)
        if seen is not None and seen != value:
            return Outcome.CONTRADICTED
    if any(atom not in expected for atom in change):
        return Outcome.CONTRADICTED
    return Outcome.SEEN if change else Outcome.NOTHING_TO_SEE


class Pattern(NamedTuple):
    """Effects in order, and the objects that the parameters stood for: the control's arguments, then the others."""

    effects: tuple[Effect, ...]
    objects: tuple[str, ...]


def pattern(transition: Transition, constants: Collection[str] = ()) -> Pattern:
    """The pattern of a transition. Two transitions that differ only in the names of objects have the same effects."""
    given = tuple(dict.fromkeys(transition.control.objects))
    named = {name for atom in transition.change for name in atom.objects}
    others = sorted(named.difference(given, constants))
    return min(
        (_lifted(transition, given + order) for order in _orders(transition, given, others)),
        key=lambda found: [effect.order for effect in found.effects],
    )


def _lifted(transition: Transition, objects: tuple[str, ...]) -> Pattern:
    place = {name: number for number, name in enumerate(objects)}
    effects = [
        Effect(LiftedAtom(atom.predicate, tuple([place.get(name, name) for name in atom.objects])), value)
        for atom, value in transition.change.items()
    ]
    return Pattern(tuple(sorted(effects, key=lambda effect: effect.order)), objects)


def _orders(transition: Transition, given: tuple[str, ...], others: list[str]) -> Iterator[tuple[str, ...]]:
    """The orders of the other objects that go by what changed of each; those alike come in every order."""
    labels: dict[str, str] = {name: f"given {place}" for place, name in enumerate(given)}
    for _ in range(len(others)):
        labels.update({name: _label(transition, name, labels) for name in others})
        ranks = {label: f"{rank:03d}" for rank, label in enumerate(sorted({labels[one] for one in others}))}
        labels.update({name: ranks[labels[name]] for name in others})
    classes: dict[str, list[str]] = {}
    for name in sorted(others, key=lambda one: labels[one]):
        classes.setdefault(labels[name], []).append(name)
    if prod(factorial(len(alike)) for alike in classes.values()) > MAX_ORDERS:
        yield tuple(chain.from_iterable(classes.values()))
        return
    for order in product(*[permutations(alike) for alike in classes.values()]):
        yield tuple(chain.from_iterable(order))


def _label(transition: Transition, name: str, labels: dict[str, str]) -> str:
    """What changed of an object: the changes that name it, and at which places."""
    found = []
    for (predicate, objects), value in transition.change.items():
        if name in objects:
            places = ["self" if one == name else labels.get(one, "") for one in objects]
            found.append(f"{predicate} {value} {places}")
    return f"{labels.get(name, '')} {sorted(found)}"


def explanations(
    effects: Sequence[Effect],
    arity: int,
    derivations: Sequence[Derivation],
    transition: Transition,
) -> Iterator[tuple[str, ...]]:
    """The injective bindings under which the effects are the change, hidden ones included.

    The control's arguments bind the first parameters. A parameter that neither these nor the change name has to be
    derived. Without a change there is no explanation.
    """
    given = transition.control.objects
    if not transition.change or len(set(given)) < len(given):
        return
    binding: list[str | None] = [*given, *[None] * (arity - len(given))]
    seen = set()
    for found in _unified(list(transition.change.items()), effects, binding):
        objects = derived(transition, found, derivations)
        if objects is None or objects in seen:
            continue
        seen.add(objects)
        if outcome(effects, transition, objects) is Outcome.SEEN:
            yield objects


def derived(
    transition: Transition, binding: Sequence[str | None], derivations: Sequence[Derivation]
) -> tuple[str, ...] | None:
    """The whole binding, with what facts determine; None if some parameter stays open, or one object comes twice."""
    full = list(binding)
    for one in derivations:
        value = one.value(transition.before, full)
        if value is None or full[one.parameter] not in (None, value):
            return None
        full[one.parameter] = value
    objects = tuple([name for name in full if name is not None])
    return objects if len(objects) == len(full) == len(set(objects)) else None


def _unified(
    left: Sequence[tuple[Atom, bool]], effects: Sequence[Effect], binding: list[str | None]
) -> Iterator[list[str | None]]:
    """The ways to read each of these changes as one of the effects; the binding is extended meanwhile."""
    if not left:
        yield binding.copy()
        return
    (atom, value), rest = left[0], left[1:]
    for effect in effects:
        if effect.becomes == value and effect.atom.predicate == atom.predicate:
            newly = _bind(effect.atom.arguments, atom.objects, binding)
            if newly is not None:
                yield from _unified(rest, effects, binding)
                for place in newly:
                    binding[place] = None


def _bind(
    arguments: Sequence[int | str], objects: Sequence[str], binding: list[str | None]
) -> list[int] | None:
    """Bind parameters so that the arguments are these objects, and return which; None if that is impossible."""
    newly: list[int] = []
    for argument, name in zip(arguments, objects, strict=True):
        if isinstance(argument, int):
            if binding[argument] == name:
                continue
            if binding[argument] is None and name not in binding:
                binding[argument] = name
                newly.append(argument)
                continue
        elif argument == name:
            continue
        for place in newly:
            binding[place] = None
        return None
    return newly
