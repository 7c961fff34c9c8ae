"""Chance and noise together: every situation is looked at until it is certain what is true there.

Noise flips an atom at one look and not at the next; a slip changes the situation, and every look shows it. So looks at one
situation tell the two apart, before anything is learned from it. What is read wrongly at every look is beyond that.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import Malformed
from aam_vision.interrogation.evidence.moves import Asked, Entry, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.task.repeated_looks import ANSWERS, RepeatedLooks
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.support.errors import UnusableInput

CONFIDENCE: Final = 0.999


class LookingAgent(AgentDecorator):
    """An agent of which every situation is looked at until each atom is certain, as where there is no chance (``RepeatedLooks``).

    How often that is follows from how much the looks differ. An atom that is not certain after as many as there are at most is
    unknown. Looks are queries with an empty plan, and no steps.

    Args:
        agent: the one that is asked. What it shows at one look must not depend on what it showed at another, and a handle
            must name one situation.
        confidence: how probable it is that the first thousand situations are read rightly.
        whole: whether nothing may be unknown in the first situations.

    Raises:
        UnusableInput: a situation is a state that is asked for (``settable`` access), so there is nothing to look at again.
    """

    def __init__(self, agent: Agent, confidence: float = CONFIDENCE, *, whole: bool = True) -> None:
        super().__init__(agent)
        check_access(agent.access)
        self.looks = 0
        """Looks at situations that were seen before."""
        self._confidence = confidence
        self._whole = whole
        self._reading = RepeatedLooks(agent.vocabulary, confidence, self._look)
        self._certain: dict[Hashable, Situation] = {}
        """By handle, the situations that are not looked at any more."""

    @property
    def situations(self) -> int:
        """The situations that were looked at."""
        return len(self._certain)

    @property
    def misread(self) -> float:
        """The share of the atoms that one look shows wrongly, as far as the looks tell."""
        counts = list(self._reading.confusion.values())
        wrong = sum(int(own[0, 1] + own[1, 0]) for own in counts)
        return wrong / max(1, sum(int(own.sum()) for own in counts))

    @property
    def error(self) -> float:
        """The probability that anything was read wrongly, at most."""
        return min(1.0, self.situations * (1 - self._confidence) / ANSWERS)

    def initial(self) -> Sequence[Situation]:
        """The first situations.

        Raises:
            UnusableInput: looks do not tell what is true there, and that is to be known.
        """
        seen = [self._kept(one) for one in self._reading.begin(self.agent.initial())]
        for situation in seen:
            if self._whole and situation.state.unknown:
                raise UnusableInput(
                    f"{self.looks} looks at the first situations do not tell whether {min(map(str, situation.state.unknown))} is "
                    f"true (one look shows about {100 * self.misread:.0f}% of the atoms wrongly), so noise and chance cannot be told apart"
                )
        return seen

    def ask(self, query: Query) -> Response:
        response = self.agent.ask(query)
        return Response(response.executed, self._read(response.final))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The agent's walk, step by step, for a look is at where the agent stands."""
        here, walked = start, list[WalkStep]()
        while len(walked) < steps and (taken := self.agent.walk(here, 1, rng)):
            walked.append(WalkStep(here, taken[0].action, self._read(taken[0].after)))
            here = walked[-1].after
        return walked

    def _read(self, shown: Situation) -> Situation:
        """The same situation with what is certain there."""
        known = self._certain.get(shown.handle)
        return self._kept(self._reading.settled(shown)) if known is None else known

    def _kept(self, seen: Situation) -> Situation:
        return self._certain.setdefault(seen.handle, seen)

    def _look(self, at: Situation) -> Situation:
        self.looks += 1
        return self.agent.ask(Query(at, ())).final


def check_access(access: Access) -> None:
    """Refuse the access under which nothing can be looked at again.

    Raises:
        UnusableInput: a situation is a state that is asked for.
    """
    if access.constructs:
        raise UnusableInput(
            "a state that is asked for and was seen wrongly cannot be looked at again; use snapshot, reset or trajectory",
            "access",
            access.value,
        )


def as_read(transcript: Transcript, confidence: float, *, whole: bool = True) -> Transcript:
    """What was certain of the situations of a recorded interrogation in which each was looked at several times.

    The recorded looks are made once more, and are no entries of it any more. What the last question of a run led to that was cut short
    is left out.

    Raises:
        Malformed: the looks are not those that such a run makes.
    """
    recorded = _RecordedAgent(transcript)
    entries: list[Entry] = []
    initial: tuple[Situation, ...] = ()
    try:
        looking = LookingAgent(recorded, confidence, whole=whole)
        initial = tuple(looking.initial())
        while (entry := recorded.upcoming) is not None:
            if isinstance(entry, Asked):
                entries.append(Asked(entry.query, looking.ask(entry.query)))
            else:
                start = entry.steps[0].before if entry.steps else initial[0]
                entries.append(Walked(tuple(looking.walk(start, 1, np.random.default_rng(0)))))
    except _Ended:
        pass
    except UnusableInput as error:
        raise Malformed(str(error)) from None
    return Transcript(
        transcript.vocabulary,
        transcript.headers,
        transcript.access,
        initial,
        tuple(entries),
        transcript.repeated,
    )


class _Ended(Exception):
    """Raised when a run was cut short before its next look."""


class _RecordedAgent:
    """Gives the answers of a transcript once more, in their order."""

    def __init__(self, transcript: Transcript) -> None:
        self.vocabulary = transcript.vocabulary
        self.headers = transcript.headers
        self.access = transcript.access
        self._initial = transcript.initial
        self._entries: Iterator[Entry] = iter(transcript.entries)
        self.upcoming = next(self._entries, None)
        """The next entry; None after the last."""

    def initial(self) -> Sequence[Situation]:
        return self._initial

    def ask(self, query: Query) -> Response:
        entry = self._next()
        if (
            not isinstance(entry, Asked)
            or entry.query.plan != query.plan
            or entry.query.initial.handle != query.initial.handle
        ):
            raise Malformed("a situation was not looked at as often as it would have been")
        return entry.response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        entry = self._next()
        if not isinstance(entry, Walked) or len(entry.steps) > steps:
            raise Malformed("a walk was not looked at step by step")
        return entry.steps

    def _next(self) -> Entry:
        entry, self.upcoming = self.upcoming, next(self._entries, None)
        if entry is None:
            raise _Ended
        return entry
