"""Labelled images of a user's own environment: where they come from, and which of them are used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from aam_vision.envs.restoring import Env
from aam_vision.perception import Frame, Scene
from aam_vision.strips import Atom

LONGEST_WALK: Final = 200
"""Steps of a random walk at most: longer walks show rare sights more often, and take longer."""

DRAWS: Final = 20
"""Images drawn per wanted one before a source is taken to have no more distinct ones."""


class Labelled(NamedTuple):
    """An image to learn from: its scene, the atoms of perceived predicates that are true, and the image."""

    scene: Scene
    true: frozenset[Atom]
    frame: Frame


LabelledImages = Callable[[np.random.Generator], Iterator[Labelled]]
"""A source of labelled images at random, without end."""


def random_walk(env: Any, rng: np.random.Generator) -> None:
    """Take up to ``LONGEST_WALK`` random actions."""
    env.action_space.seed(int(rng.integers(2**31)))
    for _ in range(int(rng.integers(LONGEST_WALK + 1))):
        env.step(env.action_space.sample())


def labelled_images(
    makers: Sequence[Callable[[], Env]],
    scene: Callable[[Any], Scene],
    true: Callable[[Any], Iterable[Atom]],
    shake: Callable[[Any, np.random.Generator], None] = random_walk,
) -> LabelledImages:
    """Images of environments that are reset with random seeds and then brought into a random state.

    Args:
        makers: each makes an environment; every image is of a random one.
        scene: the user's scene: a function of ``env.unwrapped``, just reset.
        true: a function of ``env.unwrapped``: the atoms of perceived predicates that its image shows.
        shake: brings ``env.unwrapped`` into a random state. A random walk shows rare sights seldom: where things
            can be put anywhere, do so.
    """

    def images(rng: np.random.Generator) -> Iterator[Labelled]:
        envs = [make() for make in makers]
        while True:
            env = envs[int(rng.integers(len(envs)))]
            env.reset(seed=int(rng.integers(2**31)))
            board = scene(env.unwrapped)
            shake(env.unwrapped, rng)
            image: Any = env.render()
            yield Labelled(board, frozenset(true(env.unwrapped)), np.array(image, np.uint8))

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
