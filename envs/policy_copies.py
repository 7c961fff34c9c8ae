"""A policy of which several copies pursue objectives at a time, each in an environment and a process of its own.

What is random in an environment follows from the number of the situation to which a pursuit leads. So the same comes of the same
questions, whichever copy answers, and whenever. Where pursuits go on from one another nothing is asked at a time: one in this process
makes the first one once more, and goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from aam_vision.agents.image import Passage, number_of
from aam_vision.agents.perception import Frame
from aam_vision.agents.workers import Crew, Task
from aam_vision.envs.policies import Ended, PolicyAgent
from aam_vision.model.query import ENDED, Expected, Query, Response, Situation, WalkStep
from aam_vision.model.strips import Atom, GroundAction, State
from aam_vision.support.errors import AgentFailed, UnusableInput

Plan = tuple[GroundAction, ...]
AGAIN = 20
"""How often pursuits are made anew to go on from where they ended, at most: a policy may be random itself."""
ELSEWHERE = "the policy was somewhere else after the same pursuits, with the same seeds"


class Pursued(NamedTuple):
    """Instructions that are carried out one after the other."""

    plan: Plan
    luck: int
    """The seed of what is random in the environment meanwhile."""


class Way(NamedTuple):
    """How a situation is reached."""

    start: int
    """The number of the reset."""
    pursued: tuple[Pursued, ...] = ()


class PolicyCopies:
    """Copies of a policy, as one agent whose handles are numbers (``Returning``).

    Args:
        agent: the policy, under reset access; those pursuits are made in it that go on from others.
        seed: of what is random in the environments.
        crew: the copies.
    """

    refuses_surely = True

    def __init__(self, agent: PolicyAgent, seed: int, crew: Crew) -> None:
        self.vocabulary, self.headers, self.access = agent.vocabulary, agent.headers, agent.access
        self.checkpoint = agent.checkpoint
        self._agent, self._seed, self._crew = agent, seed, crew
        self._own = PolicyCopy(agent)
        self._begun: deque[tuple[tuple[Hashable, Plan], Task]] = deque()
        """What was announced, and not asked yet."""
        self._ways: dict[int, Way] = {}
        """By number, of every situation."""
        self._memos: dict[int, Any] = {}

    def initial(self) -> Sequence[Situation]:
        """Where pursuits begin."""
        found = self._agent.initial()
        self._ways |= {number_of(one): Way(number_of(one)) for one in found}
        return found

    def expect(self, questions: Sequence[Expected]) -> None:
        """Begin with questions that will be asked, in this order, and that do not begin where one of them ends."""
        for one in questions:
            if isinstance(one, Query) and one.plan:
                self._begun.append((_key(one), self._task(one)))

    def ask(self, query: Query) -> Response:
        """Have the policy pursue one objective after the other, until the episode is over.

        Raises:
            AgentFailed: the policy or the environment failed, or is somewhere else after the same pursuits.
        """
        here = query.initial
        if not query.plan or Atom(ENDED, ()) in here.state.true:
            return Response(0, here)
        if self._begun and self._begun[0][0] != _key(query):
            self._begun.clear()  # something else came in between
        number, way = self._next, self._way(query)
        if len(way.pursued) > 1:
            ends = go_on(self._own, way, here.state)
        else:
            begun = self._begun.popleft()[1] if self._begun else self._task(query)
            before, ends = self._crew.collect(begun)
            if before != here.state:
                raise AgentFailed(f"{ELSEWHERE}: make the environment's resets deterministic")
        self._ways[number] = way
        ended: Ended = ends[-1]
        memo: dict[str, Any] = {"steps": ended.steps, "luck": way.pursued[-1].luck}
        after = Situation(number, ended.after)
        if clip := self._clip(query, ended, way, number):
            memo["clip"] = clip
        self._memos[number] = memo
        return Response(len(ends), after)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """None: nobody tells a policy what to pursue on its own."""
        return ()

    def keep_clips(self, keep: Callable[[Frame], str]) -> None:
        """Keep clips of some pursuits from now on, if the environment renders images."""
        self._agent.keep_clips(keep)

    def memo(self, situation: Situation) -> Any:
        """How many steps the pursuit took that ended there, with which seed, and the names of its images, if they are kept."""
        return self._memos.get(number_of(situation))

    def resume(self, history: Sequence[Passage]) -> None:
        """Take over how situations were reached.

        Raises:
            UnusableInput: that is not told.
        """
        for passage in history:
            after = number_of(passage.after)
            if passage.before is None or not passage.steps:
                self._ways.setdefault(after, Way(after))
                continue
            way, memo = self._ways[number_of(passage.before)], passage.memo
            luck = memo.get("luck") if isinstance(memo, dict) else None
            if not isinstance(luck, int):
                raise UnusableInput(
                    "the run does not say with which seeds pursuits were made; start a new run"
                )
            pursued = Pursued(tuple(passage.steps), luck)
            self._ways[after] = way._replace(pursued=(*way.pursued, pursued))
            self._memos[after] = passage.memo

    @property
    def _next(self) -> int:
        """The number of the next situation."""
        return len(self._ways)

    def _way(self, query: Query, ahead: int = 0) -> Way:
        """How the end of a question is reached, before which so many others are answered."""
        way = self._ways[number_of(query.initial)]
        luck = int(np.random.default_rng([self._seed, 4, self._next + ahead]).integers(2**63))
        return way._replace(pursued=(*way.pursued, Pursued(query.plan, luck)))

    def _task(self, query: Query) -> Task:
        return self._crew.begin(follow, self._way(query, len(self._begun)))

    def _clip(self, query: Query, ended: Ended, way: Way, number: int) -> list[str] | None:
        """The names of the images of a pursuit from a reset, if it is one to be filmed: it is made once more."""
        (step, *more), state = query.plan, query.initial.state
        clips = self._agent.clips
        if clips is None or more or len(way.pursued) > 1:
            return None
        objective = self._agent.objective(step)
        if (objective.atom in state.true) is objective.value or not clips.wanted(step, state):
            return None

        def images() -> list[Frame]:
            return self._agent.filmed(way.start, step, way.pursued[0].luck, str(ended))

        clips.keep(step, state, images, number, achieved=ended.achieved)
        return clips.of.get(number)


def _key(query: Query) -> tuple[Hashable, Plan]:
    """What tells a question from others: where it begins may have been misread by whoever asks."""
    return query.initial.handle, query.plan


# The jobs of a copy, each a function of a module, so that it can be sent to another process.


class PolicyCopy:
    """One copy, which knows how it came to where it stands."""

    def __init__(self, agent: PolicyAgent) -> None:
        self.agent = agent
        self.way: Way | None = None
        """None where a pursuit failed."""
        self.here: State | None = None


def follow(copy: PolicyCopy, way: Way) -> tuple[State, list[Ended]]:
    """The situation after a reset, and how pursuits end that begin there."""
    (pursued,) = way.pursued
    return copy.agent.begin(way.start), copy.agent.carry_out(pursued.plan, pursued.luck)


def go_on(copy: PolicyCopy, way: Way, here: State) -> list[Ended]:
    """How the last pursuits of a way end, those before it ending there: one that does not stand there makes those anew.

    Raises:
        AgentFailed: a policy, or what is random in its environment, leads elsewhere again and again.
    """
    *before, last = way.pursued
    for _ in range(AGAIN):
        if copy.way == way._replace(pursued=tuple(before)) and copy.here == here:
            copy.way = None
            ends = copy.agent.carry_out(last.plan, last.luck)
            copy.way, copy.here = way, ends[-1].after
            return ends
        copy.agent.begin(way.start)
        for one in before:
            copy.here = copy.agent.carry_out(one.plan, one.luck)[-1].after
        copy.way = way._replace(pursued=tuple(before))
    raise AgentFailed(f"{ELSEWHERE}: use one worker")


def prove(copy: PolicyCopy, told: Any) -> Any:
    """The version of the policy, and the initial states. How pursuits end may be random."""
    return dict(copy.agent.checkpoint), [one.state for one in copy.agent.initial()]
