"""Environments with chance, and policies as instructions: every trial is a new draw, and what cannot be used is said."""

from __future__ import annotations

import gc
import threading
from collections import Counter
from collections.abc import Callable
from itertools import count
from time import sleep
from typing import Any

import gymnasium
import numpy as np
import pytest

from aam_vision.agents.image import ChanceImageAgent, Passage
from aam_vision.agents.perception import Scene
from aam_vision.envs.controlled import ControlledEnvironment
from aam_vision.envs.gymnasium_simulator import ChanceSimulator, check_chance
from aam_vision.envs.meaning import BoundedCalls, TookTooLong
from aam_vision.envs.own import Instruction, OwnEnvironment, instruction
from aam_vision.envs.restoring import in_order
from aam_vision.envs.sources import found, shown, vocabulary
from aam_vision.interrogation.chance.interrogating import interrogate
from aam_vision.interrogation.chance.result import Options
from aam_vision.interrogation.task.verdict import COMPLETE
from aam_vision.model.query import Access, Query
from aam_vision.model.strips import GroundAction, Objects
from aam_vision.support.errors import UnusableInput
from tests.profiles import first
from tests.refusals import told_by

GOAL = 3
WORDS = vocabulary(
    "lane",
    {"cart": "object"},
    {
        "seen ?c - cart": found(("cart",), "it shows"),
        "arrived ?c - cart": shown("arrived", "it is at the end"),
        "fell ?c - cart": shown("fell", "it is in the ditch"),
    },
)


