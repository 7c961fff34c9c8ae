"""The arm: where its joints have to be for its finger tips to be somewhere, and smooth motion there.

Joints turn, rise and close together along a path of least jerk; servos follow it. Straight up or down only the quill moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import acos, atan2, cos, pi, sin
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.tabletop.mjcf import BASE, FINGERS, LINKS, PALM_GEOM, PLANE, REACH, WIDEST
from aam_vision.envs.tabletop.world import World

JOINTS: Final = ("shoulder", "elbow", "quill", "roll", "left", "right")
OPEN: Final = 0.0
CLOSED: Final = WIDEST
"""Places of the fingers' joints, in metres."""

CLEARANCE: Final = 0.005
"""Between the finger tips and what a grasped thing stands on, in metres."""
TICK: Final = 2
"""Time steps between two commands to the servos."""
AT_LEAST: Final = 0.07
PER_METRE: Final = 0.4
"""Seconds that any motion takes, and those for each metre of it."""
CAREFUL: Final = 1.4
"""How much longer it takes with closed fingers: what they hold is not to be thrown."""
SETTLING: Final = 0.03
"""Seconds that servos are given after a motion."""


@dataclass(frozen=True)
class Pose:
    """A place of the finger tips in metres (right, away from the camera, up), and a turn in radians."""

    right: float
    away: float
    up: float
    turn: float = 0.0

    def at_height(self, up: float) -> Pose:
        """The same place at another height."""
        return replace(self, up=up)


HOME: Final = Pose(0.0, 0.165, 0.15)
"""Where the hand waits: behind everything, above the table."""


def joints(pose: Pose) -> NDArray[np.float64]:
    """Places of shoulder, elbow, quill and roll for a pose; ValueError if it is out of reach."""
    right, back = pose.right - BASE[0], BASE[1] - pose.away
    first, second = LINKS
    bend = ((right**2 + back**2) - first**2 - second**2) / (2 * first * second)
    elbow = acos(bend)
    shoulder = atan2(right, back) - atan2(second * sin(elbow), first + second * cos(elbow))
    return np.array([shoulder, elbow, pose.up + REACH - PLANE, pose.turn - shoulder - elbow])


class Arm:
    """The arm of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        model = world.model
        self._at = [int(model.jnt_qposadr[model.joint(name).id]) for name in JOINTS]
        self._hand = model.body("hand").id
        self._lag = model.actuator_biasprm[:, 2] / model.actuator_biasprm[:, 1]
        self._lag[4:] = 0.0
        self.palm: Final = model.geom(PALM_GEOM).id
        self.fingers: Final = tuple(model.geom(name).id for name in FINGERS)

    def go_home_at_once(self, held: int | None = None) -> None:
        """Stand at home at the beginning: with open fingers, or around a thing that they hold."""
        world, apart = self._world, OPEN
        if held is not None:
            half = world.half(held)
            apart = WIDEST - half
            world.put(world.data, held, (HOME.right, HOME.away, HOME.up + half - CLEARANCE), HOME.turn)
        world.data.qpos[self._at] = np.array([*joints(HOME), apart, apart])
        wanted = OPEN if held is None else CLOSED
        world.data.ctrl[:] = np.array([*joints(HOME), wanted, wanted])

    def pretend(self, data: mujoco.MjData, pose: Pose, fingers: float = OPEN) -> None:
        """Put the arm somewhere in data that are only tried."""
        data.qpos[self._at] = np.array([*joints(pose), fingers, fingers])

    @property
    def opening(self) -> float:
        """Place of the fingers' joints that is commanded, in metres."""
        return float(self._world.data.ctrl[-1])

    @property
    def tips(self) -> NDArray[np.float64]:
        """Where the middle between the finger tips is, in metres."""
        return np.array(self._world.data.xpos[self._hand]) - (0.0, 0.0, REACH)

    @property
    def turn(self) -> float:
        """How far the hand is turned, in radians."""
        matrix = self._world.data.xmat[self._hand]
        return float(np.arctan2(matrix[3], matrix[0]))

    def move(self, pose: Pose) -> None:
        """Go somewhere, with the fingers as they are."""
        away = float(np.linalg.norm(self.tips - (pose.right, pose.away, pose.up)))
        seconds = (AT_LEAST + PER_METRE * away) * (CAREFUL if self.opening == CLOSED else 1)
        self._follow(np.array([*joints(pose), self.opening, self.opening]), seconds)

    def close(self) -> None:
        """Press the fingers together as far as they go."""
        self._follow(np.array([*self._world.data.ctrl[:4], CLOSED, CLOSED]), AT_LEAST)

    def release(self) -> None:
        """Open the fingers."""
        self._follow(np.array([*self._world.data.ctrl[:4], OPEN, OPEN]), AT_LEAST)

    def rest(self, seconds: float = SETTLING) -> None:
        """Stay as commanded for a while."""
        self._world.run(round(seconds / self._world.model.opt.timestep))
        self._world.look()

    def _follow(self, target: NDArray[np.float64], seconds: float) -> None:
        """Bring the servos' commands to the target along a path of least jerk."""
        data = self._world.data
        start = np.array(data.ctrl)
        way = target - start
        way[3] = (way[3] + pi) % (2 * pi) - pi  # the shorter way round
        ticks = max(1, round(seconds / self._world.model.opt.timestep / TICK))
        for tick in range(1, ticks + 1):
            share = tick / ticks
            done = share**3 * (10 - 15 * share + 6 * share**2)
            rate = 30 * share**2 * (1 - share) ** 2 / seconds
            data.ctrl[:] = start + way * (done + rate * self._lag)
            self._world.run(TICK)
        self.rest()
