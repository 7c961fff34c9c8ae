"""Controls that are carried out late: giving one carries out the one that was given some controls before it.

Whatever is given next, the controls that wait are carried out first. So the situation that is seen once they were is the one in which the
next control will be carried out: seen so, nothing is late, and the agent is interrogated like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.interrogation.controls.giving import Giving, Step, ground
from aam_vision.interrogation.controls.rules import ControlModel
from aam_vision.model.query import Query, Response, Situation
from aam_vision.model.remembered import MOST_LATE, LateControls
from aam_vision.model.strips import GroundAction, State, Vocabulary
from aam_vision.support.errors import AamError


class NotLate(AamError):
    """Raised when something was seen that no such delay explains."""


def delays(initial: Sequence[Situation], steps: Sequence[Step]) -> list[int]:
    """By how many controls all of them may be late, as these steps tell, from which a history of each situation is known; the least first."""
    return [late for late in range(1, MOST_LATE + 1) if _explains(LateControls(late), initial, steps)]


def _explains(memory: LateControls, initial: Sequence[Situation], steps: Sequence[Step]) -> bool:
    waiting = {one.handle: memory.begins for one in initial}
    came: dict[tuple[State, GroundAction | None], State] = {}
    for before, control, after in steps:
        here = waiting[before.handle]
        then = memory.after(here, control, did=True)
        if waiting.setdefault(after.handle, then) != then:
            return False  # the agent says that it is where it was before
        _, carried_out, _ = memory.step(before.state, control, after.state, here)
        if before.state.unknown or after.state.unknown:
            continue
        expected = before.state if carried_out is None else after.state
        if came.setdefault((before.state, carried_out), expected) != after.state:
            return False
    return True


class PunctualAgent(AgentDecorator):
    """Controls of an agent that carries them out late, as if they came at once.

    A situation is shown as it is once all that was given before is carried out; for that, controls are given that are carried out after it.

    Args:
        giving: gives the controls; what it has given is not given again.
        memory: how late they are.
    """

    def __init__(self, giving: Giving, memory: LateControls) -> None:
        super().__init__(giving.agent)
        self._giving, self._memory = giving, memory
        self._initial = giving.initial()
        self._given = 0
        """The controls that were given."""
        self._led: dict[Hashable, dict[GroundAction, Situation]] = {}
        """By handle, where each control led that was given there."""
        for before, control, after in giving.plain:
            self._led.setdefault(before.handle, {})[control] = after
        self._begun: dict[Hashable, list[Situation]] = {}
        """By the handle of what is shown, the situations from that in which all of it was given to that which is shown."""

    @property
    def vocabulary(self) -> Vocabulary:
        return self.agent.vocabulary.with_memory(self._memory)

    def initial(self) -> Sequence[Situation]:
        """Where problems begin.

        Raises:
            NotLate: something happens there though nothing was given before.
            StepsSpent: no more controls may be given.
        """
        shown = []
        for situation in self._initial:
            passed = self._passed(situation)
            if any(_differ(one.state, situation.state) for one in passed):
                raise NotLate("something happened that was given no earlier")
            shown.append(passed[-1])
        return shown

    def ask(self, query: Query) -> Response:
        """What comes of each control of a plan, once it is carried out.

        Raises:
            NotLate: what was given later changed what came of earlier controls.
            StepsSpent: no more controls may be given.
        """
        if not query.plan:
            return self.agent.ask(query)
        here = query.initial
        for control in query.plan:
            before = self._begun[here.handle]
            passed = self._passed(self._give(before[0], control))
            for expected, seen in zip(before[1:], passed, strict=False):
                if _differ(expected.state, seen.state):
                    raise NotLate(f"what was given before {control} came out otherwise after it")
            here = passed[-1]
        return Response(len(query.plan), here)

    def _give(self, here: Situation, control: GroundAction) -> Situation:
        """Where a control leads as the agent itself shows it; it is given once only."""
        led = self._led.setdefault(here.handle, {})
        if control not in led:
            self._given += 1
            led[control] = self._giving.led(here, control)
        return led[control]

    def _passed(self, situation: Situation) -> list[Situation]:
        """What is seen from a situation on, until all that was given before is carried out."""
        passed = [situation]
        while len(passed) <= self._memory.late:
            here = passed[-1]
            known = self._led.get(here.handle)
            options = [*known] if known else ground(self.agent.headers, here.state)
            passed.append(self._give(here, options[self._given % len(options)]) if options else here)
        self._begun[passed[-1].handle] = passed
        return passed

    def walk_on(self, model: ControlModel, steps: int, length: int, rng: np.random.Generator) -> int | None:
        """Give controls in the orders that came least, so many in a row; None if one does not come out as the model says.

        Raises:
            StepsSpent: no more controls may be given.
            AgentFailed: the agent can no longer answer.
        """
        starts = [one for one in self._initial if ground(self.agent.headers, one.state)]
        orders: Counter[tuple[str, ...]] = Counter()
        for number in range(steps):
            if number % length == 0:
                here = starts[int(rng.integers(len(starts)))]
                waiting, last = self._memory.begins, tuple[str, ...]()
            options = ground(self.agent.headers, here.state)
            shuffled = [options[int(place)] for place in rng.permutation(len(options))]
            control = min(
                shuffled, key=lambda one: (orders[(*last[-1:], one.name)], orders[(*last, one.name)])
            )
            orders.update({(*last[-1:], control.name), (*last, control.name)})
            last = (*last[-1:], control.name)
            after = self._give(here, control)
            before, carried_out, seen = self._memory.step(here.state, control, after.state, waiting)
            if _differ(before, seen) if carried_out is None else not model.agrees(before, carried_out, seen):
                return None
            here, waiting = after, self._memory.after(waiting, control, did=True)
        return steps


def _differ(one: State, other: State) -> bool:
    """Whether two states tell different things of what was seen in both."""
    return one.true - other.unknown != other.true - one.unknown
