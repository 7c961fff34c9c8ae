"""A robot arm on a table as a Gymnasium environment: pictures out, skills in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import gymnasium
import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.tabletop.arm import Arm
from aam_vision.envs.tabletop.drawing import Drawing
from aam_vision.envs.tabletop.layouts import Layout, random_layout
from aam_vision.envs.tabletop.mjcf import CAMERA
from aam_vision.envs.tabletop.motion_check import MotionCheck
from aam_vision.envs.tabletop.skill_space import Instructed, SkillSpace
from aam_vision.envs.tabletop.skills import SLIPPING, Skills
from aam_vision.envs.tabletop.truth import true_atoms
from aam_vision.envs.tabletop.world import World
from aam_vision.errors import UnusableInput
from aam_vision.perception import Frame, Mask
from aam_vision.strips import Atom

SIZE: Final = 208
"""Height and width of a picture, in pixels."""
SETTLING: Final = 0.2
"""Seconds in which things come to rest at the beginning."""


@dataclass(frozen=True)
class Snapshot:
    """A state of one scene, for ``restore``."""

    layout: Layout
    state: NDArray[np.float64]


class Stage:
    """A world with its arm, its skills and its camera: made once for things of the same kinds."""

    def __init__(self, kinds: tuple[str, ...]) -> None:
        self.world = World(kinds)
        self.arm = Arm(self.world)
        self.skills = Skills(self.world, self.arm)
        self.check = MotionCheck(self.world, self.arm)
        self._drawing: Drawing | None = None

    def set_up(self, layout: Layout) -> None:
        """Put everything in its place, and let it come to rest."""
        self.world.lay_out(layout)
        self.arm.go_home_at_once(layout.held)
        self.arm.rest(SETTLING)

    def drawing(self, size: int) -> Drawing:
        """What draws pictures, (size, size, 3): made once."""
        if self._drawing is None:
            self._drawing = Drawing(self.world, (size, size))
        return self._drawing

    def close(self) -> None:
        """Give the camera back."""
        if self._drawing is not None:
            self._drawing.close()
            self._drawing = None


class TabletopEnv(gymnasium.Env[NDArray[np.uint8], Instructed]):
    """Blocks, a ball and a piece of steel on a table, and an arm that has skills.

    Observations are pictures, uint8 (size, size, 3). An action is a skill with names of things, such as
    ``("stack", "red-block", "steel")``. A skill that cannot be carried out changes nothing; ``info["executed"]`` says so,
    and ``info["refusal"]`` why. There is no reward and no end.

    Of the skills that can be carried out, a share ``slip`` goes wrong: the fingers close beside what they are to lift, which stays
    where it is, or lose what they carry to a pile, which drops onto the table. ``info["slipped"]`` says so.

    Args:
        render_mode: ``rgb_array`` or None.
        blocks: how many; None: three to five, by the seed.
        alike: how many of the blocks look the same.
        size: height and width of a picture, in pixels; classifiers are trained for one size.
        slip: how likely the hand slips, from 0 to 1, wherever it lifts something or stacks it; drawn from ``np_random``.

    Raises:
        UnusableInput: no such render mode or probability; on drawing: neither EGL nor OSMesa works here.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}

    def __init__(
        self,
        render_mode: str | None = None,
        blocks: int | None = None,
        alike: int = 1,
        size: int = SIZE,
        slip: float = 0.0,
    ) -> None:
        if not 0 <= slip <= 1:
            raise UnusableInput(f"tabletop: no probability {slip!r} of a slip: use one from 0 to 1")
        if render_mode not in (None, "rgb_array"):
            raise UnusableInput(f"no render mode {render_mode!r}: use 'rgb_array' or None")
        self.render_mode = render_mode
        self.observation_space = gymnasium.spaces.Box(0, 255, (size, size, 3), np.uint8)
        self.action_space = self._skills = SkillSpace()
        self.executed = False
        """Whether the last skill was carried out."""
        self.slipped = False
        """Whether the hand slipped then."""
        self._slip = slip
        self._random = partial(random_layout, blocks=blocks, alike=alike)
        self._size = size
        self._pictures: dict[str, Frame] = {}
        self._masks: dict[str, Mask] | None = None
        self._stages: dict[tuple[str, ...], Stage] = {}
        self.layout: Layout
        self.stage: Stage

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Set up a random scene, or that of ``options["layout"]``."""
        super().reset(seed=seed)
        self.set_up((options or {}).get("layout") or self._random(self.np_random))
        return self.picture(), {}

    def set_up(self, layout: Layout) -> None:
        """Set up a scene, without a picture of it."""
        if layout.kinds not in self._stages:
            self._stages[layout.kinds] = Stage(layout.kinds)
        self.layout, self.stage = layout, self._stages[layout.kinds]
        self.stage.set_up(layout)
        self.executed = False
        self._skills.things = tuple(thing.name for thing in layout.things)
        self._forget_pictures()

    def step(self, action: Instructed) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Carry out a skill if that can be done.

        Raises:
            UnusableInput: there is no such skill, or no such thing in the scene.
        """
        refusal = self.carry_out(*action)
        info = {"executed": refusal is None, "refusal": refusal, "slipped": self.slipped}
        return self.picture(), 0.0, False, False, info

    def carry_out(self, skill: str, *things: str) -> str | None:
        """Carry out a skill; return why it cannot be done, or None if it was.

        Raises:
            UnusableInput: there is no such skill, or no such thing in the scene.
        """
        if not self._skills.contains((skill, *things)):
            raise UnusableInput(
                f"tabletop: no skill {' '.join((skill, *things))!r}; use {self._skills.usage()}"
            )
        numbers = tuple(self._skills.things.index(thing) for thing in things)
        before = self.stage.world.snapshot()
        refusal = self.stage.skills.carry_out(skill, numbers)
        self.executed = refusal is None
        self.slipped = self.executed and self._slips(skill)
        if self.slipped:
            self.stage.world.restore(before)
            self.stage.skills.slip(skill, numbers)
        if self.executed:
            self._forget_pictures()
        return refusal

    def _slips(self, skill: str) -> bool:
        """Whether the hand slips this time."""
        return bool(self._slip and skill in SLIPPING and self.np_random.random() < self._slip)

    def render(self) -> NDArray[np.uint8] | None:
        return self.picture() if self.render_mode == "rgb_array" else None

    def picture(self, camera: str = CAMERA) -> Frame:
        """The present picture, uint8 (size, size, 3), whatever the render mode."""
        if camera not in self._pictures:
            self._pictures[camera] = self.stage.drawing(self._size).picture(camera)
        return self._pictures[camera].copy()

    def visible(self) -> dict[str, int]:
        """How many pixels of the present picture show each thing; those of a picture of ``SIZE`` at another size."""
        scale = (SIZE / self._size) ** 2
        return {name: round(scale * int(mask.sum())) for name, mask in self.masks().items()}

    def masks(self) -> dict[str, Mask]:
        """Which pixels of the present picture show each thing: (size, size); other things and the arm hide it."""
        if self._masks is None:
            shown = self.stage.drawing(self._size).shown()
            self._masks = {name: shown == number for number, name in enumerate(self._skills.things)}
        return self._masks

    def point(self, name: str) -> tuple[float, float]:
        """Where the middle of a thing is in the picture: across from the left and down from the top, as shares of its side."""
        stage = self.stage
        return stage.world.seen_at(stage.world.place(self._skills.things.index(name)), CAMERA)

    def true_atoms(self) -> frozenset[Atom]:
        """What is true at present, read from poses and contacts: for labels and evaluation only."""
        return true_atoms(self.stage.world, self.stage.check, self._skills.things)

    def snapshot(self) -> Snapshot:
        """The present state, for ``restore``."""
        return Snapshot(self.layout, self.stage.world.snapshot())

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a state of the present scene.

        Raises:
            UnusableInput: the snapshot is of another scene.
        """
        if snapshot.layout != self.layout:
            raise UnusableInput("tabletop: the snapshot is of another scene; reset to that one first")
        if not np.array_equal(snapshot.state, self.stage.world.snapshot()):
            self.stage.world.restore(snapshot.state)
            self._forget_pictures()

    def _forget_pictures(self) -> None:
        """The present state is another one."""
        self._pictures.clear()
        self._masks = None

    def close(self) -> None:
        """Give the cameras back."""
        for stage in self._stages.values():
            stage.close()
