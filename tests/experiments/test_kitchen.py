"""Cooks with random flaws: what is said to be true of them is what they do."""

from __future__ import annotations

from itertools import product

import pytest

from aam_vision.envs.policies import Objective
from aam_vision.interrogation.chance.observations import side_effects
from aam_vision.model.query import CLAIMED
from aam_vision.model.strips import Atom, GroundAction, State
from experiments.capabilities import assessed
from experiments.kitchen import COOKS, POTS, Flaws, Kitchen, flawed, scripted
from experiments.objectives import instructions

ALL = [
    Flaws(),
    Flaws(stubborn=True, lies=True),
    Flaws(borrows=True, steady=0.6),
    Flaws(waits=True, patience=0.7),
    Flaws(stubborn=True, borrows=True, patience=0.5, steady=0.5, lies=True),
]
TIMES = 40


def states(flaws: Flaws) -> list[Kitchen]:
    """A kitchen in each of its states, the cook somewhere."""
    found = []
    inside = ("", "raw", "cooked")
    for number, (hands, one, other, served, wet) in enumerate(
        product(("", "onion", "dish"), inside, inside, (False, True), (False, True))
    ):
        kitchen = Kitchen(flaws)
        kitchen.reset(seed=number)
        kitchen.hands, kitchen.served, kitchen.wet = hands, served, wet
        kitchen.pots = dict(zip(POTS, (one, other), strict=True))
        found.append(kitchen)
    return found


@pytest.mark.parametrize("flaws", [*ALL, flawed(0), flawed(1)])
def test_what_is_worked_out_by_hand_is_what_a_cook_does(flaws: Flaws) -> None:
    agent = COOKS.agent(flaws)
    model, beyond = COOKS.truth(agent, flaws), COOKS.side_effects(agent, flaws)
    others: dict[str, set[object]] = {name: set() for name in beyond}
    chance = flaws.patience < 1 or flaws.steady is not None
    for kitchen in states(flaws):
        begun = kitchen.hands, dict(kitchen.pots), kitchen.served, kitchen.wet
        state = State(kitchen.true, agent.objects)
        for step in instructions(agent):
            told = model.schema(step.name).successors(state, step.objects)
            came = set()
            for _ in range(TIMES if chance and len(told) > 1 else 1):
                kitchen.hands, kitchen.pots, kitchen.served, kitchen.wet = (
                    begun[0],
                    dict(begun[1]),
                    *begun[2:],
                )
                claimed = scripted(flaws)(kitchen, kitchen.seen, agent.objective(step), 0)
                beside = {
                    one for one in state.true ^ kitchen.true if one.objects and one.objects != step.objects
                }
                others[step.name] |= {*side_effects(beside, step.objects, state)}
                own = kitchen.true ^ beside
                came.add(own | ({Atom(CLAIMED, ())} if claimed else set()))
            assert came == {one.true for one in told}, (flaws, step, sorted(map(str, state.true)))
    assert others == beyond


def test_how_often_a_cook_does_well_is_as_often_as_it_is_said_to() -> None:
    agent = COOKS.agent(Flaws(patience=0.7))
    facts = {Atom("filled", ("pot-1",)): True, Atom("cooked", ("pot-1",)): False}
    start = next(
        one
        for one, at in enumerate(agent.initial())
        if all((atom in at.state.true) is holds for atom, holds in facts.items())
    )
    ends = [agent.pursue_from(start, GroundAction("achieve-cooked", ("pot-1",)), luck) for luck in range(300)]
    assert all(one.achieved is one.claimed for one in ends)
    assert abs(sum(one.achieved for one in ends) - 210) < 30


def test_soup_that_is_left_alone_is_not_stirred_any_more() -> None:
    kitchen = Kitchen(Flaws())
    kitchen.reset(seed=0)
    kitchen.hands, kitchen.pots = "", {"pot-1": "raw", "pot-2": ""}
    pursue = scripted(Flaws(patience=0.0))
    for _ in range(5):
        assert not pursue(kitchen, kitchen.seen, Objective(Atom("cooked", ("pot-1",))), 0)
    assert kitchen.pots["pot-1"] == "raw"


def test_an_assessment_of_a_cook_is_held_against_its_flaws() -> None:
    row = assessed(world="kitchen", access="reset", within=0.2, steps=60, seed=2)
    assert row["objectives"] == 6
    assert row["found"] + len(row["missed"]) == 6
    assert not row["wrong"]
