"""Gymnasium's Taxi, with a tank that nothing shows: what an experiment needs besides the world of that name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.toy_text.taxi import TaxiEnv

from aam_vision.envs.labelled import Depiction, Labelled, LabelledImages, distinct, labelled_images
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.worlds import taxi as world
from aam_vision.envs.worlds.taxi import (
    DIRECTIONS,
    INSTRUCTIONS,
    SHOWN,
    STANDS,
    VOCABULARY,
    cell,
    intended,
    labels,
    scene,
    shake_among,
    true_state,
    watch,
)
from aam_vision.strips import GroundAction, Objects, State

__all__ = ["PICTURES", "VOCABULARY", "cell", "environment", "intended", "make", "scene", "true_state"]

PICTURES = 160
"""Labelled images to train on."""
STATES = 500


class Fuel(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A tank that nothing shows: after so many steps the taxi does not move any more."""

    def __init__(self, env: gymnasium.Env[Any, Any], steps: int) -> None:
        super().__init__(env)
        self._steps = steps
        self.driven = 0

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        self.driven = 0
        return self.env.reset(**given)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        taxi: Any = self.unwrapped
        if action < len(DIRECTIONS) and self.driven >= self._steps:
            return taxi.s, -1, False, False, {}
        before = taxi.s
        found = self.env.step(action)
        self.driven += action < len(DIRECTIONS) and taxi.s != before
        return found


def token(env: gymnasium.Env[Any, Any]) -> tuple[Any, int]:
    """All that the environment remembers."""
    return world.token(env), env.driven if isinstance(env, Fuel) else 0


def put(env: gymnasium.Env[Any, Any], kept: tuple[Any, int]) -> None:
    """Bring the environment back to where a token was taken."""
    there, driven = kept
    world.put(env, there)
    if isinstance(env, Fuel):
        env.driven = driven


def make(fuel: int | None = None) -> gymnasium.Env[Any, Any]:
    """The environment; with ``fuel`` it moves so many times after every reset."""
    taxi = world.make()
    return taxi if fuel is None else Fuel(taxi, fuel)


def states() -> list[State]:
    """Every state of the board."""
    taxi, found = TaxiEnv(), []
    for taxi.s in range(STATES):
        found.append(true_state(taxi))
    return found


def meant(env: gymnasium.Env[Any, Any]) -> list[GroundAction]:
    """All instructions that mean anything at present, and change something without walls and an empty tank."""
    return [
        GroundAction(one.header.name, objects)
        for one in INSTRUCTIONS
        for objects in one.meant(env.unwrapped)
        if one.header.name == "move" or objects[1] in map(cell, STANDS)
    ]


def sample(objects: Objects, rng: np.random.Generator) -> GroundAction:
    """Any instruction, with any objects of the types that it asks for."""
    header = INSTRUCTIONS[int(rng.integers(len(INSTRUCTIONS)))].header
    pools = [objects.of_type(kind) for kind in header.types]
    return GroundAction(header.name, tuple(pool[int(rng.integers(len(pool)))] for pool in pools))


def attempt(env: gymnasium.Env[Any, Any], action: GroundAction) -> bool:
    """Tell the driver something, without pictures; False, and no change, if it cannot be done."""
    (told,) = (one for one in INSTRUCTIONS if one.header.name == action.name)
    if action.objects not in told.meant(env.unwrapped):
        return False
    here, before = token(env), watch(env.unwrapped)
    env.step(told.actions(*action.objects) if callable(told.actions) else told.actions)
    if watch(env.unwrapped) != before:
        return True
    put(env, here)
    return False


def _few(source: LabelledImages) -> LabelledImages:
    def images(rng: np.random.Generator) -> Iterator[Labelled]:
        return islice(distinct(source, PICTURES, rng, Depiction("taxi", VOCABULARY)), PICTURES)

    return images


def environment(fuel: int | None = None) -> OwnEnvironment:
    """The taxi with ``PICTURES`` labelled images to train on, and others to evaluate on."""
    taught, unseen = (shake_among(np.arange(first, len(SHOWN), 2)) for first in (0, 1))
    return OwnEnvironment(
        name="taxi",
        visual=VOCABULARY,
        instructions=INSTRUCTIONS,
        make=lambda: make(fuel),
        scene=scene,
        seeds=(0, 1, 2),
        pictures=_few(labelled_images([make], scene, labels, taught)),
        unseen=labelled_images([make], scene, labels, unseen),
        restore=(token, put),
        stops=False,
        truth=intended,
    )
