"""Choices of arguments for steps that are made up, preferring objects that no other step uses."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from aam_vision.strips import Objects

TURNS = 4
"""Choices of arguments that are tried for one step."""

Pinned = tuple[tuple[int, str], ...]
"""Parameters, by number, with the objects that they have to stand for."""


class ArgumentChoices:
    """Choices from the objects of a problem, those not in use first."""

    def __init__(self, objects: Objects, used: Collection[str] = ()) -> None:
        self._objects = objects
        self._used = used
        self._unused: dict[str, list[str]] = {}
        self._known: dict[tuple[tuple[str, ...], Pinned], tuple[tuple[str, ...], ...]] = {}

    def choices(self, types: tuple[str, ...], pinned: Pinned = ()) -> tuple[tuple[str, ...], ...]:
        """Some choices of arguments of these types, no object twice, with some of them pinned."""
        found = self._known.get((types, pinned))
        if found is None:
            found = self._known[types, pinned] = tuple(dict.fromkeys(self._chosen(types, pinned)))
        return found

    def _chosen(self, types: tuple[str, ...], pinned: Pinned) -> Iterator[tuple[str, ...]]:
        if any(name not in self._objects.members(types[place]) for place, name in pinned):
            return
        if len({name for _, name in pinned}) < len(pinned):
            return
        start = [""] * len(types)
        for place, name in pinned:
            start[place] = name
        others = [
            (place, self._not_in_use(kind), self._objects.of_type(kind))
            for place, kind in enumerate(types)
            if not start[place]
        ]
        for turn in range(TURNS):
            chosen = start.copy()
            for place, unused, pool in others:
                free = [name for name in unused if name not in chosen]
                free = free or [name for name in pool if name not in chosen]
                if not free:
                    return
                chosen[place] = free[turn % len(free)]
            yield tuple(chosen)

    def _not_in_use(self, kind: str) -> list[str]:
        unused = self._unused.get(kind)
        if unused is None:
            unused = [name for name in self._objects.of_type(kind) if name not in self._used]
            self._unused[kind] = unused
        return unused
