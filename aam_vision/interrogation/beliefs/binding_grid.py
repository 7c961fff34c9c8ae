"""All choices of an action's arguments in one state at once, as arrays with one axis per parameter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals
from aam_vision.model.strips import Atom, LiftedAtom, Objects, State, Vocabulary
from aam_vision.planning.joins import Row

BEAM_WIDTH = 400
"""Partial choices of arguments that are kept. More: better choices, slower."""

Array = NDArray[np.float64]
Truth = NDArray[np.bool_]


class StateGrid:
    """The truth of every atom of a state, by predicate, with one axis per argument."""

    def __init__(self, state: State, vocabulary: Vocabulary) -> None:
        self.state = state
        self._vocabulary = vocabulary
        self._places: dict[str, dict[str, int]] = {}
        self._among: dict[tuple[str, str], NDArray[np.intp]] = {}
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
        return self._values(self._unknown, atom, index, chosen) if self._unknown else np.False_

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
        positive = np.flatnonzero(flat > 0)
        pools = self._pools(index)
        for place in positive[np.argsort(-flat[positive], kind="stable")[:count]]:
            spot = np.unravel_index(int(place), values.shape)
            yield tuple(pool[int(i)] for pool, i in zip(pools, spot, strict=True)), float(flat[place])

    def places(self, atom: LiftedAtom, index: AtomIndex) -> NDArray[np.intp]:
        """The number of the atom among all of its predicate, under all arguments."""
        kinds = self._vocabulary.predicate(atom.predicate).types
        shape = tuple(len(self.state.objects.of_type(kind)) for kind in kinds)
        spots = self._spots(atom, index, self._mesh(index))
        number = np.ravel_multi_index(np.broadcast_arrays(*spots), shape) if kinds else 0
        return np.broadcast_to(number, [len(pool) for pool in self._pools(index)])

    def of_predicate(self, predicate: str) -> tuple[Truth | None, Truth | None]:
        """Which of the predicate's atoms are true and which are unknown, each in one row; None if none is."""
        tables = self._true.get(predicate), self._unknown.get(predicate)
        true, unknown = (None if table is None else table.ravel() for table in tables)
        return true, unknown

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

    def _places_among(self, kind: str, narrower: str) -> NDArray[np.intp]:
        """The places of a type's objects among those of a wider type."""
        key = kind, narrower
        if key not in self._among:
            place = self._places_of(kind)
            places = [place[name] for name in self.state.objects.of_type(narrower)]
            self._among[key] = np.array(places, dtype=np.intp)  # an empty type has no places
        return self._among[key]

    def _values(
        self, tables: dict[str, Truth], atom: LiftedAtom, index: AtomIndex, chosen: NDArray[np.intp] | None
    ) -> Truth | np.bool_:
        """The atom's values in a table."""
        table = tables.get(atom.predicate)
        if table is None:
            return np.False_ if chosen is None else np.zeros(len(chosen), dtype=np.bool_)
        axes = self._mesh(index) if chosen is None else chosen.T
        values: Truth = table[self._spots(atom, index, axes)]
        return np.full(len(chosen), values) if chosen is not None and not values.ndim else values

    def _spots(
        self, atom: LiftedAtom, index: AtomIndex, axes: Sequence[NDArray[np.intp]] | NDArray[np.intp]
    ) -> tuple[NDArray[np.intp] | int, ...]:
        """The place of each of the atom's arguments, given those of the parameters."""
        kinds = self._vocabulary.predicate(atom.predicate).types
        return tuple(
            self._places_among(kind, index.header.types[argument])[axes[argument]]
            if isinstance(argument, int)
            else self._places_of(kind)[argument]
            for argument, kind in zip(atom.arguments, kinds, strict=True)
        )


def distinct_share(objects: Objects, kinds: Sequence[str]) -> float:
    """The share of all choices of objects of these types that choose none twice for parameters of one type."""
    return prod(
        max(0, 1 - kinds[:place].count(kind) / max(1, len(objects.of_type(kind))))
        for place, kind in enumerate(kinds)
    )


class Places:
    """Where to look up atoms of an action in any state with the same objects, under all arguments that it allows."""

    def __init__(self, grid: StateGrid, index: AtomIndex, atoms: Sequence[LiftedAtom]) -> None:
        self.objects = grid.state.objects
        self.executable = np.logical_or(grid.distinct(index), index.repeated)
        self._shape = len(atoms), int(self.executable.sum())
        self._rows: dict[str, list[int]] = {}
        for row, atom in enumerate(atoms):
            self._rows.setdefault(atom.predicate, []).append(row)
        self._places = {
            predicate: np.array([grid.places(atoms[row], index)[self.executable] for row in rows])
            for predicate, rows in self._rows.items()
        }

    def values(self, grid: StateGrid) -> tuple[Truth, Truth]:
        """Which of the atoms are true and which are unknown, each of the shape ``(atoms, arguments)``."""
        both = np.zeros((2, *self._shape), dtype=np.bool_)
        for predicate, rows in self._rows.items():
            for values, table in zip(both, grid.of_predicate(predicate), strict=True):
                if table is not None:
                    values[rows] = table[self._places[predicate]]
        return both[0], both[1]


# The arguments under which most guesses at an action's precondition hold.
#
# There are too many choices of arguments to compare them all, so this is a beam search over the parameters in
# their order. A partial choice is as good as the number of guesses that it does not violate yet, which is an upper
# bound for every completion of it.


