"""Which atoms of an action have been seen true together, under some choice of arguments.

What an action requires can hold: a thing is never at two places, nor a cell clear and taken. Two atoms that have
each been true, but never together, are improbable as preconditions of one action. The more situations were
seen, the surer that is; it only orders questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.joins import StateIndex, bindings


@dataclass
class CoOccurrence:
    """What the situations so far have shown, by action."""

    _seen: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    _looked: dict[str, int] = field(default_factory=dict)

    def apart(self, index: AtomIndex, nodes: Sequence[Node]) -> NDArray[np.bool_]:
        """Pairs of the action's atoms that have each been true, but never together; shape ``(atoms, atoms)``.

        ``nodes`` are the situations so far, always in the same order.
        """
        name = index.header.name
        seen = self._seen.setdefault(name, np.zeros((len(index.atoms),) * 2, dtype=np.bool_))
        for node in nodes[self._looked.get(name, 0) :]:
            _look(index, node.index_when_new, seen)
        self._looked[name] = len(nodes)
        ever = seen.diagonal()
        return np.outer(ever, ever) & ~seen


def _look(index: AtomIndex, state: StateIndex, seen: NDArray[np.bool_]) -> None:
    """Mark the pairs that are true together in a situation under some arguments."""
    here = [
        number
        for number, atom in enumerate(index.atoms)
        if next(bindings(state, index.header, [atom]), None) is not None
    ]
    seen[here, here] = True
    for place, first in enumerate(here):
        for second in here[:place]:
            if not seen[first, second]:
                pair = [index.atoms[first], index.atoms[second]]
                if next(bindings(state, index.header, pair), None) is not None:
                    seen[first, second] = seen[second, first] = True
