"""Blocks on a table, and scripted arms that are told what is to be true, with flaws that nobody tells of.

The arm's actions are the numbers of ``block * 4 + place``: it takes a block and puts it onto place 0 to 2, another block, or 3, the table.
It holds nothing between two actions. What lies on a block that is taken falls onto the table, and one in ten times the block slips.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete

from aam_vision.envs.policies import Objective, PolicyAgent, Pursue
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, Predicate, Types, Vocabulary

BLOCKS = ("a", "b", "c")
TABLE = len(BLOCKS)
WORDS = Vocabulary(
    "tower",
    (Predicate("on", ("block", "block")), Predicate("on-table", ("block",)), Predicate("clear", ("block",))),
    Types({"block": "object"}),
)


class Tower(gymnasium.Env[Any, int]):
    """Where each block is: on a block, by number, or on the table."""

    action_space = Discrete(len(BLOCKS) * (TABLE + 1))
    observation_space = MultiDiscrete([TABLE + 1] * len(BLOCKS))

    def __init__(self, slips: float = 0.0, render_mode: str | None = None) -> None:
        self.on = [TABLE] * len(BLOCKS)
        self.slips, self.render_mode = slips, render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        first, second, _ = self.np_random.permutation(len(BLOCKS))
        self.on = [TABLE] * len(BLOCKS)
        if self.np_random.random() < 0.5:
            self.on[first] = int(second)
        return np.array(self.on), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        block, place = divmod(int(action), TABLE + 1)
        taken = place != block and (place == TABLE or place not in self.on)
        if taken and self.np_random.random() >= self.slips:
            self.on = [TABLE if below == block else below for below in self.on]
            self.on[block] = place
        return np.array(self.on), 0.0, False, False, {}

    def render(self) -> Any:
        """Each block in a colour of its own, on what it is on."""
        image = np.full((60, 60, 3), 255, np.uint8)
        for block, below in enumerate(self.on):
            column, height = block, 0
            while below != TABLE:
                column, height, below = below, height + 1, self.on[below]
            across, top = 20 * column + 3, 45 - 15 * height
            image[top : top + 13, across : across + 14] = np.eye(3)[block] * 200
        return image


def facts(tower: Tower) -> list[Atom]:
    """What is true."""
    found = [
        Atom("on-table", (name,)) if below == TABLE else Atom("on", (name, BLOCKS[below]))
        for name, below in zip(BLOCKS, tower.on, strict=True)
    ]
    return found + [Atom("clear", (name,)) for n, name in enumerate(BLOCKS) if n not in tower.on]


@dataclass(frozen=True)
class Arm:
    """An arm that is told which block is to be on which; it claims to be done after its last action."""

    clears: bool = True
    """Whether it first takes from the place what lies on it."""
    checks: bool = True
    """Whether it looks before it claims anything; else it always claims to be done."""
    unable: tuple[str, ...] = ()
    """The blocks that it cannot take."""

    def pursue(self, environment: Any, seen: Any, objective: Objective, limit: int) -> bool:
        """Put the first block onto the second."""
        block, place = (BLOCKS.index(name) for name in objective.atom.objects)
        for other in range(len(BLOCKS)):
            if self.clears and seen[other] == place and other != block:
                seen = environment.step(other * (TABLE + 1) + TABLE)[0]
        if objective.atom.objects[0] not in self.unable and seen[block] != place:
            seen = environment.step(block * (TABLE + 1) + place)[0]
        return not self.checks or bool(seen[block] == place)


def agent(
    pursue: Pursue,
    slips: float = 0.0,
    access: Access = Access.SNAPSHOT,
    render_mode: str | None = None,
    make: Callable[[], Tower] | None = None,
    **more: Any,
) -> PolicyAgent:
    """An arm in this world, or in another one."""
    words = {"vocabulary": WORDS, "facts": facts, "objects": dict.fromkeys(BLOCKS, "block")}
    own = {**words, "objectives": ["on"], "seeds": range(6), "access": access, **more}
    return PolicyAgent(make or (lambda: Tower(slips, render_mode)), pursue, **own)


CLUMSY = agent(Arm(clears=False, checks=False).pursue, slips=0.1)
"""It takes nothing from the place, fails once in ten times, and always claims to be done."""


def tosses(environment: Any, seen: Any, objective: Objective, limit: int) -> bool:
    """Takes the block from where it is before it puts it there, which may be nothing that it has to do; it always claims to be done."""
    block, place = (BLOCKS.index(name) for name in objective.atom.objects)
    for where in (TABLE, place):
        environment.step(block * (TABLE + 1) + where)
    return True


TOSSES = agent(tosses, slips=0.3)
SEEN = agent(Arm(clears=False, checks=False).pursue, slips=0.1, render_mode="rgb_array")
"""The same, in images."""
SHY = agent(Arm().pursue, slips=0.3)
"""It takes from the place what lies on it, and claims nothing falsely."""
