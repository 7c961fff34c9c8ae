"""An agent of any faulty world, under any access."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.query import Access, Query, Response, Situation, WalkStep
from aam_vision.strips import ActionHeader, GroundAction, State, Vocabulary
from experiments.faults.world import Fault, Nature, Outcome, World

TRIES = 10
"""Instructions that the agent tries on its own before it gives up."""


class FaultyAgent:
    """A world with a fault as a black box.

    Handles are numbers of stored worlds: a snapshot brings back what is hidden, too, but not ``nature``. Under
    settable access they are the states seen, and what is hidden begins afresh with every question.

    Args:
        fault: the world.
        initial: where its problems begin.
        access: what may be asked.
        rng: the source of all chance in the world.
    """

    def __init__(
        self, fault: Fault, initial: Sequence[State], access: Access, rng: np.random.Generator
    ) -> None:
        self.access = access
        self.fault = fault
        self.nature = Nature(rng)
        self.showed = 0
        """How many answers an honest agent would not have given."""
        self._initial = initial
        self._honest = SymbolicAgent(fault.setting.model, initial)
        self._worlds: list[World] = []
        self._here: tuple[Hashable, World] | None = None

    @property
    def vocabulary(self) -> Vocabulary:
        return self.fault.setting.model.vocabulary

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return self.fault.setting.model.headers

    def initial(self) -> Sequence[Situation]:
        """A look at the beginning of every problem."""
        return [self._look(World(state, self.fault.fresh(state))) for state in self._initial]

    def ask(self, query: Query) -> Response:
        """Attempt the steps of a plan, as far as they are executed."""
        start = world = self._world(query.initial)
        executed = 0
        for step in query.plan:
            outcome = self.attempt(world, step)
            world = outcome.world
            if not outcome.executed:
                break
            executed += 1
        final = self._look(world, None if executed else query.initial.handle)
        honest = self.fault.setting.model.run(start.state, query.plan)
        self.showed += (executed, final.state) != honest
        return Response(executed, final)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """Attempt steps that an honest agent could execute; those that are refused are not shown."""
        world, before = self._world(start), start
        walked: list[WalkStep] = []
        for _ in range(steps):
            for _ in range(TRIES):
                state, step = world.state, self.option(world.state, rng)
                outcome = Outcome(False, world) if step is None else self.attempt(world, step)
                world = outcome.world
                if outcome.executed:
                    break
            else:
                break
            assert step is not None, "it was executed"
            after = self._look(world)
            self.showed += after.state != self.fault.setting.outcome(state, step)
            walked.append(WalkStep(before, step, after))
            before = after
        return walked

    def option(self, state: State, rng: np.random.Generator) -> GroundAction | None:
        """Something that an honest agent could execute there; None if there is nothing."""
        taken = self._honest.walk(Situation(state, state), 1, rng)
        return taken[0].action if taken else None

    def attempt(self, world: World, step: GroundAction) -> Outcome:
        """One step, which takes time."""
        outcome = self.fault.step(world, step, self.nature)
        self.nature.passed(step, outcome.executed)
        return outcome

    def _world(self, situation: Situation) -> World:
        """The world as it is in a situation: the present one, if the agent stands there."""
        handle = situation.handle
        if isinstance(handle, State):
            return World(handle, self.fault.fresh(handle))
        assert isinstance(handle, int), "handles are numbers"
        if self._here is not None and self._here[0] == handle and self.access is not Access.SNAPSHOT:
            return self._here[1]
        return self._worlds[handle]

    def _look(self, world: World, handle: Hashable = None) -> Situation:
        """The situation as it is seen, under a new handle unless one is given."""
        seen = self.fault.see(world, self.nature)
        if self.access is Access.SETTABLE:
            return Situation(seen, seen)
        if handle is None:
            handle = len(self._worlds)
            self._worlds.append(world)
        self._here = handle, world
        return Situation(handle, seen)
