"""Sets of small numbers as Python integers: bit ``n`` is set if ``n`` is in the set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

BLOCK = 256
"""Bytes of each set that are turned together. More: faster, more memory."""


def numbers_in(mask: int) -> Iterator[int]:
    """The numbers in the set, the smallest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(numbers: Iterable[int]) -> int:
    """The set of these numbers."""
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def turned(sets: Sequence[int], names: Sequence[int], size: int) -> Iterator[tuple[int, int]]:
    """For each number in any of the sets, which sets it is in, by their names.

    Args:
        sets: sets of numbers below ``size``.
        names: a number below ``size`` for each of them.
        size: more than all of these numbers.
    """
    width = (size + 7) // 8
    data = b"".join(one.to_bytes(width, "little") for one in sets)
    packed = np.frombuffer(data, dtype=np.uint8).reshape(len(sets), width)
    for first in range(0, width if sets else 0, BLOCK):
        columns = np.unpackbits(packed[:, first : first + BLOCK], axis=1, bitorder="little")
        numbers = np.flatnonzero(columns.any(axis=0))
        members = np.zeros((len(numbers), size), dtype=np.uint8)
        members[:, names] = columns[:, numbers].T
        rows = np.packbits(members, axis=1, bitorder="little")
        for number, row in zip((numbers + 8 * first).tolist(), rows, strict=True):
            yield number, int.from_bytes(row.tobytes(), "little")
