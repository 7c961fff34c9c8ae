"""Bilinear reduction of 8-bit images with antialiasing, to the bit as torch's ``interpolate`` does it.

Columns first, then rows, each with weights rounded to as many fractional bits as 16 hold, and results rounded to bytes.
All sums are whole numbers, which floating point numbers of the right size hold exactly, whatever their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from aam_vision.support.products import product

_BLOCK = 16
"""Reduced pixels that are made together, from the part of the source that they depend on."""


@dataclass(frozen=True)
class _Part:
    """Some reduced pixels: ``reduced`` are the weighted sums of ``source``; ``weights`` are (source, reduced)."""

    source: slice
    reduced: slice
    weights: NDArray[np.floating]


@dataclass(frozen=True)
class _Axis:
    """The reduction of one axis; sums are divided by ``2 ** bits``."""

    parts: tuple[_Part, ...]
    bits: int
    size: int


def resized(images: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """Images in another size: uint8 (N, H, W, 3) -> (N, 3, height, width), 1 pixel or more each way."""
    number, rows, columns, colours = images.shape
    across = _reduced(np.ascontiguousarray(images.transpose(0, 1, 3, 2)), _axis(columns, width))
    down = _reduced(np.ascontiguousarray(across.transpose(0, 2, 3, 1)), _axis(rows, height))
    found: NDArray[np.uint8] = down.transpose(0, 1, 3, 2).astype(np.uint8)
    return found.reshape(number, colours, height, width)


def _reduced(values: NDArray[np.generic], axis: _Axis) -> NDArray[np.floating]:
    """The last axis reduced to whole numbers from 0 to 255."""
    exact = _type(axis.bits)
    lines = values.reshape(-1, values.shape[-1]).astype(exact)
    sums = np.empty((len(lines), axis.size), exact)
    for part in axis.parts:
        sums[:, part.reduced] = product(lines[:, part.source], part.weights)
    sums += 0.5 * 2.0**axis.bits
    sums *= 2.0**-axis.bits
    np.floor(sums, out=sums)
    np.clip(sums, 0, 255, out=sums)
    return sums.reshape(*values.shape[:-1], axis.size)


@lru_cache(maxsize=256)
def _axis(source: int, reduced: int) -> _Axis:
    """The weights for ``source`` pixels that become ``reduced``."""
    scale = source / reduced
    support = max(scale, 1.0)
    inverse = 1 / support
    first, rows = [], []
    for number in range(reduced):
        centre = scale * (number + 0.5)
        start = max(int(centre - support + 0.5), 0)
        stop = min(int(centre + support + 0.5), source)
        stop = min(stop, start + 2 * ceil(support) + 1)
        weights = np.maximum(1 - abs((np.arange(stop - start) + (start - centre) + 0.5) * inverse), 0)
        first.append(start)
        rows.append(weights / sum(weights.tolist()))  # summed one by one: the last bit counts
    bits = _precision(max(float(row.max()) for row in rows))
    whole = [np.floor(row * 2.0**bits + 0.5).astype(_type(bits)) for row in rows]
    parts = []
    for start in range(0, reduced, _BLOCK):
        here = range(start, min(start + _BLOCK, reduced))
        low, high = first[here[0]], max(first[number] + len(whole[number]) for number in here)
        matrix = np.zeros((high - low, len(here)), _type(bits))
        for place, number in enumerate(here):
            matrix[first[number] - low : first[number] - low + len(whole[number]), place] = whole[number]
        parts.append(_Part(slice(low, high), slice(start, here[-1] + 1), matrix))
    return _Axis(tuple(parts), bits, reduced)


def _type(bits: int) -> type[np.floating]:
    """What holds sums of bytes exactly whose weights add up to ``2 ** bits``."""
    return np.float32 if bits <= 16 else np.float64


def _precision(greatest: float) -> int:
    """The number of fractional bits with which the greatest weight still fits in 16 bits."""
    bits = 0
    while bits < 22 and int(0.5 + greatest * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    return bits
