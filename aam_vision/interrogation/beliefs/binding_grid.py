"""All choices of an action's arguments in one state at once, as arrays with one axis per parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
        self._true = self._tables(state.true)
        self._unknown = self._tables(state.unknown) if state.unknown else {}

    def cells(self, index: AtomIndex) -> int:
        """How many choices of arguments there are, those that name an object twice included."""
        return prod(len(self.state.objects.of_type(kind)) for kind in index.header.types)

    def true(self, atom: LiftedAtom, index: AtomIndex) -> Truth | bool:
        """Where the atom is true; broadcasts over the action's parameters."""
        return self._spread(self._true, atom, index)

    def unknown(self, atom: LiftedAtom, index: AtomIndex) -> Truth | bool:
        """Where it is unknown; False if it is so nowhere."""
        return self._spread(self._unknown, atom, index)

    def true_at(self, atom: LiftedAtom, index: AtomIndex, chosen: NDArray[np.intp]) -> Truth:
        """Whether the atom is true under each of these choices of arguments.

        ``chosen`` has a row per choice, with each argument's place among the objects of its parameter's type; the
        last parameters may be left out if the atom does not name them.
        """
        return self._picked(self._true, atom, index, chosen)

    def unknown_at(self, atom: LiftedAtom, index: AtomIndex, chosen: NDArray[np.intp]) -> Truth:
        """Whether it is unknown under each of them."""
        return self._picked(self._unknown, atom, index, chosen)

    def distinct(self, index: AtomIndex) -> Truth:
        """Where no object is named twice."""
        kinds = index.header.types
        pools = [np.array(self.state.objects.of_type(kind), dtype=np.str_) for kind in kinds]
        grid = np.ones(tuple(len(pool) for pool in pools), dtype=np.bool_)
        for second, pool in enumerate(pools):
            for first in range(second):
                if not self.state.objects.members(kinds[first]).isdisjoint(pool.tolist()):
                    differ = pools[first][:, None] != pool[None, :]
                    shape = [len(own) if axis in (first, second) else 1 for axis, own in enumerate(pools)]
                    grid &= differ.reshape(shape)
        return grid

    def rows(self, values: Array, index: AtomIndex, count: int) -> Iterator[tuple[Row, float]]:
        """The choices with the highest positive values, best first."""
        flat = values.ravel()
        top = np.argsort(-flat, kind="stable")[:count]
        pools = [self.state.objects.of_type(kind) for kind in index.header.types]
        for place in top[flat[top] > 0]:
            spot = np.unravel_index(int(place), values.shape)
            yield tuple(pool[int(i)] for pool, i in zip(pools, spot, strict=True)), float(flat[place])

    def _tables(self, atoms: frozenset[Atom]) -> dict[str, Truth]:
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

    def _picked(
        self, tables: dict[str, Truth], atom: LiftedAtom, index: AtomIndex, chosen: NDArray[np.intp]
    ) -> Truth:
        table = tables.get(atom.predicate)
        if table is None:
            return np.zeros(len(chosen), dtype=np.bool_)
        picks: list[NDArray[np.intp]] = []
        kinds = self._vocabulary.predicate(atom.predicate).types
        for argument, kind in zip(atom.arguments, kinds, strict=True):
            places = self._places_of(kind)
            if isinstance(argument, int):
                names = self.state.objects.of_type(index.header.types[argument])
                picks.append(_numbers(places, names)[chosen[:, argument]])
            else:
                picks.append(np.full(len(chosen), places[argument]))
        return table[tuple(picks)] if picks else np.full(len(chosen), bool(table))

    def _spread(self, tables: dict[str, Truth], atom: LiftedAtom, index: AtomIndex) -> Truth | bool:
        table = tables.get(atom.predicate)
        if table is None:
            return False
        arity = index.header.arity
        picks: list[NDArray[np.intp]] = []
        kinds = self._vocabulary.predicate(atom.predicate).types
        for argument, kind in zip(atom.arguments, kinds, strict=True):
            places = self._places_of(kind)
            if isinstance(argument, int):
                names = self.state.objects.of_type(index.header.types[argument])
                picks.append(_numbers(places, names).reshape(_axes(arity, argument)))
            else:
                picks.append(_numbers(places, [argument]).reshape(_axes(arity)))
        return table[tuple(picks)] if picks else table.reshape(_axes(arity))


def _numbers(places: Mapping[str, int], names: Sequence[str]) -> NDArray[np.intp]:
    """The objects' places, of which there may be none: a type can be empty."""
    return np.array([places[name] for name in names], dtype=np.intp)


def _axes(arity: int, own: int = -1) -> tuple[int, ...]:
    """A shape with one axis per parameter, all of length one but for this parameter's."""
    return tuple(-1 if axis == own else 1 for axis in range(arity))
