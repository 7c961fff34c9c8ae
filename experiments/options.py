"""The options of commands: those that several have, and what the help tells of one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Any

import typer

from aam_vision.support.errors import UnusableInput

Names = list[str] | None  # what is given with an option that may be repeated; None without it


def about(told: str, *names: str, **limits: Any) -> Any:
    """What the help tells of an option; ``names`` where a flag has no opposite, ``limits`` such as ``min``."""
    return typer.Option(*names, help=told, **limits)


Domains = Annotated[Names, about("Only these domains (repeatable).")]
Accesses = Annotated[Names, about("Only this access (repeatable).")]
Seeds = Annotated[int, about("Runs of every combination.", min=1)]
FirstSeed = Annotated[int, about("The first of the seeds.", min=0)]
Size = Annotated[int, about("Size of generated problems.", min=1)]
Exam = Annotated[int | None, about("Steps of the examination; default the engine's.", min=0)]


def check_probabilities(**given: float) -> None:
    """Say (UnusableInput) which option's value is no probability between 0 and 1."""
    for name, value in given.items():
        if not 0 < value < 1:
            raise UnusableInput("give a probability between 0 and 1", name, value)


def chosen(
    option: str, given: Sequence[str] | None, known: Collection[str], default: Sequence[str] = ()
) -> list[str]:
    """The names that an option gives, without one the default, or all; UnusableInput if one is not known."""
    for name in given or ():
        if name not in known:
            raise UnusableInput(f"unknown; use one of {', '.join(known)}", option, name)
    return list(given or default or known)
