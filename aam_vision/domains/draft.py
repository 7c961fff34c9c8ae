"""A problem in the making: objects, facts and wishes collected by a generator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

from aam_vision.pddl import Problem
from aam_vision.strips import Atom, Objects, State, Types

T = TypeVar("T")


class Draft:
    """Collects what a problem consists of; everything random comes from one generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._kinds: dict[str, str] = {}
        self._true: set[Atom] = set()
        self._goal: set[Atom] = set()
        self._goal_false: set[Atom] = set()

    def add(self, kind: str, names: Iterable[str]) -> list[str]:
        """Add objects of a type; returns their names."""
        names = list(names)
        self._kinds.update(dict.fromkeys(names, kind))
        return names

    def number(self, kind: str, count: int, prefix: str = "") -> list[str]:
        """Add so many objects of a type, named by the prefix (or the type) and a number from 1."""
        return self.add(kind, (f"{prefix or kind}{i + 1}" for i in range(count)))

    def holds(self, predicate: str, *objects: str) -> None:
        """State a fact of the initial state."""
        self._true.add(Atom(predicate, objects))

    def wants(self, predicate: str, *objects: str, value: bool = True) -> None:
        """State a part of the goal: an atom that shall be true, or false."""
        (self._goal if value else self._goal_false).add(Atom(predicate, objects))

    def one(self, choices: Sequence[T], *, but: T | None = None) -> T:
        """One of the choices at random, other than ``but``."""
        options = [choice for choice in choices if choice != but]
        return options[int(self._rng.integers(len(options)))]

    def some(self, choices: Sequence[T], least: int = 1) -> list[T]:
        """A random subset of at least so many choices, in random order."""
        return self.shuffled(choices)[: self.count(least, len(choices))]

    def shuffled(self, choices: Sequence[T]) -> list[T]:
        """All choices in random order."""
        return [choices[int(i)] for i in self._rng.permutation(len(choices))]

    def count(self, least: int, most: int) -> int:
        """A random number between the two, both included."""
        return int(self._rng.integers(least, most + 1))

    def problem(self, name: str, types: Types) -> Problem:
        """The finished problem."""
        state = State(frozenset(self._true), Objects(self._kinds, types))
        return Problem(name, state, frozenset(self._goal), frozenset(self._goal_false))
