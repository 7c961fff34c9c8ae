"""The arguments under which most of the guesses at what an action requires hold.

There are too many choices of arguments to compare them all, so this is a beam search over the parameters in
their order. A partial choice is as good as the guesses that it leaves possible: those that require nothing
which it already settles to be otherwise. That is never less than what any completion of it has.
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
    """Guesses at what an action requires, drawn from the posterior."""

    literals: Sequence[Literals]
    """What a guess may require."""
    required: NDArray[np.float32]
    """What each does require, 0 or 1, shape ``(guesses, literals)``."""
    weights: NDArray[np.float64]
    """What it costs to violate a literal, between choices that leave the same guesses possible."""


class Choices(NamedTuple):
    """Choices of arguments, the best first."""

    rows: list[Row]
    violated: NDArray[np.bool_]
    """Which of the literals each violates, shape ``(choices, literals)``."""
    met: NDArray[np.float32]
    """How many of the guesses hold under each."""


def best_choices(
    grid: StateGrid, index: AtomIndex, proven: Literals, samples: Samples, width: int = BEAM_WIDTH
) -> Choices:
    """Choices of distinct objects under which all that is proven and most of the guesses hold, if any.

    Args:
        grid: the state.
        index: the action's atoms.
        proven: literals that no choice violates.
        samples: guesses at what the action requires besides.
        width: how many choices are kept, at most.
    """
    pools = [grid.state.objects.of_type(kind) for kind in index.header.types]
    certain = len(samples.literals)
    literals = [*samples.literals, *proven.singles()]
    due = _due(index, literals)
    chosen = np.zeros((1, 0), dtype=np.intp)
    violated = np.zeros((1, certain), dtype=np.bool_)
    alive = np.ones((1, len(samples.required)), dtype=np.float32)
    met = alive.sum(axis=1)
    for last in range(-1, len(pools)):
        parent = np.zeros(1, dtype=np.intp)
        if last >= 0:
            chosen, parent = _extended(chosen, pools)
        settled = [
            (number, _violated(grid, index, literals[number], atom, chosen)) for number, atom in due[last]
        ]
        fit = np.ones(len(chosen), dtype=np.bool_)
        for number, off in settled:
            if number >= certain:
                fit &= ~off
        chosen, parent = chosen[fit], parent[fit]
        settled = [(number, off[fit]) for number, off in settled if number < certain]
        numbers = [number for number, _ in settled]
        off = np.array([off for _, off in settled], dtype=np.bool_).reshape(len(settled), len(chosen)).T
        patterns, kind = _patterns(off)
        possible = (patterns.astype(np.float32) @ samples.required[:, numbers].T == 0).astype(np.float32)
        met = (alive @ possible.T)[parent, kind]
        if len(met) > width:
            good = np.flatnonzero(met >= np.partition(met, -width)[-width])
            chosen, parent, kind, off, met = chosen[good], parent[good], kind[good], off[good], met[good]
        violated = violated[parent]
        violated[:, numbers] = off
        keep = np.lexsort((violated @ samples.weights, -met))[:width]
        chosen, violated, met = chosen[keep], violated[keep], met[keep]
        alive = alive[parent[keep]] * possible[kind[keep]]
    rows = [tuple(pool[i] for pool, i in zip(pools, row, strict=True)) for row in chosen.tolist()]
    return Choices(rows, violated, met)


def _patterns(rows: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """The different rows, and which of them each row is."""
    codes = rows @ (1 << np.arange(rows.shape[1], dtype=np.int64))
    _, first, kind = np.unique(codes, return_index=True, return_inverse=True)
    return rows[first], kind.ravel()


def _violated(
    grid: StateGrid, index: AtomIndex, literal: Literals, atom: LiftedAtom, chosen: NDArray[np.intp]
) -> NDArray[np.bool_]:
    held = grid.true_at(atom, index, chosen)
    return held | grid.unknown_at(atom, index, chosen) if literal.negative else ~held


def _due(index: AtomIndex, literals: Sequence[Literals]) -> dict[int, list[tuple[int, LiftedAtom]]]:
    """The literals by the last parameter that they name (-1: none), each with its place and its atom."""
    due: dict[int, list[tuple[int, LiftedAtom]]] = {last: [] for last in range(-1, index.header.arity)}
    for number, literal in enumerate(literals):
        atom = index.atoms[(literal.positive | literal.negative).bit_length() - 1]
        last = max((a for a in atom.arguments if isinstance(a, int)), default=-1)
        due[last].append((number, atom))
    return due


def _extended(
    chosen: NDArray[np.intp], pools: Sequence[Sequence[str]]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Every partial choice with every object for the next parameter that it does not name yet; and from which."""
    last = chosen.shape[1]
    count = len(pools[last])
    longer = np.empty((len(chosen) * count, last + 1), dtype=np.intp)
    longer[:, :last] = np.repeat(chosen, count, axis=0)
    longer[:, last] = np.tile(np.arange(count), len(chosen))
    fresh = np.ones(len(longer), dtype=np.bool_)
    names = [np.array(pool, dtype=np.str_) for pool in pools]
    for first in range(last):
        if pools[first] == pools[last]:
            fresh &= longer[:, first] != longer[:, last]
        else:
            fresh &= names[first][longer[:, first]] != names[last][longer[:, last]]
    return longer[fresh], np.repeat(np.arange(len(chosen)), count)[fresh]
