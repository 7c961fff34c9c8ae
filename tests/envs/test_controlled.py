"""Environments of the user's own by their controls alone: what they do is found out; what cannot be used is told."""

from __future__ import annotations

import sys
import types
import warnings
from enum import IntEnum
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import aam_vision
from aam_vision.envs import own
from aam_vision.envs.controlled import ControlledEnvironment, bare_environment
from aam_vision.envs.restoring import difference
from aam_vision.interrogation.controls.result import ControlsResult
from tests.envs.corridor import INSTRUCTIONS, LENGTH, LIGHT, OWN, SCENE, Corridor, Eyes, Locked, vocabulary
from tests.envs.corridor import environment as with_instructions
from tests.envs.corridor import labels as shown
from tests.refusals import told_by


class Doing(IntEnum):
    """What can be done, and one thing that this environment has not."""

    GO_LEFT = 0
    GO_RIGHT = 1
    LIGHT = 2
    FLY = 3


FAR = {"go ?c - cell": lambda c: [0] * LENGTH + [1] * int(c[-1]), "light": LIGHT}
"""A control that goes to any cell, and one that lights the lamp there."""


def bare(env: Any = Corridor, **more: Any) -> ControlledEnvironment:
    return bare_environment(
        "corridor", more.pop("visual", vocabulary()), env, lambda env: SCENE, more.pop("shown", shown), **more
    )


def _agrees(result: ControlsResult, environment: ControlledEnvironment) -> float:
    steps = environment.held_out_steps(200, np.random.default_rng(0))
    assert len(steps) == 200
    return sum(result.predictions.agrees(*step) for step in steps) / len(steps)


@pytest.mark.parametrize("perception", [None, Eyes()], ids=["told", "seen"])
def test_what_the_controls_do_is_found_out_and_predicts_every_step(perception: Any) -> None:
    environment = bare(controls=Doing)
    result = aam_vision.interrogate_controls(environment.bare_agent(perception))
    assert [operator.header.name for operator in result.operators] == ["go-left", "go-right", "light"]
    assert not result.unexplained
    assert _agrees(result, environment) == 1


def test_a_control_may_have_arguments_and_stand_for_several_actions() -> None:
    environment = bare(controls=FAR)
    agent = environment.bare_agent()
    assert [str(header) for header in agent.headers] == ["go(?c - cell)", "light()"]
    assert _agrees(aam_vision.interrogate_controls(agent), environment) == 1


def test_an_environment_with_instructions_has_controls_too(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("some_module")
    module.HERE = with_instructions()
    monkeypatch.setitem(sys.modules, "some_module", module)
    found = own.load("some_module:HERE")
    assert found is module.HERE
    assert found.instructions == INSTRUCTIONS
    assert [header.name for header in found.control_headers] == ["action-0", "action-1", "action-2"]
    assert found.held_out_steps(10, np.random.default_rng(0)) == [], "nobody tells its true states"


def test_names_come_from_the_environment_if_it_has_any() -> None:
    class Named(Corridor):
        actions = Doing

    for named, expected in (
        (bare(Named), "go-left go-right light"),
        (bare(controls=["L", "R", "on/off"]), "l r on-off"),
    ):
        assert [header.name for header in named.control_headers] == expected.split()


def test_after_the_end_controls_change_nothing_unless_the_world_goes_on() -> None:
    for stops in (True, False):
        simulator = bare(lambda: Corridor(ending=True), stops=stops).controlled(("seed", 0))
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            for action in [*["action-0"] * LENGTH, *["action-2", "action-1"] * LENGTH]:
                assert simulator.instruct(action, ())
            assert all(simulator.present.lit)
            at = simulator.present.at
            assert simulator.instruct("action-0", ())
        assert (simulator.present.at == at) == stops
        told = ["does nothing after an episode's end" in str(one.message) for one in warned]
        assert told == ([True] if stops else []), "once"


def test_labelled_images_come_from_walks_that_show_rare_sights() -> None:
    images, again = (list(bare(number=40).lessons(np.random.default_rng(0))) for _ in range(2))
    assert len(images) == 40
    assert all({atom.predicate for atom in one.states[0].true} <= {"at", "lit"} for one in images)
    assert [one.states for one in images] == [one.states for one in again]


class Ending(Corridor):
    """The first lamp that is lit ends the episode."""

    def step(self, action: Any) -> Any:
        frame, reward, _, truncated, info = super().step(action)
        return frame, reward, any(self.lit), truncated, info


def test_the_end_of_an_episode_is_among_the_labelled_images() -> None:
    images = list(bare(Ending, number=8).lessons(np.random.default_rng(0)))
    lit = [sum(atom.predicate == "lit" for atom in one.states[0].true) for one in images]
    assert set(lit) == {0, 1}, "and nothing after it"


# --- what cannot be used ----------------------------------------------------------------------------


class Slippery(Corridor):
    """Draws chance of its own in its steps, which a reset seeds."""

    def reset(self, **given: Any) -> Any:
        self.chance = np.random.default_rng(given.get("seed"))
        return super().reset(**given)

    def step(self, action: Any) -> Any:
        return super().step(action if self.chance.random() < 0.5 else 2 - action)


class Windy(Corridor):
    """Draws a wind that no picture shows, and that matters much later."""

    def step(self, action: Any) -> Any:
        self.wind = int(self.np_random.integers(1000))
        return super().step(action)


class Pushed(Corridor):
    action_space = property(lambda self: gymnasium.spaces.Box(-1, 1, (2,)), lambda self, space: None)


class Pressed(Corridor):
    action_space = property(lambda self: gymnasium.spaces.MultiBinary(2), lambda self, space: None)


@pytest.mark.parametrize(
    ("env", "told"),
    [
        (Slippery, "shows two images after the same control in the same situation: go-"),
        (Windy, "two things after the same control in the same situation: go-left() (seed 0, after 0"),
        (Windy, "env.wind is "),
        (Locked, "cannot be copied (TypeError"),
        (Locked, "restore='replay'"),
        (Pushed, "is continuous; wrap skills as a Discrete action space"),
        (Pressed, "MultiBinary(2) is not discrete; wrap skills"),
    ],
)
def test_environments_that_cannot_be_used(env: type, told: str) -> None:
    message = told_by(lambda: bare(env).bare_agent())
    assert told in message
    assert env.__name__ in message


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"controls": ["left", "right"]}, "controls name 2 actions, and Discrete(3) has 3"),
        ({"controls": ["go", "Go", "light"]}, "two instructions have one name"),
        ({"controls": {"left": 7}}, "control left: 7 is not an action of Discrete(3)"),
        ({"controls": {"left ?c -": 0}}, "write a name and typed variables"),
        ({"controls": {}}, "name at least one"),
        ({"controls": {"go ?c - cell": lambda c: 1 / 0}}, "actions of go(cell-"),
        ({"shown": lambda env: 1 / 0}, "shown raised ZeroDivisionError"),
        ({"shown": lambda env: [("next", ("cell-0", "cell-1"))]}, "its predicate is not perceived"),
        ({"shown": lambda env: [("at", ("cell-9",))]}, "not 1 objects of the scene"),
    ],
)
def test_what_the_user_says_wrongly_is_named(more: dict[str, Any], told: str) -> None:
    assert told in told_by(lambda: bare(**more).bare_agent().initial())


