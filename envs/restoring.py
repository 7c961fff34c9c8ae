"""How a Gymnasium environment is brought back to a state that it was in.

Gymnasium has no word for it, so the user says which of three ways works: ``"copy"`` (a deep copy of the environment),
``"replay"`` (a seeded reset, and the same actions again) or two functions of their own. Whatever takes the way
checks it on images (``gymnasium_simulator``): an environment is trusted to come back no further than it is seen to.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Literal, NamedTuple, Protocol

import gymnasium

from aam_vision.errors import AgentFailed, UnusableInput, reason

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
