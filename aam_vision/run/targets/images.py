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

    from aam_vision.agents.perception import Box, Perception, Scene, Simulator
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
    *,
    controls: bool = False,
    chance: np.random.Generator | None = None,
) -> Target:
    """The agent of an image environment, its truth kept apart.

    Args:
        env: its name.
        access: what it allows.
        problems: those that are asked for; all if there are none.
        settings: how images are read.
        workers: how many copies of it answer at a time, and where; None for one.
        controls: whether its instructions are the environment's controls.
        chance: draws what comes of its steps, where that is a matter of chance.

    Raises:
        UnusableInput: no such problem or weights; it cannot be asked in this way, or several workers cannot be used.
    """
    from aam_vision.agents.copies import CopiedSimulator
    from aam_vision.envs.registry import asked
    from aam_vision.run.targets.copied import check_access, simulator_crew, with_crew

    several = workers is not None and workers.number > 1
    if workers is not None:
        check_access(access, workers)
    domain = asked(env, controls=controls, chance=chance is not None)
    chosen = problems_of(env, problems, domain.interrogated, access)
    crew = simulator_crew(env, chosen, workers, controls) if several and workers is not None else None
    try:
        clear = [domain.simulator(problem, controls=controls, chance=chance) for problem in chosen]
        if crew is not None:  # they begin while the classifiers are loaded
            clear = [CopiedSimulator(one.scene, number, crew) for number, one in enumerate(clear)]
        target = _seen(env, chosen, access, settings, clear, controls=controls, chance=chance)
        return target if crew is None else with_crew(target, crew)
    except BaseException:
        if crew is not None:
            crew.close()
        raise


def _seen(
    env: str,
    chosen: Sequence[Problem],
    access: Access,
    settings: PerceptionSettings,
    clear: Sequence[Simulator],
    *,
    controls: bool = False,
    chance: np.random.Generator | None = None,
) -> Target:
    """The agent in simulators of these problems, whose images are clear; one's own without classifiers by its function ``shown``."""
    from aam_vision.agents.copies import CopiedSimulator
    from aam_vision.envs.registry import image_domain

    domain, plain = image_domain(env), not controls and chance is None
    told = None if plain or settings.classifiers is not None else domain.stand_in()
    perception: Perception
    if told is not None:
        if any(isinstance(one, CopiedSimulator) for one in clear):
            why = f"the states of {env} are told by its function `shown`, which sees no copy: give --classifiers, too"
            raise UnusableInput(why, "workers")
        if settings.noise:
            why = f"no classifier reads the images of {env}: give --classifiers, too"
            raise UnusableInput(why, "image_noise")
        if controls:
            line = (
                f"the states of {env} are told by its function `shown`: train classifiers "
                f"(python -m aam_vision.training.train --env {env} --out DIR) and give --classifiers DIR to read its images"
            )
            warnings.warn(line, AamWarning, stacklevel=2)
        perception, seen = told, [told.of(one) for one in clear]  # type: ignore[arg-type]  # simulators of Gymnasium's
    else:
        perception, seen = perception_of(env, settings), list(clear)
        if chance is None:
            check_known(perception, clear)
    headers = domain.control_headers if controls else domain.headers
    found = seen_through(env, seen, headers, access, settings, perception, tested=plain, chance=chance)
    return replace(
        found,
        problems=tuple(f"{split}/{number}" for split, number in chosen),
        truth=domain.truth if chance is None else domain.chance_truth,
        held_out=found.held_out if controls else lambda: domain.held_out_states(perception.look),
        scenes=(lambda: [places(one.scene, *one.frame().shape[:2]) for one in clear])
        if chance is None
        else found.scenes,
        native_steps=domain.held_out_steps if controls else None,
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
    from aam_vision.envs.registry import words_of

    domain = words_of(env)
    weights = domain.classifiers(settings.classifiers)
    perception = load_perception(
        domain.visual, domain.name, weights, backend=settings.backend, noisy=settings.noise > 0
    )
    if "torch" in sys.modules:  # one small image at a time: more threads only wait for each other
        sys.modules["torch"].set_num_threads(1)
    if settings.noise and perception.card.looks_sha256 is not None and alone(perception.card):
        line = "with --image-noise, what looks unlike everything learned from is not refused"
        warnings.warn(line, AamWarning, stacklevel=2)
    for line in (*weaknesses(perception.card), *doubts(settings.classifiers)):
        warnings.warn(line, AamWarning, stacklevel=2)
    return perception


def check_known(perception: Perception, clear: Sequence[Simulator]) -> None:
    """Refuse pictures in which classifiers recognise nothing. Raises UnusableInput: it is so in the first picture of every problem."""
    from aam_vision.agents.copies import CopiedSimulator
    from aam_vision.classifiers.perception import BoardPerception

    own = [one for one in clear if not isinstance(one, CopiedSimulator)]
    if isinstance(perception, BoardPerception) and own:
        for one in own:
            one.start()
        if not any(perception.knows(one.frame(), one.scene) for one in own):
            why = "no cell of the first picture looks like anything learned from: draw the whole board as in training"
            raise UnusableInput(f"{why}, or train on such pictures", "classifiers")


def seen_through(
    env: str,
    simulators: Sequence[Simulator],
    headers: Sequence[ActionHeader],
    access: Access,
    settings: PerceptionSettings,
    perception: Perception,
    *,
    strange: bool = False,
    refuses_surely: bool = True,
    tested: bool = True,
    chance: np.random.Generator | None = None,
) -> Target:
    """An agent in simulators, read with the concepts and classifiers of an environment; its true model is not known.

    Images of ``strange`` simulators, which are somebody else's, may show what no classifier was trained on. ``refuses_surely``: no
    refusal is a mistake. ``tested``: the agent tells whether classifiers passed their test. ``chance`` draws what comes of steps.
    """
    import numpy as np

    from aam_vision.agents.image import ChanceImageAgent, ImageAgent
    from aam_vision.agents.shown import WaryPerception
    from aam_vision.agents.unreliable import NoisySimulator
    from aam_vision.envs.registry import words_of

    visual = words_of(env).visual
    if strange:
        perception = WaryPerception(perception)
    noise = np.random.default_rng([settings.seed, 2])
    generators = (noise,) if chance is None else (chance, noise)
    if settings.noise:
        simulators = [NoisySimulator(simulator, settings.noise, noise) for simulator in simulators]
    agent = (ImageAgent if chance is None else ChanceImageAgent)(
        simulators, perception, visual.vocabulary(), headers, access, refuses_surely=refuses_surely
    )
    if isinstance(agent, ChanceImageAgent):
        agent.generators = generators
    if tested:
        agent.untested = untested(settings.classifiers, agent.image_test)
    return Target(
        env,
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
    from aam_vision.agents.perception import cell_boxes

    boxes = cell_boxes(height, width, scene)
    single = {place: cells[0] for place, cells in scene.cells.items() if len(cells) == 1}
    return {
        place: tuple(round(edge, 4) for edge in boxes[cell])  # type: ignore[misc]
        for place, cell in single.items()
        if cell in boxes
    }
