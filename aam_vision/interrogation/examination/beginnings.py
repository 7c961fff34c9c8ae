"""Where a plan of the examination may begin: in situations of the interrogation, or in states made for it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

import numpy as np

from aam_vision.interrogation.evidence.entries import Asked
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, State, Vocabulary

MOST_CHANGED = 1000
"""Atoms of one predicate, at most, of which some are changed at once."""


def initial(evidence: Evidence) -> list[Node]:
    """Where the problems begin."""
    return [node for node in evidence.nodes if node.initial]


def beginnings(evidence: Evidence, access: Access, *, several: bool) -> list[Node]:
    """The situations in which the access lets a query begin anew.

    ``several``: whether several copies of the agent are asked at a time.
    """
    if several:
        return [*initial(evidence), *_ends(evidence)]
    return initial(evidence) if access.episodic else [*initial(evidence), *evidence.visited]


def _ends(evidence: Evidence) -> list[Node]:
    """Where steps have ended so far; not what was only written to be asked about, of which no answer tells."""
    found: dict[int, Node] = {}
    for exchange in evidence.exchanges:
        entry = exchange.entry
        ends = [entry.response.final] if isinstance(entry, Asked) else [step.after for step in entry.steps]
        for node in map(evidence.situation, ends):
            if node.situation is not None:
                found.setdefault(node.number, node)
    return list(found.values())


def some(nodes: list[Node], count: int, rng: np.random.Generator) -> list[Node]:
    """So many of them at random, or all."""
    return [nodes[int(number)] for number in rng.permutation(len(nodes))[:count]]


def unlike(vocabulary: Vocabulary, state: State, rng: np.random.Generator) -> State:
    """The state with all atoms of one predicate false, or some of them changed: seldom does a problem come to that.

    The outcome of a step must not depend on them, as far as its arguments do not name their objects.
    """
    predicate = vocabulary.predicates[int(rng.integers(len(vocabulary.predicates)))]
    kept = frozenset(atom for atom in state.true if atom[0] != predicate.name)
    names = [state.objects.of_type(kind) for kind in predicate.types]
    if kept != state.true and (rng.random() < 0.5 or prod(map(len, names)) > MOST_CHANGED):
        return replace(state, true=kept)
    rows = [row for row in product(*names) if len(set(row)) == len(row)]
    if not rows or len(rows) > MOST_CHANGED:
        return state
    changed = rng.permutation(len(rows))[: int(rng.integers(1, len(rows) + 1))]
    return replace(state, true=state.true ^ {Atom(predicate.name, rows[int(number)]) for number in changed})
