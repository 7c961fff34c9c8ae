"""A function of a scene, computed once for each of the latest scenes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from aam_vision.perception import Scene

T = TypeVar("T")

KEPT: Final = 32
"""Scenes to remember: more cost memory, fewer are computed again when problems take turns."""


class PerScene(Generic[T]):
    """Remembers what a function gives for the latest scenes.

    Scenes hold dictionaries and cannot be hashed. They are told apart by identity, and kept alive while remembered.
    """

    def __init__(self, compute: Callable[[Scene], T], keep: int = KEPT) -> None:
        self._compute, self._keep = compute, keep
        self._known: OrderedDict[int, tuple[Scene, T]] = OrderedDict()

    def __call__(self, scene: Scene) -> T:
        known = self._known.get(id(scene))
        if known is None:
            known = self._known[id(scene)] = (scene, self._compute(scene))
            if len(self._known) > self._keep:
                self._known.popitem(last=False)
        return known[1]
