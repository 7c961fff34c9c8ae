"""The physics of one scene: what stands where, time steps, and snapshots that are bit-identical."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import acos, atan2, cos, pi, sin
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.tabletop.layouts import Layout, centres
from aam_vision.envs.tabletop.mjcf import (
    BASE,
    FINGERS,
    HALF,
    LINKS,
    PALM_GEOM,
    PLANE,
    REACH,
    TABLE,
    WIDEST,
    body,
    material,
    scene_xml,
)

STATE: Final = mujoco.mjtState.mjSTATE_INTEGRATION
"""All that the next step depends on, the solver's warm start among it."""

_THINGS_ONLY: Final = np.array([1, 0, 0, 0, 0, 0], np.uint8)
"""The group of geometries that rays meet: things and table, not the arm."""
_NOTHING: Final = -1


Point = Sequence[float] | NDArray[np.float64]
"""Right, away from the camera, up; in metres."""


@dataclass(frozen=True)
class Met:
    """What a ray meets first: the number of a thing, or None for the table; and how far away it is, in metres."""

    thing: int | None
    distance: float


class World:
    """A table with things of certain kinds, whose places and looks a layout gives."""

    def __init__(self, kinds: Sequence[str]) -> None:
        self.kinds = tuple(kinds)
        self.model = mujoco.MjModel.from_xml_string(scene_xml(self.kinds))
        self.data = mujoco.MjData(self.model)
        self._scratch = mujoco.MjData(self.model)
        numbers = range(len(self.kinds))
        self.geoms = [self.model.geom(body(number)).id for number in numbers]
        """The geometry of every thing."""
        self._number = {geom: number for number, geom in enumerate(self.geoms)}
        self._places = [int(self.model.jnt_qposadr[self.model.joint(body(number)).id]) for number in numbers]
        self._bodies = [self.model.body(body(number)).id for number in numbers]
        self._table = self.model.geom(TABLE).id
        self._met = np.zeros(1, np.int32)

    def lay_out(self, layout: Layout) -> None:
        """Put everything where the layout says; the arm stands where MuJoCo's zero is."""
        assert layout.kinds == self.kinds, "a layout of these things"
        mujoco.mj_resetData(self.model, self.data)
        for number, thing in enumerate(layout.things):
            self.model.geom_matid[self.geoms[number]] = self.model.material(material(thing.look)).id
        for pile in layout.piles:
            height = 0.0
            for number, turn in zip(pile.things, pile.turns, strict=True):
                half = HALF[self.kinds[number]]
                self.put(self.data, number, (*pile.place, height + half), turn)
                height += 2 * half
        self.look()

    def put(self, data: mujoco.MjData, number: int, place: Sequence[float], turn: float) -> None:
        """Put a thing somewhere, upright, in these data."""
        at = self._places[number]
        data.qpos[at : at + 7] = (*place, cos(turn / 2), 0, 0, sin(turn / 2))

    def run(self, steps: int = 1) -> None:
        """Let time pass."""
        mujoco.mj_step(self.model, self.data, steps)

    def look(self) -> None:
        """Bring poses and contacts up to date with the state, which does not change."""
        mujoco.mj_fwdPosition(self.model, self.data)

    def snapshot(self) -> NDArray[np.float64]:
        """The state, for ``restore``."""
        kept = np.empty(mujoco.mj_stateSize(self.model, STATE))
        mujoco.mj_getState(self.model, self.data, kept, STATE)
        return kept

    def restore(self, kept: NDArray[np.float64]) -> None:
        """Go back to a state of a world with the same things."""
        mujoco.mj_setState(self.model, self.data, kept, STATE)
        self.look()

    def elsewhere(self) -> mujoco.MjData:
        """Data with the same positions, to try where something would be; the same ones at every call."""
        self._scratch.qpos[:] = self.data.qpos
        return self._scratch

    def touching(self, data: mujoco.MjData | None = None) -> list[tuple[int, int]]:
        """Pairs of geometries that touch; those of ``data`` are found anew."""
        if data is not None:
            mujoco.mj_kinematics(self.model, data)
            mujoco.mj_collision(self.model, data)
        found = self.data if data is None else data
        return [(int(one), int(other)) for one, other in found.contact.geom]

    def number(self, geom: int) -> int | None:
        """The thing that a geometry belongs to."""
        return self._number.get(geom)

    def is_table(self, geom: int) -> bool:
        """Whether a geometry is the table's."""
        return bool(geom == self._table)

    def place(self, number: int) -> NDArray[np.float64]:
        """The middle of a thing, in metres: right, away from the camera, up."""
        return np.array(self.data.geom_xpos[self.geoms[number]])

    def turn(self, number: int) -> float:
        """How far a thing is turned about an upright axis, in radians."""
        matrix = self.data.geom_xmat[self.geoms[number]]
        return float(np.arctan2(matrix[3], matrix[0]))

    def seen_at(self, place: Point, camera: str) -> tuple[float, float]:
        """Where a square picture shows a point: across from the left and down from the top, as shares of its side."""
        number = self.model.camera(camera).id
        across, up, back = self.data.cam_xmat[number].reshape(3, 3).T @ (place - self.data.cam_xpos[number])
        half = -back * np.tan(np.radians(self.model.cam_fovy[number]) / 2)
        return float(0.5 + across / half / 2), float(0.5 - up / half / 2)

    def half(self, number: int) -> float:
        """Half the width of a thing, in metres."""
        return float(self.model.geom_size[self.geoms[number]][0])

    def speed(self, number: int) -> float:
        """How fast a thing moves, in metres per second."""
        at = int(self.model.body_dofadr[self._bodies[number]])
        return float(np.linalg.norm(self.data.qvel[at : at + 3]))

    def ray(self, start: Point, way: Point, without: int | None = None) -> Met | None:
        """What a ray meets first, other than the arm and the thing ``without``; None if nothing."""
        excluded = _NOTHING if without is None else self._bodies[without]
        from_, along = np.array(start, np.float64), np.array(way, np.float64)
        distance = mujoco.mj_ray(self.model, self.data, from_, along, _THINGS_ONLY, 1, excluded, self._met)
        geom = int(self._met[0])
        if not self.is_table(geom) and geom not in self._number:
            return None
        return Met(self.number(geom), float(distance))


