"""What was worked out of images, scenes and states, kept so that it costs nothing when it is asked for again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from hashlib import sha256
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
T = TypeVar("T")


class Recent(Generic[Key, Value]):
    """Values by keys, of which those that were not asked for the longest are dropped.

    Args:
        most: how many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Key, Value] = OrderedDict()

    def __iter__(self) -> Iterator[Value]:
        """The values, those that were not asked for the longest first."""
        return iter(self._kept.values())

    def get(self, key: Key) -> Value | None:
        """What is kept under a key; None if nothing is."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key]

    def keep(self, key: Key, value: Value) -> Value:
        """Keep a value, in the place of any other under its key; returns it."""
        self._kept[key] = value
        self._kept.move_to_end(key)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return value

    def of(self, key: Key, make: Callable[[], Value]) -> Value:
        """What is kept under a key, or is made now and kept; never None."""
        known = self.get(key)
        return self.keep(key, make()) if known is None else known


class PerObject(Generic[T, Value]):
    """A function that is computed once for each of the latest objects.

    Objects such as scenes hold dictionaries and cannot be hashed. They are told apart by identity, and kept alive while remembered.
    """

    def __init__(self, compute: Callable[[T], Value], keep: int = 32) -> None:
        self._compute = compute
        self._known: Recent[int, tuple[T, Value]] = Recent(keep)

    def __call__(self, one: T) -> Value:
        return self._known.of(id(one), lambda: (one, self._compute(one)))[1]

    def __iter__(self) -> Iterator[Value]:
        """What is remembered, of the object that was not asked for the longest first."""
        return (value for _, value in self._known)


def digest_of(frame: NDArray[np.uint8]) -> bytes:
    """What equal images share, and others do not."""
    digest = sha256(repr(frame.shape).encode())
    digest.update(np.ascontiguousarray(frame).data)
    return digest.digest()
