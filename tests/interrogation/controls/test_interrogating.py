"""Whole interrogations of agents of which only the controls are known."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.bare import BareSymbolicAgent
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.interrogation.controls import interrogating
from aam_vision.interrogation.controls.giving import Giving, StepsSpent, TwoWays
from aam_vision.interrogation.controls.interrogating import Options, interrogate
from aam_vision.model.domains import generate, load
from aam_vision.model.query import Query, Response
from aam_vision.model.strips import ActionHeader, GroundAction
from aam_vision.run.targets.controls import read_controls
from aam_vision.support.errors import UnusableInput
from aam_vision.support.resources import Resources
from tests.resources import WHY, Looked

from . import worlds


@pytest.mark.parametrize("name", ["lamps", "wet", "door", "rooms"])
@pytest.mark.parametrize("seed", range(3))
def test_the_model_predicts_every_control_in_every_reachable_state(
    name: str, seed: int, tmp_path: Path
) -> None:
    world = worlds.WORLDS[name].agent(tmp_path)
    result = interrogate(world, seed)
    assert not result.unexplained
    for transition in worlds.reachable(world):
        assert result.predictions.agrees(transition.before, transition.control, transition.after)


def test_what_only_a_constant_singles_out_is_found(tmp_path: Path) -> None:
    states = worlds.lakes(worlds.model(worlds.LAKE, tmp_path))
    world = worlds.agent(
        worlds.LAKE, ["right()=walk-right,fall-right", "left()=walk-left,fall-left"], states, tmp_path
    )
    result = interrogate(world)
    assert len(result.operators) == 4
    assert not result.unexplained
    for transition in worlds.reachable(world):
        assert result.predictions.agrees(transition.before, transition.control, transition.after)


def blocks() -> BareSymbolicAgent:
    """Blocksworld by controls that name one block only: where the hand's block is put, or which one is taken."""
    model, rng = load("blocksworld"), np.random.default_rng(1)
    controls = read_controls(
        model, ["pick-up(?x)=pick-up", "put-down()=put-down", "stack(?y)=stack", "unstack(?x)=unstack"]
    )
    return BareSymbolicAgent(model, controls, [generate("blocksworld", 3, rng).initial for _ in range(2)])


def test_what_the_situation_implies_need_not_be_named() -> None:
    result = interrogate(blocks())
    assert result.interrogation is not None
    assert result.interrogation.proven
    assert [operator.header.name for operator in result.operators] == [
        "pick-up",
        "put-down",
        "stack",
        "unstack",
    ]
    within, beyond = result.certain
    assert within.startswith("within the discovered cases")
    assert "95% confidence" in beyond or "every control" in beyond


def test_the_same_seed_gives_the_same_operators_and_costs() -> None:
    one, other = interrogate(blocks(), 3), interrogate(blocks(), 3)
    assert (one.steps, one.operators, one.mapping) == (other.steps, other.operators, other.mapping)


def test_no_control_is_given_twice_in_one_situation() -> None:
    world = blocks()
    giving = Giving(world)
    (start, *_) = giving.initial()
    control = GroundAction("pick-up", (start.state.objects.of_type("block")[0],))
    assert giving.give(start, control) == giving.give(start, control)
    assert giving.steps == 1


def test_a_control_that_never_did_anything_is_named_and_nothing_is_complete() -> None:
    result = replace(interrogate(blocks()), exhausted=False, covered=False)
    more = replace(result, transitions={**result.transitions, "wave": ()})
    assert more.idle == ("wave",)
    assert more.status == "open"
    assert more.certain[1].startswith("wave never did anything")
    assert replace(more, exhausted=True).status != "budget", "all was tried"
    tried = replace(more, covered=True)
    assert tried.status != "budget", "all kinds of situations were tried"
    assert "wave (0 situations) never did anything" in tried.certain[1]


def test_a_control_that_does_nothing_anywhere_meets_every_fact_around_it_and_the_run_is_complete() -> None:
    world = blocks()
    idle = Idle(world)
    result = interrogate(idle)
    assert result.idle == ("wave",)
    assert result.exhausted or result.covered
    assert result.status.startswith("complete")


