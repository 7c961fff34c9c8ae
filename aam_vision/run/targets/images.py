"""Agents that are seen in images: environments, and programs whose images are read in the same way."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aam_vision.model.query import Access
from aam_vision.run.labelling_note import doubts, untested
from aam_vision.run.targets.target import Target, problems_of
from aam_vision.support.errors import AamWarning, UnusableInput

if TYPE_CHECKING:
    import numpy as np

    from aam_vision.agents.image import ImageAgent
    from aam_vision.agents.perception import Box, Perception, Scene, Simulator, VisualVocabulary
    from aam_vision.agents.workers import Workers
    from aam_vision.envs.image_domain import Problem
    from aam_vision.model.strips import ActionHeader
    from aam_vision.run.arguments import Arguments


@dataclass(frozen=True)
class PerceptionSettings:
    """How images are read: with which weights, by which runtime, and with how much noise put on them."""

    classifiers: Path | None = None
    """Folder of weights; None for those shipped."""
    backend: str = "numpy"
    noise: float = 0.0
    """Sigma of Gaussian noise, 0 to 1."""
    seed: int = 0
    """Seed of the noise."""


def settings_of(arguments: Arguments) -> PerceptionSettings:
    """How a run's arguments say that images are read."""
    return PerceptionSettings(arguments.classifiers, arguments.backend, arguments.image_noise, arguments.seed)


def from_images(
    env: str,
    access: Access,
    problems: Sequence[str],
    settings: PerceptionSettings,
    workers: Workers | None = None,
) -> Target:
    """The agent of an image environment, its truth kept apart.

    Raises:
        UnusableInput: no such problem or weights, or several workers cannot be used.
    """
    from aam_vision.envs.registry import image_domain

    if workers is not None and workers.number > 1:
        return _copied(env, access, problems, settings, workers)

    domain = image_domain(env)
    chosen = problems_of(env, problems, domain.interrogated, access)
    return _seen(env, chosen, access, settings, [domain.simulator(problem) for problem in chosen])


def _copied(
    env: str, access: Access, problems: Sequence[str], settings: PerceptionSettings, workers: Workers
) -> Target:
    """The same, with simulators of which several copies work: they begin while the classifiers are loaded."""
    from aam_vision.agents.copies import CopiedSimulator
    from aam_vision.envs.registry import image_domain
    from aam_vision.run.targets.copied import check_access, simulator_crew, with_crew

    check_access(access, workers)
    domain = image_domain(env)
    chosen = problems_of(env, problems, domain.interrogated, access)
    crew = simulator_crew(env, chosen, workers)
    try:
        scenes = [domain.simulator(problem).scene for problem in chosen]
        clear = [CopiedSimulator(scene, number, crew) for number, scene in enumerate(scenes)]
        return with_crew(_seen(env, chosen, access, settings, clear), crew)
    except BaseException:
        crew.close()
        raise


def _seen(
    env: str,
    chosen: Sequence[Problem],
    access: Access,
    settings: PerceptionSettings,
    clear: Sequence[Simulator],
) -> Target:
    """The agent in simulators of these problems, whose images are clear."""
    from aam_vision.envs.registry import image_domain

    domain = image_domain(env)
    perception = perception_of(env, settings)
    check_known(perception, clear)
    return replace(
        seen_through(env, clear, domain.headers, access, settings, perception),
        problems=tuple(f"{split}/{number}" for split, number in chosen),
        truth=domain.truth,
        held_out=lambda: domain.held_out_states(perception.look),
        scenes=lambda: [places(one.scene, *one.frame().shape[:2]) for one in clear],
    )


