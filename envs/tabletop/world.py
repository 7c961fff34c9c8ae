"""The physics of one scene: what stands where, time steps, and snapshots that are bit-identical."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, sin
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.tabletop.layouts import Layout
from aam_vision.envs.tabletop.mjcf import HALF, TABLE, body, material, scene_xml

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
    """A table with things of certain kinds, whose places and looks a layout gives.

    Args:
        kinds: of the things, in order; they decide the physics.
    """

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
        if geom == _NOTHING:
            return None
        return (
            Met(self.number(geom), float(distance)) if self.is_table(geom) or geom in self._number else None
        )
