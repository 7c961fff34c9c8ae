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
        self._stands: tuple[Way, State] | None = None
        """How the one in this process came to where it stands, and what is true there; None before any pursuit, and where one failed."""
        self._begun: deque[tuple[tuple[Hashable, Plan], Task]] = deque()
        """What was announced, and not asked yet."""
        self._ways: dict[int, Way] = {}
        """By number, of every situation."""
        self._memos: dict[int, Any] = {}

    def initial(self) -> Sequence[Situation]:
        """Where pursuits begin."""
        found, self._stands = self._agent.initial(), None
        self._ways |= {number_of(one): Way(number_of(one)) for one in found}
        return found

    def expect(self, questions: Sequence[Expected]) -> None:
        """Begin with questions that will be asked, in this order, and that do not begin where one of them ends."""
        for one in questions:
            if isinstance(one, Query) and one.plan:
                way = self._way(one, len(self._begun))
                self._begun.append((_key(one), self._crew.begin(pursued_from, way)))

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
            ends = self._goes_on(way, here.state)
        else:
            begun = self._begun.popleft()[1] if self._begun else self._crew.begin(pursued_from, way)
            before, ends = self._crew.collect(begun)
            if before != here.state:
                seed = self._agent.seeds[way.start]
                raise AgentFailed(
                    f"a reset with seed {seed} showed other facts in another process: make it deterministic"
                )
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
            self._memos[after] = memo

    @property
    def _next(self) -> int:
        """The number of the next situation."""
        return len(self._ways)

    def _way(self, query: Query, ahead: int = 0) -> Way:
        """How the end of a question is reached, before which so many others are answered."""
        way = self._ways[number_of(query.initial)]
        luck = int(np.random.default_rng([self._seed, 4, self._next + ahead]).integers(2**63))
        return way._replace(pursued=(*way.pursued, Pursued(query.plan, luck)))

    def _goes_on(self, way: Way, here: State) -> list[Ended]:
        """How the last pursuits of a way end, those before it ending there: these are made anew where the one in this process does not stand there."""
        agent, (*before, last) = self._agent, way.pursued
        there = way._replace(pursued=tuple(before)), here
        for _ in range(AGAIN):
            if self._stands == there:
                self._stands = None
                ends = agent.carry_out(last.plan, last.luck)
                self._stands = way, ends[-1].after
                return ends
            agent.begin(way.start)
            for one in before:
                ends = agent.carry_out(one.plan, one.luck)
            self._stands = there[0], ends[-1].after
        raise AgentFailed(
            f"after the same pursuits with the same seeds the policy was somewhere else {AGAIN} times: use one worker"
        )

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


def pursued_from(agent: PolicyAgent, way: Way) -> tuple[State, list[Ended]]:
    """The situation after a reset, and how the pursuits end that begin there."""
    (pursued,) = way.pursued
    return agent.begin(way.start), agent.carry_out(pursued.plan, pursued.luck)


def prove(agent: PolicyAgent, told: Any) -> Any:
    """The version of the policy, and the initial states. How pursuits end may be random."""
    return dict(agent.checkpoint), [one.state for one in agent.initial()]