class Samples(NamedTuple):
    """Guesses at an action's precondition, drawn from the posterior."""

    literals: Sequence[Literals]
    """The literals that a guess may require."""
    required: NDArray[np.float32]
    """Which of them each guess requires, 0 or 1, shape ``(guesses, literals)``."""
    weights: NDArray[np.float64]
    """The cost of violating each literal, to choose between rows under which as many guesses hold."""


class Choices(NamedTuple):
    """Choices of arguments, the best first."""

    pools: Sequence[Sequence[str]]
    """The objects that each argument may be."""
    places: NDArray[np.intp]
    """The place of each argument among these, shape ``(choices, arguments)``."""
    violated: NDArray[np.bool_]
    """Which literals each violates, shape ``(choices, literals)``."""
    met: NDArray[np.float32]
    """The number of guesses that hold under each."""

    def row(self, number: int) -> Row:
        """The objects of one choice."""
        return tuple(pool[i] for pool, i in zip(self.pools, self.places[number].tolist(), strict=True))


def best_choices(
    grid: StateGrid,
    index: AtomIndex,
    proven: Literals,
    samples: Samples,
    width: int = BEAM_WIDTH,
    repeated: bool | None = None,
) -> Choices:
    """Choices of objects under which all proven literals and most guesses hold, if any; distinct ones unless ``repeated``.

    Args:
        grid: the state.
        index: the action's atoms.
        proven: literals that no choice violates.
        samples: guesses at the literals that the action requires besides.
        width: how many choices are kept, at most.
        repeated: whether an object may be named twice; as the atoms allow unless it is given.
    """
    pools = [grid.state.objects.of_type(kind) for kind in index.header.types]
    undecided = len(samples.literals)
    literals = [*samples.literals, *proven.singles()]
    by_last = _by_last_parameter(index, literals)
    chosen = np.zeros((1, 0), dtype=np.intp)
    violated = np.zeros((1, undecided), dtype=np.bool_)
    alive = np.ones((1, len(samples.required)), dtype=np.float32)
    met = alive.sum(axis=1)
    for last in range(-1, len(pools)):
        parent = np.zeros(1, dtype=np.intp)
        if last >= 0:
            chosen, parent = _extended(chosen, pools, index.repeated if repeated is None else repeated)
        settled = [
            (number, _violated(grid, index, literals[number], atom, chosen)) for number, atom in by_last[last]
        ]
        fit = np.ones(len(chosen), dtype=np.bool_)
        for number, violates in settled:
            if number >= undecided:
                fit &= ~violates
        chosen, parent = chosen[fit], parent[fit]
        settled = [(number, violates[fit]) for number, violates in settled if number < undecided]
        numbers = [number for number, _ in settled]
        columns = [violates for _, violates in settled]
        violates = np.array(columns, dtype=np.bool_).reshape(len(columns), len(chosen)).T
        patterns, kind = _patterns(violates)
        possible = (patterns.astype(np.float32) @ samples.required[:, numbers].T == 0).astype(np.float32)
        met = (alive @ possible.T)[parent, kind]
        if len(met) > width:
            good = np.flatnonzero(met >= np.partition(met, -width)[-width])
            chosen, parent, met = chosen[good], parent[good], met[good]
            violates, kind = violates[good], kind[good]
        violated = violated[parent]
        violated[:, numbers] = violates
        keep = np.lexsort((violated @ samples.weights, -met))[:width]
        chosen, violated, met = chosen[keep], violated[keep], met[keep]
        alive = alive[parent[keep]] * possible[kind[keep]]
    return Choices(pools, chosen, violated, met)


def _patterns(rows: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """The distinct rows, and the number of each row among them."""
    codes = rows @ (1 << np.arange(rows.shape[1], dtype=np.int64))
    _, first, kind = np.unique(codes, return_index=True, return_inverse=True)
    return rows[first], kind.ravel()


def _violated(
    grid: StateGrid, index: AtomIndex, literal: Literals, atom: LiftedAtom, chosen: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Under which choices the literal is violated, or may be where its atom is unknown."""
    held = np.asarray(grid.true(atom, index, chosen))
    return held | grid.unknown(atom, index, chosen) if literal.negative else ~held


def _by_last_parameter(
    index: AtomIndex, literals: Sequence[Literals]
) -> dict[int, list[tuple[int, LiftedAtom]]]:
    """The literals by the last parameter that they name (-1: none), each with its number and its atom."""
    by_last: dict[int, list[tuple[int, LiftedAtom]]] = {last: [] for last in range(-1, index.header.arity)}
    for number, literal in enumerate(literals):
        atom = index.atom(literal.positive | literal.negative)
        last = max((a for a in atom.arguments if isinstance(a, int)), default=-1)
        by_last[last].append((number, atom))
    return by_last


def _extended(
    chosen: NDArray[np.intp], pools: Sequence[Sequence[str]], repeated: bool
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Every partial choice extended by every object (that it does not name yet, unless ``repeated``), and the number of that choice."""
    last = chosen.shape[1]
    count = len(pools[last])
    longer = np.empty((len(chosen) * count, last + 1), dtype=np.intp)
    longer[:, :last] = np.repeat(chosen, count, axis=0)
    longer[:, last] = np.tile(np.arange(count), len(chosen))
    distinct = np.ones(len(longer), dtype=np.bool_)
    for first in () if repeated else range(last):
        if pools[first] == pools[last]:
            distinct &= longer[:, first] != longer[:, last]
        elif not set(pools[first]).isdisjoint(pools[last]):
            names, others = (np.array(pools[one], dtype=np.str_) for one in (first, last))
            distinct &= names[longer[:, first]] != others[longer[:, last]]
    return longer[distinct], np.repeat(np.arange(len(chosen)), count)[distinct]