def test_a_hidden_thing_that_does_not_matter_can_be_left_out() -> None:
    assert bare(Windy, restore=OWN).bare_agent().headers


def test_an_environment_without_instructions_is_run_by_its_controls_only() -> None:
    assert "give --controls" in told_by(lambda: bare().headers)
    silent = ControlledEnvironment("corridor", vocabulary(), (), Corridor, lambda env: SCENE)
    told_by(silent.bare_agent, "no function `shown`")


def _endless() -> list[Any]:
    """It contains itself."""
    found: list[Any] = [1]
    found.append(found)
    return found


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ({"a": [1, 2]}, {"a": [1, 2]}, None),
        ({"a": [1, 2]}, {"a": [1, 3]}, "env['a'][1] is 2 and 3"),
        (float("nan"), float("nan"), None),
        (np.zeros(3), np.ones(3), "env has other values"),
        ({1, 2}, {1, 3}, "env is {1, 2} and {1, 3}"),
        (np.random.default_rng(0), np.random.default_rng(1), None),
        (types.SimpleNamespace(x=1), types.SimpleNamespace(x="1"), "env.x is 1 and '1'"),
        ([1], [1, 2], "env has 1 and 2 parts"),
        (_endless(), _endless(), None),
    ],
)
def test_differences_are_named(one: object, other: object, told: str | None) -> None:
    assert difference(one, other) == told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"visual": {"at ?c": "cell"}}, "environment corridor: its vocabulary is a dict; make one with"),
        ({"seeds": ()}, "environment corridor: has no problem; give at least one of its seeds"),
        ({"seeds": 3}, "environment corridor: its seeds are 3; give numbers"),
        ({"seeds": ("train",)}, r"its seeds are \('train',\); give numbers"),
        ({"held_out": 5}, "its held_out are 5; give numbers"),
    ],
)
def test_what_cannot_be_an_environment_is_told_where_it_is_made(given: dict[str, Any], told: str) -> None:
    told_by(lambda: bare(**given), told)


def test_seeds_may_be_numbers_of_numpy() -> None:
    assert bare(seeds=tuple(np.arange(2))).seeds == (0, 1)


def test_what_is_no_scene_is_told() -> None:
    made = bare_environment("corridor", vocabulary(), Corridor, lambda env: None, shown)  # type: ignore[arg-type, return-value]
    told_by(lambda: made.controlled(("seed", 0)), "scene gave NoneType; it has to give a Scene")


def test_a_module_that_makes_no_environment_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "without_seeds.py").write_text(
        "from tests.envs.test_controlled import bare\nHERE = bare(seeds=())\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert told_by(lambda: own.load("without_seeds:HERE")).startswith("environment corridor: has no problem")
