"""The controls of a Gymnasium environment: its discrete actions, each with a name.

The user gives the names, or the environment carries them in an ``IntEnum``, as MiniGrid's does; else they are numbers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, Final

import gymnasium

from aam_vision.envs.meaning import Instruction, header, headers
from aam_vision.envs.restoring import Env
from aam_vision.support.errors import UnusableInput

Controls = Mapping[str, Any] | Sequence[str] | type[IntEnum] | None
"""Names of an environment's actions, in order; an enumeration of them; or by name (in PDDL's notation, if a control has
arguments: ``moveto ?l - location``) an action, a list of several, or a function of the arguments that gives either."""

_NUMBERED: Final = "action-{}"
"""The name of an action that has none."""


def control(text: str, action: Any) -> Instruction:
    """A control, whose name and parameters are given in PDDL's notation: it can always be given, and is carried out.

    Raises:
        UnusableInput: the text is not a name with typed variables.
    """
    told = header(text)
    return Instruction(told, action, executed=lambda before, after: True, free=told.arity)


def controls_of(env: Env, given: Controls = None) -> tuple[Instruction, ...]:
    """The controls of an environment; ``given``: what the user says of them, None where the environment is to tell.

    Raises:
        UnusableInput: its actions are not discrete and were not named, or the names do not fit them.
    """
    name, space = str(env.unwrapped), env.action_space
    if isinstance(given, Mapping):
        found = tuple(control(text, action) for text, action in given.items())
        for one in found:
            _check_action(name, space, one)
        _check_twins(name, found)
    elif not isinstance(space, gymnasium.spaces.Discrete):
        kind = "is continuous" if isinstance(space, gymnasium.spaces.Box) else "is not discrete"
        raise UnusableInput(
            f"{name}: its action space {' '.join(str(space).split())} {kind}; wrap skills as a Discrete action space "
            "(a gymnasium.ActionWrapper), or name the actions that matter: controls={'left': ..., 'right': ...}"
        )
    else:
        numbers = range(int(space.start), int(space.start + space.n))
        found = tuple(
            control(own, number)
            for own, number in zip(_names(env, name, numbers, given), numbers, strict=True)
        )
    headers(found)  # no name twice
    if not found:
        raise UnusableInput(f"{name}: has no controls; name at least one")
    return found


def _names(env: Env, name: str, numbers: range, given: Sequence[str] | type[IntEnum] | None) -> list[str]:
    """The names of numbered actions, in order."""
    given = _enumeration(env, numbers) if given is None else given
    if given is None:
        return [_NUMBERED.format(number) for number in numbers]
    if isinstance(given, type):
        if not _fits(given, numbers):
            raise UnusableInput(
                f"{name}: {given.__name__} does not name every action of {env.action_space}; give other controls"
            )
        return [_plain(given(number).name) for number in numbers]
    if isinstance(given, str) or len(given) != len(numbers):
        raise UnusableInput(
            f"{name}: controls name {len(given)} actions, and {env.action_space} has {len(numbers)}; name each once"
        )
    return [_plain(one) for one in given]


def _plain(text: str) -> str:
    """A name as PDDL allows it."""
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return words if words[:1].isalpha() else _NUMBERED.format(words)


def _enumeration(env: Env, numbers: range) -> type[IntEnum] | None:
    """The enumeration that names an environment's actions: its own attribute, or the only one of its modules that fits."""
    bare = env.unwrapped
    for own in (vars(bare), *(vars(kind) for kind in type(bare).__mro__)):
        for found in own.values():
            if _fits(found, numbers):
                return found  # type: ignore[no-any-return]
    for kind in type(bare).__mro__:
        module = sys.modules.get(kind.__module__)
        if module is None or kind.__module__.split(".")[0] in ("gymnasium", "builtins", "typing", "abc"):
            continue
        fitting: list[type[IntEnum]] = list(
            dict.fromkeys(found for found in vars(module).values() if _fits(found, numbers))
        )
        if len(fitting) == 1:
            return fitting[0]
    return None


def _fits(found: object, numbers: range) -> bool:
    """Whether something is an enumeration with a name for each of these numbers; it may have more."""
    return (
        isinstance(found, type)
        and issubclass(found, IntEnum)
        and set(numbers) <= {member.value for member in found}
    )


def _check_action(name: str, space: gymnasium.Space[Any], told: Instruction) -> None:
    """Refuse an action that the environment does not have; one that depends on arguments shows itself later."""
    for action in () if callable(told.actions) else told.steps():
        if not space.contains(action):
            raise UnusableInput(
                f"{name}: control {told.header.name}: {action!r} is not an action of {' '.join(str(space).split())}"
            )


def _check_twins(name: str, found: Sequence[Instruction]) -> None:
    """Refuse two names for the same actions: a number that was copied, so that another action has no name."""
    first: dict[str, str] = {}
    for one in found:
        other = first.setdefault(repr(one.actions), one.header.name)
        if other != one.header.name:  # functions of arguments have an address in their text
            raise UnusableInput(
                f"{name}: controls {other} and {one.header.name} are the same action {one.actions!r}; name each action once"
            )
