"""A simulator whose camera is noisy: a fault put on purpose between agent and perception, for testing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.agents.perception import Frame, Scene
from aam_vision.agents.simulator import Foreseeing, Simulator
from aam_vision.model.strips import GroundAction
from aam_vision.support.errors import UnusableInput

# The base of all decorators around a simulator.


class SimulatorDecorator:
    """A simulator around another one."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    @property
    def scene(self) -> Scene:
        return self._simulator.scene

    def start(self) -> None:
        self._simulator.start()

    def snapshot(self) -> object:
        return self._simulator.snapshot()

    def restore(self, snapshot: object) -> None:
        self._simulator.restore(snapshot)

    def frame(self) -> Frame:
        return self._simulator.frame()

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        return self._simulator.instruct(name, objects)

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        return self._simulator.choose(rng)


class NoisySimulator(SimulatorDecorator):
    """A simulator with fresh Gaussian noise on every frame.

    Args:
        simulator: the one to look at.
        sigma: standard deviation of the noise on every value, which are between 0 and 1 here; clipped.
        rng: the source of the noise, and used for nothing else.

    Raises:
        UnusableInput: sigma is negative or not a number.
    """

    def __init__(self, simulator: Simulator, sigma: float, rng: np.random.Generator) -> None:
        if not 0 <= sigma < np.inf:
            raise UnusableInput(f"noise of sigma {sigma}: use a number from 0 (none) to about 0.3")
        super().__init__(simulator)
        self._sigma = sigma
        self._rng = rng

    def frame(self) -> Frame:
        """The present image with noise of its own, whether or not it was seen before."""
        frame = self._simulator.frame()
        noise = 255 * self._sigma * self._rng.standard_normal(frame.shape, dtype=np.float32)
        return (frame + noise).clip(0, 255).round().astype(np.uint8)

    def expect(self, snapshot: object, *plans: Sequence[GroundAction]) -> None:
        """Pass on what will be asked next."""
        if isinstance(self._simulator, Foreseeing):
            self._simulator.expect(snapshot, *plans)

    def expect_walk(self, snapshot: object, steps: int, rng: np.random.Generator) -> None:
        """Pass on what will be asked next."""
        if isinstance(self._simulator, Foreseeing):
            self._simulator.expect_walk(snapshot, steps, rng)
