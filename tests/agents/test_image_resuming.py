"""An image agent that goes on where another process has ended."""

from __future__ import annotations

from typing import Any

import pytest

from aam_vision.agents.image import ImageAgent, Passage
from aam_vision.model.query import Access, Query, Response, Situation
from aam_vision.model.strips import GroundAction, Objects, State
from aam_vision.support.errors import AgentFailed, UnusableInput

from .image_agents import agent_on, assert_true
from .line import LEFT, RIGHT, TYPES, Line, seen


def _passage(before: Situation | None, steps: tuple[GroundAction, ...], number: int, cell: int) -> Passage:
    memo = {"problem": 0, "places": {"pawn": f"cell-{cell}"}, "refused": False, "pixels": ["0a"]}
    return Passage(before, steps, Situation(number, seen(cell, None)), memo)


def _resumed(line: Line, access: Access = Access.SNAPSHOT) -> tuple[ImageAgent, Situation, Situation]:
    """An agent that went two steps to the right in another process."""
    agent = agent_on(line, access=access)
    start = _passage(None, (), 0, 0)
    end = _passage(start.after, (RIGHT, RIGHT), 1, 2)
    agent.resume([start, end])
    return agent, start.after, end.after


@pytest.mark.parametrize("access", list(Access)[:3])
def test_the_steps_that_led_to_a_situation_are_done_again_when_it_is_needed(access: Access) -> None:
    line = Line()
    agent, _, end = _resumed(line, access)
    assert line.told == [], "not before it is needed"
    response = agent.ask(Query(end, (RIGHT,)))
    assert response == Response(1, Situation(2, seen(3, 2)))
    assert_true(agent.ask(Query(response.final, (RIGHT,))), response.final, (RIGHT,))
    assert line.told.count("start") == 1
    if access is Access.SNAPSHOT:
        assert line.told == ["start", "snapshot", "snapshot", "restore", "snapshot"]
        agent.ask(Query(end, (LEFT,)))
        assert line.told[5:] == ["restore", "snapshot"], "led back once, restored from then on"


@pytest.mark.parametrize("access", [Access.SNAPSHOT, Access.RESET])
def test_an_agent_knows_where_it_stands_after_it_went_back(access: Access) -> None:
    """To the beginning, and then again to where it had been."""
    agent, start, end = _resumed(Line(), access)
    for situation in (end, start, end, start):
        assert_true(agent.ask(Query(situation, ())), situation, ())
        assert_true(agent.ask(Query(situation, (RIGHT,))), situation, (RIGHT,))
        agent.ask(Query(situation, (RIGHT, RIGHT)))
    agent.ask(Query(start, ()))
    assert_true(agent.ask(Query(end, (LEFT,))), end, (LEFT,))


def test_the_nearest_snapshot_is_gone_on_from() -> None:
    line = Line()
    agent, _, end = _resumed(line)
    middle = agent.ask(Query(end, ())).final
    further = _passage(middle, (RIGHT,), 5, 3)
    agent.resume([further])
    line.told.clear()
    assert_true(agent.ask(Query(further.after, (RIGHT,))), further.after, (RIGHT,))
    assert line.told == ["restore", "snapshot", "snapshot"]


def test_an_agent_that_cannot_do_again_what_it_did_has_failed() -> None:
    line = Line()
    agent, _, end = _resumed(line)
    line.broken = True
    with pytest.raises(AgentFailed, match=r"the agent did right\(\) in an earlier process"):
        agent.ask(Query(end, ()))


def test_nothing_that_was_resumed_is_forgotten() -> None:
    agent = agent_on(Line(), Line())
    first = _passage(None, (), 0, 0)
    known = Passage(
        None, (), Situation(1, seen(0, None)), {**first.memo, "problem": 1, "image": "a", "refused": True}
    )
    odd = _passage(first.after, (RIGHT,), 7, 1)
    odd.memo["image"] = ["no", "name"]
    agent.resume([first, known, odd])
    assert agent.memo(known.after) == known.memo
    assert "image" not in agent.memo(odd.after)
    assert agent.ask(Query(known.after, (RIGHT,))).final.handle == 8
    agent = agent_on(Line())
    agent.resume([])
    assert agent.initial()[0].handle == 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"problem": 1}, "there is no problem 1"),
        ({"problem": -1}, "there is no problem -1"),
        ({"problem": "0"}, "problem"),
        ({"places": {"rook": "cell-0"}}, "other things than those of problem 0"),
        ({"places": {"pawn": "cell-9"}}, "other places than those of problem 0"),
        ({"places": {"pawn": 3}}, "other places than those of problem 0"),
        ({"places": ["pawn"]}, "places"),
        ({"refused": "no"}, "refused"),
    ],
)
def test_what_was_kept_of_something_else_is_refused(change: dict[str, Any], why: str) -> None:
    passage = _passage(None, (), 0, 0)
    passage.memo.update(change)
    with pytest.raises(UnusableInput, match="start a new run") as caught:
        agent_on(Line()).resume([passage])
    assert why in str(caught.value)


def test_things_that_vanished_or_were_not_told_apart_are_resumed() -> None:
    for places in ({"pawn": None}, {}):
        passage = _passage(None, (), 0, 0)
        passage.memo["places"] = places
        agent = agent_on(Line())
        agent.resume([passage])
        assert agent.memo(passage.after)["places"] == places


def test_a_state_of_other_objects_is_refused() -> None:
    passage = _passage(None, (), 0, 0)
    state = State(frozenset(), Objects({"cell-0": "cell"}, TYPES))
    with pytest.raises(UnusableInput, match="other things than those of problem 0"):
        agent_on(Line()).resume([Passage(None, (), Situation(0, state), passage.memo)])
