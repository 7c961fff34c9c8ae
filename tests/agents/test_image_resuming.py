"""An image agent that goes on where another process has ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.encoding import dumps, loads
from aam_vision.agents.image import ImageAgent, Passage, Seen, Ways, led_back, memo_of, remembered
from aam_vision.agents.perception import Percept
from aam_vision.model.query import Access, Course, Query, Response, Situation, WalkRequest
from aam_vision.model.strips import GroundAction, Objects, State
from aam_vision.support.errors import AgentFailed, UnusableInput
from tests.profiles import thorough

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


def test_a_memo_gives_back_what_was_seen() -> None:
    percept = Percept(seen(1, None), {"pawn": "cell-1"}, False, {"pawn": (0.25, 0.5)}, ("cell-2",))
    told = loads(dumps(memo_of(Seen(0, None, percept, "after.png", ("before.png",), frozenset({"0a"})))))
    assert remembered(Passage(None, (), Situation(0, percept.state), told), [Line()]) == (0, percept)
    assert (told["image"], told["passed"], told["pixels"]) == ("after.png", ["before.png"], ["0a"])


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
        middle = agent.ask(Query(end, ())).final
        assert line.told[5:] == ["restore"], "led back once, restored from then on"
        further = _passage(middle, (RIGHT,), 5, 3)
        agent.resume([further])
        assert_true(agent.ask(Query(further.after, (RIGHT,))), further.after, (RIGHT,))
        assert line.told[6:] == ["restore", "snapshot", "snapshot"], "the nearest snapshot is gone on from"


def test_an_agent_knows_where_it_stands_after_it_went_back() -> None:
    """To the beginning, and then again to where it had been; test_image.py has the property for snapshots."""
    agent, start, end = _resumed(Line(), Access.RESET)
    for situation in (end, start, end, start):
        assert_true(agent.ask(Query(situation, ())), situation, ())
        assert_true(agent.ask(Query(situation, (RIGHT,))), situation, (RIGHT,))
        agent.ask(Query(situation, (RIGHT, RIGHT)))
    agent.ask(Query(start, ()))
    assert_true(agent.ask(Query(end, (LEFT,))), end, (LEFT,))


def test_an_agent_that_cannot_do_again_what_it_did_has_failed() -> None:
    line = Line()
    agent, _, end = _resumed(line)
    line.broken = True
    with pytest.raises(AgentFailed, match=r"the agent did right\(\) in an earlier process"):
        agent.ask(Query(end, ()))


def test_nothing_that_was_resumed_is_forgotten() -> None:
    agent = agent_on(Line(), Line())
    first = _passage(None, (), 0, 0)
    memo = {**first.memo, "problem": 1, "image": "a", "refused": True}
    known = Passage(None, (), Situation(1, seen(0, None)), memo)
    odd = _passage(first.after, (RIGHT,), 7, 1)
    odd.memo["image"] = ["no", "name"]
    agent.resume([first, known, odd])
    assert agent.memo(known.after) == known.memo
    assert "image" not in agent.memo(odd.after)
    assert agent.ask(Query(known.after, (RIGHT,))).final.handle == 8
    for places in ({"pawn": None}, {}):  # it vanished, or was not told apart
        first.memo["places"] = places
        agent = agent_on(Line())
        agent.resume([first])
        assert agent.memo(first.after)["places"] == places
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
    other = State(frozenset(), Objects({"cell-0": "cell"}, TYPES))
    with pytest.raises(UnusableInput, match="other things than those of problem 0"):
        agent_on(Line()).resume([Passage(None, (), Situation(0, other), _passage(None, (), 0, 0).memo)])


plans = st.lists(st.sampled_from([LEFT, RIGHT]), max_size=5).map(tuple)


class Wanderer(Line):
    """A line on which the pawn chooses its steps by chance; ``done`` has every step, and where it began."""

    def __init__(self, first: int = 0) -> None:
        super().__init__(first)
        self.done: list[tuple[int, GroundAction]] = []
        self.expected: list[tuple[int, GroundAction]] = []

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        self.done.append((self.at, GroundAction(name, objects)))
        return super().instruct(name, objects)

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        """Left or right, or now and then nothing."""
        return (None, ("left", ()), ("right", ()), ("right", ()))[int(rng.integers(4))]


class Foreseen(Wanderer):
    """Does in advance, on another line, what it is told to expect: ``expected`` has those steps."""

    def expect(self, snapshot: object, *plans: Sequence[GroundAction]) -> None:
        copy = Wanderer()
        copy.restore(snapshot)
        for plan in plans:
            for step in plan:
                if not copy.instruct(step.name, step.objects):
                    break
        self.expected += copy.done

    def expect_walk(self, snapshot: object, steps: int, rng: np.random.Generator) -> None:
        copy = Wanderer()
        copy.restore(snapshot)
        for _ in range(steps):
            chosen = copy.choose(rng)
            if chosen is None or not copy.instruct(*chosen):
                break
        self.expected += copy.done


starts = st.integers(0, 3)
questions = st.one_of(
    st.tuples(st.just(Query), starts, plans),
    st.tuples(st.just(Course), starts, st.lists(plans, max_size=3).map(tuple)),
    st.tuples(st.just(WalkRequest), starts, st.integers(0, 4), st.integers(0, 9)),
)


@thorough(60)
@given(st.lists(questions, max_size=5))
def test_simulators_are_told_in_advance_exactly_the_steps_that_are_then_asked_of_them(
    drawn: list[tuple[Any, ...]],
) -> None:
    lines = Wanderer(1), Foreseen(2), Foreseen(4)
    agent = agent_on(*lines)
    known = list(agent.initial())
    known.append(agent.ask(Query(known[2], (LEFT,))).final)
    lines[2].done.clear()
    asked = [kind(known[start], *rest) for kind, start, *rest in drawn]
    agent.expect(asked)
    for question in asked:
        if isinstance(question, WalkRequest):
            agent.walk(question.start, question.steps, np.random.default_rng(question.seed))
        elif isinstance(question, Course):
            at = question.start
            for plan in question.plans:
                at = agent.ask(Query(at, plan)).final
        else:
            agent.ask(question)
    assert [line.expected for line in lines[1:]] == [line.done for line in lines[1:]]


@pytest.mark.parametrize("access", [Access.RESET, Access.TRAJECTORY])
def test_a_simulator_that_cannot_be_brought_back_is_told_nothing_in_advance(access: Access) -> None:
    line = Foreseen()
    agent = agent_on(line, access=access)
    (start,) = agent.initial()
    agent.expect([Query(start, (RIGHT,)), WalkRequest(start, 2, 0), Course(start, ((RIGHT,), ()))])
    assert line.expected == []


UP = (GroundAction("up", ()),)


@pytest.mark.parametrize(("kept", "most"), [(True, 40), (False, 400)])
def test_a_way_is_gone_again_passage_by_passage(kept: bool, most: int) -> None:
    """A ladder whose rungs hold half of the time; who falls begins at the last rung that is kept, or on the ground."""
    rng, ways = np.random.default_rng(3), Ways()
    for rung in range(5):
        ways.came(rung + 1, rung, UP)
    here, taken, begun = -1, 0, []

    def begin(at: int) -> None:
        nonlocal here
        here = at
        begun.append(at)

    def take(steps: tuple[GroundAction, ...], to: int) -> bool:
        nonlocal here, taken
        assert steps == UP
        assert to == here + 1
        taken += 1
        here = to if (holds := bool(rng.random() < 0.5)) else -1
        return holds

    passages = ways.passages(5, lambda rung: rung == 0)
    assert [to for _, _, to in passages] == [1, 2, 3, 4, 5]
    assert led_back(passages, begin, take, kept=kept)
    assert here == 5
    assert taken <= most
    assert kept == any(begun)


def test_a_way_that_leads_nowhere_any_more_is_given_up() -> None:
    ways = Ways()
    ways.came(1, 0, UP)
    assert not led_back(ways.passages(1, lambda _: False), lambda _: None, lambda *_: False, kept=True)
