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

from aam_vision.interrogation.evidence.graph import Node
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.planning.joins import StateIndex, bindings


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
        return next(bindings(state, index.header, atoms, repeated=index.repeated), None) is not None

    true = [number for number in range(len(index.atoms)) if hold(number)]
    together[true, true] = True
    for second, first in combinations(true, 2):
        if together[first, second] or _one_fact(index, state, first, second):
            continue
        if hold(first, second):
            together[first, second] = together[second, first] = True


def _one_fact(index: AtomIndex, state: StateIndex, first: int, second: int) -> bool:
    """Whether two atoms that differ in one argument hold as one fact only, which names one object for both parameters.

    A truck has one level of goods: who requires that of two parameters means the same one, and would name one.
    """
    one, other = index.atoms[first], index.atoms[second]
    if not index.repeated or one.predicate != other.predicate:
        return False
    pairs = zip(one.arguments, other.arguments, strict=True)
    differing = [place for place, (a, b) in enumerate(pairs) if a != b]
    if len(differing) > 1:
        return False
    (place,) = differing
    rows = state.rows[one.predicate]
    return len({row[:place] + row[place + 1 :] for row in rows}) == len(rows)