def perception_of(env: str, settings: PerceptionSettings) -> Perception:
    """What reads the images of an environment.

    Warns:
        AamWarning: some of the classifiers are poor, by the figures of their own card, or have not passed the test of their labels; or noise
            keeps looks from being compared.

    Raises:
        UnusableInput: no such weights or runtime.
    """
    import sys

    from aam_vision.classifiers.loading import load_perception
    from aam_vision.classifiers.store import alone, weaknesses
    from aam_vision.envs.registry import image_domain

    domain = image_domain(env)
    weights = domain.classifiers(settings.classifiers)
    perception = load_perception(
        domain.visual, domain.name, weights, backend=settings.backend, noisy=settings.noise > 0
    )
    if "torch" in sys.modules:  # one small image at a time: more threads only wait for each other
        sys.modules["torch"].set_num_threads(1)
    if settings.noise and perception.card.looks_sha256 is not None and alone(perception.card):
        warnings.warn(
            "with --image-noise, what looks unlike everything learned from is not refused",
            AamWarning,
            stacklevel=2,
        )
    for line in (*weaknesses(perception.card), *doubts(settings.classifiers)):
        warnings.warn(line, AamWarning, stacklevel=2)
    return perception


def check_known(perception: Perception, clear: Sequence[Simulator]) -> None:
    """Refuse pictures in which classifiers recognise nothing.

    Raises:
        UnusableInput: it is so in the first picture of every problem.
    """
    from aam_vision.agents.copies import CopiedSimulator
    from aam_vision.classifiers.perception import BoardPerception

    own = [one for one in clear if not isinstance(one, CopiedSimulator)]
    if isinstance(perception, BoardPerception) and own:
        for one in own:
            one.start()
        if not any(perception.knows(one.frame(), one.scene) for one in own):
            raise UnusableInput(
                "no cell of the first picture looks like anything learned from: draw the whole board as in training, or train on "
                "such pictures",
                "classifiers",
            )


def seen_through(
    env: str,
    simulators: Sequence[Simulator],
    headers: Sequence[ActionHeader],
    access: Access,
    settings: PerceptionSettings,
    perception: Perception,
    *,
    strange: bool = False,
) -> Target:
    """An agent in simulators, read with the concepts and classifiers of an environment; its true model is not known.

    ``strange`` simulators are somebody else's: their images may show what no classifier was trained on, and
    their refusals are not believed at once.
    """
    import numpy as np

    from aam_vision.agents.image import ImageAgent
    from aam_vision.agents.shown import WaryPerception
    from aam_vision.agents.unreliable import NoisySimulator
    from aam_vision.envs.registry import image_domain

    visual = image_domain(env).visual
    if strange:
        perception = WaryPerception(perception)
    noise = np.random.default_rng([settings.seed, 2])
    if settings.noise:
        simulators = [NoisySimulator(simulator, settings.noise, noise) for simulator in simulators]
    agent = ImageAgent(
        simulators, perception, visual.vocabulary(), headers, access, refuses_surely=not strange
    )
    agent.untested = untested(settings.classifiers, agent.image_test)
    return target_of(env, agent, visual, (noise,))


def target_of(
    name: str, agent: ImageAgent, visual: VisualVocabulary, generators: tuple[np.random.Generator, ...]
) -> Target:
    """A target whose agent is seen in images; its problems and its truth are not known."""
    return Target(
        name,
        (),
        agent,
        truth=None,
        held_out=list,
        perception_s=lambda: agent.perception_s,
        generators=generators,
        keep_images=agent.keep_images,
        sources={
            entry.predicate.name: {"kind": entry.provenance.value, "meaning": entry.description}
            for entry in visual.stated
        },
    )


def places(scene: Scene, height: int, width: int) -> dict[str, Box]:
    """The part of an image (of a height and width in pixels) that each place of one cell takes up; none without cells."""
    if not scene.cells:
        return {}
    from aam_vision.agents.perception import board_box

    top, bottom, left, right = board_box(height, width, scene.rows, scene.columns)
    down, across = (bottom - top) / scene.rows / height, (right - left) / scene.columns / width
    found = {}
    for place, (cell, *others) in scene.cells.items():
        row, column = cell
        grid = (
            top / height + row * down,
            top / height + (row + 1) * down,
            left / width + column * across,
            left / width + (column + 1) * across,
        )
        box = grid if scene.boxes is None else scene.boxes.get(cell)
        if box is not None and not others:
            found[place] = tuple(round(edge, 4) for edge in box)
    return found  # type: ignore[return-value]