class Lane(gymnasium.Env[Any, Any]):
    """A cart on a lane of four places: each step forward falls into a ditch with .1, or slips with .2."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Discrete(5)
    render_mode = "rgb_array"

    def __init__(self, *, frozen: bool = False) -> None:
        self._frozen = frozen

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.at, self.fell = 0, False
        self.hidden = [np.random.default_rng(seed)]  # in a list, it is not found
        return self.at, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if action == 1:
            self.at = 0
        elif not self.fell:
            drawn = (self.hidden[0] if self._frozen else self.np_random).random()
            self.fell = drawn < 0.1
            self.at = min(GOAL, self.at + (drawn >= 0.3))
        return self.at, 0.0, self.fell, False, {}

    def render(self) -> Any:
        frame = np.zeros((8, 32, 3), np.uint8)
        frame[:, 8 * self.at : 8 * self.at + 8] = (255, 0, 0) if self.fell else (0, 255, 0)
        return frame


def forward(observation: int, *things: str) -> int:
    assert 0 <= observation <= GOAL
    return 0


def drive(policy: Callable[..., Any] = forward, limit: int = 4, **more: Any) -> Instruction:
    given = {
        "until": lambda env, cart: env.at == GOAL,
        "ready": lambda env, cart: env.at == 0,
        "free": 1,
        "policy": policy,
        "limit": limit,
        **more,
    }
    return instruction("drive ?c - cart", **given)


def back() -> Instruction:
    seen = {"watch": lambda env: env.at, "executed": lambda before, after: before != after}
    return instruction("back ?c - cart", 1, **seen, free=1)


def scene(env: Any) -> Scene:
    return Scene.of_things(Objects({"cart": "cart"}, WORDS.types), {"cart": "cart"})


def true(env: Any) -> Any:
    if env.at == GOAL:
        yield "arrived", ("cart",)
    if env.fell:
        yield "fell", ("cart",)


def lane(*instructions: Instruction, **more: Any) -> ControlledEnvironment:
    given = {"stops": False, **more}
    return ControlledEnvironment("lane", WORDS, instructions, Lane, scene, shown=true, **given)


ENVIRONMENT = OwnEnvironment("lane", WORDS, (drive(), back()), Lane, scene, shown=true, stops=False)
"""For runs."""


def simulator(environment: ControlledEnvironment, seed: int = 0) -> ChanceSimulator:
    made = environment.simulator(("seed", 0), chance=np.random.default_rng(seed))
    assert isinstance(made, ChanceSimulator)
    return made


def outcomes(one: ChanceSimulator, trials: int) -> Counter[tuple[int, bool]]:
    """How often a drive from the start ended where."""
    found: Counter[tuple[int, bool]] = Counter()
    one.start()
    here = one.snapshot()
    for _ in range(trials):
        one.restore(here)
        assert one.instruct("drive", ("cart",))
        found[one.present.at, one.present.fell] += 1
    return found


def test_a_policy_is_carried_out_to_its_end_each_time_anew() -> None:
    found = outcomes(simulator(lane(drive())), 400)
    arrived = sum(often for (at, fell), often in found.items() if at == GOAL and not fell)
    # three of four steps at .7 each, or all of the first three, before the first fall
    assert 0.35 < arrived / 400 < 0.65
    assert any(fell for _, fell in found)
    assert any(not fell and at < GOAL for at, fell in found), "the limit was reached"
    assert outcomes(simulator(lane(drive())), 50) == outcomes(simulator(lane(drive())), 50)
    assert outcomes(simulator(lane(drive())), 50) != outcomes(simulator(lane(drive()), seed=1), 50)


def test_snapshots_share_the_actions_that_led_there_and_equal_images() -> None:
    """Else each takes a whole image, and more memory the more actions came before."""
    one = simulator(lane(drive(), back()))
    one.start()
    first: Any = one.snapshot()
    one.instruct("drive", ("cart",))
    second: Any = one.snapshot()
    one.instruct("back", ("cart",))
    third: Any = one.snapshot()
    assert third.done.before is second.done
    assert len(in_order(third.done)) == len(in_order(second.done)) + 1
    one.restore(first)
    again: Any = one.snapshot()
    assert again.frame is first.frame
    assert in_order(again.done) == []


def test_it_is_refused_where_it_does_not_begin() -> None:
    one = simulator(lane(drive(limit=1)))
    while one.present.at == 0 and not one.present.fell:
        assert one.instruct("drive", ("cart",))
    assert not one.instruct("drive", ("cart",))


def test_the_observation_comes_back_with_the_state() -> None:
    told: list[int] = []
    one = simulator(lane(drive(lambda seen, *_: told.append(seen) or 0, limit=1, ready=None)))
    one.start()
    here = one.snapshot()
    for _ in range(8):
        one.instruct("drive", ("cart",))
    one.restore(here)
    told.clear()
    one.instruct("drive", ("cart",))
    assert told == [0]


def test_a_policy_with_memory_forgets_before_each_execution() -> None:
    class Counting:
        def reset(self) -> None:
            self.steps = 0

        def __call__(self, observation: int, *things: str) -> int:
            self.steps += 1
            assert self.steps <= 4
            return 0

    assert sum(outcomes(simulator(lane(drive(Counting()))), 20).values()) == 20


def never(*given: object) -> int:
    threading.Event().wait()
    return 0


class Sulking:
    """A policy that can never be begun anew."""

    reset = never
    __call__ = forward


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"policy": never}, "policy"),
        ({"until": never}, "until"),
        ({"ready": never}, "ready"),
        ({"policy": Sulking()}, "reset of the policy"),
    ],
)
def test_a_policy_that_never_returns_is_named(more: dict[str, Any], what: str) -> None:
    one = simulator(lane(drive(**{"seconds": 0.05, **more})))
    with pytest.raises(UnusableInput, match=rf"{what} of drive\(cart\) did not return within 0\.05 s"):
        one.instruct("drive", ("cart",))


@pytest.mark.parametrize("seconds", [None, 60])
def test_a_policy_is_called_in_the_thread_of_the_run_where_nothing_bounds_it(seconds: float | None) -> None:
    seen: list[object] = []
    noting = drive(lambda *_: seen.append(threading.current_thread()) or 0, seconds=seconds)
    assert simulator(lane(noting)).instruct("drive", ("cart",))
    assert len(set(seen)) == 1
    assert (seen[0] is threading.current_thread()) is (seconds is None)


@pytest.mark.parametrize("seconds", [None, 60])
@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (KeyError("wheel"), "KeyError: 'wheel'"),
        (SystemExit(0), "SystemExit: 0; correct it"),
        (GeneratorExit(), "GeneratorExit; correct it"),
    ],
)
def test_a_policy_that_raises_or_ends_the_program_is_named(seconds: Any, raised: Any, told: str) -> None:
    """Else a run with a policy that calls ``exit()`` would end as if all were well, with nothing learned."""

    def leaving(observation: int, *things: str) -> int:
        raise raised

    one = simulator(lane(drive(leaving, seconds=seconds)))
    with pytest.raises(UnusableInput, match=rf"policy of drive\(cart\) raised {told}"):
        one.instruct("drive", ("cart",))


UNTIL = {"policy": forward, "until": lambda env: True}
ENDING = {**UNTIL, "limit": 5}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"policy": forward}, "may never end"),
        (UNTIL, "may never end"),
        ({**UNTIL, "limit": 0}, "may never end"),
        ({**ENDING, "policy": 3}, "no function"),
        ({**ENDING, "actions": 0}, "either actions or a policy"),
        ({}, "either actions or a policy"),
        ({"actions": 0, "limit": 5}, "those of a policy"),
        ({"actions": 0, "seconds": 5}, "those of a policy"),
        ({**ENDING, "seconds": 0}, "seconds is 0"),
        ({**ENDING, "seconds": "9"}, "seconds is '9'"),
        ({**ENDING, "seconds": float("nan")}, "seconds is nan"),
        ({**ENDING, "watch": lambda env: 0}, "leave out watch"),
    ],
)
def test_what_makes_no_instruction_is_said_at_once(given: dict[str, Any], told: str) -> None:
    told_by(lambda: instruction("drive", **given), told)


def test_chance_that_comes_back_with_a_copy_or_may_feign_a_refusal_is_refused() -> None:
    given = (np.random.default_rng(0), Lane(frozen=True), (drive(),), scene, "copy", 0)
    told_by(lambda: ChanceSimulator(*given, stops=False), "draw chance from np_random")
    pushes = (instruction("push", 0),)
    told_by(
        lambda: check_chance("lane", pushes, "copy"), "push counts as refused where the image stays the same"
    )
    told_by(lambda: check_chance("lane", (), "replay"), "restore='replay'")


def subject(environment: ControlledEnvironment, access: Access) -> ChanceImageAgent:
    told, words = environment.told(), environment.visual.vocabulary()
    seen = [told.of(simulator(environment))]
    return ChanceImageAgent(seen, told, words, environment.headers, access, refuses_surely=True)


@pytest.mark.parametrize("access", first(1, [Access.RESET, Access.SNAPSHOT]))
def test_how_often_a_policy_works_is_as_often_as_it_does(access: Access) -> None:
    class Home:
        """Three steps forward, and back to the start if that was not enough."""

        def reset(self) -> None:
            self.left = 4

        def __call__(self, observation: int, *things: str) -> int:
            self.left -= 1
            return 0 if self.left else 1

    home = drive(Home(), ready=lambda env, cart: env.at == 0 and not env.fell)
    asked, limits = subject(lane(home, back()), access), Options(0.08, max_steps=600)
    result = interrogate(asked, np.random.default_rng(0), limits)
    assert result.status == COMPLETE
    action = result.actions[0]
    assert [sorted(map(str, action.index.select(one.adds))) for one in action.outcomes].count([]) == 1
    rolled = outcomes(simulator(lane(home), seed=9), 1000)
    fallen = sum(often for (_, fell), often in rolled.items() if fell)
    often = {"arrived": rolled[GOAL, False] / 1000, "fell": fallen / 1000}
    often["nothing"] = 1 - sum(often.values())
    for one, told in zip(action.outcomes, action.frequencies, strict=True):
        (name,) = {atom.predicate for atom in action.index.select(one.adds)} or {"nothing"}
        assert told.low < often[name] < told.high


@pytest.mark.parametrize("access", [Access.RESET, Access.SNAPSHOT])
def test_a_later_process_goes_where_chance_led_by_trying_again(access: Access) -> None:
    environment, told = lane(drive(ready=None)), GroundAction("drive", ("cart",))
    earlier = subject(environment, access)
    (first,) = earlier.initial()
    after = earlier.ask(Query(first, (told,))).final
    later = subject(environment, access)
    begun = Passage(None, (), first, earlier.memo(first))
    later.resume([begun, Passage(first, (told,), after, earlier.memo(after))])
    later.ask(Query(after, (told,)))
    assert later.ask(Query(first, (told,))).executed == 1


def test_results_and_exceptions_come_through_from_one_other_thread() -> None:
    calls = BoundedCalls()
    assert calls(60, divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        calls(60, divmod, 7, 0)
    with pytest.raises(SystemExit):
        calls(60, exit, 3)
    first, second = (calls(60, threading.current_thread) for _ in range(2))
    assert first is second is not threading.current_thread()


def test_a_call_has_the_context_of_the_caller() -> None:
    calls = BoundedCalls()
    calls(60, int)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        calls(60, np.divide, 1.0, np.float64(0))
    with np.errstate(divide="ignore"):
        assert calls(60, np.divide, 1.0, np.float64(0)) == np.inf


def test_a_call_that_never_returns_is_given_up_and_so_are_all_after_it() -> None:
    calls, never = BoundedCalls(), threading.Event()
    assert calls(60, int) == 0
    with pytest.raises(TookTooLong, match=r"did not return within 0\.05 s"):
        calls(0.05, never.wait)
    with pytest.raises(TookTooLong, match="earlier call"):
        calls(60, int)
    never.set()
    with pytest.raises(TookTooLong, match="earlier call"):  # what it returned late is nobody's result
        calls(60, int)


def test_a_call_that_is_stuck_in_python_takes_no_more_time() -> None:
    calls, asked = BoundedCalls(), count()

    def forever() -> None:
        for _ in asked:
            pass

    with pytest.raises(TookTooLong):
        calls(0.05, forever)
    for _ in range(50):
        before = next(asked)
        sleep(0.05)
        if next(asked) == before + 1:  # nobody else has counted for a while
            return
    pytest.fail("it goes on")


def test_the_thread_ends_with_its_owner() -> None:
    calls = BoundedCalls()
    thread = calls(60, threading.current_thread)
    del calls
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()
