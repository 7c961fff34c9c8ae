"""Problems are given by number or by name, whether they are usually interrogated or not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from aam_vision.agents.perception import Frame, Percept, Scene
from aam_vision.envs.registry import board_domain
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, State
from aam_vision.run.targets.images import PerceptionSettings, from_images
from aam_vision.run.targets.symbolic import from_generated
from aam_vision.run.targets.target import problems_of
from aam_vision.support.errors import UnusableInput
from tests.envs.corridor import SCENE, Corridor, Eyes, environment

BOARDS = (("train", 0), ("train", 3))
SEEDS = (("seed", 5), ("seed", 6))


@pytest.mark.parametrize(
    ("given", "usual", "found"),
    [
        ("", BOARDS, [*BOARDS]),
        ("1 0 1", BOARDS, [BOARDS[1], BOARDS[0]]),
        ("test/7", BOARDS, [("test", 7)]),
        ("1 7", SEEDS, [("seed", 6), ("seed", 7)]),
        ("seed/1", SEEDS, [("seed", 1)]),
    ],
)
def test_problems_are_found(given: str, usual: tuple[Any, ...], found: list[tuple[str, int]]) -> None:
    assert problems_of("somewhere", given.split(), usual, Access.SNAPSHOT) == found


@pytest.mark.parametrize("text", ["2", "x", "test/", "test/x", "-1", "test/9999999999"])
def test_what_is_no_problem_is_named(text: str) -> None:
    with pytest.raises(UnusableInput, match="has problems 0 to 1, or give a name such as train/0"):
        problems_of("somewhere", [text], BOARDS, Access.SNAPSHOT)


def test_a_trajectory_leads_through_one_problem() -> None:
    assert problems_of("somewhere", [], SEEDS, Access.TRAJECTORY) == [SEEDS[0]]
    with pytest.raises(UnusableInput, match="leads through one problem only"):
        problems_of("somewhere", ["0", "1"], SEEDS, Access.TRAJECTORY)


# A model is evaluated on problems that were not interrogated, wherever there are such problems.


def test_an_image_environment_s_model_is_evaluated_on_its_held_out_problems() -> None:
    target, domain = from_images("doors", Access.SNAPSHOT, [], PerceptionSettings()), board_domain("doors")

    def first(split: str, number: str | int) -> State:
        layout = domain.load(split, int(number))
        return State(layout.initial, layout.objects)

    held_out = target.held_out()
    assert held_out
    assert held_out == [first(*problem) for problem in domain.held_out]
    assert not set(held_out) & {first(*problem.split("/")) for problem in target.problems}


@pytest.mark.parametrize("problems", [[], ["0"]])
def test_a_packaged_domain_s_model_is_evaluated_on_problems_of_its_own(problems: list[str]) -> None:
    target = from_generated("gripper", Access.SETTABLE, problems, 3, 0, False)
    held_out = target.held_out()
    assert held_out
    assert not set(held_out) & {situation.state for situation in target.agent.initial()}


def test_an_own_environment_s_held_out_problems_are_seen_as_the_agent_sees_them() -> None:
    """Without those that cannot be made, or read in full."""

    class Blinking(Eyes):
        def look(self, frame: Frame, scene: Scene) -> Percept:
            percept = super().look(frame, scene)
            state = percept.state
            hidden = State(state.true, state.objects, frozenset([Atom("lit", ("cell-0",))]))
            return percept if state.true & {AT_0, AT_1} else Percept(hidden, {}, True)

    def make() -> Corridor:
        made.append(Corridor())
        if len(made) == 2:
            raise ValueError("no second one")
        return made[-1]

    made: list[Corridor] = []
    described = replace(environment(), make=make, seeds=(3, 0))
    seen = [Corridor().reset(seed=seed)[0] for seed in range(4, 9)]
    whole = [Eyes().look(frame, SCENE).state for number, frame in enumerate(seen) if number != 1]
    readable = [state for state in whole if state.true & {AT_0, AT_1}]
    assert 0 < len(readable) < len(whole)
    assert described.held_out_states(Blinking().look) == readable
    assert len(made) == 5
    given = replace(described, make=Corridor, held_out=(7,))
    assert given.held_out_states(Eyes().look) == [Eyes().look(seen[3], SCENE).state]


AT_0, AT_1 = Atom("at", ("cell-0",)), Atom("at", ("cell-1",))
