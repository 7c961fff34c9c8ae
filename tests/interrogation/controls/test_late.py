"""Controls that are carried out late are learned as if they came at once; what only looks like that is not."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path

import pytest

from aam_vision.agents.bare import BareSymbolicAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import Malformed
from aam_vision.interrogation.controls.interrogating import Options, interrogate
from aam_vision.interrogation.controls.memory import read_memory
from aam_vision.interrogation.task.verdict import NOT_STRIPS
from aam_vision.model.query import Query, Response, Situation
from aam_vision.model.remembered import MOST_LATE, LateControls
from aam_vision.model.strips import GroundAction
from tests.profiles import crossed

from . import worlds
from .test_interrogating import assert_right

Waiting = tuple[GroundAction, ...]
Rule = Callable[[Waiting, GroundAction], tuple[Waiting, Waiting]]
"""What waits after a control was given, and what is carried out then."""


class Late(AgentDecorator):
    """Controls that wait before they are carried out."""

    def __init__(self, agent: BareSymbolicAgent, rule: Rule) -> None:
        super().__init__(agent)
        self._given, self._rule = agent.given, rule
        self._waiting: dict[Hashable, Waiting] = {}

    def ask(self, query: Query) -> Response:
        handle, state = query.initial.handle, query.initial.state
        for control in query.plan:
            waiting, carried_out = self._rule(self._waiting.get(handle, ()), control)
            for one in carried_out:
                state = self._given(state, one)
            handle = state, waiting
            self._waiting[handle] = waiting
        return Response(len(query.plan), Situation(handle, state))


def late(by: int) -> Rule:
    """The same delay whatever is given."""
    return lambda waiting, given: ((*waiting, given)[-by:], (*waiting, given)[:-by])


def dropping(waiting: Waiting, given: GroundAction) -> tuple[Waiting, Waiting]:
    """By two, but for a control that drops what waits."""
    return late(2)(() if given.name == "shut" else waiting, given)


@pytest.mark.parametrize(("by", "name"), crossed(range(1, 5), ["lamps", "door", "rooms"]))
def test_the_model_is_that_of_controls_that_come_at_once(by: int, name: str, tmp_path: Path) -> None:
    world = worlds.WORLDS[name].agent(tmp_path)
    found = interrogate(Late(world, late(by)))
    assert found.memory == LateControls(by)
    assert_right(found, world)
    assert found.status == interrogate(world).status


def test_what_is_not_always_as_late_is_not_called_late(tmp_path: Path) -> None:
    found = interrogate(Late(worlds.WORLDS["door"].agent(tmp_path), dropping))
    assert not isinstance(found.memory, LateControls)
    assert not found.complete


def test_a_budget_ends_it_with_what_was_seen(tmp_path: Path) -> None:
    agent = Late(worlds.WORLDS["rooms"].agent(tmp_path), late(2))
    found = interrogate(agent, options=Options(max_steps=40))
    assert found.status == NOT_STRIPS
    assert found.two_ways is not None
    assert found.steps <= 40


@pytest.mark.parametrize("by", [1, MOST_LATE])
def test_it_is_read_as_it_was_written(by: int) -> None:
    assert read_memory(LateControls(by).json(), ["go"]) == LateControls(by)


@pytest.mark.parametrize("by", [0, MOST_LATE + 1, "2"])
def test_another_delay_is_refused(by: object) -> None:
    with pytest.raises(Malformed, match="late"):
        read_memory({"late": by}, ["go"])
