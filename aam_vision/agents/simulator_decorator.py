"""The base of all decorators around a simulator."""

from __future__ import annotations

import numpy as np

from aam_vision.perception import Frame, Scene
from aam_vision.simulator import Simulator


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
