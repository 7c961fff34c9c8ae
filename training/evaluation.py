"""Evaluation of one domain's perception, layout by layout, under every condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Final

import numpy as np

from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.perception import Frame
from aam_vision.strips import State
from aam_vision.training.assessment import PerceptionScores, assess, samples
from aam_vision.training.camera import assessment as camera
from aam_vision.training.corruptions import CLEAN, Corruption
from aam_vision.training.data import check

STATES: Final = 1000
"""Distinct states per group of layouts: more of them find rarer mistakes, and take longer."""

SPEED_SHAPE: Final = (7, 7)
"""Rows and columns of the board that speed is measured on; a user's own environment gives one itself."""

CHUNK: Final = 64
"""Images that are read together: more of them cost memory, fewer cost time."""

TIMED: Final = 256
"""Images of a round whose speed is measured."""

TIMED_PICTURES: Final = 24
"""The same for pictures without cells, each of which takes longer than a board."""

ROUNDS: Final = 9
"""Rounds, of which the median counts: more of them are less disturbed by what else the machine does."""

Reader = BoardPerception | CameraPerception
Judge = Callable[[Sequence[Frame], PerceptionScores], None]


def evaluate_domain(
    domain: ImageDomain,
    perception: Reader,
    *,
    states: int = STATES,
    seed: int = 0,
    conditions: Mapping[str, Corruption] | None = None,
    examined: Mapping[str, Iterable[Pictures]] | None = None,
) -> dict[str, PerceptionScores]:
    """Perceive about ``states`` distinct legal states of every group of problems.

    Args:
        domain: the environment.
        perception: with the weights to evaluate.
        states: distinct states per group.
        seed: of states and corruptions.
        conditions: what is done to the images of unseen layouts, by name; clean ones come in any case.
        examined: the states of each group, where they are drawn already.

    Returns:
        ``unseen``: problems whose layouts classifiers never train on; ``unseen, NAME``: the same states
        under a condition; ``interrogated``: the problems that the agent is asked about. Of a user's own
        environment the unseen ones only.
    """
    worse = {f"unseen, {name}": condition for name, condition in (conditions or {}).items()}
    found: dict[str, PerceptionScores] = {}
    for group, pictures in (examined or domain.examinations(states, seed)).items():
        named = {group: CLEAN, **(worse if group == "unseen" else {})}
        found |= _assess(domain, perception, pictures, named, np.random.default_rng([seed, 1]))
    return found


def _assess(
    domain: ImageDomain,
    perception: Reader,
    examined: Iterable[Pictures],
    conditions: Mapping[str, Corruption],
    chance: np.random.Generator,
) -> dict[str, PerceptionScores]:
    """Read all images, clean and under every condition."""
    found = {name: PerceptionScores() for name in conditions}
    for number, pictures in enumerate(examined, start=1):
        if isinstance(perception, BoardPerception):
            check(domain, pictures, number)
        for begin in range(0, len(pictures.states), CHUNK):
            clean, judge = _judged(perception, pictures, pictures.states[begin : begin + CHUNK])
            for name, condition in conditions.items():
                judge([condition.corrupt(frame, chance) for frame in clean], found[name])
    return found


def _judged(perception: Reader, pictures: Pictures, states: Sequence[State]) -> tuple[list[Frame], Judge]:
    """The clean images of some states, and what compares a reading of them, or of worse ones, with the truth."""
    scene = pictures.scene
    if isinstance(perception, CameraPerception):
        seen = camera.samples(perception.vocabulary, pictures, states)
        return [sample.frame for sample in seen], lambda frames, scores: camera.assess(
            perception, scene, seen, frames, scores
        )
    known = samples(perception.vocabulary, pictures, states)
    return [sample.frame for sample in known], lambda frames, scores: assess(
        perception, scene, known, frames, scores
    )


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


def speed(domain: ImageDomain, perception: Reader, *, seed: int = 0) -> Speed:
    """How fast images of a board of ``SPEED_SHAPE`` become states."""
    timed = TIMED if isinstance(perception, BoardPerception) else TIMED_PICTURES
    board = domain.example(np.random.default_rng(seed), SPEED_SHAPE, timed)
    scene, distinct = board.scene, [board.draw(state) for state in board.states]
    frames = [distinct[number % len(distinct)] for number in range(timed)]
    (percept,) = perception.read_many(
        frames[:1], scene
    )  # ``look`` refuses what untrained classifiers make of it
    times = []
    for frame in frames:
        start = perf_counter()
        perception.follow(percept, frame, scene)
        times.append(perf_counter() - start)
    rounds = []
    for _ in range(ROUNDS):
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
