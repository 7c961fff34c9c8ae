"""A model is evaluated on problems that were not interrogated, wherever there are such problems."""

from __future__ import annotations

import pytest

from aam_vision.envs.registry import board_domain
from aam_vision.query import Access
from aam_vision.strips import State
from aam_vision.targets.images import PerceptionSettings, from_images
from aam_vision.targets.symbolic import from_generated


@pytest.mark.parametrize("env", ["doors", "sokoban"])
def test_an_image_environment_s_model_is_evaluated_on_its_held_out_problems(env: str) -> None:
    target = from_images(env, Access.SNAPSHOT, [], PerceptionSettings())
    domain = board_domain(env)
    interrogated = [
        domain.load(split, int(number)) for split, number in (p.split("/") for p in target.problems)
    ]
    held_out = target.held_out()
    assert held_out
    assert held_out == [
        State(layout.initial, layout.objects)
        for layout in (domain.load(*problem) for problem in domain.held_out)
    ]
    assert not set(held_out) & {State(layout.initial, layout.objects) for layout in interrogated}


@pytest.mark.parametrize("problems", [[], ["0"]])
def test_a_packaged_domain_s_model_is_evaluated_on_problems_of_its_own(problems: list[str]) -> None:
    target = from_generated("gripper", Access.SETTABLE, problems, 3, 0, False)
    held_out = target.held_out()
    assert held_out
    assert not set(held_out) & {situation.state for situation in target.agent.initial()}
