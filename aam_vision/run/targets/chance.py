"""Environments with chance: PDDLGym's that tell their states, and those seen in images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aam_vision.model.query import Access
from aam_vision.run.targets.images import from_images, settings_of
from aam_vision.run.targets.symbolic import symbolic
from aam_vision.run.targets.target import SYMBOLIC_ACCESS, Target, access_of, numbers
from aam_vision.support.errors import UnusableInput

if TYPE_CHECKING:
    import numpy as np

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
    from aam_vision.envs.registry import asked

    if env in TOLD_WITH_CHANCE:
        return _told(env, arguments, chance)
    asked(env, chance=True)
    access = access_of(arguments.access, SEEN_ACCESS, f"--chance and {env}")
    return from_images(env, access, arguments.problem or [], settings_of(arguments), chance=chance)


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
