"""Pairs of an action's atoms that were never true together, under any choice of arguments.

A thing is never at two places, nor is a cell both clear and occupied. Two atoms that have each been true, but never
together, are improbable as preconditions of one action. The more situations were seen, the surer that is; it only
orders questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.joins import StateIndex, bindings


@dataclass
class CoOccurrence:
    """The pairs of atoms that were true together in the situations so far, by action."""

    _together: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    _searched: dict[str, int] = field(default_factory=dict)

    def never_together(self, index: AtomIndex, nodes: Sequence[Node]) -> NDArray[np.bool_]:
        """Pairs of the action's atoms that have each been true, but never together; shape ``(atoms, atoms)``.

        ``nodes`` are the situations so far, always in the same order.
        """
        name = index.header.name
        together = self._together.setdefault(name, np.zeros((len(index.atoms),) * 2, dtype=np.bool_))
        for node in nodes[self._searched.get(name, 0) :]:
            _mark(index, node.index_when_new, together)
        self._searched[name] = len(nodes)
        ever = together.diagonal()
        return np.outer(ever, ever) & ~together


def _mark(index: AtomIndex, state: StateIndex, together: NDArray[np.bool_]) -> None:
    """Mark the pairs of atoms that are true together in a situation."""

    def hold(*numbers: int) -> bool:
        atoms = [index.atoms[number] for number in numbers]
        return next(bindings(state, index.header, atoms), None) is not None

    true = [number for number in range(len(index.atoms)) if hold(number)]
    together[true, true] = True
    for second, first in combinations(true, 2):
        if not together[first, second] and hold(first, second):
            together[first, second] = together[second, first] = True
