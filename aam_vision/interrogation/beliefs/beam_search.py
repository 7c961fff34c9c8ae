"""The arguments under which most guesses at an action's precondition hold.

There are too many choices of arguments to compare them all, so this is a beam search over the parameters in
their order. A partial choice is as good as the number of guesses that it does not violate yet, which is an upper
bound for every completion of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.beliefs.binding_grid import StateGrid
from aam_vision.interrogation.beliefs.constants import BEAM_WIDTH
from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals
from aam_vision.joins import Row
from aam_vision.strips import LiftedAtom


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

    rows: list[Row]
    violated: NDArray[np.bool_]
    """Which literals each violates, shape ``(choices, literals)``."""
    met: NDArray[np.float32]
    """The number of guesses that hold under each."""


def best_choices(
    grid: StateGrid, index: AtomIndex, proven: Literals, samples: Samples, width: int = BEAM_WIDTH
) -> Choices:
    """Choices of distinct objects under which all proven literals and most guesses hold, if any.

    Args:
        grid: the state.
        index: the action's atoms.
        proven: literals that no choice violates.
        samples: guesses at the literals that the action requires besides.
        width: how many choices are kept, at most.
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
            chosen, parent = _extended(chosen, pools)
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
    rows = [tuple(pool[i] for pool, i in zip(pools, row, strict=True)) for row in chosen.tolist()]
    return Choices(rows, violated, met)


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
    chosen: NDArray[np.intp], pools: Sequence[Sequence[str]]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Every partial choice extended by every object that it does not name yet, and the number of that choice."""
    last = chosen.shape[1]
    count = len(pools[last])
    longer = np.empty((len(chosen) * count, last + 1), dtype=np.intp)
    longer[:, :last] = np.repeat(chosen, count, axis=0)
    longer[:, last] = np.tile(np.arange(count), len(chosen))
    distinct = np.ones(len(longer), dtype=np.bool_)
    names = [np.array(pool, dtype=np.str_) for pool in pools]
    for first in range(last):
        if pools[first] == pools[last]:
            distinct &= longer[:, first] != longer[:, last]
        else:
            distinct &= names[first][longer[:, first]] != names[last][longer[:, last]]
    return longer[distinct], np.repeat(np.arange(len(chosen)), count)[distinct]
