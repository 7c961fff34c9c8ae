"""How a Gymnasium environment is brought back to a state that it was in.

Gymnasium has no word for it, so the user says which of three ways works: ``"copy"`` (a deep copy of the environment),
``"replay"`` (a seeded reset, and the same actions again) or two functions of their own. Whatever takes the way
checks it on images (``gymnasium_simulator``): an environment is trusted to come back no further than it is seen to.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from enum import Enum
from types import ModuleType
from typing import Any, Final, Literal, NamedTuple

import gymnasium
import numpy as np

from aam_vision.support.errors import AgentFailed, UnusableInput, reason

Env = gymnasium.Env[Any, Any]

Restore = Literal["copy", "replay"] | tuple[Callable[[Env], object], Callable[[Env, Any], None]]
"""The way back: by name, or ``(snapshot(env) -> token, restore(env, token))``. Tokens are never looked into."""


class Actions(NamedTuple):
    """Actions since the reset: the last one, and those before it, which all snapshots share; else they grow with its square."""

    before: Actions | None
    last: Any


def in_order(actions: Actions | None) -> list[Any]:
    """The actions, the first one first."""
    found = []
    while actions is not None:
        found.append(actions.last)
        actions = actions.before
    return found[::-1]


class WayBack(NamedTuple):
    """How snapshots of an environment are taken, and how it goes back to them."""

    snapshot: Callable[[Env, Actions | None], object]
    """Of the environment and the actions since the reset: a token of the present state."""
    restore: Callable[[Env, Any], Env]
    """Of the environment and a token: the environment in that state, the same one or one that takes its place."""


def way_back(restore: Restore, reset: Callable[[Env], None]) -> WayBack:
    """Return the way back that ``restore`` names; ``reset`` is the seeded reset of the problem.

    Raises:
        UnusableInput: it names none.
    """
    if restore == "copy":
        # whatever the parts of an environment refuse to be copied with
        cure = "give restore='replay', or functions restore=(snapshot, restore) of your own"
        return WayBack(
            lambda env, done: _tried(env, lambda: deepcopy(env), "cannot be copied ({}); " + cure),
            lambda env, token: deepcopy(token),
        )
    if restore == "replay":

        def again(env: Env, token: Actions | None) -> Env:
            reset(env)
            told = "raised {} when its actions were made again; make it deterministic"
            _tried(env, lambda: [env.step(action) for action in in_order(token)], told, AgentFailed)
            return env

        return WayBack(lambda env, done: done, again)
    if isinstance(restore, tuple) and len(restore) == 2 and all(map(callable, restore)):
        take, put = restore

        def back(env: Env, token: Any) -> Env:
            _tried(env, lambda: put(env, token), "your restore(env, token) raised {}; correct it")
            return env

        told = "your snapshot(env) raised {}; correct it"
        return WayBack(lambda env, done: _tried(env, lambda: take(env), told), back)
    raise UnusableInput(
        f"restore={restore!r}: use 'copy', 'replay', or a pair of functions (snapshot(env), restore(env, token))"
    )


def attributes(*names: str) -> tuple[Callable[[Env], object], Callable[[Env, Any], None]]:
    """The way back of an environment all of whose state is in these attributes, whose values never change themselves."""

    def snapshot(env: Env) -> object:
        return tuple(getattr(env.unwrapped, name) for name in names)

    def restore(env: Env, kept: Any) -> None:
        for name, value in zip(names, kept, strict=True):
            setattr(env.unwrapped, name, value)

    return snapshot, restore


def _tried(env: Env, act: Callable[[], object], told: str, kind: type[Exception] = UnusableInput) -> object:
    """What comes of what may raise; ``told`` says what that means, with the reason in it."""
    try:
        return act()
    except Exception as error:
        raise kind(f"{env.unwrapped}: {told.format(reason(error))}") from error


# What an environment remembers besides its picture: whether two copies of it remember the same.
#
# Generators of random numbers are left out: their state matters only through what is drawn from them.


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
        if not np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"):
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
