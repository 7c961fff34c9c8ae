"""Cooks with random flaws: what is said to be true of them is what they do."""

from __future__ import annotations

from itertools import product

import pytest

from aam_vision.envs.policies import Objective
from aam_vision.model.query import CLAIMED
from aam_vision.model.strips import Atom, GroundAction, State
from experiments.kitchen import COOKS, POTS, Flaws, Kitchen, flawed, scripted
from experiments.objectives import beyond, instructions
from tests.profiles import first

ALL = [
    {},
    {"stubborn": True, "lies": True},
    {"borrows": True, "steady": 0.6},
    {"waits": True, "patience": 0.7},
    {"stubborn": True, "borrows": True, "patience": 0.5, "steady": 0.5, "lies": True},
]
TIMES, INSIDE = 40, ("", "raw", "cooked")
STATES = [*product(("", "onion", "dish"), INSIDE, INSIDE, (False, True), (False, True))]


@pytest.mark.parametrize("flaws", first(2, [flawed(1), flawed(0), *(Flaws(**one) for one in ALL)]))
def test_what_is_worked_out_by_hand_is_what_a_cook_does(flaws: Flaws) -> None:
    agent, kitchen = COOKS.agent(flaws), Kitchen(flaws)
    model, aside = COOKS.truth(agent, flaws), COOKS.side_effects(agent, flaws)
    others: dict[str, set[object]] = {name: set() for name in aside}
    for number, (hands, *inside, served, wet) in enumerate(STATES):
        kitchen.reset(seed=number)

        def begin(hands=hands, inside=inside, served=served, wet=wet) -> frozenset[Atom]:
            kitchen.hands, kitchen.served, kitchen.wet = hands, served, wet
            kitchen.pots = dict(zip(POTS, inside, strict=True))
            return kitchen.true

        state = State(begin(), agent.objects)
        for step in instructions(agent):
            told = model.schema(step.name).successors(state, step.objects)
            came = set()
            for _ in range(TIMES if len(told) > 1 else 1):
                begin()
                claimed = scripted(flaws)(kitchen, kitchen.seen, agent.objective(step), 0)
                others[step.name] |= beyond(state, kitchen.true, step.objects)
                own = {one for one in kitchen.true ^ state.true if {*one.objects} <= {*step.objects}}
                came.add((state.true ^ own) | ({Atom(CLAIMED, ())} if claimed else set()))
            assert came == {one.true for one in told}, (flaws, step, sorted(map(str, state.true)))
    assert others == aside


def test_how_often_a_cook_does_well_is_as_often_as_it_is_said_to() -> None:
    agent = COOKS.agent(Flaws(patience=0.7))
    filled, cooked = Atom("filled", ("pot-1",)), Atom("cooked", ("pot-1",))
    begun = [one.state.true for one in agent.initial()]
    start = next(number for number, true in enumerate(begun) if filled in true and cooked not in true)
    ends = [agent.pursue_from(start, GroundAction("achieve-cooked", ("pot-1",)), luck) for luck in range(300)]
    assert all(one.achieved is one.claimed for one in ends)
    assert abs(sum(one.achieved for one in ends) - 210) < 30


def test_soup_that_is_left_alone_is_not_stirred_any_more() -> None:
    kitchen = Kitchen(Flaws())
    kitchen.reset(seed=0)
    kitchen.hands, kitchen.pots = "", {"pot-1": "raw", "pot-2": ""}
    for _ in range(5):
        pursue = scripted(Flaws(patience=0.0))
        assert not pursue(kitchen, kitchen.seen, Objective(Atom("cooked", ("pot-1",))), 0)
    assert kitchen.pots["pot-1"] == "raw"
