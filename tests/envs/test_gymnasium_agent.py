"""Any Gymnasium environment as an agent: the same model by whatever way back; what cannot be used is told in one line."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest

from aam_vision.agents.perception import Scene
from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.envs.meaning import Instruction
from aam_vision.interrogation.task.budget import Budget
from aam_vision.model.query import Access
from aam_vision.model.strips import ActionHeader, Atom, Objects
from aam_vision.report.evaluation import exact
from aam_vision.support.errors import AamWarning, AgentFailed
from tests.agents.programs import learned
from tests.envs import corridor
from tests.envs.corridor import INSTRUCTIONS, INTENDED, LENGTH, OWN, SCENE, WAYS, Corridor, Locked, agent
from tests.profiles import crossed
from tests.refusals import told_by


@pytest.mark.parametrize("access", [Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY])
def test_the_model_is_the_intended_one_by_whatever_way_back(access: Access) -> None:
    results = [learned(agent(restore=way, access=access), Budget(steps=300)) for way in WAYS.values()]
    assert exact(results[0].model, INTENDED)
    assert all(result.transcript.entries == results[0].transcript.entries for result in results)


def test_several_problems_are_the_resets_of_several_seeds() -> None:
    subject = agent(seeds=(0, 1, 2, 3))
    starts = {min(s.state.true, key=lambda atom: atom.predicate) for s in subject.initial()}
    assert len(starts) > 1
    assert exact(learned(subject).model, INTENDED)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_refused_instruction_changes_nothing_and_a_chosen_one_is_not_done_yet(way: Any) -> None:
    simulator = GymnasiumSimulator(Corridor(), INSTRUCTIONS, SCENE, way)
    here = simulator.present.at
    assert simulator.instruct("light", (f"cell-{here}",))
    frame = simulator.frame()
    assert not simulator.instruct("light", (f"cell-{here}",)), "it is lit already"
    assert not simulator.instruct("light", (f"cell-{(here + 1) % LENGTH}",)), "it is not there"
    assert np.array_equal(frame, simulator.frame())
    assert simulator.present.at == here
    rng = np.random.default_rng(1)
    for _ in range(12):
        before = simulator.frame()
        chosen = simulator.choose(rng)
        assert np.array_equal(before, simulator.frame())
        assert chosen is not None
        assert simulator.instruct(*chosen)


def test_an_instruction_may_stand_for_several_actions_and_be_told_by_anything() -> None:
    far = Instruction(
        ActionHeader("run", ("from", "to"), ("cell", "cell")),
        lambda start, end: [corridor.RIGHT] * 2,
        lambda env: (f"cell-{env.at}", f"cell-{min(env.at + 2, LENGTH - 1)}"),
        watch=lambda env: env.at,
        executed=lambda before, after: after == before + 2,
    )
    simulator = GymnasiumSimulator(Corridor(), [far, INSTRUCTIONS[0]], SCENE)
    while simulator.instruct("left", corridor.two_left(simulator)):
        pass
    assert simulator.instruct("run", ("cell-0", "cell-2"))
    assert not simulator.instruct("run", ("cell-2", "cell-3")), "one step only"
    assert simulator.present.at == 2


def test_after_the_end_nothing_can_be_done_and_a_warning_says_so_unless_the_world_goes_on() -> None:
    for stops in (True, False):
        simulator = GymnasiumSimulator(Corridor(ending=True), INSTRUCTIONS, SCENE, stops=stops)
        rng = np.random.default_rng(0)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            for _ in range(200):
                if (chosen := simulator.choose(rng)) is None:
                    break
                simulator.instruct(*chosen)
            assert all(simulator.present.lit)
            assert (simulator.choose(rng) is None) == stops
        told = [(one.category, "after an episode's end" in str(one.message)) for one in warned]
        assert told == ([(AamWarning, True)] if stops else []), "once"


# --- what cannot be used ----------------------------------------------------------------------------


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


class Shared(Corridor):
    """Copies share their lamps."""

    def __deepcopy__(self, memo: Any) -> Corridor:
        other = Shared()
        other.__dict__.update(self.__dict__)
        return other


class Noisy(Corridor):
    """Seen by a camera with a sensor's noise, which no seed brings back."""

    sensor = np.random.default_rng(11)

    def render(self) -> Any:
        image = super().render()
        return (image + self.sensor.normal(0, 1.5, image.shape)).clip(0, 255).round().astype(np.uint8)


class NoisyAndForgetful(Noisy, Forgetful):
    """Another beginning shows through the noise."""


class Blind(Corridor):
    def render(self) -> Any:
        return None


class Broken(Locked):
    def step(self, action: Any) -> Any:
        raise RuntimeError("the wheel fell off")


@pytest.mark.parametrize(
    ("env", "told"),
    [
        (Forgetful, "another image after each reset with the same seed"),
        (Slippery, "another image with the same actions"),
        (NoisyAndForgetful, "another image after each reset with the same seed"),
        (Locked, "restore='replay'"),
        (Shared, "after it was brought back"),
        (Blind, "render_mode='rgb_array'"),
        (Broken, "raised RuntimeError: the wheel fell off; correct the environment"),
    ],
)
def test_environments_that_cannot_be_used(env: type, told: str) -> None:
    message = told_by(lambda: agent(env))
    assert told in message
    assert env.__name__ in message


@pytest.mark.parametrize(("way", "access"), crossed([*WAYS], [Access.SNAPSHOT, Access.RESET]))
def test_a_sensors_noise_is_found_out(way: str, access: Access) -> None:
    result = learned(agent(Noisy, WAYS[way], access=access))
    assert exact(result.model, INTENDED)
    assert result.proven


