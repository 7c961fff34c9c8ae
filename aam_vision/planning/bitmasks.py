"""Sets of small numbers as Python integers: bit ``n`` is set if ``n`` is in the set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


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
