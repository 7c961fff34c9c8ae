"""Controls that slip: chance is told from what is hidden, the likeliest outcome is learned, and how often it comes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.bare import BareSymbolicAgent
from aam_vision.interrogation.controls.chance import NOTHING, LikeliestAgent, likeliest, shares
from aam_vision.interrogation.controls.giving import Given, StepsSpent, ground
from aam_vision.interrogation.controls.interrogating import Options, interrogate
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.controls.result import LIKELIEST, ControlsResult
from aam_vision.model.query import Query, Situation
from experiments.slips import SlippingAgent, interrogated
from tests.profiles import first, scaled

from . import worlds
from .test_interrogating import assert_right

RATE = 0.25


def slipping(world: BareSymbolicAgent, seed: int = 1) -> SlippingAgent:
    """A world all of whose controls do nothing at times."""
    names = {header.name: header.name for header in world.headers}
    return SlippingAgent(world, RATE, names, np.random.default_rng(seed))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[BareSymbolicAgent, ControlsResult]:
    """A world, and what is learned where its controls slip."""
    world = worlds.WORLDS["rooms"].agent(tmp_path_factory.mktemp("world"))
    return world, interrogate(slipping(world))


def test_the_likeliest_outcome_is_learned_and_how_often_it_comes(
    found: tuple[BareSymbolicAgent, ControlsResult],
) -> None:
    world, result = found
    assert_right(result, world)
    assert (result.status, result.missing) == ("open", LIKELIEST)
    assert result.chance
    for likely, other in result.chance.values():
        assert likely.low <= 1 - RATE <= likely.high
        assert (likely.high - likely.low) / 2 <= 0.1
        assert (other.what, other.hits + likely.hits) == (NOTHING, likely.tries)
    text = " ".join(str(result).split())
    name = next(iter(result.chance))
    assert f"{name} works as the model says " in text
    assert "of the likeliest outcomes: " in result.certain[0]


def test_no_control_is_given_beyond_what_may_be_given(
    found: tuple[BareSymbolicAgent, ControlsResult],
) -> None:
    world, result = found
    some = interrogate(slipping(world), options=Options(max_steps=result.steps // 3))
    assert some.steps <= result.steps // 3
    assert (some.status, some.spent) == ("budget", True)


@pytest.mark.parametrize("seed", range(scaled(6)))
def test_random_domains_whose_controls_slip_are_never_certain_and_wrong(seed: int) -> None:
    row = interrogated(world="random domain", seed=500 + seed)
    assert not row["false"]
    assert row["noticed"] <= row["right"]


def test_what_another_control_does_is_told(tmp_path: Path) -> None:
    world = worlds.WORLDS["lamps"].agent(tmp_path)
    result = interrogate(SlippingAgent(world, RATE, {"red": "green"}, np.random.default_rng(2)))
    assert result.chance is not None
    assert [share.what for share in result.chance["red"]] == ["", "it does what green does", NOTHING]
    assert [share.what for share in result.chance["blue"]] == [""]


@pytest.mark.parametrize("name", first(1, ["lamps", "door"]))
def test_an_agent_without_chance_is_learned_as_before(name: str, tmp_path: Path) -> None:
    world = worlds.WORLDS[name].agent(tmp_path)
    results = [interrogate(world, options=Options(chance=looked)) for looked in (True, False)]
    assert results[0].chance is None
    assert len({(one.steps, one.rounds, one.status, one.pddl) for one in results}) == 1


def test_where_no_outcome_is_the_likeliest_nothing_is_said_of_how_often_it_comes(tmp_path: Path) -> None:
    world = worlds.WORLDS["lamps"].agent(tmp_path)
    evenly = SlippingAgent(world, 0.5, {"red": "red"}, np.random.default_rng(0))
    result = interrogate(evenly)
    assert result.chance is not None
    assert result.chance["red"] == ()
    assert result.chance["blue"]
    assert "No outcome of red is clearly the likeliest" in " ".join(str(result).split())
    assert result.status == "open"


def test_the_likeliest_outcome_of_many_tries_is_taken(tmp_path: Path) -> None:
    world = worlds.WORLDS["lamps"].agent(tmp_path)
    start, *_ = initial = world.initial()
    agent = LikeliestAgent(slipping(world), initial, most=2000)
    for control in ground(world.headers, start.state):
        assert agent.ask(Query(start, (control,))).final.state == world.given(start.state, control)
    told = shares(agent, world.headers, interrogate(world).predictions)
    assert all(share.low <= share.hits / share.tries <= share.high for own in told.values() for share in own)
    with pytest.raises(StepsSpent):
        LikeliestAgent(slipping(world), initial, most=1).ask(Query(start, (control,)))


def test_of_what_was_given_that_is_kept_which_came_most_often(tmp_path: Path) -> None:
    world = worlds.WORLDS["lamps"].agent(tmp_path)
    one = next(t for t in worlds.reachable(world) if t.change)
    usual = Situation(1, one.after), one
    slip = Situation(2, one.before), Transition(one.before, one.control, one.before)
    given = [Given(Situation(0, one.before), made, after) for after, made in (slip, usual, usual)]
    assert Counter(kept.after.handle for kept in likeliest(given)) == {1: 2}
