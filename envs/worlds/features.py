"""The kinds of things that a MiniGrid task has, which decide about its vocabulary and its instructions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from minigrid.core.world_object import Ball, Box, Door, Floor, Goal, Key, Lava, WorldObj
from minigrid.envs.dynamicobstacles import DynamicObstaclesEnv
from minigrid.envs.memory import MemoryEnv

from aam_vision.errors import UnusableInput

KINDS: Final = {Key: "key", Ball: "ball", Box: "box"}
"""What can be picked up, with its type."""


@dataclass(frozen=True)
class Features:
    """The kinds of things that a task has in any of its problems.

    Attributes:
        kinds: of things that can be picked up: ``key``, ``ball``, ``box``.
        several: whether a problem has more than one such thing.
        doors: whether there are doors.
        locks: whether a door is locked.
        lava: whether there is lava.
        marks: whether there are cells that are neither wall nor plain floor, on which nothing can be put down.
    """

    kinds: tuple[str, ...] = ()
    several: bool = False
    doors: bool = False
    locks: bool = False
    lava: bool = False
    marks: bool = False

    @property
    def words(self) -> frozenset[str]:
        """The features by name, as the tables of predicates and instructions ask for them."""
        found = {*self.kinds} | ({"thing"} if self.kinds else set())
        for name in ("several", "doors", "locks", "lava"):
            if getattr(self, name):
                found.add(name)
        if self.marks and self.kinds:
            found.add("marked floor")
        return frozenset(found)


EVERYTHING: Final = Features(
    ("key", "ball", "box"), several=True, doors=True, locks=True, lava=True, marks=True
)
"""A world with all that the vocabulary covers."""


def carried(thing: WorldObj | None) -> bool:
    """Whether a thing on the board is one that can be picked up."""
    return type(thing) in KINDS


def marked(thing: WorldObj | None) -> bool:
    """Whether what is on a cell is neither a wall nor plain floor nor a thing that can be picked up."""
    return isinstance(thing, (Goal, Door, Lava, Floor))


def features(name: str, problems: Iterable[Any]) -> Features:
    """The features of a task.

    Args:
        name: of the task, for messages.
        problems: MiniGrid's environment after the reset of one problem after the other.

    Raises:
        UnusableInput: the vocabulary does not cover the task; the message names what it lacks.
    """
    kinds: set[str] = set()
    several = doors = locks = lava = marks = False
    for env in problems:
        if isinstance(env, DynamicObstaclesEnv):
            raise UnusableInput(f"{name}: its balls move at random, and an agent of ours is deterministic")
        board = [thing for thing in env.grid.grid if thing is not None]
        for thing in board:
            if isinstance(thing, Box) and thing.contains is not None:
                raise UnusableInput(
                    f"{name}: its boxes hide keys, and the vocabulary lacks what no image shows"
                )
        things = [] if isinstance(env, MemoryEnv) else [thing for thing in board if carried(thing)]
        kinds.update(KINDS[type(thing)] for thing in things)
        several = several or len(things) > 1
        doors = doors or any(isinstance(thing, Door) for thing in board)
        locks = locks or any(isinstance(thing, Door) and thing.is_locked for thing in board)
        lava = lava or any(isinstance(thing, Lava) for thing in board)
        marks = marks or any(map(marked, board))
    known = tuple(kind for kind in KINDS.values() if kind in kinds)
    return Features(known, several, doors, locks, lava, marks)
