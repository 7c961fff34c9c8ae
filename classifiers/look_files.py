"""Labelled looks as bytes: a safetensors file, which cannot run code, beside the weights."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as parse_tensors
from safetensors.numpy import save as dump_tensors

from aam_vision.classifiers.looks import EDGE, LabelledLooks
from aam_vision.errors import UnusableInput

MOST: Final = 100_000
"""Cells in a file; larger ones would take minutes to be compared with."""

_TYPES: Final = {
    "looks": np.uint8,
    "cells": np.int32,
    "places": np.int32,
    "asked": np.uint8,
    "labels": np.int8,
    "limits": np.float32,
}


def to_bytes(looks: LabelledLooks) -> bytes:
    """The content of a file."""
    parts = {name: np.ascontiguousarray(getattr(looks, name), kind) for name, kind in _TYPES.items()}
    content: bytes = dump_tensors(parts)
    return content


def from_bytes(content: bytes, heads: int, side: int) -> LabelledLooks:
    """The looks in a file, which may be anybody's.

    Args:
        content: of the file.
        heads: number of classifiers of the network.
        side: of a cell in its boards, in pixels.

    Raises:
        UnusableInput: they are none, or do not belong to such a network; the message goes after the name of the file.
    """
    try:
        parts = parse_tensors(content)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise UnusableInput(f"is no safetensors file ({error})") from None
    for name, kind in _TYPES.items():
        if name not in parts or parts[name].dtype != kind:
            raise UnusableInput(f"has no {name} of type {np.dtype(kind)}")
    number, cells = len(parts["limits"].reshape(-1)), len(parts["places"].reshape(-1))
    shapes = {
        "looks": (len(parts["looks"]) if parts["looks"].ndim else 0, 3, side + 2, side + 2),
        "cells": (cells,),
        "places": (cells,),
        "asked": (number, heads),
        "labels": (number, heads),
        "limits": (number,),
    }
    for name, shape in shapes.items():
        if parts[name].shape != shape:
            raise UnusableInput(f"has {name} of shape {parts[name].shape}, not {shape}")
    looks = parts["looks"]
    if not (
        side > 2 * EDGE
        and 0 < number <= cells <= MOST
        and len(looks) <= MOST
        and _within(parts["cells"], 0, len(looks) - 1)
        and _within(parts["asked"], 0, 1)
        and _within(parts["labels"], -1, 1)
        and np.array_equal(np.unique(parts["places"]), np.arange(number))
        and np.isfinite(parts["limits"]).all()
    ):
        raise UnusableInput("has numbers that mean nothing")
    return LabelledLooks(
        looks, parts["cells"], parts["places"], parts["asked"] > 0, parts["labels"], parts["limits"]
    )


def _within(numbers: NDArray[np.integer], least: int, most: int) -> bool:
    return bool(least <= numbers.min(initial=most) and numbers.max(initial=least) <= most)