def test_steps_are_never_exceeded() -> None:
    result = interrogate(blocks(), options=Options(max_steps=25))
    assert result.steps == 25
    assert "max-steps" in result.why


def test_so_many_queries_are_asked_for_each_operator_and_another_number_if_it_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interrogating, "QUERIES", 1)
    few, many = (interrogate(blocks(), options=Options(max_queries=most)) for most in (None, 1000))
    assert few.interrogation is not None
    assert few.interrogation.counts.queries == len(few.operators)
    assert few.status == "budget"
    assert few.missing == "the budget of 4 queries is spent"
    assert many.status == "complete"


@pytest.mark.parametrize("looks", [0, 1, 5, 40, 80, 120])
def test_when_time_or_memory_is_spent_what_is_known_is_told_and_nothing_more_is_asked(looks: int) -> None:
    result = interrogate(blocks(), options=Options(resources=Looked(looks)))
    assert result.status == "budget"
    assert result.missing == WHY
    assert result.diagnosis is None
    assert 0 <= result.steps < looks or looks == result.steps == 0
    assert result.model.headers == tuple(operator.header for operator in result.operators)
    assert bool(result.operators) is (looks > 1)


def test_nothing_depends_on_resources_that_are_not_spent() -> None:
    without = interrogate(blocks())
    limited = interrogate(blocks(), options=Options(resources=Resources(1000, 10_000)))
    assert (limited.model, limited.steps, limited.why) == (without.model, without.steps, without.why)


class Idle(BareSymbolicAgent):
    """With one more control, which does nothing."""

    def __init__(self, agent: BareSymbolicAgent) -> None:
        self.__dict__ = agent.__dict__

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return (*super().headers, ActionHeader("wave", (), ()))

    def ask(self, query: Query) -> Response:
        waved = [step.name for step in query.plan] == ["wave"]
        return Response(1, query.initial) if waved else super().ask(query)


def test_a_locked_door_is_opened_by_a_control_that_did_nothing_before(tmp_path: Path) -> None:
    controls = ["toggle()=unlock", "shut()=shut", "lock()=lock", "take(?k)=take", "put()=put"]
    result = interrogate(worlds.World(worlds.DOOR, controls, worlds.door).agent(tmp_path))
    assert not result.idle
    assert not result.unexplained


class Forgetful(BareSymbolicAgent):
    """Its second control of a kind does nothing: something that no fact shows."""

    def __init__(self, agent: BareSymbolicAgent) -> None:
        self.__dict__ = agent.__dict__
        self.given_before: Counter[GroundAction] = Counter()

    def ask(self, query: Query) -> Response:
        (control,) = query.plan
        self.given_before[control] += 1
        return super().ask(query) if self.given_before[control] != 2 else Response(1, query.initial)


def test_what_no_fact_shows_is_named_with_two_situations(tmp_path: Path) -> None:
    giving = Giving(NumberedAgent(Forgetful(worlds.WORLDS["lamps"].agent(tmp_path))))
    (here,) = giving.initial()
    for control in (GroundAction("red", ("two",)), GroundAction("green", ("two",))):
        _, here = giving.give(here, control)
    with pytest.raises(TwoWays, match=r"red\(two\) went two ways in situations that look alike") as raised:
        giving.give(here, GroundAction("red", ("two",)))
    one, other = raised.value.transitions
    assert one.before == other.before
    assert one.after != other.after


def test_a_giving_of_no_steps_ends_at_once() -> None:
    giving = Giving(blocks(), max_steps=0)
    with pytest.raises(StepsSpent):
        giving.give(giving.initial()[0], GroundAction("put-down", ()))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("move", "write e.g."),
        ("move(?x)=fly", "no operator 'fly'"),
        ("move(?y)=pick-up", "pick-up has no parameter \\?y"),
        ("move()=", "write e.g."),
    ],
)
def test_a_control_that_cannot_be_used_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(UnusableInput, match=said):
        read_controls(load("blocksworld"), [text])
