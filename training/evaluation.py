"""Evaluation of one domain's perception, layout by layout, under every condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from time import perf_counter, process_time
from typing import Final

import numpy as np

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.board import BoardDomain, Problem
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.registry import ImageDomain
from aam_vision.envs.sampling import synthetic_layouts
from aam_vision.perception import Frame, Scene
from aam_vision.training.assessment import Assessment, assess, samples
from aam_vision.training.corruptions import CLEAN, Corruption
from aam_vision.training.data import pictures
from aam_vision.training.own import assess_own

STATES: Final = 1000
"""Distinct states per group of layouts."""

SPEED_SHAPE: Final = (7, 7)
"""Rows and columns of the board that speed is measured on; a user's own environment gives one itself."""

_CHUNK = 64  # images that are kept at once
_TIMED = 256
_ROUNDS = 9


def evaluate_domain(
    domain: ImageDomain,
    perception: BoardPerception,
    *,
    states: int = STATES,
    seed: int = 0,
    conditions: Mapping[str, Corruption] | None = None,
) -> dict[str, Assessment]:
    """Perceive about ``states`` distinct legal states of every group of problems.

    Args:
        domain: the environment.
        perception: with the weights to evaluate.
        states: distinct states per group.
        seed: of states and corruptions.
        conditions: what is done to the images of unseen layouts, by name; clean ones come in any case.

    Returns:
        ``unseen``: problems whose layouts classifiers never train on; ``unseen, NAME``: the same states
        under a condition; ``interrogated``: the problems that the agent is asked about. Of a user's own
        environment the unseen ones only.
    """
    if isinstance(domain, OwnEnvironment):
        return assess_own(domain, perception, states, seed, conditions or {})
    problems = list(dict.fromkeys(domain.held_out + domain.interrogated))
    unseen = [problem for problem in problems if problem not in domain.trained_on]
    worse = {f"unseen, {name}": condition for name, condition in (conditions or {}).items()}
    return {
        **_assess(domain, perception, unseen, states, {"unseen": CLEAN, **worse}, seed),
        **_assess(domain, perception, list(domain.interrogated), states, {"interrogated": CLEAN}, seed + 1),
    }


def _assess(
    domain: BoardDomain,
    perception: BoardPerception,
    problems: list[Problem],
    states: int,
    conditions: Mapping[str, Corruption],
    seed: int,
) -> dict[str, Assessment]:
    """States are shared out evenly; what a small layout cannot give, larger ones make up for."""
    rng, chance = (np.random.default_rng([seed, which]) for which in (0, 1))
    found = {name: Assessment() for name in conditions}
    layouts = sorted([domain.load(*problem) for problem in problems], key=lambda layout: len(layout.objects))
    done = 0
    for number, layout in enumerate(layouts):
        scene = domain.scene(layout)
        pairs = pictures(domain, layout, -(-(states - done) // (len(layouts) - number)), rng)
        while known := samples(domain.visual, scene, islice(pairs, _CHUNK)):
            done += len(known)
            for name, condition in conditions.items():
                frames = [condition.corrupt(sample.frame, chance) for sample in known]
                assess(perception, scene, known, frames, found[name])
    return found


@dataclass(frozen=True)
class Speed:
    """How fast images become states; wall time depends on what else the machine does, CPU time hardly.

    Attributes:
        single_ms: median milliseconds for a single image, in wall time.
        images_per_s: images a second in batches, in wall time (median of several rounds).
        batch_cpu_ms: CPU milliseconds an image in batches, over all threads (median).
        shape: rows and columns of the board.
    """

    single_ms: float
    images_per_s: float
    batch_cpu_ms: float
    shape: tuple[int, int] = SPEED_SHAPE


def speed(domain: ImageDomain, perception: BoardPerception, *, seed: int = 0) -> Speed:
    """How fast images of a board of ``SPEED_SHAPE`` become states."""
    scene, distinct = _board(domain, np.random.default_rng(seed))
    frames = [distinct[number % len(distinct)] for number in range(_TIMED)]
    percept = perception.look(frames[0], scene)
    times = []
    for frame in frames:
        start = perf_counter()
        perception.follow(percept, frame, scene)
        times.append(perf_counter() - start)
    rounds = []
    for _ in range(_ROUNDS):
        begun = perf_counter(), process_time()
        perception.read_many(frames, scene)
        rounds.append((perf_counter() - begun[0], process_time() - begun[1]))
    wall, cpu = np.median(rounds, axis=0)
    return Speed(
        1000 * float(np.median(times)),
        len(frames) / float(wall),
        1000 * float(cpu) / len(frames),
        (scene.rows, scene.columns),
    )


def _board(domain: ImageDomain, rng: np.random.Generator) -> tuple[Scene, list[Frame]]:
    """A board, and images of it."""
    if isinstance(domain, OwnEnvironment):
        scene, _, frame = next(domain.pictures(rng))
        return scene, [frame]
    layout = next(synthetic_layouts(domain.name, [SPEED_SHAPE], rng))
    return domain.scene(layout), [frame for _, frame in pictures(domain, layout, _TIMED, rng)]
