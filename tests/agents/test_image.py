"""An image agent: situations are snapshots, what they show is perceived, the truth stays behind, and it goes on where another process has ended."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from time import process_time
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision import agent_for
from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import dumps, loads
from aam_vision.agents.image import (
    LOOKS,
    ImageAgent,
    Passage,
    Seen,
    Unlike,
    Ways,
    digests,
    image_test,
    known_of,
    led_back,
    memo_of,
    remembered,
    unlike,
)
from aam_vision.agents.perception import Percept
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.registry import board_domain
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Move
from aam_vision.interrogation.policies.economical import EconomicalPolicy, Walker
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.model.query import Access, Course, Query, Response, Situation, WalkRequest
from aam_vision.model.strips import GroundAction, Model, Objects, State
from aam_vision.support.errors import AgentFailed, UnusableInput
from tests.envs.ground_truth import ground_truth_model
from tests.profiles import thorough

from .image_agents import agent_on, assert_true
from .line import LEFT, LENGTH, RIGHT, TYPES, Line, Reader, cell_of, seen


@pytest.fixture(scope="module")
def simulators() -> list[Any]:
    return [board_domain("doors").simulator(problem) for problem in board_domain("doors").interrogated[:2]]


@pytest.fixture(scope="module")
def doors(simulators: list[Any]) -> ImageAgent:
    domain = board_domain("doors")
    perception = BoardPerception.load(domain.visual, domain.name)
    return ImageAgent(simulators, perception, domain.visual.vocabulary(), domain.headers)


def _assert_perceived_right(perceived: State, truth: State) -> None:
    assert perceived.objects == truth.objects
    assert perceived.true <= truth.true <= perceived.true | perceived.unknown


def test_walks_and_answers_are_what_happens_in_the_simulator(doors: ImageAgent, simulators: Any) -> None:
    truth = ground_truth_model("doors")
    one, start = doors.initial()
    for simulator, situation in zip(simulators, (one, start), strict=True):
        layout = simulator.layout
        state = State(layout.initial, layout.objects)
        _assert_perceived_right(situation.state, state)
    assert doors.perception_s > 0
    walked = doors.walk(start, 12, np.random.default_rng(3))
    assert len(walked) == 12
    for step in walked:
        assert truth.schema(step.action.name).applicable(state, step.action.objects)
        state = truth.schema(step.action.name).successor(state, step.action.objects)
        _assert_perceived_right(step.after.state, state)
    plan = tuple(step.action for step in walked)
    response = doors.ask(Query(start, plan))
    assert response.executed == 12
    assert response.final.state == walked[-1].after.state
    nonsense = GroundAction(plan[0].name, plan[0].objects[::-1])
    refused = doors.ask(Query(start, (*plan[:3], nonsense, *plan[3:])))
    assert refused.executed == 3
    assert refused.final.state == walked[2].after.state
    for step in reversed(walked):
        assert doors.ask(Query(step.before, (step.action,))).final.state == step.after.state


# --- the truth stays behind -----------------------------------------------------------------------

_LEFT_ALONE = (type, ModuleType, BuiltinFunctionType, str, bytes, int, float, np.ndarray)


def _reachable(*roots: object, limit: int = 2_000_000) -> Iterator[object]:
    """All objects that can be reached from these: attributes, items, closures; not through modules."""
    seen: set[int] = set()
    stack: list[Any] = list(roots)
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, _LEFT_ALONE):
            continue
        seen.add(id(value))
        assert len(seen) < limit, "too much to look through"
        yield value
        if isinstance(value, FunctionType):  # its globals are its module
            stack += [value.__closure__, value.__defaults__, value.__kwdefaults__]
        elif isinstance(value, MethodType):
            stack += [value.__self__, value.__func__]
        else:
            stack += gc.get_referents(value)


def _tells_the_truth(value: object) -> bool:
    """A model, or anything of the simulator's or PDDLGym's."""
    module = type(value).__module__
    forbidden = ("pddlgym", "gymnasium", "aam_vision.envs", "aam_vision.classifiers", "torch")
    return (
        isinstance(value, Model | ImageAgent)
        or module.split(".")[0] in forbidden
        or module.startswith(forbidden)
    )


def test_neither_evidence_nor_policy_nor_anybody_else_can_reach_the_true_model(doors: ImageAgent) -> None:
    assert any(map(_tells_the_truth, _reachable({"deep": [lambda: doors]}))), "it is found where it is"
    assert any(type(value).__module__.startswith("pddlgym") for value in _reachable(doors))
    known: list[Evidence] = []

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        known[:] = [evidence]

    policy = EconomicalPolicy(walker=Walker(limit=80))
    interrogate(doors, policy, np.random.default_rng(0), budget=Budget(queries=8), watch=watch)
    assert known[0].edges
    within = list(_reachable(known, policy))
    assert any(value is known[0].nodes[0] for value in within), "the walk sees into the evidence"
    public = [getattr(doors, name) for name in dir(doors) if not name.startswith("_")]
    public = [value for value in public if not isinstance(value, MethodType)]
    within += [*public, *_reachable(doors.vocabulary, doors.headers, doors.initial())]
    assert [type(value) for value in within if _tells_the_truth(value)] == []


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
    for plan in ((RIGHT, LEFT), (RIGHT, RIGHT, RIGHT), (RIGHT,), (LEFT,)):
        response = agent.ask(Query(situation, plan))
        assert_true(response, situation, plan)
        situation = response.final
    assert line.told == ["start"]


def test_a_walk_is_as_long_as_was_asked_for_and_ends_where_the_agent_can_do_nothing() -> None:
    line = Line(1)
    agent = agent_on(line)
    (start,) = agent.initial()
    walked = agent.walk(start, 2, RNG)
    steps = [(cell_of(step.before), step.action, cell_of(step.after)) for step in walked]
    assert steps == [(1, RIGHT, 2), (2, RIGHT, 3)]
    assert walked[-1].after.state == seen(3, 2)
    assert len(agent.walk(start, 50, RNG)) == LENGTH - 2
    line.broken = True
    assert agent.walk(start, 50, RNG) == []


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
    agent: Any = agent_on(Line())  # no two of its images are equal
    (start,) = agent.initial()
    there = agent.ask(Query(start, (RIGHT,))).final
    assert not agent.pixels(start) & agent.pixels(there)
    for looks in range(1, 4):
        before = agent.pixels(start)
        assert len(before) == looks
        agent.ask(Query(start, ()))
        assert before < agent.pixels(start)
    assert len(agent.pixels(there)) == 1


def test_digests_are_read_from_whatever_a_transcript_holds() -> None:
    assert digests({"pixels": ["0a", 1, None, ["0b"]]}) == {"0a"}
    for memo in (None, 3, ["pixels"], {}, {"pixels": "0a"}):
        assert digests(memo) == frozenset()


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


def test_of_an_agent_that_shows_no_images_nothing_is_said_of_them() -> None:
    for agent in (agent_for("gripper"), CountingAgent(agent_for("gripper"))):
        assert unlike(agent) == []
        assert image_test(agent) is None


def test_what_a_result_says_of_its_agent_is_found_behind_decorators() -> None:
    class Watched(AgentDecorator):
        checkpoint: ClassVar = {"policy.zip": "1a"}
        untested = "nobody tested them"
        unlike: ClassVar = [Unlike(0, None, ("c", "d", "e"))]

    agent = CountingAgent(Watched(agent_for("gripper")))
    assert unlike(agent) == Watched.unlike
    assert known_of(agent) == {
        "untested": Watched.untested,
        "strange": "1 image looks unlike everything learned from (c, d and 1 more)",
        "checkpoint": Watched.checkpoint,
    }
    assert known_of(agent_for("gripper")) == {"untested": "", "strange": "", "checkpoint": {}}


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
