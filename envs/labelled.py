"""Labelled images of a user's own environment: where they come from, and which of them are used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from aam_vision.envs.restoring import Env
from aam_vision.perception import Frame, Scene
from aam_vision.strips import Atom

LONGEST_WALK: Final = 400
"""Steps between two images of a walk at most: longer walks show rare sights more often, and take longer."""

IMAGES_PER_RESET: Final = 4
"""Images of one walk: more of them save resets, but show the same board again."""

DRAWS: Final = 20
"""Images drawn per wanted one before a source is taken to have no more distinct ones."""


class Labelled(NamedTuple):
    """An image to learn from: its scene, the atoms of perceived predicates that are true, and the image."""

    scene: Scene
    true: frozenset[Atom]
    frame: Frame


LabelledImages = Callable[[np.random.Generator], Iterator[Labelled]]
"""A source of labelled images at random, without end."""


def from_walks(
    makers: Sequence[Callable[[], Env]],
    scene: Callable[[Any], Scene],
    true: Callable[[Any], Iterable[Atom]],
    *,
    steps: int = LONGEST_WALK,
) -> LabelledImages:
    """Labelled images of random walks.

    Args:
        makers: each makes an environment; every walk is in a random one, reset with a random seed.
        scene: the user's scene: a function of ``env.unwrapped``, just reset.
        true: a function of ``env.unwrapped``: the atoms of perceived predicates that its image shows.
        steps: random actions of the environment between two images, at most.
    """

    def images(rng: np.random.Generator) -> Iterator[Labelled]:
        envs = [make() for make in makers]
        while True:
            env = envs[int(rng.integers(len(envs)))]
            env.reset(seed=int(rng.integers(2**31)))
            env.action_space.seed(int(rng.integers(2**31)))
            board = scene(env.unwrapped)
            for _ in range(IMAGES_PER_RESET):
                for _ in range(int(rng.integers(steps + 1))):
                    env.unwrapped.step(env.action_space.sample())
                yield Labelled(board, frozenset(true(env.unwrapped)), np.array(env.render(), np.uint8))

    return images


def distinct(source: LabelledImages, number: int, rng: np.random.Generator) -> Iterator[Labelled]:
    """Up to ``number`` different images of a source."""
    seen: set[bytes] = set()
    images = iter(source(rng))
    for _ in range(DRAWS * number):
        labelled = next(images, None)
        if labelled is None or len(seen) == number:
            return
        scene, true, frame = labelled
        if (content := frame.tobytes()) not in seen:
            seen.add(content)
            yield Labelled(scene, frozenset(true), frame)
