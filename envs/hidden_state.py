"""What an environment remembers besides its picture: whether two copies of it remember the same.

Generators of random numbers are left out: their state matters only through what is drawn from them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from enum import Enum
from types import ModuleType
from typing import Any, Final

import gymnasium
import numpy as np

DEPTH: Final = 8
"""Attributes of attributes that are looked at."""
_PLAIN: Final = (int, float, complex, str, bytes, bool, type(None), np.generic, Enum)
_CHANCE: Final = (np.random.Generator, np.random.RandomState, random.Random, np.random.BitGenerator)
_LEFT_OUT: Final = (*_CHANCE, gymnasium.Space, ModuleType, type)
_OWN_CHANCE: Final = ("_np_random", "_np_random_seed")
"""Attributes of every environment that say how chance was seeded."""


def difference(one: object, other: object, name: str = "env") -> str | None:
    """Where two values differ: ``env.wind is 2 and 5``; None if they do not, as far as they can be looked into."""
    return next(_differences(one, other, name, DEPTH, set()), None)


def _differences(one: Any, other: Any, name: str, depth: int, seen: set[tuple[int, int]]) -> Iterator[str]:
    if one is other or (id(one), id(other)) in seen or not depth or isinstance(one, _LEFT_OUT):
        return
    seen.add((id(one), id(other)))
    if type(one) is not type(other):
        yield f"{name} is {_shown(one)} and {_shown(other)}"
    elif isinstance(one, np.ndarray) and one.dtype != object:
        if not _same_numbers(one, other):
            yield f"{name} has other values"
    elif isinstance(one, _PLAIN):
        if one != other and not (one != one and other != other):  # NaN is like NaN
            yield f"{name} is {_shown(one)} and {_shown(other)}"
    elif isinstance(one, (set, frozenset)):
        if len(one) != len(other) or (all(isinstance(member, _PLAIN) for member in one) and one != other):
            yield f"{name} is {_shown(one)} and {_shown(other)}"
    else:
        parts, others = dict(_parts(one)), dict(_parts(other))
        if parts.keys() != others.keys():
            yield f"{name} has {len(parts)} and {len(others)} parts"
            return
        for part, value in parts.items():
            yield from _differences(value, others[part], f"{name}{part}", depth - 1, seen)


def _same_numbers(one: Any, other: Any) -> bool:
    if one.shape != other.shape:
        return False
    return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


def _parts(whole: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a value that can be looked into, each with how it is reached."""
    if isinstance(whole, Mapping):
        yield from (
            (f"[{key!r}]", value) for key, value in whole.items() if isinstance(key, (*_PLAIN, tuple))
        )
    elif isinstance(whole, (list, tuple)) or (isinstance(whole, np.ndarray) and whole.ndim):
        yield from ((f"[{place}]", value) for place, value in enumerate(whole))
    elif not callable(whole) or isinstance(whole, gymnasium.Env):
        for name, value in getattr(whole, "__dict__", {}).items():
            if name not in _OWN_CHANCE:
                yield f".{name}", value


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 40 else f"{text[:37]}..."


def redraw_chance(env: gymnasium.Env[Any, Any], seed: int) -> None:
    """Seed all generators of random numbers that an environment and its wrappers hold as attributes."""
    layer: Any = env
    while True:
        for name, value in list(vars(layer).items()):
            if isinstance(value, np.random.Generator):
                setattr(layer, name, np.random.default_rng(seed))
            elif isinstance(value, np.random.RandomState):
                setattr(layer, name, np.random.RandomState(seed))
            elif isinstance(value, random.Random):
                setattr(layer, name, random.Random(seed))
        if layer is env.unwrapped:
            break
        layer = layer.env
