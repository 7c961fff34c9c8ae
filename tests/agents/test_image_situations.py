"""Situations of an image agent: gone back to as the access allows, looked at until they are clear, and resumed."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.image import LOOKS, ImageAgent
from aam_vision.agents.returning import Passage
from aam_vision.errors import AgentFailed, UnusableInput
from aam_vision.query import Access, Query, Response, Situation
from aam_vision.strips import GroundAction, Objects, State
from tests.profiles import thorough

from .line import HEADERS, LEFT, LENGTH, RIGHT, TYPES, VOCABULARY, Line, Reader, cell_of, course, seen

RNG = np.random.default_rng(0)
plans = st.lists(st.sampled_from([LEFT, RIGHT]), max_size=5).map(tuple)


def _agent(*lines: Line, access: Access = Access.SNAPSHOT, reader: Reader | None = None) -> ImageAgent:
    return ImageAgent(lines, reader or Reader(), VOCABULARY, HEADERS, access)


def _assert_true(response: Response, start: Situation, plan: tuple[GroundAction, ...]) -> None:
    """The answer is what happens on the line, seen from image to image."""
    cells = [cell_of(start), *course(cell_of(start), plan)]
    assert response.executed == len(cells) - 1
    if not plan:
        assert response.final == Situation(start.handle, seen(cells[0], cells[0]))
    elif len(cells) == 1:
        assert response.final == start
    else:
        assert response.final.state == seen(cells[-1], cells[-2])


# --- going back -----------------------------------------------------------------------------------


@thorough(60)
@given(st.lists(st.tuples(st.integers(0, 100), plans), max_size=8), st.integers(0, 8))
def test_any_situation_is_gone_on_from_in_any_order_also_in_another_process(
    questions: list[tuple[int, tuple[GroundAction, ...]]], ended: int
) -> None:
    agent = _agent(Line(), Line(3))
    known = list(agent.initial())
    assert [cell_of(situation) for situation in known] == [0, 3]
    history = [Passage(None, (), situation, _kept(agent, situation)) for situation in known]
    for number, (which, plan) in enumerate(questions):
        if number == ended:
            astray = Line()
            astray.at = 5
            agent = _agent(astray, Line(3))
            agent.resume(history)
        start = known[which % len(known)]
        response = agent.ask(Query(start, plan))
        _assert_true(response, start, plan)
        steps = plan[: response.executed]
        history.append(Passage(start, steps, response.final, _kept(agent, response.final)))
        if steps:
            assert response.final.handle not in {situation.handle for situation in known}
            known.append(response.final)


def _kept(agent: ImageAgent, situation: Situation) -> Any:
    return json.loads(json.dumps(agent.memo(situation)))


def test_under_snapshot_access_every_situation_can_be_restored_and_none_is_started_again() -> None:
    line = Line()
    agent = _agent(line)
    (start,) = agent.initial()
    end = agent.ask(Query(start, (RIGHT, RIGHT))).final
    assert line.told == ["start", "snapshot", "restore", "snapshot", "snapshot"]
    agent.ask(Query(end, (LEFT,)))
    assert line.told[5:] == ["restore", "snapshot"]


def test_under_reset_access_a_simulator_is_started_anew_only_if_it_stands_elsewhere() -> None:
    line, other = Line(), Line(2)
    agent = _agent(line, other, access=Access.RESET)
    start, _ = agent.initial()
    agent.ask(Query(start, (LEFT,)))  # refused: it still stands there
    end = agent.ask(Query(start, (RIGHT,))).final
    agent.ask(Query(end, (RIGHT,)))
    assert line.told == ["start"]
    _assert_true(agent.ask(Query(start, ())), start, ())
    assert line.told == ["start", "start"]
    _assert_true(agent.ask(Query(start, (RIGHT, RIGHT))), start, (RIGHT, RIGHT))
    assert line.told == ["start", "start"], "it stood at the start again"
    assert other.told == ["start"]


@pytest.mark.parametrize("access", [Access.RESET, Access.TRAJECTORY])
def test_without_snapshot_access_no_snapshot_is_taken(access: Access) -> None:
    line = Line()
    agent = _agent(line, access=access)
    (situation,) = agent.initial()
    for step in agent.walk(situation, 3, RNG):
        situation = step.after
    _assert_true(agent.ask(Query(situation, (RIGHT, LEFT))), situation, (RIGHT, LEFT))
    assert line.told == ["start"]


# --- walks ----------------------------------------------------------------------------------------


def test_a_walk_is_as_long_as_was_asked_for_and_ends_where_the_agent_can_do_nothing() -> None:
    line = Line(1)
    agent = _agent(line)
    (start,) = agent.initial()
    walked = agent.walk(start, 2, RNG)
    assert [(cell_of(step.before), step.action, cell_of(step.after)) for step in walked] == [
        (1, RIGHT, 2),
        (2, RIGHT, 3),
    ]
    assert walked[-1].after.state == seen(3, 2)
    assert len(agent.walk(start, 50, RNG)) == LENGTH - 2
    line.broken = True
    assert agent.walk(start, 50, RNG) == []


# --- looking --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blurred", "images"), [(0, 1), (3, 4), (LOOKS - 1, LOOKS), (LOOKS, LOOKS), (50, LOOKS)]
)
def test_a_situation_is_looked_at_until_it_is_clear_or_too_often(blurred: int, images: int) -> None:
    line = Line(blurred=blurred)
    agent = _agent(line)
    (start,) = agent.initial()
    assert line.shown == images
    assert agent.memo(start)["refused"] is (blurred >= LOOKS)
    agent.ask(Query(start, (RIGHT,)))
    assert line.shown == 2 * images


def test_a_camera_that_shows_the_same_again_is_not_asked_a_third_time() -> None:
    class Fixed(Line):
        def frame(self) -> Any:
            frame = super().frame()
            frame[0, 0, 1:] = 1, 0
            return frame

    line = Fixed()
    assert _agent(line).initial()[0].state == seen(0, None)
    assert line.shown == 2


def test_all_time_spent_on_reading_is_counted_and_no_other() -> None:
    reader, begun = Reader(), process_time()
    agent = _agent(Line(), reader=reader)
    assert agent.perception_s == 0
    reader.slow = 0.02
    (start,) = agent.initial()
    agent.ask(Query(start, (RIGHT, RIGHT)))
    assert 0.02 <= agent.perception_s <= process_time() - begun


# --- images that are kept -------------------------------------------------------------------------


def test_the_images_of_a_plan_are_kept_under_their_names_in_order() -> None:
    agent = _agent(Line(blurred=2))
    kept: dict[str, Any] = {}

    def keep(frame: Any) -> str:
        name = f"image-{len(kept)}"
        kept[name] = frame
        return name

    (start,) = agent.initial()
    memo = {"problem": 0, "places": {"pawn": "cell-0"}, "refused": False}
    assert agent.memo(start) == memo
    blind = agent.ask(Query(start, (RIGHT, RIGHT, RIGHT))).final
    assert agent.memo(blind).keys() == memo.keys()
    agent.keep_images(keep)
    final = agent.ask(Query(start, (RIGHT, RIGHT, RIGHT))).final
    memo["places"] = {"pawn": "cell-3"}
    assert agent.memo(final) == {**memo, "image": "image-2", "passed": ["image-0", "image-1"]}
    after = agent.ask(Query(final, (LEFT,))).final
    memo["places"] = {"pawn": "cell-2"}
    assert agent.memo(after) == {**memo, "image": "image-3"}
    assert [frame[0, 0, :2].tolist() for frame in kept.values()] == [[1, 0], [2, 0], [3, 0], [2, 0]]


# --- another process ------------------------------------------------------------------------------


def _passage(before: Situation | None, steps: tuple[GroundAction, ...], number: int, cell: int) -> Passage:
    memo = {"problem": 0, "places": {"pawn": f"cell-{cell}"}, "refused": False}
    return Passage(before, steps, Situation(number, seen(cell, None)), memo)


def _resumed(line: Line, access: Access = Access.SNAPSHOT) -> tuple[ImageAgent, Situation, Situation]:
    """An agent that went two steps to the right in another process."""
    agent = _agent(line, access=access)
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
    _assert_true(agent.ask(Query(response.final, (RIGHT,))), response.final, (RIGHT,))
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
        _assert_true(agent.ask(Query(situation, ())), situation, ())
        _assert_true(agent.ask(Query(situation, (RIGHT,))), situation, (RIGHT,))
        agent.ask(Query(situation, (RIGHT, RIGHT)))
    agent.ask(Query(start, ()))
    _assert_true(agent.ask(Query(end, (LEFT,))), end, (LEFT,))


def test_the_nearest_snapshot_is_gone_on_from() -> None:
    line = Line()
    agent, _, end = _resumed(line)
    middle = agent.ask(Query(end, ())).final
    further = _passage(middle, (RIGHT,), 5, 3)
    agent.resume([further])
    line.told.clear()
    _assert_true(agent.ask(Query(further.after, (RIGHT,))), further.after, (RIGHT,))
    assert line.told == ["restore", "snapshot", "snapshot"]


def test_an_agent_that_cannot_do_again_what_it_did_has_failed() -> None:
    line = Line()
    agent, _, end = _resumed(line)
    line.broken = True
    with pytest.raises(AgentFailed, match=r"the agent did right\(\) in an earlier process"):
        agent.ask(Query(end, ()))


def test_nothing_that_was_resumed_is_forgotten() -> None:
    agent = _agent(Line(), Line())
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
    agent = _agent(Line())
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
    with pytest.raises(UnusableInput, match="start a new run, without --resume") as caught:
        _agent(Line()).resume([passage])
    assert why in str(caught.value)


def test_things_that_vanished_or_were_not_told_apart_are_resumed() -> None:
    for places in ({"pawn": None}, {}):
        passage = _passage(None, (), 0, 0)
        passage.memo["places"] = places
        agent = _agent(Line())
        agent.resume([passage])
        assert agent.memo(passage.after)["places"] == places


def test_a_state_of_other_objects_is_refused() -> None:
    passage = _passage(None, (), 0, 0)
    state = State(frozenset(), Objects({"cell-0": "cell"}, TYPES))
    with pytest.raises(UnusableInput, match="other things than those of problem 0"):
        _agent(Line()).resume([Passage(None, (), Situation(0, state), passage.memo)])


def test_the_agent_is_as_it_was_made() -> None:
    agent = ImageAgent([Line()], Reader(), VOCABULARY, list(HEADERS), refuses_surely=True)
    assert (agent.vocabulary, agent.headers, agent.access) == (VOCABULARY, HEADERS, Access.SNAPSHOT)
    assert agent.refuses_surely
    assert not _agent(Line()).refuses_surely