def test_every_look_is_a_new_one_where_there_is_noise() -> None:
    simulator = corridor.environment(Noisy).simulator(("seed", 0))
    assert not np.array_equal(simulator.frame(), simulator.frame())
    still = corridor.environment().simulator(("seed", 0))
    assert still.frame() is still.frame()


def test_what_cannot_be_copied_can_be_replayed() -> None:
    assert exact(learned(agent(Locked, "replay")).model, INTENDED)


@pytest.mark.parametrize(
    ("way", "told"),
    [
        *((way, "'replay'") for way in ("memory", ("copy",), (print, 3), None)),
        ((OWN[0], lambda env, token: None), "another image"),
        ((lambda env: 1 / 0, OWN[1]), "snapshot(env) raised ZeroDivisionError"),
        ((OWN[0], lambda env, token: 1 / 0), "restore(env, token) raised"),
    ],
)
def test_ways_back_that_there_are_not_or_that_lead_elsewhere(way: Any, told: str) -> None:
    assert told in told_by(lambda: agent(restore=way))


def test_an_environment_that_changes_its_ways_later_fails_as_an_agent() -> None:
    simulator = corridor.environment(restore="replay").simulator(("seed", 0))
    there = simulator.snapshot()
    simulator.present.reset = lambda **given: setattr(simulator.present, "lit", [True] * LENGTH)
    with pytest.raises(AgentFailed, match="another image where it was brought back to"):
        simulator.restore(there)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"arguments": lambda env: env.nowhere}, r"arguments of left raised AttributeError"),
        ({"arguments": lambda env: ("cell-9", "cell-0")}, r"give 2 objects of the scene"),
        ({"arguments": lambda env: (cell for cell in [env.at / 0])}, r"left raised ZeroDivisionError"),
        ({"arguments": lambda env: 3}, r"arguments of left raised TypeError"),
        ({"arguments": lambda env: ("cell-0",)}, r"give 2 objects of the scene"),
        ({"actions": lambda start, end: start[99]}, r"actions of left\(.*\) raised IndexError"),
        ({"watch": lambda env: env.at / 0}, r"watch of left\(.*\) raised ZeroDivisionError"),
        ({"executed": lambda before: True}, r"executed of left\(.*\) raised TypeError"),
        ({"actions": [corridor.LEFT, 7]}, r"left\(.*\): action 7 raised AssertionError"),
    ],
)
def test_instructions_that_raise_are_named(changes: dict[str, Any], told: str) -> None:
    broken = (replace(INSTRUCTIONS[0], **changes), *INSTRUCTIONS[1:])

    def use() -> None:
        simulator = GymnasiumSimulator(Corridor(), broken, SCENE)
        simulator.instruct("right", ("cell-0", "cell-1"))
        for here in range(1, LENGTH):
            simulator.instruct("left", (f"cell-{here}", f"cell-{here - 1}"))

    assert re.search(told, told_by(use))


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
    assert "predicate next" in told_by(agent(visual=corridor.vocabulary(define)).initial)


def test_what_does_not_go_together() -> None:
    assert "scene raised KeyError" in told_by(lambda: agent(scene=lambda env: {}["board"]))
    assert "one name" in told_by(lambda: agent(instructions=(*INSTRUCTIONS, INSTRUCTIONS[0])))
    assert "cannot be set" in told_by(lambda: agent(access=Access.SETTABLE))
    simulator = GymnasiumSimulator(Corridor(), INSTRUCTIONS, SCENE)
    assert "use one of left, right, light" in told_by(lambda: simulator.instruct("fly", ()))


def test_an_instruction_that_means_nothing_now_is_not_understood() -> None:
    silent = replace(INSTRUCTIONS[0], arguments=lambda env: None)
    simulator = GymnasiumSimulator(Corridor(), [silent], SCENE)
    assert not simulator.instruct("left", ("cell-1", "cell-0"))
    assert simulator.choose(np.random.default_rng(0)) is None


# --- environments that others have made ------------------------------------------------------------


def _frozen_lake(restore: Any, **options: Any) -> GymnasiumSimulator:
    """Gymnasium's FrozenLake; it holds a clock of pygame's, which nobody can copy."""
    pytest.importorskip("pygame")
    places = {f"cell-{i}": ((i // 4, i % 4),) for i in range(16)}
    board = Scene(Objects(dict.fromkeys(places, "cell"), corridor.TYPES), 4, 4, places)
    walk = [
        Instruction(ActionHeader(name, ("from",), ("cell",)), action, lambda env: (f"cell-{env.s}",))
        for action, name in enumerate(("left", "down", "right", "up"))
    ]
    env = gymnasium.make("FrozenLake-v1", render_mode="rgb_array", **options)
    return GymnasiumSimulator(env, walk, board, restore)


def test_a_lake_that_is_not_slippery_can_be_walked() -> None:
    assert "cannot be copied (TypeError" in told_by(lambda: _frozen_lake("copy", is_slippery=False))
    slippery = told_by(lambda: _frozen_lake("replay", is_slippery=True))
    assert "switch its chance off (slippery floors" in slippery
    simulator = _frozen_lake("replay", is_slippery=False)
    assert not simulator.instruct("up", ("cell-0",)), "the edge"
    assert simulator.instruct("right", ("cell-0",))
    there = simulator.snapshot()
    assert simulator.instruct("down", ("cell-1",)), "into a hole"
    with pytest.warns(AamWarning, match="after an episode's end"):
        assert not simulator.instruct("left", ("cell-5",)), "and that is the end"
    simulator.restore(there)
    assert simulator.instruct("left", ("cell-1",))
