"""The meaning of an instruction to a Gymnasium environment, as the user says it.

Gymnasium has no word for "could not": whatever an environment is told, it makes a step. So the user says for every
instruction what it stands for, and what tells whether it was carried out: by default, that the image has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aam_vision.envs.notation import header
from aam_vision.errors import UnusableInput
from aam_vision.strips import ActionHeader


def differ(before: Any, after: Any) -> bool:
    """Whether two images or watched values differ."""
    return not np.array_equal(before, after)


def becomes(old: Any, new: Any) -> Callable[[Any, Any], bool]:
    """Whether what is watched went from one value to another, as a condition for ``Instruction.executed``."""
    return lambda before, after: bool((before, after) == (old, new))


@dataclass(frozen=True)
class Instruction:
    """An instruction of the user's and its meaning to the environment.

    Args:
        header: its name and parameters, in the user's words.
        actions: the environment's actions it stands for: one, several in order (a list), or a function of
            the arguments that gives either.
        arguments: a function of the environment (``env.unwrapped``): what the parameters stand for at present, as
            far as the agent is concerned - the place where it stands, the one in front of it. One tuple of objects,
            an iterable of several, or None. To be told anything else is not to be understood: nothing happens. What is
            of another type than its parameter drops out. It is to say what words mean, never whether the
            instruction will work: that is what the interrogation finds out.
        watch: a function of the environment: what tells whether the instruction was carried out; the image
            by default.
        executed: of what is watched before and after: whether it was; by default, whether the two differ.
        free: how many of the last parameters ``arguments`` leaves out: they can be any objects of their types.
    """

    header: ActionHeader
    actions: Any
    arguments: Callable[[Any], tuple[str, ...] | Iterable[tuple[str, ...]] | None]
    watch: Callable[[Any], Any] | None = None
    executed: Callable[[Any, Any], bool] = differ
    free: int = 0

    def meant(self, env: Any) -> list[tuple[str, ...]]:
        """All that the parameters can stand for at present."""
        given = self.arguments(env)
        if given is None:
            return []
        if isinstance(given, tuple) and all(isinstance(one, str) for one in given):
            return [given]
        return [tuple(objects) for objects in given]


def instruction(
    text: str,
    actions: Any,
    arguments: Callable[[Any], tuple[str, ...] | Iterable[tuple[str, ...]] | None],
    watch: Callable[[Any], Any] | None = None,
    executed: Callable[[Any, Any], bool] = differ,
    free: int = 0,
) -> Instruction:
    """An ``Instruction`` whose header is given in PDDL's notation: ``move ?from ?to - cell ?dir - direction``.

    Raises:
        UnusableInput: the text is not a name with typed variables.
    """
    return Instruction(header(text), actions, arguments, watch, executed, free)


def headers(instructions: Iterable[Instruction]) -> tuple[ActionHeader, ...]:
    """The headers of instructions.

    Raises:
        UnusableInput: two have one name.
    """
    found = tuple(instruction.header for instruction in instructions)
    names = [header.name for header in found]
    if len(set(names)) < len(names):
        raise UnusableInput(f"two instructions have one name: {', '.join(names)}; rename one")
    return found
