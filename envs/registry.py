"""The image domains by name: what the command and the training need to know about each.

A further domain costs one file with a `BoardDomain` and its environment, and one line in the package's
``DOMAINS``. Classifiers are trained on PDDLGym's train layouts and synthetic ones only, never on a test
layout; the file says on which, which problems are interrogated, and on which it is evaluated. Sokoban is interrogated
on the 5 train problems and evaluated on the 4 test ones. Doors is interrogated on test problems 0 to
4 and evaluated on 5 to 9: all 3 of its train problems have rooms without cells, whose ``unlocked`` cannot
be seen, so they serve the training of classifiers only.

Environments of the user's own (``own``) come by entry points, after these.
"""

from __future__ import annotations

from importlib import import_module

import gymnasium

from aam_vision.envs import DOMAINS, own
from aam_vision.envs.board import BoardDomain
from aam_vision.envs.instructions import Instructed
from aam_vision.envs.own import OwnEnvironment
from aam_vision.errors import UnusableInput
from aam_vision.perception import Simulator

__all__ = ["DOMAINS", "ImageDomain", "board_domain", "image_domain", "make_simulator", "names", "simulator"]

ImageDomain = BoardDomain | OwnEnvironment
"""What is seen in images: one of ours, or the user's own."""


def names() -> tuple[str, ...]:
    """All image domains, those of installed packages last."""
    return (*DOMAINS, *(name for name in own.names() if name not in DOMAINS))


def image_domain(name: str) -> ImageDomain:
    """The image domain of that name; ours come before those of other packages.

    Raises:
        UnusableInput: if there is none, or it cannot be imported.
    """
    if name in DOMAINS:
        return board_domain(name)
    found = own.load(name)
    if found is None:
        raise UnusableInput(f"no environment {name!r}: use one of {', '.join(names())}")
    return found


def simulator(domain: ImageDomain, split: str, index: int) -> Simulator:
    """A problem of a domain, ready to be instructed.

    Raises:
        UnusableInput: if there is no such problem.
    """
    if isinstance(domain, OwnEnvironment):
        return domain.simulator(index)
    return make_simulator(domain.name, split, index)


def board_domain(name: str) -> BoardDomain:
    """The domain of that name.

    Raises:
        UnusableInput: if there is none.
    """
    if name not in DOMAINS:
        raise UnusableInput(f"no environment {name!r}: use one of {', '.join(DOMAINS)}")
    found: BoardDomain = getattr(import_module(f"aam_vision.envs.{name}"), DOMAINS[name]).domain
    return found


def make_simulator(name: str, split: str, index: int) -> Instructed:
    """A problem of a domain, ready to be instructed.

    Raises:
        UnusableInput: if there is no such domain or problem.
    """
    env = gymnasium.make(
        board_domain(name).gym_id,
        problem=index,
        split=split,
        render_mode="rgb_array",
        disable_env_checker=True,
    )
    return Instructed(env)
