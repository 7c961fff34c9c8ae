"""Clips of pursuits: images of the first one of each kind that began alike and ended alike, where the environment renders them.

Nothing is done a second time for them. What began alike is what held of the things that the objective names: conditions are about
nothing else, so that wherever an objective is achieved in some pursuits, and in others not, there is a clip of either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable
from copy import deepcopy
from typing import Any

import numpy as np

from aam_vision.agents.perception import Frame
from aam_vision.model.query import CLIP_IMAGES
from aam_vision.model.strips import GroundAction, State

CLIPS = 100
"""Clips of a run, at most."""
TRIES = 20
"""Pursuits that began alike and are filmed, at most: an end that is rarer may have no clip."""
PIXELS = 240
"""Of the longer side of an image, at most."""


def rendered(environment: Any) -> Frame:
    """What an environment renders, made small, uint8, (H, W, 3).

    Raises:
        Exception: of any kind: it renders none, or fails.
    """
    from PIL import Image

    image = np.asarray(environment.render())
    if image.dtype != np.uint8 or image.ndim != 3:
        raise ValueError(f"no image, but {image.dtype} of shape {image.shape}")
    small = Image.fromarray(image[..., :3])
    small.thumbnail((PIXELS, PIXELS))
    return np.asarray(small)


def renders(environment: Any, *, copied: bool) -> bool:
    """Whether it renders images, and if it is ``copied`` can be so after that; it was begun."""
    if getattr(environment, "render_mode", None) != "rgb_array":
        return False
    try:
        rendered(environment)
        if copied:
            deepcopy(environment)
    except Exception:  # of any kind: it is foreign code
        return False
    return True


class Film:
    """Images of a pursuit under way, evenly spread: ``CLIP_IMAGES`` at most; none if the environment fails to render one."""

    def __init__(self, environment: Any) -> None:
        self._environment = environment
        self._images: list[Frame] = []
        self._every, self._steps, self._failed = 1, 0, False
        self.look()

    def look(self, *, last: bool = False) -> None:
        """Look at the environment, at first and after each step; what is seen ``last`` is kept in any case."""
        if self._failed or (self._steps % self._every and not last):
            self._steps += 1
            return
        try:
            self._images.append(rendered(self._environment))
        except Exception:  # of any kind: it is foreign code, and nothing depends on it
            self._failed = True
        if len(self._images) == CLIP_IMAGES and not last:
            del self._images[1::2]
            self._every *= 2
        self._steps += 1

    def images(self) -> list[Frame]:
        """Those of a pursuit that has ended."""
        self._steps -= 1
        if self._steps % self._every:
            self.look(last=True)
        return [] if self._failed else self._images


class Clips:
    """The clips of a run.

    Args:
        keep: keeps an image and gives its name.
        constants: what conditions may name beside the things of an objective.
    """

    def __init__(self, keep: Callable[[Frame], str], constants: Collection[str]) -> None:
        self._keep, self._constants = keep, constants
        self._tried: Counter[Hashable] = Counter()
        self._ends: dict[Hashable, set[bool]] = {}
        self.of: dict[Hashable, list[str]] = {}
        """By the handle of the situation in which a pursuit ended the names of its images."""

    def wanted(self, step: GroundAction, state: State) -> bool:
        """Whether a pursuit that begins in this state is to be filmed; it counts as one that is."""
        kind = self._kind(step, state)
        if len(self._ends.get(kind, ())) == 2 or self._tried[kind] == TRIES or len(self.of) == CLIPS:
            return False
        self._tried[kind] += 1
        return True

    def keep(
        self,
        step: GroundAction,
        state: State,
        images: Callable[[], list[Frame]],
        handle: Hashable,
        *,
        achieved: bool,
    ) -> None:
        """Keep the images of a pursuit that began in this state and ended in the situation, unless another one ended like it."""
        ends = self._ends.setdefault(self._kind(step, state), set())
        if achieved not in ends and (found := images()):
            self.of[handle] = [self._keep(image) for image in found]
            ends.add(achieved)

    def _kind(self, step: GroundAction, state: State) -> Hashable:
        """What began alike: the facts about nothing but what the objective names, by its places."""
        place: dict[str, int | str] = {name: name for name in self._constants}
        place |= {name: number for number, name in enumerate(step.objects)}
        known = (atom for atom in state.true if place.keys() >= set(atom.objects))
        return step.name, frozenset(
            (atom.predicate, *(place[name] for name in atom.objects)) for atom in known
        )
