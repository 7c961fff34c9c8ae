"""Where what an action does differs: cells of contexts, in which certain atoms have certain values.

In a cell, everything that may come of a step is compared between the contexts with each other atom and those without it: that
an atom is added (where it was false) or deleted (where it was true), or an outcome in situations that show all of them. Adding and
deleting an atom have no more than one chance together; where both are likelier than that, the outcomes depend on that atom itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb, log

import numpy as np

from aam_vision.interrogation.chance.betting import Numbers, against_one_frequency, likeliest
from aam_vision.interrogation.chance.explaining import Explanation
from aam_vision.interrogation.chance.observations import Observations, holds
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.model.outcomes import MAX_OUTCOMES


class Cells:
    """How often what came in each context, and where that differs.

    Args:
        steps: all executed steps of the action.
        atoms: how many atoms it has.
        explanation: the fewest outcomes that explain all steps.
        alpha: probability that any difference is told that there is not.
    """

    def __init__(self, steps: Observations, atoms: int, explanation: Explanation, alpha: float) -> None:
        self._atoms = atoms
        self._alpha = alpha
        self._known: dict[Literals, int] = {}
        self.contexts = list(steps.contexts)
        self.bits = np.array(
            [[held >> one & 1 for one in range(atoms)] for held in self.contexts], dtype=float
        )
        tried: list[list[int]] = []
        hits: list[list[int]] = []
        self.both: list[tuple[int, int, int]] = []
        """Atoms that are both added and deleted, with the numbers of these two."""
        made = [sum(afters.values()) for afters in steps.contexts.values()]
        for atom in range(atoms):
            numbers = []
            for value in (0, 1):
                own = [
                    sum(count for now, count in afters.items() if now >> atom & 1 != value)
                    if held >> atom & 1 == value
                    else 0
                    for held, afters in steps.contexts.items()
                ]
                if any(own):
                    numbers.append(len(tried))
                    hits.append(own)
                    tried.append(
                        [
                            count if held >> atom & 1 == value else 0
                            for held, count in zip(self.contexts, made, strict=True)
                        ]
                    )
            if len(numbers) == 2:
                self.both.append((atom, numbers[0], numbers[1]))
        if explanation.sure and len(explanation.outcomes) > 1:
            shows = [explanation.revealing(held) for held in self.contexts]
            for one in explanation.outcomes:
                tried.append([count * shown for count, shown in zip(made, shows, strict=True)])
                hits.append(
                    [
                        steps.contexts[held].get((held | one.adds) & ~one.deletes, 0) * shown
                        for held, shown in zip(self.contexts, shows, strict=True)
                    ]
                )
        self.tried = np.array(tried, dtype=float).reshape(len(tried), len(made))
        self.hits = np.array(hits, dtype=float).reshape(len(hits), len(made))

    def inside(self, cell: Literals) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which contexts are in a cell."""
        return np.array([holds(cell, held) for held in self.contexts], dtype=bool)

    def _sums(self, cell: Literals) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Trials and hits with and without each atom: arrays (what came, atom)."""
        inside = self.inside(cell)
        tried, hits, bits = self.tried[:, inside], self.hits[:, inside], self.bits[inside]
        with_, hit = tried @ bits, hits @ bits
        return with_, hit, tried.sum(1, keepdims=True) - with_, hits.sum(1, keepdims=True) - hit

    def strength(self, cell: Literals) -> Numbers:
        """The likelihood ratio of two frequencies, with and without an atom, to one: array (what came, atom)."""
        one, hit, other, missed = self._sums(cell)
        ratio: Numbers = likeliest(hit, one) + likeliest(missed, other) - likeliest(hit + missed, one + other)
        return ratio

    def differing(self, cell: Literals) -> int:
        """An atom with which something came surely more often in a cell, or less; -1 if there is none."""
        if cell not in self._known:
            self._known[cell] = self._looked(cell)
        return self._known[cell]

    def _evidence(self, cell: Literals) -> Numbers:
        """Against one frequency with and without an atom: array (what came, atom)."""
        with_, hit, without, missed = self._sums(cell)
        return against_one_frequency(np.array([hit, missed]), np.array([with_, without]))

    def doubtful(self, cell: Literals) -> int:
        """The atoms for which a bet that something differs in a cell of this size pays on the whole, as a mask."""
        evidence = self._evidence(cell)
        bound = log(2 * self._atoms * max(1, evidence.size))
        return sum(1 << int(atom) for atom in np.flatnonzero((evidence >= bound).any(0)))

    def _looked(self, cell: Literals) -> int:
        alpha = self._share(size_of(cell))
        evidence = self._evidence(cell)
        if evidence.size and evidence.max() >= log(1 / alpha):
            return int(np.unravel_index(int(evidence.argmax()), evidence.shape)[1])
        inside = self.inside(cell)
        for atom, *both in self.both:  # what deletes it no more than what does not add it
            hits, tried = (array[both][:, inside].sum(1) for array in (self.hits, self.tried))
            if (hits / np.maximum(tried, 1)).sum() > 1:
                hits[1] = tried[1] - hits[1]
                if against_one_frequency(hits, tried) >= log(1 / alpha):
                    return atom
        return -1

    def _share(self, size: int) -> float:
        """The error probability of one interval in a cell of so many atoms."""
        cells = comb(self._atoms, size) << size
        each = 2 * (self._atoms + 1) * (2 * self._atoms + MAX_OUTCOMES)
        return self._alpha / 2.0 ** (size + 1) / (cells * each)

    def likelihood(self, cells: Iterable[Literals]) -> float:
        """The logarithm of the likelihood of all steps if the outcomes are the same in each of these cells."""
        total = 0.0
        for cell in cells:
            inside = self.inside(cell)
            tried, hits = self.tried[:, inside].sum(1), self.hits[:, inside].sum(1)
            for made, hit in zip(tried.tolist(), hits.tolist(), strict=True):
                total += sum(part * log(part / made) for part in (hit, made - hit) if part > 0)
        return total


def size_of(cell: Literals) -> int:
    """The number of atoms of which a cell fixes the value."""
    return (cell.positive | cell.negative).bit_count()
