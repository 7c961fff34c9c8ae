"""What the robot can be told, as a space of Gymnasium's: a skill with names of things of the scene."""

from __future__ import annotations

from typing import Any

import gymnasium

from aam_vision.envs.tabletop.skills import SKILLS

Instructed = tuple[str, ...]
"""A skill and the names of the things it is about: ``("stack", "red-block", "steel")``."""


class SkillSpace(gymnasium.spaces.Space[Instructed]):
    """All skills with all things of the present scene, whether they can be carried out or not."""

    def __init__(self) -> None:
        super().__init__()
        self.things: tuple[str, ...] = ()

    def sample(self, mask: Any = None, probability: Any = None) -> Instructed:
        """A random skill with random things; masks and probabilities are not heeded."""
        skill = list(SKILLS)[int(self.np_random.integers(len(SKILLS)))]
        things = self.np_random.integers(len(self.things), size=SKILLS[skill])
        return (skill, *[self.things[int(number)] for number in things])

    def contains(self, x: Any) -> bool:
        """Whether it is a skill with as many things of the scene as it is about."""
        if not isinstance(x, tuple) or not x or x[0] not in SKILLS or len(x) != 1 + SKILLS[x[0]]:
            return False
        return all(thing in self.things for thing in x[1:])

    def usage(self) -> str:
        """All that there is, in words."""
        skills = ", ".join(f"{skill}{' THING' * number}" for skill, number in SKILLS.items())
        return f"{skills}, with things among {', '.join(self.things)}"

    @property
    def is_np_flattenable(self) -> bool:
        """Whether samples can be flattened: names cannot."""
        return False
