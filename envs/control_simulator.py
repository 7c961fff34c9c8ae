"""A Gymnasium environment by its controls: each can always be given, and changes something or nothing.

That a control does the same whenever it is given in one situation is tried first, with chance drawn anew: in what the picture
shows, and in what the environment remembers besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Final

import numpy as np

from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.envs.hidden_state import difference, redraw_chance
from aam_vision.envs.meaning import Instruction, differ
from aam_vision.errors import UnusableInput
from aam_vision.perception import Frame, Scene
from aam_vision.strips import GroundAction
from aam_vision.wording import counted

PLACES: Final = 4
"""Situations in which every control is given twice."""
STRIDE: Final = 5
"""Controls from one of them to the next."""


def random_choice(
    controls: Sequence[Instruction], scene: Scene, rng: np.random.Generator
) -> tuple[str, tuple[str, ...]] | None:
    """One of these controls at random, with arguments at random; None if the scene lacks the objects for it."""
    return with_objects(controls[int(rng.integers(len(controls)))], scene, rng)


def with_objects(
    control: Instruction, scene: Scene, rng: np.random.Generator
) -> tuple[str, tuple[str, ...]] | None:
    """A control with different objects of the right types at random; None if there are too few."""
    objects: list[str] = []
    for kind in control.header.types:
        options = [one for one in scene.objects.of_type(kind) if one not in objects]
        if not options:
            return None
        objects.append(options[int(rng.integers(len(options)))])
    return control.header.name, tuple(objects)


class ControlSimulator(GymnasiumSimulator):
    """One problem of an environment, whose instructions are its controls; arguments as of ``GymnasiumSimulator``.

    After the end of an episode, controls change nothing, unless it ``stops`` not.

    Raises:
        UnusableInput: also if a control given twice in one situation does two things.
    """

    _halts = "does nothing"

    def __init__(self, *given: Any, checked: bool = True, **more: Any) -> None:
        """``checked``: try whether controls always do the same; without it, the environment is believed."""
        self._checked = checked
        super().__init__(*given, **more)

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        """Give a control; always True.

        Raises:
            UnusableInput: there is no such control, or a function of the user's raises.
        """
        instruction = self._instruction(name)
        if self._over and self._stops:
            self._warn()
            return True
        told = str(GroundAction(name, objects))
        for action in self._actions(instruction, objects):
            self._step(action, told)
        return True

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        """A control at random; None if the problem lacks the objects for it."""
        return random_choice(list(self._instructions.values()), self.scene, rng)

    # --- does a control always do the same? ------------------------------------------------------------

    def _random_actions(self, count: int) -> list[Any]:
        """Actions of controls."""
        rng = np.random.default_rng(self._seed)
        found: list[Any] = []
        while len(found) < count:
            chosen = self.choose(rng)
            if chosen is None:
                return found
            found += self._actions(self._instruction(chosen[0]), chosen[1])
        return found

    def _check(self) -> None:
        """Check what is checked of every environment, and that no control does two things in one situation."""
        if not self._checked:
            return
        super()._check()
        self.start()
        rng = np.random.default_rng(self._seed)
        for _ in range(PLACES):
            here = self.snapshot()
            for control in self._instructions.values():
                chosen = with_objects(control, self.scene, rng)
                if chosen is not None:
                    self._check_control(here, *chosen)
            self.restore(here)
            for _ in range(STRIDE):
                chosen = self.choose(rng)
                if chosen is not None and not self._over:
                    self.instruct(*chosen)
            if self._over:
                self.start()

    def _check_control(self, here: object, name: str, objects: tuple[str, ...]) -> None:
        """Give a control twice where a snapshot was taken."""
        seen: list[tuple[Frame, object]] = []
        for chance in (1, 2):
            self.restore(here)
            place = len(self._done)
            redraw_chance(self._env, chance)
            self.instruct(name, objects)
            seen.append((self.frame(), self._remembered()))
        one, other = seen
        where = f"{GroundAction(name, objects)} (seed {self._seed}, after {counted(place, 'step')})"
        if differ(one[0], other[0]):
            raise UnusableInput(
                f"{self._name}: shows two images after the same control in the same situation: {where}; switch its "
                "chance off (slippery floors, obstacles that move), it is no part of a STRIPS agent"
            )
        if found := difference(one[1], other[1]):
            raise UnusableInput(
                f"{self._name}: remembers two things after the same control in the same situation: {where}: {found}; "
                "make it deterministic, or give restore=(snapshot, restore) that keep only what matters"
            )

    def _remembered(self) -> object:
        """All that the environment keeps, as far as it can be looked into; None where it cannot be copied."""
        if self._restore == "copy":
            return self._env.unwrapped
        return None if self._restore == "replay" else deepcopy(self._back.snapshot(self._env, self._done))
