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
from typing import Any, Final, Literal, NamedTuple, Protocol

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


class WayBack(Protocol):
    """Takes snapshots of an environment, and goes back to them."""

    def snapshot(self, env: Env, done: Actions | None) -> object:
        """A token of the present state, to which the actions ``done`` have led since the reset."""

    def restore(self, env: Env, token: Any) -> Env:
        """The environment in the state of a token: the same one, or one that takes its place."""


class _Copying:
    def snapshot(self, env: Env, done: Actions | None) -> object:
        try:
            return deepcopy(env)
        except Exception as error:  # whatever the parts of an environment refuse to be copied with
            raise UnusableInput(
                f"{env.unwrapped}: cannot be copied ({reason(error)}); give restore='replay', or functions "
                f"restore=(snapshot, restore) of your own"
            ) from error

    def restore(self, env: Env, token: Env) -> Env:
        return deepcopy(token)


class _Replaying:
    def __init__(self, reset: Callable[[Env], None]) -> None:
        self._reset = reset

    def snapshot(self, env: Env, done: Actions | None) -> object:
        return done

    def restore(self, env: Env, token: Actions | None) -> Env:
        self._reset(env)
        try:
            for action in in_order(token):
                env.step(action)
        except Exception as error:
            raise AgentFailed(
                f"{env.unwrapped}: raised {reason(error)} when its actions were made again; make it deterministic"
            ) from error
        return env


class _Own:
    def __init__(self, snapshot: Callable[[Env], object], restore: Callable[[Env, Any], None]) -> None:
        self._snapshot, self._restore = snapshot, restore

    def snapshot(self, env: Env, done: Actions | None) -> object:
        try:
            return self._snapshot(env)
        except Exception as error:
            raise UnusableInput(
                f"{env.unwrapped}: your snapshot(env) raised {reason(error)}; correct it"
            ) from error

    def restore(self, env: Env, token: Any) -> Env:
        try:
            self._restore(env, token)
        except Exception as error:
            raise UnusableInput(
                f"{env.unwrapped}: your restore(env, token) raised {reason(error)}; correct it"
            ) from error
        return env


def way_back(restore: Restore, reset: Callable[[Env], None]) -> WayBack:
    """Return the way back that ``restore`` names; ``reset`` is the seeded reset of the problem.

    Raises:
        UnusableInput: it names none.
    """
    if restore == "copy":
        return _Copying()
    if restore == "replay":
        return _Replaying(reset)
    if isinstance(restore, tuple) and len(restore) == 2 and all(map(callable, restore)):
        return _Own(*restore)
    raise UnusableInput(
        f"restore={restore!r}: use 'copy', 'replay', or a pair of functions (snapshot(env), restore(env, token))"
    )


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
