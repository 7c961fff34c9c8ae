"""An agent of which several copies answer, so that it may be asked several things at a time.

Whoever asks says beforehand what will be asked next (``query.expect``); the copies begin with it at once, and the answers
are waiting when they are asked for. The order of questions and answers is that of one agent, and so are the numbers of
its situations.

An agent whose handles are states can be asked anything anywhere. Where handles are numbers, a copy first takes over how a
situation was reached (``image.Returning``): it goes back to where it was itself, or makes the same steps.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from aam_vision.agents.image import Passage, Returning, number_of
from aam_vision.agents.perception import Frame, Scene, Simulator
from aam_vision.agents.workers import Crew, Task
from aam_vision.model.query import (
    Access,
    Agent,
    Course,
    Expected,
    Query,
    Response,
    Situation,
    WalkRequest,
    WalkStep,
)
from aam_vision.model.strips import ActionHeader, GroundAction, State, Vocabulary

FIRST_INSIDE = 1_000_000
"""The first number that a situation has in the copies; what they see before they are asked has smaller ones."""

Key = tuple[Hashable, ...]


class _Part(NamedTuple):
    """The next plan of a course that was begun."""

    task: Task
    plans: tuple[tuple[GroundAction, ...], ...]
    number: int


class StatelessCopies:
    """Copies of an agent whose situations' handles are the states themselves.

    ``agent``: says what the copies are; it is not asked anything itself.
    """

    def __init__(self, agent: Agent, crew: Crew) -> None:
        self.vocabulary: Vocabulary = agent.vocabulary
        self.headers: tuple[ActionHeader, ...] = agent.headers
        self.access: Access = agent.access
        self.refuses_surely = bool(getattr(agent, "refuses_surely", False))
        self._crew = crew
        self._walks: dict[Key, Task] = {}
        self._courses: dict[Key, _Part] = {}
        """What is next of each course that was begun; a query is one of a single plan."""

    @property
    def unused(self) -> int:
        """Questions that were begun and then never asked."""
        return len(self._walks) + sum(len(part.plans) - part.number for part in self._courses.values())

    def expect(self, questions: Sequence[Expected]) -> None:
        """Begin with what will be asked."""
        for question in questions:
            if isinstance(question, WalkRequest):
                rng = np.random.default_rng(question.seed)
                walk = question.start.handle, question.steps, _state(rng)
                if walk not in self._walks:
                    self._walks[walk] = self._begin_walk(question.start, question.steps, rng)
                continue
            course = question if isinstance(question, Course) else _course_of(question)
            key = course.start.handle, course.plans[0]
            if key not in self._courses:
                self._courses[key] = _Part(self._begin(course), course.plans, 0)

    def initial(self) -> Sequence[Situation]:
        return list(self._crew.collect(self._crew.begin(initial)))

    def ask(self, query: Query) -> Response:
        begun = self._courses.pop((query.initial.handle, query.plan), None)
        task, plans, number = begun or _Part(self._begin(_course_of(query)), (query.plan,), 0)
        response = self._taken_in(query, self._crew.collect(task)[number])
        if number + 1 < len(plans):  # the next part of a course begins where this one has ended
            self._courses[response.final.handle, plans[number + 1]] = _Part(task, plans, number + 1)
        return response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        key = (start.handle, steps, _state(rng))
        begun = self._walks.pop(key, None) or self._begin_walk(start, steps, rng)
        walked, rng.bit_generator.state = self._crew.collect(begun)
        return self._walked(start, walked)

    def _begin(self, course: Course) -> Task:
        return self._crew.begin(ask_course, course)

    def _begin_walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Task:
        return self._crew.begin(walk, start, steps, rng)

    def _taken_in(self, query: Query, response: Response) -> Response:
        return response

    def _walked(self, start: Situation, walked: list[WalkStep]) -> list[WalkStep]:
        return walked


@dataclass(frozen=True)
class _Reached:
    """A situation, and how it was reached."""

    situation: Situation
    inside: int
    """Its number in the copies, where that is not its own."""
    before: int | None
    steps: tuple[GroundAction, ...]
    memo: Any


class NumberedCopies(StatelessCopies):
    """Copies of an agent whose situations' handles are numbers (``image.Returning``)."""

    def __init__(self, agent: Agent, crew: Crew) -> None:
        super().__init__(agent, crew)
        self._reached: dict[int, _Reached] = {}
        self._next = 0
        self._next_inside = FIRST_INSIDE

    def initial(self) -> Sequence[Situation]:
        found: list[tuple[State, Any]] = self._crew.collect(self._crew.begin(initial_memos))
        return [self._remember(state, None, None, (), memo) for state, memo in found]

    def memo(self, situation: Situation) -> Any:
        return self._reached[number_of(situation)].memo

    def resume(self, history: Sequence[Passage]) -> None:
        """Take over a history; copies take over what they need of it."""
        for passage in history:
            number = number_of(passage.after)
            if number not in self._reached:
                self._next = number
                before = None if passage.before is None else number_of(passage.before)
                self._remember(passage.after.state, None, before, passage.steps, passage.memo)
        self._next = max(self._reached, default=-1) + 1

    def _begin(self, course: Course) -> Task:
        start, history = self._inside(course.start)
        number = self._numbers(len(course.plans))
        return self._crew.begin(ask_course_there, history, number, Course(start, course.plans))

    def _begin_walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Task:
        there, history = self._inside(start)
        return self._crew.begin(walk_there, history, self._numbers(steps), there, steps, rng)

    def _taken_in(self, query: Query, found: tuple[Response, Any]) -> Response:  # type: ignore[override]
        response, memo = found
        if not response.executed:
            return Response(0, query.initial)
        taken = query.plan[: response.executed]
        return Response(response.executed, self._after(query.initial, taken, response.final, memo))

    def _walked(self, start: Situation, walked: list[tuple[WalkStep, Any]]) -> list[WalkStep]:  # type: ignore[override]
        steps = []
        for step, memo in walked:
            after = self._after(start, (step.action,), step.after, memo)
            steps.append(WalkStep(start, step.action, after))
            start = after
        return steps

    def _after(
        self, before: Situation, steps: tuple[GroundAction, ...], inside: Situation, memo: Any
    ) -> Situation:
        return self._remember(inside.state, number_of(inside), number_of(before), steps, memo)

    def _remember(
        self,
        state: State,
        inside: int | None,
        before: int | None,
        steps: tuple[GroundAction, ...],
        memo: Any,
    ) -> Situation:
        number = self._next
        self._next += 1
        situation = Situation(number, state)
        inside = self._numbers(1) if inside is None else inside
        self._reached[number] = _Reached(situation, inside, before, steps, memo)
        return situation

    def _numbers(self, count: int) -> int:
        """The first of so many numbers that the copies have not used yet."""
        first = self._next_inside
        self._next_inside += count
        return first

    def _inside(self, situation: Situation) -> tuple[Situation, list[Passage]]:
        """A situation as the copies know it, and how it was reached."""
        history: list[Passage] = []
        number: int | None = number_of(situation)
        while number is not None:
            reached = self._reached[number]
            number = reached.before
            before = None if number is None else _as_inside(self._reached[number])
            history.append(Passage(before, reached.steps, _as_inside(reached), reached.memo))
        return history[0].after, history[::-1]


