"""Agents that are programs of their own, in any language: the engine's questions in the agent protocol.

``conversation`` checks the answers and restarts a program that fails. A situation is found again by the executed steps
that led there (``image.Returning``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from aam_vision.agents.encoding import Malformed, field, state_json
from aam_vision.agents.image import Passage, Ways, led_back, number_of
from aam_vision.agents.protocol import Reached, Start, read_reached
from aam_vision.agents.shown import Conversation
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import ActionHeader, GroundAction, Objects, State, Vocabulary
from aam_vision.support.errors import AgentFailed, UnusableInput

LOOKS = 20
"""Looks that tell whether a program shows several states where it stands, as a noisy sensor does. Few would all be right, where an earlier one
was wrong."""


class ProcessAgent(ABC):
    """The base of agents that are programs."""

    def __init__(self, conversation: Conversation, access: Access, problems: Sequence[int]) -> None:
        hello = conversation.hello
        self.vocabulary: Vocabulary = hello.vocabulary
        self.headers: tuple[ActionHeader, ...] = hello.headers
        self.access = access
        self.refuses_surely = hello.refuses_surely
        self._conversation = conversation
        self._problems = tuple(problems)
        self._objects = hello.problems

    def close(self) -> None:
        """End the program."""
        self._conversation.close()

    def initial(self) -> Sequence[Situation]:
        return [self._conversation.again(partial(self._begin, problem)) for problem in self._problems]

    def _begin(self, problem: int) -> Situation:
        _, reached = self._run(problem, "start", ())
        return self._remember(problem, reached)

    def ask(self, query: Query) -> Response:
        return self._conversation.again(lambda: self._ask(query))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The program's own steps; none if it never acts on its own."""
        seed = int(rng.integers(2**31))
        if not self._conversation.hello.walks:
            return []
        return self._conversation.again(lambda: self._act(start, steps, seed))

    @abstractmethod
    def _ask(self, query: Query) -> Response: ...

    @abstractmethod
    def _act(self, start: Situation, steps: int, seed: int) -> list[WalkStep]: ...

    @abstractmethod
    def _remember(self, problem: int, reached: Reached) -> Situation: ...

    def _run(self, problem: int, start: Start, plan: Sequence[GroundAction]) -> tuple[int, Reached]:
        return self._conversation.run(problem, start, plan, self._reader(problem))

    def _reader(self, problem: int) -> Callable[[dict[str, Any]], Reached]:
        return partial(read_reached, vocabulary=self.vocabulary, objects=self._objects[problem])


class SettableProcessAgent(ProcessAgent):
    """A program that may be asked about any state, whose situations' handles are the states themselves."""

    def __init__(self, conversation: Conversation, access: Access, problems: Sequence[int]) -> None:
        super().__init__(conversation, access, problems)
        self._stands: State | None = None
        conversation.on_restart.append(self._forget)

    def _forget(self) -> None:
        self._stands = None

    def _ask(self, query: Query) -> Response:
        state = query.initial.state
        problem = self._problem(state.objects)
        start: Start = "here" if query.goes_on and state == self._stands else state_json(state)
        executed, reached = self._run(problem, start, query.plan)
        if not executed and reached.state != state:
            raise Malformed("has executed nothing of a run, and shows another state than it was given")
        return Response(executed, self._remember(problem, reached))

    def _act(self, start: Situation, steps: int, seed: int) -> list[WalkStep]:
        problem, found = self._problem(start.state.objects), list[WalkStep]()
        for action, reached in self._conversation.walk(
            problem, state_json(start.state), steps, seed, self._reader(problem)
        ):
            found.append(WalkStep(start, action, self._remember(problem, reached)))
            start = found[-1].after
        return found

    def _remember(self, problem: int, reached: Reached) -> Situation:
        self._stands = reached.state
        return Situation(reached.state, reached.state)

    def _problem(self, objects: Objects) -> int:
        """The first problem with these objects: problems with the same objects differ in the state alone."""
        return self._objects.index(objects)


