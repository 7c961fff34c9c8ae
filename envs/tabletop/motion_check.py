"""The robot's motion check: finds by rays, contacts and tried poses what cannot be done, before anything moves.

It knows shapes and places, and no rules about what may be done to what: a thing with another one on it cannot be grasped because
the palm would hit that one; nothing is put onto a ball because rays find no level ground there.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import cos, pi, sin
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.tabletop.arm import CLEARANCE, Arm, Pose
from aam_vision.envs.tabletop.layouts import centres
from aam_vision.envs.tabletop.world import World

ABOVE: Final = 0.03
"""Between what the hand passes over and the lowest that it carries, in metres."""
LEVEL: Final = 0.002
"""Differences of height that still count as level ground, in metres."""
STEADY: Final = 0.6
"""Share of a thing's width on which the ground has to be level."""
TRIED: Final = (0.0, 0.02, 0.04)
"""Heights above its goal at which the hand's way down is tried, in metres."""
_DOWN: Final = (0.0, 0.0, -1.0)


class Impossible(Exception):
    """Raised when something cannot be done; says why."""


def quarter(turn: float) -> float:
    """The same sides of a square, turned by an eighth of a circle at most."""
    return (turn + pi / 4) % (pi / 2) - pi / 4


class MotionCheck:
    """What the arm of a world can do from where everything stands."""

    def __init__(self, world: World, arm: Arm) -> None:
        self._world, self._arm = world, arm

    def held(self) -> int | None:
        """The thing that both fingers touch."""
        touched: dict[int, set[int]] = {}
        for pair in self._world.touching():
            for finger, other in (pair, pair[::-1]):
                number = self._world.number(other)
                if finger in self._arm.fingers and number is not None:
                    touched.setdefault(number, set()).add(finger)
        return next((number for number, fingers in sorted(touched.items()) if len(fingers) == 2), None)

    def empty_handed(self) -> None:
        """Raises Impossible if something is between the fingers."""
        if self.held() is not None:
            raise Impossible("something is between the fingers")

    def holding(self, thing: int) -> None:
        """Raises Impossible if the thing is not between the fingers."""
        if self.held() != thing:
            raise Impossible("the thing is not between the fingers")

    def top(self, without: int | None = None) -> float:
        """Height of the highest thing, in metres."""
        numbers = [number for number in range(len(self._world.kinds)) if number != without]
        return max((self._world.place(n)[2] + self._world.half(n) for n in numbers), default=0.0)

    def below(self, thing: int) -> tuple[int | None, float]:
        """What is met straight below a thing (None: the table), and the height of its surface, in metres."""
        place = self._world.place(thing)
        met = self._world.ray(place, _DOWN, without=thing)
        if met is None:
            raise Impossible("nothing is below the thing")
        return met.thing, float(place[2]) - met.distance

    def grasp(self, thing: int, ground: float) -> Pose:
        """The pose in which open fingers are around a thing that stands on ground of a height, in metres.

        Raises:
            Impossible: something is in the way of the hand, or the thing is not between the fingers there.
        """
        right, away, _ = self._world.place(thing)
        pose = Pose(float(right), float(away), ground + CLEARANCE, quarter(self._world.turn(thing)))
        self._way_down(pose, (self._arm.palm, *self._arm.fingers))
        across = np.array([cos(pose.turn), sin(pose.turn), 0.0])
        middle = np.array([right, away, ground + self._world.half(thing)])
        met = self._world.ray(middle - 0.1 * across, across)
        if met is None or not self._between(thing, middle):
            raise Impossible("the thing is not between the fingers")
        return pose

    def ground(self, carried: int, place: NDArray[np.float64], turn: float, on: int | None) -> float:
        """Height of the level ground at a place on which a carried thing can stand, in metres.

        Args:
            carried: the thing.
            place: where it is to stand.
            turn: how far it is to be turned there, in radians.
            on: on which thing; None: on the table.

        Raises:
            Impossible: the ground is not level, or something else is there.
        """
        if on == carried:
            raise Impossible("a thing cannot stand on itself")
        above, reach = self.top() + ABOVE, self._world.half(carried) * STEADY
        heights = []
        for across, along in ((i * reach, j * reach) for i in (-1, 0, 1) for j in (-1, 0, 1)):
            right = place[0] + cos(turn) * across - sin(turn) * along
            away = place[1] + sin(turn) * across + cos(turn) * along
            met = self._world.ray((right, away, above), _DOWN, without=carried)
            if met is None or met.thing != on:
                raise Impossible("something else is there, or no ground that is wide enough")
            heights.append(above - met.distance)
        if max(heights) - min(heights) > LEVEL:
            raise Impossible("the ground is not level")
        return heights[4]

    def release(self, carried: int, place: NDArray[np.float64], ground: float, turn: float) -> Pose:
        """The pose of the hand in which a carried thing stands on level ground.

        Raises:
            Impossible: the hand or the thing would hit something.
        """
        tips, held = self._arm.tips, self._world.place(carried)
        by = turn - self._arm.turn
        offset = held[:2] - tips[:2]
        turned = np.array([[cos(by), -sin(by)], [sin(by), cos(by)]]) @ offset
        half = self._world.half(carried)
        pose = Pose(
            float(place[0] - turned[0]),
            float(place[1] - turned[1]),
            ground + half + float(tips[2] - held[2]),
            turn,
        )
        self._way_down(pose, (self._arm.palm, *self._arm.fingers), carried, (*place[:2], ground + half))
        return pose

    def free_places(self, carried: int) -> Iterable[NDArray[np.float64]]:
        """Places on the table, those farthest from all things first."""
        others = [self._world.place(n)[:2] for n in range(len(self._world.kinds)) if n != carried]
        places = [np.array(centre) for centre in centres()]
        room = [min((float(np.linalg.norm(place - one)) for one in others), default=1.0) for place in places]
        return [
            places[number] for number in sorted(range(len(places)), key=lambda n: (-round(room[n], 6), n))
        ]

    def _between(self, thing: int, middle: NDArray[np.float64]) -> bool:
        """Whether the thing fills a point of space."""
        return bool(abs(self._world.place(thing)[2] - middle[2]) < self._world.half(thing))

    def _way_down(
        self,
        pose: Pose,
        hand: tuple[int, ...],
        carried: int | None = None,
        place: tuple[float, float, float] | None = None,
    ) -> None:
        """Try the hand's last way down, with what it carries; Impossible if that hits anything."""
        data = self._world.elsewhere()
        moving = {*hand} if carried is None else {*hand, self._world.geoms[carried]}
        for higher in TRIED:
            try:
                self._arm.pretend(data, pose.at_height(pose.up + higher))
            except ValueError:
                raise Impossible("the arm does not reach there") from None
            if carried is not None and place is not None:
                right, away, up = place
                self._world.put(data, carried, (right, away, up + higher + LEVEL / 2), pose.turn)
            for one, other in self._world.touching(data):
                if (one in moving) != (other in moving):
                    raise Impossible("the hand would hit something")
