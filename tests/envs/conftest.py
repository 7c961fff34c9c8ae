"""Problems and walks that several test modules share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

from aam_vision.envs import DOMAINS
from aam_vision.envs.board import Layout
from aam_vision.envs.pddlgym_world import Outcome, SimulatedState, World
from aam_vision.envs.registry import board_domain

ALL = [("sokoban", split, index) for split, count in (("train", 5), ("test", 4)) for index in range(count)]
ALL += [("doors", split, index) for split, count in (("train", 3), ("test", 10)) for index in range(count)]
ALL += [
    (name, *problem)
    for name, domain in ((name, board_domain(name)) for name in DOMAINS[2:])
    for problem in (*domain.interrogated[:2], domain.held_out[-1], *domain.trained_on[:1])
]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def load(name: str, split: str, index: int) -> Layout:
    return board_domain(name).load(split, index)


def walk(world: World, steps: int, rng: np.random.Generator) -> Iterator[tuple[SimulatedState, Outcome]]:
    """Random native actions in PDDLGym's simulator: where each was tried, and what it did."""
    actions = board_domain(world.layout.domain).native_actions(world.layout)
    node = world.initial
    for _ in range(steps):
        outcome = world.outcome(node, actions[int(rng.integers(len(actions)))])
        yield node, outcome
        node = outcome.node


def choices() -> str:
    """A digest of what is chosen at random in every domain."""
    seen: list[object] = []
    for name in DOMAINS:
        domain, rng = board_domain(name), np.random.default_rng(5)
        agent = domain.simulator(("test", 0))
        agent.start()
        for _ in range(3):
            chosen = agent.choose(rng)
            assert chosen is not None
            agent.instruct(*chosen)
            seen.append(chosen)
        for layout in islice(domain.random_layouts(domain.shapes, rng), 2):
            seen += [sorted(state.true) for state in islice(domain.states(layout, rng), 2)]
    return hashlib.sha256(repr(seen).encode()).hexdigest()
