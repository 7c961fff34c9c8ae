"""An environment of the user's own, in a package of their own: what ``--env`` needs to know about it.

A package announces it as a Python entry point of the group ``aam_vision.environments``::

    [project.entry-points."aam_vision.environments"]
    doorkey = "doorkey:ENVIRONMENT"

Nothing is imported before the environment is asked for by name, so that a package that is broken harms nobody else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from aam_vision.envs.gymnasium_agent import GymnasiumAgent
from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.envs.meaning import Instruction, headers
from aam_vision.envs.restoring import Env, Restore
from aam_vision.errors import UnusableInput, reason
from aam_vision.perception import Frame, Perception, Scene, VisualVocabulary
from aam_vision.query import Access
from aam_vision.strips import ActionHeader, Atom, Model

GROUP = "aam_vision.environments"
"""The group of the entry points."""

SPLIT = "seed"
"""A problem is named after the seed of its reset: ``seed/3``."""


class Labelled(NamedTuple):
    """An image to learn from: its scene, the atoms of perceived predicates that are true, and the image."""

    scene: Scene
    true: frozenset[Atom]
    frame: Frame


@dataclass(frozen=True)
class OwnEnvironment:
    """All that the toolkit knows of a user's environment.

    Args:
        name: of the environment and of its weights.
        visual: the vocabulary, with the source of every predicate's truth.
        instructions: all that the agent can be told, and what it means.
        make: makes the Gymnasium environment, with ``render_mode="rgb_array"``.
        scene: what the user points out about a problem: a function of ``env.unwrapped``, just reset.
        seeds: the problems that are interrogated together, by the seeds of their resets.
        pictures: labelled images at random, without end, to train classifiers on.
        unseen: the same, to evaluate them on; best of layouts that ``pictures`` never shows. None: ``pictures``
            with another seed.
        weights: the folder of the trained classifiers that the package brings; None if it brings none.
        restore: how an environment is brought back, see ``restoring``.
        stops: whether nothing can be done once the environment has said ``terminated``.
        truth: the model that the user intends, if there is one: looked at only after an interrogation.
    """

    name: str
    visual: VisualVocabulary
    instructions: tuple[Instruction, ...]
    make: Callable[[], Env]
    scene: Callable[[Any], Scene]
    seeds: tuple[int, ...]
    pictures: Callable[[np.random.Generator], Iterator[Labelled]]
    unseen: Callable[[np.random.Generator], Iterator[Labelled]] | None = None
    weights: Path | None = None
    restore: Restore = "copy"
    stops: bool = True
    truth: Callable[[], Model] | None = None

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        """The agent's instructions."""
        return headers(self.instructions)

    @property
    def interrogated(self) -> tuple[tuple[str, int], ...]:
        """The problems that are interrogated together."""
        return tuple((SPLIT, seed) for seed in self.seeds)

    def classifiers(self, given: Path | None) -> Path:
        """The folder of the weights: the given one, or what the package brings.

        Raises:
            UnusableInput: there is neither.
        """
        folder = given or self.weights
        if folder is None:
            raise UnusableInput(
                f"--env {self.name}: its package brings no classifiers; run python -m aam_vision.training.train "
                f"--env {self.name} --out DIR, and name DIR"
            )
        return folder

    def simulator(self, seed: int) -> GymnasiumSimulator:
        """A problem, ready to be instructed.

        Raises:
            UnusableInput: the environment cannot be made or used.
        """
        try:
            env = self.make()
        except Exception as error:
            raise UnusableInput(
                f"environment {self.name}: make() raised {reason(error)}; correct it"
            ) from error
        return GymnasiumSimulator(env, self.instructions, self.scene, self.restore, seed, stops=self.stops)

    def agent(
        self, perception: Perception, access: Access = Access.SNAPSHOT, seeds: Sequence[int] | None = None
    ) -> GymnasiumAgent:
        """The agent of some problems; by default of all that are interrogated.

        Raises:
            UnusableInput: the environment cannot be used.
        """
        return GymnasiumAgent(
            self.make,
            self.visual,
            self.instructions,
            perception,
            self.restore,
            scene=self.scene,
            seeds=self.seeds if seeds is None else seeds,
            access=access,
            stops=self.stops,
        )


def names() -> tuple[str, ...]:
    """The names under which installed packages announce environments, sorted; nothing is imported."""
    return tuple(sorted({point.name for point in entry_points(group=GROUP)}))


def load(name: str) -> OwnEnvironment | None:
    """The environment that an installed package announces under this name; None if there is none.

    Raises:
        UnusableInput: it cannot be imported, is no environment, or two packages announce one.
    """
    points = list(dict.fromkeys(entry_points(group=GROUP, name=name)))
    if not points:
        return None
    if len({point.value for point in points}) > 1:
        both = " and ".join(f"{_origin(point)} ({point.value})" for point in points)
        raise UnusableInput(f"--env {name}: announced by {both}; uninstall one of them")
    (point, *_) = points
    try:
        found = point.load()
    except Exception as error:  # a foreign package fails in any way
        raise UnusableInput(
            f"--env {name}: {point.value} of {_origin(point)} cannot be imported ({reason(error)}); correct "
            f"or uninstall that package"
        ) from error
    if not isinstance(found, OwnEnvironment):
        raise UnusableInput(
            f"--env {name}: {point.value} of {_origin(point)} is no OwnEnvironment (but "
            f"{type(found).__name__}); announce an aam_vision.envs.own.OwnEnvironment"
        )
    if found.name != name:
        raise UnusableInput(
            f"--env {name}: {point.value} of {_origin(point)} calls itself {found.name!r}; use one name for both"
        )
    return found


def _origin(point: EntryPoint) -> str:
    """The package that announces an entry point."""
    return f"package {point.dist.name} {point.dist.version}" if point.dist else "an unnamed package"
