"""Effect patterns: a change with its objects replaced by parameters, in an order that does not depend on their names."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, permutations, product
from math import factorial, prod
from typing import NamedTuple

from aam_vision.controls.operators import Effect
from aam_vision.controls.transitions import Transition
from aam_vision.model.strips import LiftedAtom

MAX_ORDERS = 720
"""Orders of objects that look alike which are compared; beyond that, the names decide."""


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