class StandingProcessAgent(ProcessAgent):
    """A program that can only go on from where it stands, start anew, or go back to a snapshot of its own."""

    def __init__(self, conversation: Conversation, access: Access, problems: Sequence[int]) -> None:
        super().__init__(conversation, access, problems)
        self._situations: dict[int, tuple[int, Situation]] = {}
        """By handle, the problem and the situation."""
        self._next = 0
        self._standing: dict[int, int] = {}
        self._snapshots: dict[int, str] = {}
        self._ways = Ways()
        self._looks_err = False
        """Whether it has shown several states where it stood."""
        conversation.on_restart.append(self._forget)

    def _forget(self) -> None:
        self._standing.clear()
        self._snapshots.clear()

    def _ask(self, query: Query) -> Response:
        number, problem = self._known(query.initial)
        executed, reached = self._run(problem, self._start(number, problem), query.plan)
        if executed:
            after = self._remember(problem, reached)
            self._ways.came(self._standing[problem], number, tuple(query.plan[:executed]))
            return Response(executed, after)
        if reached.state != self._situations[number][1].state and not self._looks_differ(problem, reached):
            raise Malformed("has executed nothing of a run, and shows another state than before")
        self._standing[problem] = number
        return Response(0, Situation(number, reached.state))

    def _act(self, start: Situation, steps: int, seed: int) -> list[WalkStep]:
        number, problem = self._known(start)
        begin = self._start(number, problem)
        walked = self._conversation.walk(problem, begin, steps, seed, self._reader(problem))
        self._standing[problem] = number
        found = []
        for action, reached in walked:
            after = self._remember(problem, reached)
            self._ways.came(self._standing[problem], number, (action,))
            found.append(WalkStep(start, action, after))
            start, number = after, self._standing[problem]
        return found

    # --- where it stands -----------------------------------------------------------------------------------------

    def memo(self, situation: Situation) -> dict[str, Any]:
        """The problem."""
        return {"problem": self._known(situation)[1]}

    def resume(self, history: Sequence[Passage]) -> None:
        """Take over a history. The program is led back only when that is needed."""
        for passage in history:
            number = number_of(passage.after)
            try:
                problem = field(passage.memo, "problem", int)
                if problem not in self._problems or passage.after.state.objects != self._objects[problem]:
                    raise Malformed(f"problem {problem} has other objects")
            except Malformed as error:
                raise UnusableInput(
                    f"the transcript does not say where the agent was ({error}); start a new run"
                ) from None
            self._situations.setdefault(number, (problem, passage.after))
            if passage.before is not None:
                self._ways.came(number, number_of(passage.before), passage.steps)
        self._next = max(self._situations, default=-1) + 1

    def number_from(self, number: int) -> None:
        """Number the next situations from this number on."""
        self._next = number

    def _known(self, situation: Situation) -> tuple[int, int]:
        number = number_of(situation)
        return number, self._situations[number][0]

    def _start(self, number: int, problem: int) -> Start:
        """Lead the program to a situation if need be, and return how a question begins there.

        Raises:
            AgentFailed: it does not do again what it did before.
        """
        if self._standing.get(problem) == number:
            return "here"
        nearest, steps = self._ways.back(number, self._snapshots.__contains__)
        begin: Start = {"snapshot": self._snapshots[nearest]} if nearest in self._snapshots else "start"
        if not steps:
            return begin
        executed, reached = self._run(problem, begin, steps)
        there = executed == len(steps) and reached.state == self._situations[number][1].state
        if not there and self._looks_differ(problem, reached):
            raise AgentFailed(
                "the agent does not always show the same where it stands, so nothing tells whether it gets back to where it was; "
                "let it give snapshots, or run with --access reset or trajectory"
            )
        if not there and not self._led_back(number, problem):
            raise AgentFailed(
                f"the agent did {', '.join(map(str, steps))} before, and after a restart "
                f"does only {executed} of these {len(steps)} steps, or gets elsewhere"
            )
        self._standing[problem] = number
        return "here"

    def _looks_differ(self, problem: int, shown: Reached) -> bool:
        """Whether it shows several states where it stands: what it has just shown, and others."""
        if not self._looks_err:
            looks = (self._run(problem, "here", ())[1] for _ in range(LOOKS))
            self._looks_err = any(look.state != shown.state for look in looks)
        return self._looks_err

    def _led_back(self, number: int, problem: int) -> bool:
        """Whether a program with chance got there after all, passage by passage."""
        kept = self.access.snapshots
        start: Start = "start"

        def begin(at: int) -> None:
            nonlocal start
            start = {"snapshot": self._snapshots[at]} if at in self._snapshots else "start"

        def take(steps: tuple[GroundAction, ...], to: int) -> bool:
            nonlocal start
            executed, reached = self._run(problem, start, steps)
            start = "here"
            there = executed == len(steps) and reached.state == self._situations[to][1].state
            if there and kept and reached.snapshot is not None:
                self._snapshots[to] = reached.snapshot
            return there

        return led_back(self._ways.passages(number, self._snapshots.__contains__), begin, take, kept=kept)

    def _remember(self, problem: int, reached: Reached) -> Situation:
        situation = Situation(self._next, reached.state)
        self._situations[self._next] = (problem, situation)
        self._standing[problem] = self._next
        if self.access.snapshots and reached.snapshot is not None:
            self._snapshots[self._next] = reached.snapshot
        self._next += 1
        return situation


def process_agent(
    conversation: Conversation, access: Access, problems: Sequence[int]
) -> SettableProcessAgent | StandingProcessAgent:
    """The agent of a program, under an access that it allows."""
    settable = conversation.hello.access.constructs
    return (SettableProcessAgent if settable else StandingProcessAgent)(conversation, access, problems)
