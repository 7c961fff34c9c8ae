"""Situations of an image agent: gone back to as the access allows, looked at until they are clear."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.image import LOOKS, ImageAgent, Passage, digests
from aam_vision.model.query import Access, Query, Situation
from aam_vision.model.strips import GroundAction
from tests.profiles import thorough

from .image_agents import agent_on, assert_true
from .line import HEADERS, LEFT, LENGTH, RIGHT, VOCABULARY, Line, Reader, cell_of, seen

RNG = np.random.default_rng(0)
plans = st.lists(st.sampled_from([LEFT, RIGHT]), max_size=5).map(tuple)


# --- going back -----------------------------------------------------------------------------------


@thorough(60)
@given(st.lists(st.tuples(st.integers(0, 100), plans), max_size=8), st.integers(0, 8))
def test_any_situation_is_gone_on_from_in_any_order_also_in_another_process(
    questions: list[tuple[int, tuple[GroundAction, ...]]], ended: int
) -> None:
    agent = agent_on(Line(), Line(3))
    known = list(agent.initial())
    assert [cell_of(situation) for situation in known] == [0, 3]
    history = [Passage(None, (), situation, _kept(agent, situation)) for situation in known]
    for number, (which, plan) in enumerate(questions):
        if number == ended:
            astray = Line()
            astray.at = 5
            agent = agent_on(astray, Line(3))
            agent.resume(history)
        start = known[which % len(known)]
        response = agent.ask(Query(start, plan))
        assert_true(response, start, plan)
        steps = plan[: response.executed]
        history.append(Passage(start, steps, response.final, _kept(agent, response.final)))
        if steps:
            assert response.final.handle not in {situation.handle for situation in known}
            known.append(response.final)


def _kept(agent: ImageAgent, situation: Situation) -> Any:
    return json.loads(json.dumps(agent.memo(situation)))


def test_under_snapshot_access_every_situation_can_be_restored_and_none_is_started_again() -> None:
    line = Line()
    agent = agent_on(line)
    (start,) = agent.initial()
    end = agent.ask(Query(start, (RIGHT, RIGHT))).final
    assert line.told == ["start", "snapshot", "restore", "snapshot", "snapshot"]
    agent.ask(Query(end, (LEFT,)))
    assert line.told[5:] == ["restore", "snapshot"]


def test_under_reset_access_a_simulator_is_started_anew_only_if_it_stands_elsewhere() -> None:
    line, other = Line(), Line(2)
    agent = agent_on(line, other, access=Access.RESET)
    start, _ = agent.initial()
    agent.ask(Query(start, (LEFT,)))  # refused: it still stands there
    end = agent.ask(Query(start, (RIGHT,))).final
    agent.ask(Query(end, (RIGHT,)))
    assert line.told == ["start"]
    assert_true(agent.ask(Query(start, ())), start, ())
    assert line.told == ["start", "start"]
    assert_true(agent.ask(Query(start, (RIGHT, RIGHT))), start, (RIGHT, RIGHT))
    assert line.told == ["start", "start"], "it stood at the start again"
    assert other.told == ["start"]


@pytest.mark.parametrize("access", [Access.RESET, Access.TRAJECTORY])
def test_without_snapshot_access_no_snapshot_is_taken(access: Access) -> None:
    line = Line()
    agent = agent_on(line, access=access)
    (situation,) = agent.initial()
    for step in agent.walk(situation, 3, RNG):
        situation = step.after
    assert_true(agent.ask(Query(situation, (RIGHT, LEFT))), situation, (RIGHT, LEFT))
    assert line.told == ["start"]


# --- walks ----------------------------------------------------------------------------------------


def test_a_walk_is_as_long_as_was_asked_for_and_ends_where_the_agent_can_do_nothing() -> None:
    line = Line(1)
    agent = agent_on(line)
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
    agent = agent_on(line)
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
    assert agent_on(line).initial()[0].state == seen(0, None)
    assert line.shown == 2


def test_all_time_spent_on_reading_is_counted_and_no_other() -> None:
    reader, begun = Reader(), process_time()
    agent = agent_on(Line(), reader=reader)
    assert agent.perception_s == 0
    reader.slow = 0.02
    (start,) = agent.initial()
    agent.ask(Query(start, (RIGHT, RIGHT)))
    assert 0.02 <= agent.perception_s <= process_time() - begun


# --- images told apart ----------------------------------------------------------------------------


@thorough(40)
@given(st.lists(plans, max_size=4))
def test_situations_have_the_same_pixels_if_and_only_if_a_steady_camera_shows_the_same(
    asked: list[tuple[GroundAction, ...]],
) -> None:
    agent = agent_on(Line(still=True))
    (start,) = agent.initial()
    known = [start, *(agent.ask(Query(start, plan)).final for plan in asked)]
    for situation in known:
        agent.ask(Query(situation, ()))
        assert len(agent.pixels(situation) or ()) == 1, "it looks the same again"
        for other in known:
            same = cell_of(situation) == cell_of(other)
            assert (agent.pixels(situation) == agent.pixels(other)) is same


def test_every_further_look_at_a_situation_adds_the_pixels_that_it_shows() -> None:
    agent = agent_on(Line())  # no two of its images are equal
    (start,) = agent.initial()
    there = agent.ask(Query(start, (RIGHT,))).final
    assert not (agent.pixels(start) or frozenset()) & (agent.pixels(there) or frozenset())
    for looks in range(1, 4):
        before = agent.pixels(start) or frozenset()
        assert len(before) == looks
        agent.ask(Query(start, ()))
        assert before < (agent.pixels(start) or frozenset())
    assert len(agent.pixels(there) or ()) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["pixels", "a"]), inner),
    max_leaves=6,
)


@thorough(100)
@given(json_values)
def test_digests_are_read_from_whatever_a_transcript_holds(memo: object) -> None:
    found = digests(memo)
    if isinstance(memo, dict) and isinstance(memo.get("pixels"), list):
        assert all((one in found) is isinstance(one, str) for one in memo["pixels"])
        assert len(found) <= len(memo["pixels"])
    else:
        assert found == frozenset()


# --- images that are kept -------------------------------------------------------------------------


def test_the_images_of_a_plan_are_kept_under_their_names_in_order() -> None:
    agent = agent_on(Line(blurred=2))
    kept: dict[str, Any] = {}

    def keep(frame: Any) -> str:
        name = f"image-{len(kept)}"
        kept[name] = frame
        return name

    (start,) = agent.initial()
    memo = {"problem": 0, "places": {"pawn": "cell-0"}, "refused": False}

    def told(situation: Situation) -> dict[str, Any]:
        found = agent.memo(situation)
        assert frozenset(found.pop("pixels")) == agent.pixels(situation)
        return found

    assert told(start) == memo
    blind = agent.ask(Query(start, (RIGHT, RIGHT, RIGHT))).final
    assert told(blind).keys() == memo.keys()
    agent.keep_images(keep)
    final = agent.ask(Query(start, (RIGHT, RIGHT, RIGHT))).final
    memo["places"] = {"pawn": "cell-3"}
    assert told(final) == {**memo, "image": "image-2", "passed": ["image-0", "image-1"]}
    after = agent.ask(Query(final, (LEFT,))).final
    memo["places"] = {"pawn": "cell-2"}
    assert told(after) == {**memo, "image": "image-3"}
    assert [frame[0, 0, :2].tolist() for frame in kept.values()] == [[1, 0], [2, 0], [3, 0], [2, 0]]


def test_the_agent_is_as_it_was_made() -> None:
    agent = ImageAgent([Line()], Reader(), VOCABULARY, list(HEADERS), refuses_surely=True)
    assert (agent.vocabulary, agent.headers, agent.access) == (VOCABULARY, HEADERS, Access.SNAPSHOT)
    assert agent.refuses_surely
    assert not agent_on(Line()).refuses_surely
