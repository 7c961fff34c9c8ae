"""Environments whose steps may have several outcomes, as ``run --chance`` asks them: boards, the table, and users' own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from aam_vision.envs import DOMAINS, TOLD_WITH_CHANCE, WITH_CHANCE, worlds
from aam_vision.envs.board import BoardDomain
from aam_vision.envs.chance_simulator import ChanceSimulator, check_refusals, check_restore
from aam_vision.envs.controlled import load as own_environment
from aam_vision.envs.image_domain import ImageDomain, Problem
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.registry import board_domain
from aam_vision.envs.told import Told
from aam_vision.errors import UnusableInput
from aam_vision.outcomes import ChanceModel
from aam_vision.simulator import Simulator


class ChanceEnvironment(NamedTuple):
    """What an environment offers that is asked with ``--chance``."""

    domain: ImageDomain
    simulator: Callable[[Problem, np.random.Generator], Simulator]
    """A problem, ready to be instructed; all chance is drawn from the generator, whatever state is gone back to."""
    truth: Callable[[], ChanceModel] | None
    """For evaluation only; None if it is not known."""
    told: Callable[[], Told] | None = None
    """Gives what tells the states where there are no classifiers."""


def environment(name: str) -> ChanceEnvironment:
    """The environment of that name.

    Raises:
        UnusableInput: it is one of ours without chance, or there is none.
    """
    if name in WITH_CHANCE:
        board = board_domain(name)
        return ChanceEnvironment(board, partial(_board, board), board.chance_truth)
    if worlds.has_chance(name):
        table = worlds.load(name)
        return ChanceEnvironment(table, partial(_gymnasium, table), table.chance_truth)
    if name in DOMAINS or worlds.known(name):
        known = ", ".join((*WITH_CHANCE, *TOLD_WITH_CHANCE, *worlds.WITH_CHANCE))
        raise UnusableInput(f"{name} has no chance; leave it out, or use one of {known}", "chance")
    if (found := own_environment(name)) is None:
        raise UnusableInput(f"there is no environment {name}", "chance")
    return ChanceEnvironment(
        found,
        partial(_gymnasium, found),
        found.chance_truth,
        found.told if found.shown is not None and found.weights is None else None,
    )


def _gymnasium(found: OwnEnvironment, problem: Problem, rng: np.random.Generator) -> Simulator:
    check_refusals(found.name, found.instructions)
    check_restore(found.name, found.restore)
    about = found.made(), found.instructions, found.scene, found.restore, problem[1]
    return ChanceSimulator(rng, *about, stops=found.stops)


def _board(domain: BoardDomain, problem: Problem, rng: np.random.Generator) -> Simulator:
    simulator = domain.simulator(problem)
    simulator.draw_from(rng)
    return simulator
