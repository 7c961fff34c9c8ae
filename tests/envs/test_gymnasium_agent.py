"""Any Gymnasium environment as an agent: the same model by whatever way back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.envs.meaning import Instruction
from aam_vision.evaluation import exact
from aam_vision.interrogation.task.budget import Budget
from aam_vision.query import Access
from aam_vision.strips import ActionHeader
from tests.envs.corridor import (
    INSTRUCTIONS,
    INTENDED,
    LENGTH,
    RIGHT,
    SCENE,
    Corridor,
    agent,
)

from .learning import WAYS, learned


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
def test_a_refused_instruction_changes_nothing(way: Any) -> None:
    simulator = GymnasiumSimulator(Corridor(), INSTRUCTIONS, SCENE, way)
    here = simulator._env.unwrapped.at
    assert simulator.instruct("light", (f"cell-{here}",))
    frame = simulator.frame()
    assert not simulator.instruct("light", (f"cell-{here}",)), "it is lit already"
    assert not simulator.instruct("light", (f"cell-{(here + 1) % LENGTH}",)), "it is not there"
    assert np.array_equal(frame, simulator.frame())
    assert simulator._env.unwrapped.at == here


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_it_would_do_next_can_be_done_and_is_not_done_yet(way: Any) -> None:
    simulator = GymnasiumSimulator(Corridor(), INSTRUCTIONS, SCENE, way)
    rng = np.random.default_rng(1)
    for _ in range(12):
        before = simulator.frame()
        chosen = simulator.choose(rng)
        assert np.array_equal(before, simulator.frame())
        assert chosen is not None
        assert simulator.instruct(*chosen)


def test_an_instruction_may_stand_for_several_actions_and_be_told_by_anything() -> None:
    def two(env: Any) -> tuple[str, str]:
        return f"cell-{env.at}", f"cell-{min(env.at + 2, LENGTH - 1)}"

    far = Instruction(
        ActionHeader("run", ("from", "to"), ("cell", "cell")),
        lambda start, end: [RIGHT, RIGHT],
        two,
        watch=lambda env: env.at,
        executed=lambda before, after: after == before + 2,
    )
    simulator = GymnasiumSimulator(Corridor(), [far, INSTRUCTIONS[0]], SCENE)
    while simulator.instruct("left", two_left(simulator)):
        pass
    assert simulator.instruct("run", ("cell-0", "cell-2"))
    assert not simulator.instruct("run", ("cell-2", "cell-3")), "one step only"
    assert simulator._env.unwrapped.at == 2


def two_left(simulator: GymnasiumSimulator) -> tuple[str, str]:
    at = simulator._env.unwrapped.at
    return f"cell-{at}", f"cell-{max(at - 1, 0)}"


def test_after_the_end_nothing_can_be_done_unless_the_user_says_so() -> None:
    for stops in (True, False):
        simulator = GymnasiumSimulator(Corridor(ending=True), INSTRUCTIONS, SCENE, stops=stops)
        rng = np.random.default_rng(0)
        for _ in range(200):
            if (chosen := simulator.choose(rng)) is None:
                break
            simulator.instruct(*chosen)
        assert all(simulator._env.unwrapped.lit)
        assert (simulator.choose(rng) is None) == stops
