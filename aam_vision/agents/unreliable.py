"""Faults put on purpose between agent and engine, for testing: misread atoms, refused steps, a noisy camera.

Every atom of every observed state is flipped with some probability, and a step that could be executed is
refused with another one. The engine is told neither.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.perception import Foreseeing, Frame, Scene, Simulator
from aam_vision.model.query import Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import Atom, GroundAction, Objects, State, Vocabulary
from aam_vision.support.errors import UnusableInput


class UnreliableAgent(AgentDecorator):
    """An agent that is seen through noise, and refuses some steps that it could execute.

    Under ``settable`` access a situation is the state that is asked for, so what was seen can be asked about as
    if it were true; under the others handles must not be states (``NumberedAgent``), for they would tell the truth.

    Args:
        agent: the one that is asked.
        flip_rate: the probability with which each atom that names no object twice is seen wrongly, each time anew.
        refusal_rate: the probability with which a step of a query that could be executed is not.
        rng: the source of the faults, and used for nothing else.

    Raises:
        UnusableInput: a rate is not between 0 and 1.
    """

    def __init__(self, agent: Agent, flip_rate: float, refusal_rate: float, rng: np.random.Generator) -> None:
        super().__init__(agent)
        for name, rate in (("flip", flip_rate), ("refusal", refusal_rate)):
            if not 0 <= rate <= 1:
                raise UnusableInput(f"a {name} rate of {rate}: use a number from 0 to 1")
        self._flip_rate = flip_rate
        self._refusal_rate = refusal_rate
        self._rng = rng
        self._atoms: dict[Objects, list[Atom]] = {}
        self._behind: dict[Hashable, Situation] = {}
        """Translate situations back to the agent's own: it must not be told what was seen."""

    @property
    def refuses_surely(self) -> bool:
        return False

    def initial(self) -> Sequence[Situation]:
        return [self._seen(situation) for situation in self.agent.initial()]

    def ask(self, query: Query) -> Response:
        """The answer as it is seen; the plan ends at the first step that is refused."""
        balks = np.flatnonzero(self._rng.random(len(query.plan)) < self._refusal_rate)
        plan = query.plan[: int(balks[0])] if balks.size else query.plan
        response = self.agent.ask(replace(query, initial=self._own(query.initial), plan=plan))
        return Response(response.executed, self._seen(response.final))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The agent's walk; every situation after the start is looked at once."""
        before, walked = start, []
        for step in self.agent.walk(self._own(start), steps, rng):
            after = self._seen(step.after)
            walked.append(WalkStep(before, step.action, after))
            before = after
        return walked

    def _own(self, situation: Situation) -> Situation:
        return self._behind.get(situation.handle, situation)

    def _seen(self, situation: Situation) -> Situation:
        state = situation.state
        if not self.access.constructs:
            self._behind[situation.handle] = situation
        atoms = self._atoms.get(state.objects)
        if atoms is None:
            atoms = self._atoms[state.objects] = distinct_atoms(self.vocabulary, state.objects)
        chosen = np.flatnonzero(self._rng.random(len(atoms)) < self._flip_rate)
        flipped = {atoms[int(number)] for number in chosen} - state.unknown
        noisy = State(state.true ^ flipped, state.objects, state.unknown)
        return Situation(noisy, noisy) if self.access.constructs else replace(situation, state=noisy)


def distinct_atoms(vocabulary: Vocabulary, objects: Objects) -> list[Atom]:
    """All type-correct atoms that name no object twice, in a fixed order."""
    return [
        Atom(predicate.name, row)
        for predicate in vocabulary.predicates
        for row in product(*(objects.of_type(kind) for kind in predicate.types))
        if len(set(row)) == len(row)
    ]


# The base of all decorators around a simulator.


class SimulatorDecorator:
    """A simulator around another one."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    @property
    def scene(self) -> Scene:
        return self._simulator.scene

    def start(self) -> None:
        self._simulator.start()

    def snapshot(self) -> object:
        return self._simulator.snapshot()

    def restore(self, snapshot: object) -> None:
        self._simulator.restore(snapshot)

    def frame(self) -> Frame:
        return self._simulator.frame()

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        return self._simulator.instruct(name, objects)

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        return self._simulator.choose(rng)


class NoisySimulator(SimulatorDecorator):
    """A simulator with fresh Gaussian noise on every frame.

    ``sigma``: standard deviation of the noise on every value, which are between 0 and 1 here; clipped.

    Raises:
        UnusableInput: sigma is negative or not a number.
    """

    def __init__(self, simulator: Simulator, sigma: float, rng: np.random.Generator) -> None:
        if not 0 <= sigma < np.inf:
            raise UnusableInput(f"noise of sigma {sigma}: use a number from 0 (none) to about 0.3")
        super().__init__(simulator)
        self._sigma = sigma
        self._rng = rng

    def frame(self) -> Frame:
        """The present image with noise of its own, whether or not it was seen before."""
        frame = self._simulator.frame()
        noise = 255 * self._sigma * self._rng.standard_normal(frame.shape, dtype=np.float32)
        return (frame + noise).clip(0, 255).round().astype(np.uint8)

    def expect(self, snapshot: object, *plans: Sequence[GroundAction]) -> None:
        if isinstance(self._simulator, Foreseeing):
            self._simulator.expect(snapshot, *plans)

    def expect_walk(self, snapshot: object, steps: int, rng: np.random.Generator) -> None:
        """Pass on what will be asked next."""
        if isinstance(self._simulator, Foreseeing):
            self._simulator.expect_walk(snapshot, steps, rng)
