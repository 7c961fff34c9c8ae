"""What perception keeps of images and scenes, so that one seen again costs nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from hashlib import sha256
from typing import Generic, TypeVar

import numpy as np

from aam_vision.agents.perception import Frame

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


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


def digest_of(frame: Frame) -> bytes:
    """What equal images share, and others do not."""
    digest = sha256(repr(frame.shape).encode())
    digest.update(np.ascontiguousarray(frame).data)
    return digest.digest()
