"""What a simulator that shows itself in images has to do, so that an agent in it can be asked.

Implemented by ``envs`` and by programs that show images (``agents.shown``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from aam_vision.agents.perception import Frame, Scene
from aam_vision.model.strips import GroundAction


class Simulator(Protocol):
    """A simulator that takes instructions in the user's names and shows itself in images only."""

    @property
    def scene(self) -> Scene: ...

    def start(self) -> None:
        """Go to the initial state of the problem."""

    def snapshot(self) -> object:
        """A token of the present state, for ``restore``."""

    def restore(self, snapshot: object) -> None:
        """Go back to a state from which ``snapshot`` was taken."""

    def frame(self) -> Frame:
        """The present image."""

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        """Execute one ground instruction; False, and no change, when the agent cannot."""

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        """The instruction the agent would carry out next on its own; None when it can do nothing."""


@runtime_checkable
class Foreseeing(Protocol):
    """A simulator that can make use of knowing what it will be asked next."""

    def expect(self, snapshot: object, *plans: Sequence[GroundAction]) -> None:
        """It will be brought back to the snapshot and given the plans; only the last step of each may be refused."""

    def expect_walk(self, snapshot: object, steps: int, rng: np.random.Generator) -> None:
        """It will be brought back to the snapshot and choose so many steps, with a generator in the same state."""
