"""What the robot can be told to do, carried out by motion of the arm with contacts.

Every skill begins and ends with the hand at home. It is checked first (`motion_check`), carried out, and looked at
afterwards: what slips out of the fingers or does not come to rest where it was put has failed.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.tabletop.world import ABOVE, HOME, Arm, Impossible, MotionCheck, Pose, World, quarter

SKILLS: Final = {"pick-up": 1, "put-down": 1, "stack": 2, "unstack": 2}
"""Name of every skill, and how many things it is about."""

SLIPPING: Final = ("pick-up", "stack", "unstack")
"""Skills in which the hand may slip."""
DROP: Final = 0.012
"""How high above the table a thing is lost, in metres."""

RISEN: Final = 0.02
"""How far a thing has to come along with the hand to count as lifted, in metres."""
ASTRAY: Final = 0.008
"""How far from its goal a thing may come to rest, in metres."""
STILL: Final = 0.02
"""Speed at which a thing counts as resting, in metres per second."""


class Skills:
    """The skills of the arm of a world."""

    def __init__(self, world: World, arm: Arm) -> None:
        self._world, self._arm = world, arm
        self.check = MotionCheck(world, arm)

    def carry_out(self, name: str, things: tuple[int, ...]) -> str | None:
        """Carry out a skill; return why it cannot be, or None if it was. Whatever is refused changes nothing."""
        before = self._world.snapshot()
        try:
            if name == "pick-up":
                self._lift(things[0], ground=0.0)
            elif name == "unstack":
                self._unstack(*things)
            elif name == "put-down":
                self._put_down(things[0])
            else:
                self._stack(*things)
        except Impossible as reason:
            self._world.restore(before)
            return str(reason)
        return None

    def slip(self, name: str, things: tuple[int, ...]) -> None:
        """Carry out a skill that can be, with a hand that slips.

        A thing that is to be lifted stays where it is; one that is to be stacked drops onto a free place of the table.
        """
        if name != "stack":
            return
        before = self._world.snapshot()
        for height in (DROP, 0.0):  # what topples when it drops is put down instead
            try:
                self._put_down(things[0], height)
            except Impossible:
                self._world.restore(before)
            else:
                return
        raise RuntimeError("no place of the table is free")  # there are more places than things

    def _unstack(self, thing: int, under: int) -> None:
        self.check.empty_handed()
        found, ground = self.check.below(thing)
        if found != under:
            raise Impossible("the thing does not stand on the other one")
        self._lift(thing, ground)

    def _lift(self, thing: int, ground: float) -> None:
        """Grasp a thing at the height of the ground that it is to stand on, and bring it home."""
        self.check.empty_handed()
        pose = self.check.grasp(thing, ground)
        before = float(self._world.place(thing)[2])
        self._pass_over(pose, self.check.top())
        self._arm.move(pose)
        self._arm.close()
        self._arm.move(pose.at_height(pose.up + 2 * RISEN))
        if self._world.place(thing)[2] < before + RISEN or self.check.held() != thing:
            raise Impossible("the thing does not come along with the hand")
        self._go_home(self.check.top(without=thing))
        self.check.holding(thing)

    def _put_down(self, thing: int, drop: float = 0.0) -> None:
        self.check.holding(thing)
        for place in self.check.free_places(thing):
            try:
                ground = self.check.ground(thing, place, turn=0.0, on=None)
                self.check.release(thing, place, ground, turn=0.0)
            except Impossible:
                continue
            return self._set_down(thing, place, ground, turn=0.0, on=None, drop=drop)
        raise Impossible("no place is free")

    def _stack(self, thing: int, under: int) -> None:
        self.check.holding(thing)
        place, turn = self._world.place(under), quarter(self._world.turn(under))
        ground = self.check.ground(thing, place, turn, on=under)
        self._set_down(thing, place, ground, turn, on=under)

    def _set_down(
        self,
        thing: int,
        place: NDArray[np.float64],
        ground: float,
        turn: float,
        on: int | None,
        drop: float = 0.0,
    ) -> None:
        """Bring the carried thing to a place on level ground or above it, let it go, and see whether it stays."""
        ground += drop
        top = self.check.top(without=thing)
        self._pass_over(self.check.release(thing, place, ground, turn), top)
        # it may have slipped a little on the way
        self._arm.move(self.check.release(thing, place, ground, turn))
        self._arm.release()
        self._go_home(self.check.top())
        astray = float(np.linalg.norm(self._world.place(thing)[:2] - place[:2]))
        if self.check.below(thing)[0] != on or astray > ASTRAY or self._world.speed(thing) > STILL:
            raise Impossible("the thing does not stay where it is put")

    def _pass_over(self, pose: Pose, top: float) -> None:
        """From home over everything to a place above a pose."""
        high = max(HOME.up, top + ABOVE, pose.up)
        if high > HOME.up:
            self._arm.move(HOME.at_height(high))
        self._arm.move(pose.at_height(high))

    def _go_home(self, top: float) -> None:
        """Straight up and over everything home."""
        tips = self._arm.tips
        high = max(HOME.up, top + ABOVE)
        self._arm.move(Pose(float(tips[0]), float(tips[1]), high, self._arm.turn))
        self._arm.move(HOME.at_height(high))
        if high > HOME.up:
            self._arm.move(HOME)
