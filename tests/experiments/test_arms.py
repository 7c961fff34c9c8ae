"""Scripted arms with random flaws: what is said to be true of them is what they do."""

from __future__ import annotations

import pytest

from aam_vision.envs.policies import Objective
from aam_vision.interrogation.chance.observations import SideEffect
from aam_vision.model.query import CLAIMED
from aam_vision.model.strips import Atom, GroundAction
from experiments.arms import ARMS, BLOCKS, MOVES, Flaws, Pile, Table, flawed, pursued, reachable
from experiments.capabilities import assessed, planted
from experiments.objectives import instructions

RED, GREEN, BLUE = BLOCKS
TOWER: list[Pile] = [(True, (RED, GREEN)), (False, (BLUE,))]
ON_BLUE = Objective(Atom("on", (RED, BLUE)))
NO_SLIP, SLIP = 0, -1


@pytest.mark.parametrize("seed", range(4))
def test_what_is_worked_out_by_hand_is_what_an_arm_does(seed: int) -> None:
    flaws = flawed(seed)
    agent = ARMS.agent(flaws)
    model, states = ARMS.truth(agent, flaws), reachable(agent, flaws)
    assert len(states) == 44
    table = Table(flaws)
    for state, piles in states.items():
        for step in instructions(agent):
            came = set()
            for table.piles, claimed in pursued(flaws, piles, agent.objective(step)):
                changed = {one for one in state.true ^ table.true if {*one.objects} <= {*step.objects}}
                came.add((state.true ^ changed) | ({Atom(CLAIMED, ())} if claimed else set()))
            assert came == {one.true for one in model.schema(step.name).successors(state, step.objects)}


@pytest.mark.parametrize(
    ("flaws", "end", "piles", "claimed"),
    [
        (Flaws(), NO_SLIP, [(False, (GREEN,)), (False, (BLUE, RED))], True),
        (Flaws(tower=True), NO_SLIP, [(False, (BLUE, RED, GREEN))], True),
        (Flaws(takes=False), NO_SLIP, TOWER, False),
        (Flaws(takes=False, claims="always"), NO_SLIP, TOWER, True),
        (Flaws(tower=True, succeeds=0.5), SLIP, TOWER, False),
        (
            Flaws(tower=True, succeeds=0.5, drops=True, claims="unaware"),
            SLIP,
            [(False, (BLUE,)), (False, (RED, GREEN))],
            True,
        ),
        (Flaws(tower=True, succeeds=0.5, from_table=False), SLIP, [(False, (BLUE, RED, GREEN))], True),
    ],
)
def test_a_flaw_shows_itself(flaws: Flaws, end: int, piles: list[Pile], claimed: bool) -> None:
    came, said = [*pursued(flaws, TOWER, ON_BLUE)][end]
    assert (sorted(came), said) == (sorted(piles), claimed)


def test_what_cannot_be_moved_stays() -> None:
    table = Table(Flaws(puts=False))
    for block, onto in ((RED, GREEN), (BLUE, "edge")):
        table.piles = [*TOWER]
        _, _, _, _, told = table.step(MOVES.index((block, onto, True)))
        assert (table.piles, told) == (TOWER, {"moved": False})


def test_a_tower_that_is_taken_along_is_no_side_effect_but_one_that_is_taken_down_is() -> None:
    down = SideEffect(True, "on-table", ("block",))
    for flaws in (Flaws(), Flaws(tower=True)):
        agent = ARMS.agent(flaws)
        found = ARMS.side_effects(agent, flaws)
        assert (down in found["achieve-edge"]) is not flaws.tower


def test_arms_lose_what_they_carry_as_often_as_they_are_said_to() -> None:
    agent = ARMS.agent(Flaws(succeeds=0.7, from_table=True))
    start = next(one for one, at in enumerate(agent.initial()) if Atom("edge", (RED,)) in at.state.true)
    away = GroundAction("undo-edge", (RED,))
    ends = [agent.pursue_from(start, away, luck) for luck in range(300)]
    assert all(one.achieved is one.claimed for one in ends)
    assert abs(sum(one.achieved for one in ends) - 210) < 30


def test_an_assessment_of_an_arm_is_held_against_its_flaws() -> None:
    row = assessed(world="tabletop", access="reset", within=0.2, steps=60, seed=2)
    assert row["objectives"] == 5
    assert row["found"] + len(row["missed"]) == 5
    assert 0 < row["right"] <= row["intervals"]
    assert row["lies"] == 0
    assert row["distance"] < 0.5
    assert not row["wrong"]


def test_every_step_that_a_model_is_held_against_can_happen() -> None:
    _, model, _, walked = planted("tabletop", "reset", 1)
    for before, step, after in walked[:200]:
        assert model.schema(step.name).successors(before, step.objects)[after] > 0
