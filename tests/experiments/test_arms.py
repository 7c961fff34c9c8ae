"""Scripted arms with random flaws: what is said to be true of them is what they do."""

from __future__ import annotations

import pytest

from aam_vision.envs.policies import Objective
from aam_vision.interrogation.chance.observations import SideEffect
from aam_vision.model.query import CLAIMED
from aam_vision.model.strips import Atom, GroundAction
from experiments.arms import ARMS, BLOCKS, MOVES, Flaws, Pile, Table, flawed, pursued, reachable
from experiments.capabilities import planted
from experiments.objectives import instructions

RED, GREEN, BLUE = BLOCKS
TOWER: list[Pile] = [(True, (RED, GREEN)), (False, (BLUE,))]
DOWN = SideEffect(True, "on-table", ("block",))
NO_SLIP, SLIP = 0, -1


@pytest.mark.parametrize("flaws", [*map(flawed, range(4)), Flaws(), Flaws(tower=True)])
def test_what_is_worked_out_by_hand_is_what_an_arm_does(flaws: Flaws) -> None:
    agent = ARMS.agent(flaws)
    model, states, table = ARMS.truth(agent, flaws), reachable(agent, flaws), Table(flaws)
    assert len(states) == 44
    for state, piles in states.items():
        for step in instructions(agent):
            came = set()
            for table.piles, claimed in pursued(flaws, piles, agent.objective(step)):
                changed = {one for one in state.true ^ table.true if {*one.objects} <= {*step.objects}}
                came.add((state.true ^ changed) | ({Atom(CLAIMED, ())} if claimed else set()))
            assert came == {one.true for one in model.schema(step.name).successors(state, step.objects)}
    # a tower that is taken along is no side effect, one that is taken down is
    if flaws in (Flaws(), Flaws(tower=True)):
        assert (DOWN in ARMS.side_effects(agent, flaws)["achieve-edge"]) is not flaws.tower


@pytest.mark.parametrize(
    ("flaws", "end", "piles", "claimed"),
    [
        ({}, NO_SLIP, [(False, (GREEN,)), (False, (BLUE, RED))], True),
        ({"tower": True}, NO_SLIP, [(False, (BLUE, RED, GREEN))], True),
        ({"takes": False}, NO_SLIP, TOWER, False),
        ({"takes": False, "claims": "always"}, NO_SLIP, TOWER, True),
        ({"tower": True, "succeeds": 0.5}, SLIP, TOWER, False),
        ({"tower": True, "succeeds": 0.5, "drops": True, "claims": "unaware"}, SLIP, [(False, (BLUE,)), (False, (RED, GREEN))], True),
        ({"tower": True, "succeeds": 0.5, "from_table": False}, SLIP, [(False, (BLUE, RED, GREEN))], True),
    ],
)  # fmt: skip
def test_a_flaw_shows_itself(flaws: dict[str, object], end: int, piles: list[Pile], claimed: bool) -> None:
    came, said = [*pursued(Flaws(**flaws), TOWER, Objective(Atom("on", (RED, BLUE))))][end]
    assert (sorted(came), said) == (sorted(piles), claimed)


def test_what_cannot_be_moved_stays() -> None:
    table = Table(Flaws(puts=False))
    for block, onto in ((RED, GREEN), (BLUE, "edge")):
        table.piles = [*TOWER]
        assert table.step(MOVES.index((block, onto, True)))[-1] == {"moved": False}
        assert table.piles == TOWER


def test_arms_lose_what_they_carry_as_often_as_they_are_said_to() -> None:
    agent = ARMS.agent(Flaws(succeeds=0.7, from_table=True))
    start = next(one for one, at in enumerate(agent.initial()) if Atom("edge", (RED,)) in at.state.true)
    ends = [agent.pursue_from(start, GroundAction("undo-edge", (RED,)), luck) for luck in range(300)]
    assert all(one.achieved is one.claimed for one in ends)
    assert abs(sum(one.achieved for one in ends) - 210) < 30


def test_an_arm_is_held_against_its_flaws_by_steps_that_can_happen() -> None:
    _, model, _, walked = planted("tabletop", "reset", 1)
    for before, step, after in walked[:200]:
        assert model.schema(step.name).successors(before, step.objects)[after] > 0
