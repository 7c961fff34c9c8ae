"""Board domains by their controls alone: what the environment takes, without a word of what it is good for."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final, NamedTuple

import gymnasium
import numpy as np

from aam_vision.envs.board import BoardDomain
from aam_vision.envs.board_env import Instructed
from aam_vision.envs.image_domain import Problem
from aam_vision.envs.sampling import states_of
from aam_vision.model.strips import ROOT_TYPE, ActionHeader, Atom, GroundAction, State

WALK: Final = 40
"""Controls of one of the walks on which held-out pairs are met."""


class Controlled(Instructed):
    """A board environment whose instructions are its controls: each is carried out, whatever comes of it."""

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        """Give a control; nothing happens where the environment has none with these arguments. Always True."""
        number = self.board.number_of.get(GroundAction(name, objects))
        if number is not None:
            self.env.step(np.int64(number))
        return True

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]]:
        """A control at random."""
        actions = self.board.native_actions
        return actions[int(rng.integers(len(actions)))]


def control_headers(domain: BoardDomain) -> tuple[ActionHeader, ...]:
    """The controls of a domain; parameters are called after their types."""
    verbs = {verb.name: verb.types for verb in domain.declared.verbs} or {
        header.name: tuple(header.types[position] for position in domain.named[header.name])
        for header in domain.headers
    }
    return tuple(ActionHeader(name, _names(types), types) for name, types in verbs.items())


def _names(types: tuple[str, ...]) -> tuple[str, ...]:
    stems = ["thing" if kind == ROOT_TYPE else kind for kind in types]
    return tuple(
        stem if stems.count(stem) == 1 else f"{stem}{stems[: place + 1].count(stem)}"
        for place, stem in enumerate(stems)
    )


def controlled(domain: BoardDomain, problem: Problem) -> Controlled:
    """A problem, ready to be given controls; UnusableInput if there is none of that name."""
    split, index = problem
    options: dict[str, Any] = {"problem": index, "split": split, "render_mode": "rgb_array"}
    return Controlled(gymnasium.make(domain.gym_id, disable_env_checker=True, **options))


class NativeStep(NamedTuple):
    """What a control does in a state: the simulator's own answer."""

    before: State
    control: GroundAction
    after: State


def held_out_steps(domain: BoardDomain, count: int, rng: np.random.Generator) -> list[NativeStep]:
    """Steps of held-out problems, for evaluation only: half from walks, half from legal states at random."""
    layouts = [domain.load(*problem) for problem in domain.held_out]
    found: list[NativeStep] = []
    for number, layout in enumerate(layouts):
        share = count * (number + 1) // len(layouts) - count * number // len(layouts)
        world, actions = domain.world(layout), domain.native_actions(layout)

        def step(dynamic: frozenset[Atom], world: Any = world, actions: Any = actions) -> frozenset[Atom]:
            control = actions[int(rng.integers(len(actions)))]
            after: frozenset[Atom] = world.outcome(world.node(dynamic), control).node.dynamic
            objects = world.layout.objects
            found.append(
                NativeStep(
                    State(world.static | dynamic, objects), control, State(world.static | after, objects)
                )
            )
            return after

        walked = share // 2
        here = world.initial.dynamic
        for place in range(walked):
            here = step(world.initial.dynamic if place % WALK == 0 and place > 2 * WALK else here)
        for state in islice(states_of(domain, layout, rng), share - walked):
            step(state.true - world.static)
    return found
