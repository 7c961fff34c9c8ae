"""A simulator of which several copies work, so that plans and walks are carried out ahead of their being asked for.

What a copy did is kept until it is asked for, step by step, as ``ImageAgent`` does. Snapshots go from copy to copy, so any
of them can go on where another one has been.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aam_vision.agents.copies import PROVED_STEPS
from aam_vision.perception import Frame, Scene
from aam_vision.simulator import Simulator
from aam_vision.strips import GroundAction
from aam_vision.workers.crew import Crew, Task

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
        """The image."""
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
    """One problem of simulators that have copies; see ``simulator.Simulator``. Its snapshots are numbers.

    Args:
        scene: of the problem.
        problem: its number in the copies, each of which is a list of simulators.
        crew: the copies.
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

    @property
    def unused(self) -> int:
        """Plans and walks that were begun and then never asked for."""
        return len(self._plans) + len(self._walks)

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
        """Go to the initial state of the problem."""
        self._at = 0

    def snapshot(self) -> object:
        """A number for the present situation."""
        return self._at

    def restore(self, snapshot: object) -> None:
        """Go back to the snapshot."""
        assert isinstance(snapshot, int), "a snapshot of this simulator"
        self._at = snapshot

    def frame(self) -> Frame:
        """The present image."""
        if self._latest is None or self._latest[0] != self._at:
            sight = self._frames.pop(self._at, None)
            if sight is None:
                sight = self._crew.collect(self._crew.begin(_look, self._problem, self._snapshots[self._at]))
            self._latest = self._at, sight.frame()
        return self._latest[1]

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        """Execute one instruction; False, and no change, when the agent cannot."""
        action = GroundAction(name, objects)
        key = self._at, action
        if key not in self._steps:
            self._take_in(self._at, self._crew.collect(self._plan_with(action)))
        after = self._steps.pop(key)
        if after is not None:
            self._at = after
        return after is not None

    def choose(self, rng: np.random.Generator) -> Choice:
        """The agent's own next choice."""
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


def _state(rng: np.random.Generator) -> str:
    """What tells a generator from others."""
    return str(rng.bit_generator.state)


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


def prove(simulators: Sequence[Simulator], told: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """The first images, and those of a few steps: those that the agent takes itself, or that another one took."""
    first = [_look(simulators, problem, None).image for problem in range(len(simulators))]
    if told is None:
        walked = _walk(simulators, 0, None, PROVED_STEPS, np.random.default_rng(0))
        steps = [one.step for one in walked if one.step is not None]
    else:
        steps = _carry_out(simulators, 0, None, (told[1],))
    return first, [step.action for step in steps], [step.after and step.after.image for step in steps]
