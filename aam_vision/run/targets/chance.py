"""Environments with chance: PDDLGym's that tell their states, and those seen in images."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aam_vision.model.query import Access
from aam_vision.run.targets.images import perception_of, settings_of, target_of
from aam_vision.run.targets.symbolic import symbolic
from aam_vision.run.targets.target import (
    SYMBOLIC_ACCESS,
    Target,
    access_of,
    numbers,
    problems_of,
)
from aam_vision.support.errors import UnusableInput

if TYPE_CHECKING:
    import numpy as np

    from aam_vision.agents.perception import Perception, Simulator
    from aam_vision.run.arguments import Arguments

SEEN_ACCESS = (Access.SNAPSHOT, Access.RESET)
"""What environments that are seen in images allow."""


def with_chance(env: str, arguments: Arguments, chance: np.random.Generator) -> Target:
    """An environment whose steps may have several outcomes: one of PDDLGym's that tells its states, or one seen in images.

    Args:
        env: its name.
        arguments: of the run.
        chance: draws the outcomes.

    Raises:
        UnusableInput: there is no such problem, or the access or an option does not fit.
    """
    from aam_vision.envs import TOLD_WITH_CHANCE

    return (_told if env in TOLD_WITH_CHANCE else _seen)(env, arguments, chance)


def _told(env: str, arguments: Arguments, chance: np.random.Generator) -> Target:
    """One of PDDLGym's domains whose states are told as symbols."""
    from aam_vision.envs.pddlgym_files import chance_model, initial_states

    if arguments.image_noise:
        raise UnusableInput(
            f"{env} shows no images; use an image environment", "image_noise", f"{arguments.image_noise:g}"
        )
    access = access_of(arguments.access, SYMBOLIC_ACCESS, env)
    initial = initial_states(env, "train")
    chosen = numbers(env, arguments.problem or [], len(initial), access)
    model = chance_model(env)
    names, states = [f"train/{number}" for number in chosen], [initial[number] for number in chosen]
    return symbolic(
        model.vocabulary.name, names, model, states, initial_states(env, "test"), access, chance=chance
    )


def _seen(env: str, arguments: Arguments, chance: np.random.Generator) -> Target:
    """An environment that is seen in images; one's own without classifiers by its function ``shown``."""
    import numpy as np

    from aam_vision.agents.image import ChanceImageAgent
    from aam_vision.agents.unreliable import NoisySimulator
    from aam_vision.envs.with_chance import environment

    known = environment(env)
    domain, access = known.domain, access_of(arguments.access, SEEN_ACCESS, f"--chance and {env}")
    chosen = problems_of(env, arguments.problem or [], domain.interrogated, access)
    noise = np.random.default_rng([arguments.seed, 2])
    simulators: list[Simulator] = [known.simulator(problem, chance) for problem in chosen]
    settings = settings_of(arguments)
    perception: Perception
    if known.told is not None and settings.classifiers is None:
        if settings.noise:
            raise UnusableInput(
                f"no classifier reads the images of {env}: give --classifiers, too", "image_noise"
            )
        told = perception = known.told()
        seen: Any = [told.of(one) for one in simulators]  # type: ignore[arg-type]  # simulators of Gymnasium's
    else:
        perception, seen = perception_of(env, settings), simulators
        if settings.noise:
            seen = [NoisySimulator(one, settings.noise, noise) for one in simulators]
    agent = ChanceImageAgent(
        seen, perception, domain.visual.vocabulary(), domain.headers, access, refuses_surely=True
    )
    return replace(
        target_of(env, agent, domain.visual, (chance, noise)),
        truth=known.truth,
        problems=tuple(f"{split}/{number}" for split, number in chosen),
        held_out=lambda: domain.held_out_states(perception.look),
    )
