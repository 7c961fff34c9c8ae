"""States as the user's own function tells them, in place of what classifiers read off images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aam_vision.agents.noise import SimulatorDecorator
from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.perception import Frame, Percept, Perception, Scene
from aam_vision.simulator import Simulator
from aam_vision.strips import State


class Told:
    """A perception (``perception.Perception``) that looks into the simulator whose image was taken last.

    Args:
        state: a function of ``env.unwrapped`` and the scene of its problem.
    """

    def __init__(self, state: Callable[[Any, Scene], State]) -> None:
        self._state = state
        self._present: GymnasiumSimulator | None = None

    def of(self, simulator: GymnasiumSimulator) -> Simulator:
        """A simulator whose images are looked at with this perception."""
        return _Watched(simulator, self)

    def watch(self, simulator: GymnasiumSimulator) -> None:
        """Note that the next image to be read is that of this simulator."""
        self._present = simulator

    def look(self, frame: Frame, scene: Scene) -> Percept:
        """The state of the simulator whose image was taken last."""
        assert self._present is not None, "an image was taken"
        return Percept(self._state(self._present.present, scene), {})

    def follow(self, before: Percept, frame: Frame, scene: Scene) -> Percept:
        """The same: names of things do not have to be followed."""
        return self.look(frame, scene)


def watched(simulators: Sequence[GymnasiumSimulator], perception: Perception) -> list[Simulator]:
    """The simulators whose images are read by this perception."""
    return [perception.of(one) if isinstance(perception, Told) else one for one in simulators]


class _Watched(SimulatorDecorator):
    """A simulator whose images are taken note of."""

    def __init__(self, simulator: GymnasiumSimulator, told: Told) -> None:
        super().__init__(simulator)
        self._told, self._watched = told, simulator

    def frame(self) -> Frame:
        self._told.watch(self._watched)
        return super().frame()
