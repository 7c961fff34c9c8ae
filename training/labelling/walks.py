"""Pictures to label: of situations that the agent came to on walks, never of states that were put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np

from aam_vision.envs.board import BoardDomain
from aam_vision.envs.image_domain import ImageDomain, Problem
from aam_vision.envs.own import SPLIT, OwnEnvironment
from aam_vision.perception import Frame, Scene

STEPS: Final = 800
"""Steps in every problem: more of them come to rarer situations, and take longer."""

SHORTER: Final = 4
"""So many times fewer steps are walked in a further problem, of which there are many: what differs between them is seen soon."""

RETURN: Final = 0.1
"""Probability, after each step, of going back to an earlier situation: without it a walk ends where nothing can be undone."""


@dataclass(frozen=True)
class Walked:
    """A picture of a situation on a walk.

    Args:
        problem: name of the problem, ``SPLIT/NUMBER``.
        scene: of the problem.
        frame: the picture.
        token: the simulator's snapshot of the situation.
    """

    problem: str
    scene: Scene
    frame: Frame
    token: object


FURTHER: Final = 20
"""Problems besides those that are interrogated, where problems are made by a seed: more show how layouts differ, and take time.
Of four places at which something can be in a problem, twenty problems miss one with a probability of 1%, five with 77%."""

FIRST_SEED: Final = 100_000
"""Of these, far from the seeds that are interrogated or held out."""


SCENES: Final = 25
"""Problems besides those that are interrogated, where pictures have no cells: more of them show more looks, and take time."""

SCENE_STEPS: Final = 40
"""Steps in each of these."""


def walked_problems(domain: ImageDomain) -> tuple[Problem, ...]:
    """The problems in which an agent may walk for pictures: those for training, then those that are interrogated.

    Problems of a user's own environment are made by seeds, so that there are always further ones.
    """
    if isinstance(domain, BoardDomain):
        return domain.walked
    further: tuple[Problem, ...] = ()
    if isinstance(domain, OwnEnvironment):
        further = tuple((SPLIT, FIRST_SEED + number) for number in range(FURTHER))
    return (*domain.interrogated, *further)


def walk(
    domain: ImageDomain, problems: Sequence[Problem], rng: np.random.Generator, steps: int = STEPS
) -> list[Walked]:
    """The different pictures of random walks, in the order in which they were seen.

    Args:
        domain: the environment; its agent chooses the steps.
        problems: each is walked in by itself.
        rng: the source of all chance.
        steps: of the walk in every problem; ``SHORTER`` in further ones.
    """
    found: list[Walked] = []
    for problem in problems:
        further = isinstance(domain, OwnEnvironment) and problem[1] >= FIRST_SEED
        found += _walked(domain, problem, rng, ceil(steps / SHORTER) if further else steps)
    return found


def walk_scenes(domain: ImageDomain, rng: np.random.Generator, steps: int = SCENE_STEPS) -> list[Walked]:
    """The same where pictures have no cells: short walks in many scenes, as in each of them most things stay as they are."""
    problems = domain.interrogated
    if isinstance(domain, OwnEnvironment):
        problems = (*problems, *((SPLIT, FIRST_SEED + number) for number in range(SCENES)))
    return [picture for problem in problems for picture in _walked(domain, problem, rng, steps)]


def _walked(domain: ImageDomain, problem: Problem, rng: np.random.Generator, steps: int) -> list[Walked]:
    """The different pictures of a walk in one problem."""
    found: list[Walked] = []
    simulator = domain.simulator(problem)
    simulator.start()
    seen: dict[bytes, object] = {}
    for _ in range(steps):
        frame = simulator.frame()
        if (content := frame.tobytes()) not in seen:
            seen[content] = token = simulator.snapshot()
            found.append(Walked(f"{problem[0]}/{problem[1]}", simulator.scene, frame.copy(), token))
        choice = None if rng.random() < RETURN else simulator.choose(rng)
        if choice is None:
            simulator.restore(list(seen.values())[int(rng.integers(len(seen)))])
        else:
            simulator.instruct(*choice)
    return found
