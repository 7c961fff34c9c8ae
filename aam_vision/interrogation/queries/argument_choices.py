"""Choices of arguments for steps that are made up, preferring objects that no other step uses."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import lru_cache, partial

from aam_vision.strips import Objects

TURNS = 4
"""Choices of arguments that are tried for one step."""
KEPT = 5000
"""Choices that are remembered at most."""

Pinned = tuple[tuple[int, str], ...]
"""Parameters, by number, with the objects that they have to stand for."""


class ArgumentChoices:
    """Choices from the objects of a problem, those not in use first."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._fitting: dict[tuple[str, ...], frozenset[str]] = {}
        self._chosen = lru_cache(KEPT)(partial(_distinct, objects))

    def choices(
        self, types: tuple[str, ...], pinned: Pinned = (), used: Set[str] = frozenset()
    ) -> tuple[tuple[str, ...], ...]:
        """Some choices of arguments of these types, no object twice, with some of them pinned."""
        fitting = self._fitting.get(types)
        if fitting is None:
            fitting = self._fitting[types] = frozenset().union(*map(self._objects.members, types))
        return self._chosen(types, pinned, fitting & used)


def _distinct(
    objects: Objects, types: tuple[str, ...], pinned: Pinned, used: frozenset[str]
) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(_choices(objects, types, pinned, used)))


def _choices(
    objects: Objects, types: tuple[str, ...], pinned: Pinned, used: frozenset[str]
) -> Iterator[tuple[str, ...]]:
    if any(name not in objects.members(types[place]) for place, name in pinned):
        return
    if len({name for _, name in pinned}) < len(pinned):
        return
    start = [""] * len(types)
    for place, name in pinned:
        start[place] = name
    pools = {kind: objects.of_type(kind) for kind in types}
    unused = {kind: [name for name in pool if name not in used] for kind, pool in pools.items()}
    others = [(place, unused[kind], pools[kind]) for place, kind in enumerate(types) if not start[place]]
    for turn in range(TURNS):
        chosen = start.copy()
        for place, first, pool in others:
            free = [name for name in first if name not in chosen]
            free = free or [name for name in pool if name not in chosen]
            if not free:
                return
            chosen[place] = free[turn % len(free)]
        yield tuple(chosen)
