"""A planning problem, apart from the text that states it."""

from __future__ import annotations

from dataclasses import dataclass

from aam_vision.model.strips import Atom, State


@dataclass(frozen=True)
class Problem:
    """A planning problem: where it starts and what is wanted (atoms true, atoms false)."""

    name: str
    initial: State
    goal: frozenset[Atom] = frozenset()
    goal_false: frozenset[Atom] = frozenset()
