"""Environments, ways back, instructions and vocabularies that cannot be used are told in one line."""

from __future__ import annotations

import re
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np
import pytest

from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.errors import AgentFailed
from aam_vision.evaluation import exact
from aam_vision.query import Access
from aam_vision.strips import Atom
from tests.envs.corridor import (
    INSTRUCTIONS,
    INTENDED,
    LEFT,
    LENGTH,
    SCENE,
    Corridor,
    agent,
    vocabulary,
)

from .learning import OWN, learned, refusal_of


class Forgetful(Corridor):
    """Starts anywhere, whatever the seed."""

    chance = np.random.default_rng(5)

    def reset(self, **given: Any) -> Any:
        super().reset(**given)
        self.at = int(self.chance.integers(LENGTH))
        return self.render(), {}


class Slippery(Corridor):
    """Draws chance in its steps, of which the seed is the source."""

    def step(self, action: Any) -> Any:
        return super().step(action if self.np_random.random() < 0.5 else 2 - action)


class Locked(Corridor):
    """Has a part that cannot be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = Lock()


class Shared(Corridor):
    """Copies share their lamps."""

    def __deepcopy__(self, memo: Any) -> Corridor:
        other = Shared()
        other.__dict__.update(self.__dict__)
        return other


class Blind(Corridor):
    def render(self) -> Any:
        return None


@pytest.mark.parametrize(
    ("env", "told"),
    [
        (Forgetful, "another image with the same seed and actions"),
        (Slippery, "another image with the same actions"),
        (Locked, "restore='replay'"),
        (Shared, "after it was brought back"),
        (Blind, "render_mode='rgb_array'"),
    ],
)
def test_environments_that_cannot_be_used(env: type, told: str) -> None:
    message = refusal_of(lambda: agent(env))
    assert told in message
    assert env.__name__ in message


def test_what_cannot_be_copied_can_be_replayed() -> None:
    assert exact(learned(agent(Locked, "replay")).model, INTENDED)


@pytest.mark.parametrize("way", ["memory", ("copy",), (print, 3), None])
def test_ways_back_that_there_are_not(way: Any) -> None:
    assert "'replay'" in refusal_of(lambda: agent(restore=way))


def test_an_own_way_back_that_leads_elsewhere_or_raises() -> None:
    assert "another image" in refusal_of(lambda: agent(restore=(OWN[0], lambda env, token: None)))
    assert "snapshot(env) raised ZeroDivisionError" in refusal_of(
        lambda: agent(restore=(lambda env: 1 / 0, OWN[1]))
    )
    assert "restore(env, token) raised" in refusal_of(
        lambda: agent(restore=(OWN[0], lambda env, token: 1 / 0))
    )


def test_an_environment_that_changes_its_ways_later_fails_as_an_agent() -> None:
    subject = agent(restore="replay")
    simulator = subject._simulators[0]
    assert isinstance(simulator, GymnasiumSimulator)
    there = simulator.snapshot()
    simulator._env.unwrapped.reset = lambda **given: setattr(simulator._env.unwrapped, "lit", [True] * LENGTH)
    with pytest.raises(AgentFailed, match="another image where it was brought back to"):
        simulator.restore(there)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"arguments": lambda env: env.nowhere}, r"arguments of left raised AttributeError"),
        ({"arguments": lambda env: ("cell-9", "cell-0")}, r"give up to 2 objects of the scene"),
        ({"arguments": lambda env: (cell for cell in [env.at / 0])}, r"left raised ZeroDivisionError"),
        ({"arguments": lambda env: 3}, r"arguments of left raised TypeError"),
        ({"arguments": lambda env: ("cell-0",)}, r"give up to 2 objects of the scene"),
        ({"actions": lambda start, end: start[99]}, r"actions of left\(.*\) raised IndexError"),
        ({"watch": lambda env: env.at / 0}, r"watch of left\(.*\) raised ZeroDivisionError"),
        ({"executed": lambda before: True}, r"executed of left\(.*\) raised TypeError"),
        ({"actions": [LEFT, 7]}, r"left\(.*\): action 7 raised AssertionError"),
    ],
)
def test_instructions_that_raise_are_named(changes: dict[str, Any], told: str) -> None:
    broken = (replace(INSTRUCTIONS[0], **changes), *INSTRUCTIONS[1:])

    def use() -> None:
        simulator = GymnasiumSimulator(Corridor(), broken, SCENE)
        simulator.instruct("right", ("cell-0", "cell-1"))
        for here in range(1, LENGTH):
            simulator.instruct("left", (f"cell-{here}", f"cell-{here - 1}"))

    assert re.search(told, refusal_of(use))


@pytest.mark.parametrize(
    "define",
    [
        lambda scene, seen: 1 / 0,
        lambda scene, seen: None,
        lambda scene, seen: [],
        lambda scene, seen: ([Atom("at", ("cell-0",))], []),
        lambda scene, seen: ([Atom("next", ("cell-0",))], []),
        lambda scene, seen: ["next"],
    ],
)
def test_a_vocabulary_whose_functions_raise_is_named(define: Any) -> None:
    visual = vocabulary(define)
    subject = agent(visual=visual)
    assert "predicate next" in refusal_of(subject.initial)


def test_a_scene_that_raises_is_named() -> None:
    assert "scene raised KeyError" in refusal_of(lambda: agent(scene=lambda env: {}["board"]))


def test_what_does_not_go_together() -> None:
    assert "one name" in refusal_of(lambda: agent(instructions=(*INSTRUCTIONS, INSTRUCTIONS[0])))
    assert "cannot be set" in refusal_of(lambda: agent(access=Access.SETTABLE))
    simulator = GymnasiumSimulator(Corridor(), INSTRUCTIONS, SCENE)
    assert "use one of left, right, light" in refusal_of(lambda: simulator.instruct("fly", ()))


def test_an_instruction_that_means_nothing_now_is_not_understood() -> None:
    silent = replace(INSTRUCTIONS[0], arguments=lambda env: None)
    simulator = GymnasiumSimulator(Corridor(), [silent], SCENE)
    assert not simulator.instruct("left", ("cell-1", "cell-0"))
    assert simulator.choose(np.random.default_rng(0)) is None
