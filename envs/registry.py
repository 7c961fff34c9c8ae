"""The image domains by name: what the command and the training need to know about each.

A further domain costs one file with a `BoardDomain` and its environment, and one line in the package's
``DOMAINS``. Classifiers are trained on PDDLGym's train layouts and synthetic ones only, never on a test
layout; the file says on which, which problems are interrogated, and on which it is evaluated. Sokoban is interrogated
on the 5 train problems and evaluated on the 4 test ones. Doors is interrogated on test problems 0 to
4 and evaluated on 5 to 9: all 3 of its train problems have rooms without cells, whose ``unlocked`` cannot
be seen, so they serve the training of classifiers only.
"""

from __future__ import annotations

from importlib import import_module

import gymnasium

from aam_vision.envs import DOMAINS
from aam_vision.envs.board import BoardDomain
from aam_vision.envs.instructions import Instructed
from aam_vision.errors import UnusableInput

__all__ = ["DOMAINS", "board_domain", "make_simulator"]


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