# The arm: where its joints have to be for its finger tips to be somewhere, and smooth motion there.
#
# Joints turn, rise and close together along a path of least jerk; servos follow it. Straight up or down only the quill moves.


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

    def pretend(self, data: mujoco.MjData, pose: Pose) -> None:
        """Put the arm somewhere in data that are only tried, with open fingers."""
        data.qpos[self._at] = np.array([*joints(pose), OPEN, OPEN])

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


# The robot's motion check: finds by rays, contacts and tried poses what cannot be done, before anything moves.
#
# It knows shapes and places, and no rules about what may be done to what: a thing with another one on it cannot be grasped because
# the palm would hit that one; nothing is put onto a ball because rays find no level ground there.


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
        self._way_down(pose)
        across = np.array([cos(pose.turn), sin(pose.turn), 0.0])
        middle = np.array([right, away, ground + self._world.half(thing)])
        met = self._world.ray(middle - 0.1 * across, across)
        if met is None or abs(self._world.place(thing)[2] - middle[2]) >= self._world.half(thing):
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
        self._way_down(pose, carried, (*place[:2], ground + half))
        return pose

    def free_places(self, carried: int) -> Iterable[NDArray[np.float64]]:
        """Places on the table, those farthest from all things first."""
        others = [self._world.place(n)[:2] for n in range(len(self._world.kinds)) if n != carried]

        def room(place: NDArray[np.float64]) -> float:
            return min((float(np.linalg.norm(place - one)) for one in others), default=1.0)

        return sorted(map(np.array, centres()), key=lambda place: -round(room(place), 6))

    def _way_down(
        self,
        pose: Pose,
        carried: int | None = None,
        place: tuple[float, float, float] | None = None,
    ) -> None:
        """Try the hand's last way down, with what it carries; Impossible if that hits anything."""
        data = self._world.elsewhere()
        moving = {self._arm.palm, *self._arm.fingers}
        if carried is not None:
            moving.add(self._world.geoms[carried])
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