def _as_inside(reached: _Reached) -> Situation:
    return Situation(reached.inside, reached.situation.state)


def _course_of(query: Query) -> Course:
    return Course(query.initial, (query.plan,))


def _state(rng: np.random.Generator) -> str:
    """What tells a generator from others."""
    return str(rng.bit_generator.state)


# The jobs of an agent's copies, each a function of a module, so that it can be sent to another process.


PROVED_STEPS = 2
"""Steps that every copy makes before it is asked anything, to see that all are the same."""


class NumberingAgent(Agent, Returning, Protocol):
    """An agent that can be told which numbers its next situations have."""

    def number_from(self, number: int) -> None:
        """Number the next situations from this number on."""


def initial(agent: Agent) -> list[Situation]:
    """The initial situations."""
    return list(agent.initial())


def ask_course(agent: Agent, course: Course) -> list[Response]:
    """The answers to the plans of a course."""
    found: list[Response] = []
    at = course.start
    for plan in course.plans:
        found.append(agent.ask(Query(at, plan)))
        at = found[-1].final
    return found


def walk(
    agent: Agent, start: Situation, steps: int, rng: np.random.Generator
) -> tuple[list[WalkStep], Mapping[str, Any]]:
    """A walk, and the state of the generator after it."""
    return list(agent.walk(start, steps, rng)), rng.bit_generator.state


def initial_memos(agent: NumberingAgent) -> list[tuple[State, Any]]:
    """The initial states, with the agent's notes on them."""
    return [(one.state, agent.memo(one)) for one in agent.initial()]


