"""The number of a vocabulary's lifted atoms, counted before they are made: a stranger may have written it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod

from aam_vision.strips import ActionHeader, Types, Vocabulary

MAX_LIFTED_ATOMS = 100_000
"""Lifted atoms of all actions together, at most; so many take about 2 GB."""


def count_lifted_atoms(vocabulary: Vocabulary, headers: Sequence[ActionHeader]) -> int:
    """The number of lifted atoms of all actions, those with repeated arguments included."""
    constants = _counted(vocabulary.types, vocabulary.constants.values())
    total = 0
    for header in headers:
        own = _counted(vocabulary.types, header.types)
        total += sum(
            prod(constants[kind] + own[kind] for kind in predicate.types)
            for predicate in vocabulary.predicates
        )
    return total


def _counted(types: Types, kinds: Iterable[str]) -> Counter[str]:
    """The number of things of each type, given the type of each thing."""
    found: Counter[str] = Counter()
    for kind, number in Counter(kinds).items():
        for above in types.ancestry(kind):
            found[above] += number
    return found
