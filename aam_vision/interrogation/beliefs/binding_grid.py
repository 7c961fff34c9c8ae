"""All choices of an action's arguments in one state at once, as arrays with one axis per parameter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.joins import Row
from aam_vision.strips import Atom, LiftedAtom, State, Vocabulary

Array = NDArray[np.float64]
Truth = NDArray[np.bool_]


class StateGrid:
    """The truth of every atom of a state, by predicate, with one axis per argument."""

    def __init__(self, state: State, vocabulary: Vocabulary) -> None:
        self.state = state
        self._vocabulary = vocabulary
        self._places: dict[str, dict[str, int]] = {}
        self._meshes: dict[tuple[str, ...], tuple[NDArray[np.intp], ...]] = {}
        self._true = self._tables(state.true)
        self._unknown = self._tables(state.unknown) if state.unknown else {}

    def cells(self, index: AtomIndex) -> int:
        """The number of choices of arguments, including those that name an object twice."""
        return prod(map(len, self._pools(index)))

    def true(
        self, atom: LiftedAtom, index: AtomIndex, chosen: NDArray[np.intp] | None = None
    ) -> Truth | np.bool_:
        """Where the atom is true: under all arguments, as an array that broadcasts over the parameters, or if chosen.

        ``chosen`` has a row per choice, with each argument's place among the objects of its parameter's type; the
        last parameters may be left out if the atom does not name them.
        """
        return self._values(self._true, atom, index, chosen)

    def unknown(
        self, atom: LiftedAtom, index: AtomIndex, chosen: NDArray[np.intp] | None = None
    ) -> Truth | np.bool_:
        """Where it is unknown, likewise."""
        return self._values(self._unknown, atom, index, chosen)

    def distinct(self, index: AtomIndex) -> Truth:
        """Where no object is named twice."""
        pools = self._pools(index)
        names = [
            np.array(pool, dtype=np.str_)[axis] for pool, axis in zip(pools, self._mesh(index), strict=True)
        ]
        grid = np.ones([len(pool) for pool in pools], dtype=np.bool_)
        for first, second in combinations(range(len(pools)), 2):
            if not set(pools[first]).isdisjoint(pools[second]):
                grid &= names[first] != names[second]
        return grid

    def rows(self, values: Array, index: AtomIndex, count: int) -> Iterator[tuple[Row, float]]:
        """The choices with the highest positive values, best first."""
        flat = values.ravel()
        top = np.argsort(-flat, kind="stable")[:count]
        pools = self._pools(index)
        for place in top[flat[top] > 0]:
            spot = np.unravel_index(int(place), values.shape)
            yield tuple(pool[int(i)] for pool, i in zip(pools, spot, strict=True)), float(flat[place])

    def _pools(self, index: AtomIndex) -> list[tuple[str, ...]]:
        """For each parameter the objects that it may be."""
        return [self.state.objects.of_type(kind) for kind in index.header.types]

    def _mesh(self, index: AtomIndex) -> tuple[NDArray[np.intp], ...]:
        """For each parameter the places of all its objects, along an axis of its own."""
        kinds = index.header.types
        if kinds not in self._meshes:
            self._meshes[kinds] = np.ix_(*(np.arange(len(pool)) for pool in self._pools(index)))
        return self._meshes[kinds]

    def _tables(self, atoms: frozenset[Atom]) -> dict[str, Truth]:
        """For each predicate which of its atoms are among these; a predicate with none of them has no table."""
        tables: dict[str, Truth] = {}
        for atom in atoms:
            kinds = self._vocabulary.predicate(atom.predicate).types
            table = tables.get(atom.predicate)
            if table is None:
                shape = tuple(len(self.state.objects.of_type(kind)) for kind in kinds)
                table = tables[atom.predicate] = np.zeros(shape, dtype=np.bool_)
            pairs = zip(atom.objects, kinds, strict=True)
            table[tuple(self._places_of(kind)[name] for name, kind in pairs)] = True
        return tables

    def _places_of(self, kind: str) -> dict[str, int]:
        if kind not in self._places:
            self._places[kind] = {name: i for i, name in enumerate(self.state.objects.of_type(kind))}
        return self._places[kind]

    def _values(
        self, tables: dict[str, Truth], atom: LiftedAtom, index: AtomIndex, chosen: NDArray[np.intp] | None
    ) -> Truth | np.bool_:
        """The atom's values in a table."""
        table = tables.get(atom.predicate)
        if table is None:
            return np.False_ if chosen is None else np.zeros(len(chosen), dtype=np.bool_)
        axes = self._mesh(index) if chosen is None else chosen.T
        places: list[NDArray[np.intp] | int] = []
        for argument, kind in zip(
            atom.arguments, self._vocabulary.predicate(atom.predicate).types, strict=True
        ):
            place = self._places_of(kind)
            if isinstance(argument, int):
                names = self.state.objects.of_type(index.header.types[argument])
                # an empty type has no places, and an array of none needs its dtype
                places.append(np.array([place[name] for name in names], dtype=np.intp)[axes[argument]])
            else:
                places.append(place[argument])
        values: Truth = table[tuple(places)]
        return values if chosen is None else np.broadcast_to(values, len(chosen))