def ask_course_there(agent: NumberingAgent, history: Sequence[Passage], number: int, course: Course) -> Any:
    """The same in a situation that is reached anew if need be."""
    agent.resume(history)
    agent.number_from(number)
    return [(response, agent.memo(response.final)) for response in ask_course(agent, course)]


def walk_there(
    agent: NumberingAgent,
    history: Sequence[Passage],
    number: int,
    start: Situation,
    steps: int,
    rng: np.random.Generator,
) -> Any:
    """The same of a walk."""
    agent.resume(history)
    agent.number_from(number)
    walked = [(step, agent.memo(step.after)) for step in agent.walk(start, steps, rng)]
    return walked, rng.bit_generator.state


def prove(agent: Agent, told: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """The initial states, and where a few steps lead: those that the agent takes itself, or that another one took."""
    initial = agent.initial()
    states = [one.state for one in initial]
    if told is None:
        walked = agent.walk(initial[0], PROVED_STEPS, np.random.default_rng(0))
        plan: tuple[GroundAction, ...] = tuple(step.action for step in walked)
        return states, plan, len(plan), walked[-1].after.state if walked else states[0]
    response = agent.ask(Query(initial[0], told[1]))
    return states, told[1], response.executed, response.final.state


# A simulator of which several copies work, so that plans and walks are carried out ahead of their being asked for.
#
# What a copy did is kept until it is asked for, step by step, as ``ImageAgent`` does. Snapshots go from copy to copy, so any
# of them can go on where another one has been.


Plans = tuple[tuple[GroundAction, ...], ...]
"""Plans that are carried out one after the other; none is empty."""
Choice = tuple[str, tuple[str, ...]] | None


@dataclass(frozen=True)
class Sight:
    """A situation as a copy has seen it: a snapshot, and the image, compressed."""

    snapshot: object
    image: bytes
    shape: tuple[int, ...]

    def frame(self) -> Frame:
        return np.frombuffer(zlib.decompress(self.image), np.uint8).reshape(self.shape)


@dataclass(frozen=True)
class Step:
    """One step that a copy has attempted."""

    action: GroundAction
    after: Sight | None
    """None if it was refused."""


@dataclass(frozen=True)
class OwnStep:
    """One step that a copy has chosen itself."""

    chosen: Choice
    generator: Mapping[str, Any]
    """The state of the random generator after the choice."""
    step: Step | None


class CopiedSimulator:
    """One problem of simulators that have copies; see ``perception.Simulator``. Its snapshots are numbers.

    ``problem``: its number in the copies, each of which is a list of simulators.
    """

    def __init__(self, scene: Scene, problem: int, crew: Crew) -> None:
        self._scene = scene
        self._crew = crew
        self._problem = problem
        self._at = 0
        self._snapshots: list[object] = [None]
        """By number; None stands for the beginning."""
        self._frames: dict[int, Sight] = {}
        self._steps: dict[tuple[int, GroundAction], int | None] = {}
        """Steps that a copy has made and that have not been asked for yet: where they lead, None if refused."""
        self._choices: dict[tuple[int, str], tuple[Choice, Mapping[str, Any]]] = {}
        self._plans: dict[tuple[int, Plans], Task] = {}
        self._walks: dict[tuple[int, str], Task] = {}
        self._latest: tuple[int, Frame] | None = None

    @property
    def scene(self) -> Scene:
        return self._scene

    def expect(self, snapshot: object, *plans: Sequence[GroundAction]) -> None:
        """Begin with plans that will be asked for one after the other, from a snapshot."""
        assert isinstance(snapshot, int), "a snapshot of this simulator"
        key = snapshot, tuple(tuple(plan) for plan in plans if plan)
        if key[1] and key not in self._plans:
            self._plans[key] = self._crew.begin(_carry_out, self._problem, self._snapshots[snapshot], key[1])

    def expect_walk(self, snapshot: object, steps: int, rng: np.random.Generator) -> None:
        """Begin with a walk that will be asked for, with a generator in the same state."""
        assert isinstance(snapshot, int), "a snapshot of this simulator"
        key = snapshot, _state(rng)
        if key not in self._walks:
            self._walks[key] = self._crew.begin(_walk, self._problem, self._snapshots[snapshot], steps, rng)

    def start(self) -> None:
        self._at = 0

    def snapshot(self) -> object:
        return self._at

    def restore(self, snapshot: object) -> None:
        assert isinstance(snapshot, int), "a snapshot of this simulator"
        self._at = snapshot

    def frame(self) -> Frame:
        if self._latest is None or self._latest[0] != self._at:
            sight = self._frames.pop(self._at, None)
            if sight is None:
                sight = self._crew.collect(self._crew.begin(_look, self._problem, self._snapshots[self._at]))
            self._latest = self._at, sight.frame()
        return self._latest[1]

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        action = GroundAction(name, objects)
        key = self._at, action
        if key not in self._steps:
            self._take_in(self._at, self._crew.collect(self._plan_with(action)))
        after = self._steps.pop(key)
        if after is not None:
            self._at = after
        return after is not None

    def choose(self, rng: np.random.Generator) -> Choice:
        key = self._at, _state(rng)
        if key not in self._choices:
            begun = self._walks.pop(key, None)
            if begun is None:
                begun = self._crew.begin(_walk, self._problem, self._snapshots[self._at], 1, rng)
            self._take_in_walk(self._at, rng, self._crew.collect(begun))
        chosen, rng.bit_generator.state = self._choices.pop(key)
        return chosen

    def _plan_with(self, action: GroundAction) -> Task:
        """What was begun from here with this step, or is begun now."""
        for snapshot, plans in self._plans:
            if snapshot == self._at and plans[0][0] == action:
                return self._plans.pop((snapshot, plans))
        return self._crew.begin(_carry_out, self._problem, self._snapshots[self._at], ((action,),))

    def _take_in(self, at: int, steps: Sequence[Step]) -> None:
        for step in steps:
            after = None if step.after is None else self._seen(step.after)
            self._steps[at, step.action] = after
            if after is not None:
                at = after

    def _take_in_walk(self, at: int, rng: np.random.Generator, steps: Sequence[OwnStep]) -> None:
        state = _state(rng)
        for one in steps:
            self._choices[at, state] = one.chosen, one.generator
            state = str(one.generator)
            if one.step is not None:
                self._take_in(at, [one.step])
                at = self._steps[at, one.step.action] or at

    def _seen(self, sight: Sight) -> int:
        self._snapshots.append(sight.snapshot)
        number = len(self._snapshots) - 1
        self._frames[number] = sight
        return number


# --- jobs of the copies --------------------------------------------------------------------------------------


def _go(simulators: Sequence[Simulator], problem: int, snapshot: object) -> Simulator:
    simulator = simulators[problem]
    if snapshot is None:
        simulator.start()
    else:
        simulator.restore(snapshot)
    return simulator


def _sight(simulator: Simulator) -> Sight:
    frame = np.ascontiguousarray(simulator.frame())
    return Sight(simulator.snapshot(), zlib.compress(frame.tobytes(), 1), frame.shape)


def _look(simulators: Sequence[Simulator], problem: int, snapshot: object) -> Sight:
    return _sight(_go(simulators, problem, snapshot))


def _carry_out(simulators: Sequence[Simulator], problem: int, snapshot: object, plans: Plans) -> list[Step]:
    """The steps of plans, up to the first that is refused before the end of its plan."""
    simulator = _go(simulators, problem, snapshot)
    steps: list[Step] = []
    for plan in plans:
        for number, action in enumerate(plan, 1):
            if simulator.instruct(action.name, action.objects):
                steps.append(Step(action, _sight(simulator)))
                continue
            steps.append(Step(action, None))
            if number < len(plan):
                return steps
    return steps


def _walk(
    simulators: Sequence[Simulator], problem: int, snapshot: object, steps: int, rng: np.random.Generator
) -> list[OwnStep]:
    """Steps that the agent chooses, up to the first that it cannot do."""
    simulator = _go(simulators, problem, snapshot)
    walked: list[OwnStep] = []
    for _ in range(steps):
        chosen = simulator.choose(rng)
        generator = rng.bit_generator.state
        if chosen is None:
            return [*walked, OwnStep(None, generator, None)]
        done = simulator.instruct(*chosen)
        step = Step(GroundAction(*chosen), _sight(simulator) if done else None)
        walked.append(OwnStep(chosen, generator, step))
        if not done:
            break
    return walked


def prove_simulators(simulators: Sequence[Simulator], told: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """The first images, and those of a few steps: those that the agent takes itself, or that another one took."""
    first = [_look(simulators, problem, None).image for problem in range(len(simulators))]
    if told is None:
        walked = _walk(simulators, 0, None, PROVED_STEPS, np.random.default_rng(0))
        steps = [one.step for one in walked if one.step is not None]
    else:
        steps = _carry_out(simulators, 0, None, (told[1],))
    return first, [step.action for step in steps], [step.after and step.after.image for step in steps]
