"""Labelled images of a user's own environment: where they come from, and which of them are used."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from aam_vision.envs.depiction import Depiction
from aam_vision.envs.rendered import copied, rendered
from aam_vision.envs.restoring import Env
from aam_vision.perception import Frame, Mask, Scene
from aam_vision.strips import Atom

LONGEST_WALK: Final = 200
"""Steps of a random walk at most: longer walks show rare sights more often, and take longer."""

FROM_RARE: Final = 0.5
"""Share of walks that begin in a situation of the rarest kind seen so far."""
COMMON: Final = 0.05
"""Share of the situations of common kinds that are shown."""

EARLY: Final = 100
"""Images after which it is tried for the first time whether they show what their labels say: later is surer, and takes longer."""
DRAWS: Final = 20
"""Images drawn per wanted one before a source is taken to have no more distinct ones."""


class Labelled(NamedTuple):
    """An image to learn from: its scene, the atoms of perceived predicates that are true, and the image.

    Attributes:
        masks: which pixels show a thing, for those things of which it is known: (height, width). Only what learns from
            pictures without cells uses it.
        unknown: atoms about which either answer is right.
    """

    scene: Scene
    true: frozenset[Atom]
    frame: Frame
    masks: Mapping[str, Mask] = MappingProxyType({})
    unknown: frozenset[Atom] = frozenset()


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
    masks: Callable[[Any], Mapping[str, Mask]] | None = None,
) -> LabelledImages:
    """Images of environments that are reset with random seeds and then brought into a random state.

    Args:
        makers: each makes an environment; every image is of a random one.
        scene: the user's scene: a function of ``env.unwrapped``, just reset.
        true: a function of ``env.unwrapped``: the atoms of perceived predicates that its image shows.
        shake: brings ``env.unwrapped`` into a random state. A random walk shows rare sights seldom: where things
            can be put anywhere, do so.
        masks: a function of ``env.unwrapped``: which pixels show each thing; see ``Labelled``. None: that is not known.
    """

    def images(rng: np.random.Generator) -> Iterator[Labelled]:
        envs = [make() for make in makers]
        while True:
            env = envs[int(rng.integers(len(envs)))]
            env.reset(seed=int(rng.integers(2**31)))
            board = scene(env.unwrapped)
            shake(env.unwrapped, rng)
            image = rendered(env)
            where = {} if masks is None else masks(env.unwrapped)
            yield Labelled(board, frozenset(true(env.unwrapped)), image, where)

    return images


Kind = frozenset[frozenset[str]]
"""Sets of predicates that are true of one object."""


@dataclass(frozen=True)
class Explored:
    """An environment that is explored by random controls.

    Args:
        make: makes it.
        scene: the user's scene: a function of ``env.unwrapped``, just reset.
        true: a function of ``env.unwrapped`` and its scene: the atoms of perceived predicates that its image shows.
        act: gives the environment a random control; whether the episode has ended for good.
        copied: whether copies of the environment can be kept, to go on from.
    """

    make: Callable[[], Env]
    scene: Callable[[Any], Scene]
    true: Callable[[Any, Scene], frozenset[Atom]]
    act: Callable[[Env, Scene, np.random.Generator], bool]
    copied: bool


def explored_images(world: Explored, rng: np.random.Generator) -> Iterator[Labelled]:
    """Images of random walks, those of rare kinds of situations as often as the others.

    Two situations are of one kind if the same predicates are true together of some object in them (the arrow in an open door,
    pointing right). Some walks go on from a situation of a rare kind, so that what lies behind it (the open door, once the
    key was found) is seen, too.
    """
    seen: Counter[Kind] = Counter()
    kept: dict[Kind, tuple[Env, Scene]] = {}
    env = world.make()
    while True:
        if kept and rng.random() < FROM_RARE:
            start, scene = kept[min(kept, key=seen.__getitem__)]
            env = deepcopy(start)
        else:
            env.reset(seed=int(rng.integers(2**31)))
            scene = world.scene(env.unwrapped)
        ended = False
        for step in range(LONGEST_WALK):
            true = world.true(env.unwrapped, scene)
            kind = _kind(true)
            rare = seen[kind] * len(seen) <= seen.total()
            if step == 0 or rare or rng.random() < COMMON:
                seen[kind] += 1
                if world.copied and rare and not ended:
                    kept[kind] = deepcopy(env), scene
                yield Labelled(scene, true, rendered(env))
            if ended:
                break
            ended = world.act(env, scene, rng)


def _kind(true: frozenset[Atom]) -> Kind:
    together: dict[str, set[str]] = defaultdict(set)
    for predicate, objects in true:
        for name in objects or ("",):
            together[name].add(predicate)
    return frozenset(frozenset(predicates) for predicates in together.values())


def distinct(
    source: LabelledImages, number: int, rng: np.random.Generator, depiction: Depiction
) -> Iterator[Labelled]:
    """Up to ``number`` different images of a source; ``depiction`` takes note of every one that is drawn.

    Raises:
        UnusableInput: one is no image, or they do not show what their labels say.
    """
    seen: set[bytes] = set()
    images = iter(source(rng))
    for drawn in range(DRAWS * number):
        labelled = next(images, None)
        if labelled is None or len(seen) == number:
            break
        one = Labelled(*labelled)  # the user's code may yield plain tuples
        one = one._replace(true=frozenset(one.true), frame=copied(one.frame, "a labelled picture is"))
        if not one.unknown:
            depiction.saw(one.frame, one.scene, one.true)
        if drawn == EARLY:
            depiction.check()
        if (content := one.frame.tobytes()) not in seen:
            seen.add(content)
            yield one
    depiction.check()
