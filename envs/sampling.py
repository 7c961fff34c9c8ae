"""Boards and states to train classifiers on and to examine them with: legal, diverse, and labelled by construction.

A symbolic state says what is true in every cell, and the drawing of its layout shows it. Setting up the
drawing of a board costs up to half a second per shape, so the caller names the few shapes of
synthetic boards. All randomness comes from the generator passed in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import islice
from types import ModuleType
from typing import Any, Final

import numpy as np

from aam_vision.agents.perception import Frame
from aam_vision.envs.board import BoardDomain, Drawing, Layout
from aam_vision.envs.image_domain import WALK, NativeStep, Pictures, Problem
from aam_vision.envs.pddlgym_world import World
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import Atom, State
from aam_vision.support.errors import UnusableInput

STATES_PER_LAYOUT: Final = 40
"""States of each layout for training: more of them teach the same board again."""

SYNTHETIC: Final = 160
"""Random boards: more of them teach more sights, and each takes time to draw."""

STATES_PER_BOARD: Final = 2
"""States of each random board: another board teaches more than another state of the same."""

TRIES: Final = 20
"""Draws per wanted state before a layout is taken to have no more distinct states."""

LONGEST_WALK: Final = 200
"""Steps of a random walk at most: longer ones get farther from the initial state, and take longer."""


def training_layouts(name: str) -> tuple[Layout, ...]:
    """PDDLGym's layouts that classifiers of a domain may be trained on; UnusableInput if there is no such domain."""
    domain = board_domain(name)
    return tuple(domain.load(*problem) for problem in domain.trained_on)


def synthetic_layouts(
    name: str, shapes: Sequence[tuple[int, int]], rng: np.random.Generator
) -> Iterator[Layout]:
    """Random boards without end, each of one of the ``shapes`` (rows, columns); sides from 5 (Doors: 6).

    Raises:
        UnusableInput: if there is no such domain, or it has no sampler.
    """
    domain = board_domain(name)
    sampler = _sampler(domain)
    if sampler is None:
        raise UnusableInput(f"{name} has no sampler of random boards: use its layouts for training")
    while True:
        rows, columns = shapes[int(rng.integers(len(shapes)))]
        yield sampler.synthesize(f"{name}/synthetic/{rng.integers(2**63):016x}", rows, columns, rng)


def legal_states(layout: Layout, rng: np.random.Generator) -> Iterator[State]:
    """Random legal states of a layout without end; repetitions are possible."""
    return states_of(board_domain(layout.domain), layout, rng)


def states_of(domain: BoardDomain, layout: Layout, rng: np.random.Generator) -> Iterator[State]:
    """Random legal states from the domain's sampler; without one, where random walks end."""
    sampler = _sampler(domain)
    if sampler is None:
        yield from _walked(domain, layout, rng)
    while sampler is not None:
        yield State(sampler.sample(layout, rng), layout.objects)


def _walked(domain: BoardDomain, layout: Layout, rng: np.random.Generator) -> Iterator[State]:
    """The states at the ends of random walks from the initial state, without end."""
    world, actions = domain.world(layout), domain.native_actions(layout)
    while True:
        state = world.initial
        for _ in range(int(rng.integers(LONGEST_WALK + 1))):
            state = world.outcome(state, actions[int(rng.integers(len(actions)))]).node
        yield State(world.static | state.dynamic, layout.objects)


def distinct_states(
    domain: BoardDomain, layout: Layout, number: int, rng: np.random.Generator
) -> Iterator[State]:
    """Up to ``number`` distinct legal states of a layout."""
    seen: set[State] = set()
    for state in islice(states_of(domain, layout, rng), TRIES * number):
        if state not in seen:
            seen.add(state)
            yield state
            if len(seen) == number:
                return


def lessons(domain: BoardDomain, rng: np.random.Generator, fewer: int = 1) -> list[Pictures]:
    """States of the layouts for training, and of random boards where there is a sampler; ``fewer`` divides their number."""
    found = [
        _pictures(domain, layout, max(1, STATES_PER_LAYOUT // fewer), rng)
        for layout in training_layouts(domain.name)
    ]
    if domain.sampler is not None:
        for layout in islice(synthetic_layouts(domain.name, domain.shapes, rng), SYNTHETIC // fewer):
            found.append(_pictures(domain, layout, STATES_PER_BOARD, rng))
    return found


def examination(domain: BoardDomain, problems: Sequence[Problem], states: int, seed: int) -> list[Pictures]:
    """About ``states`` states, shared out evenly: what a small layout cannot give, larger ones make up for."""
    rng = np.random.default_rng([seed, 0])
    layouts = sorted([domain.load(*problem) for problem in problems], key=lambda layout: len(layout.objects))
    found: list[Pictures] = []
    for number, layout in enumerate(layouts):
        missing = states - sum(len(pictures.states) for pictures in found)
        found.append(_pictures(domain, layout, -(-missing // (len(layouts) - number)), rng))
    return found


def random_board(
    domain: BoardDomain, rng: np.random.Generator, shape: tuple[int, int], number: int
) -> Pictures:
    """Up to ``number`` states of a random board; of a layout for training where there is no sampler."""
    if domain.sampler is None:
        layout = domain.load(*domain.trained_on[0])
    else:
        layout = next(synthetic_layouts(domain.name, [shape], rng))
    return _pictures(domain, layout, number, rng)


def _pictures(domain: BoardDomain, layout: Layout, number: int, rng: np.random.Generator) -> Pictures:
    states = tuple(distinct_states(domain, layout, number, rng))
    return Pictures(domain.scene(layout), states, DrawnStates(domain, layout))


def held_out_steps(domain: BoardDomain, count: int, rng: np.random.Generator) -> list[NativeStep]:
    """Steps of held-out problems: half from walks, half from legal states at random."""
    layouts = [domain.load(*problem) for problem in domain.held_out]
    found: list[NativeStep] = []
    for number, layout in enumerate(layouts):
        share = count * (number + 1) // len(layouts) - count * number // len(layouts)
        world, actions = domain.world(layout), domain.native_actions(layout)

        def step(dynamic: frozenset[Atom], world: World = world, actions: Any = actions) -> frozenset[Atom]:
            control = actions[int(rng.integers(len(actions)))]
            after = world.outcome(world.node(dynamic), control).node.dynamic
            states = [State(world.static | one, world.layout.objects) for one in (dynamic, after)]
            found.append(NativeStep(states[0], control, states[1]))
            return after

        walked, here = share // 2, world.initial.dynamic
        for place in range(walked):
            here = step(world.initial.dynamic if place % WALK == 0 and place > 2 * WALK else here)
        for state in islice(states_of(domain, layout, rng), share - walked):
            step(state.true - world.static)
    return found


class DrawnStates:
    """Draws states of a layout; the drawing is set up with the first of them, in the process that needs it."""

    def __init__(self, domain: BoardDomain, layout: Layout) -> None:
        self._domain, self._layout = domain, layout
        self._drawing: Drawing | None = None

    def __call__(self, state: State) -> Frame:
        """The image, uint8 (H, W, 3)."""
        if self._drawing is None:
            self._drawing = self._domain.drawing(self._layout)
        return self._drawing.frame(state.true)


def _sampler(domain: BoardDomain) -> ModuleType | None:
    return None if domain.sampler is None else import_module(domain.sampler)
