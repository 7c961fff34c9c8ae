"""Answers asked for until they are certain, where no state can be made: a decorator around an unreliable agent.

Where the agent stands it can be looked at again, without a step, and a refused step can be attempted again. So every
situation is looked at until each of its atoms is certain, and a refusal counts once it is repeated so often that
chance does not explain it. What comes out is a reliable agent, which any policy interrogates as ever, with all
proofs; and rates of error, which decide how often is enough.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import ceil, log

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.errors import AgentFailed
from aam_vision.interrogation.evidence.refusal_support import REFUSALS
from aam_vision.interrogation.statistics.counts import Counts, atom_counts
from aam_vision.interrogation.statistics.error_rates import (
    EXECUTED,
    REFUSED,
    ErrorRates,
    misreadings,
    posterior_mean,
)
from aam_vision.interrogation.statistics.sequential_test import SequentialTest, estimate
from aam_vision.interrogation.task.budget import Budget
from aam_vision.query import Access, Query, Response, Situation, WalkStep, refuses_surely
from aam_vision.strips import Objects

SITUATIONS = 1000
"""Situations, and refusals, among which what is left to certainty is shared out."""
FIRST_LOOKS = 12
"""Looks at every initial situation, before anything is known of the rates of error."""
FIRST_VALUES = 400
"""Values that are looked at for that at least, as far as ``MOST_LOOKS`` go."""
MOST_LOOKS = 300
"""Looks at one situation; what is not certain then is unknown."""
ROUNDS = 10
"""Improvements of the first rates and the first states in turn."""


class Spent(AgentFailed):
    """Raised when the budget does not allow to ask until an answer is certain."""


class RepeatingAgent(CountingAgent):
    """An agent's answers, as far as they are certain.

    Args:
        agent: the one to ask; its counts go on.
        starts: the situations that the interrogation begins with.
        confidence: how probable it is at least that all that is shown is right, for ``SITUATIONS`` situations.
        budget: how many steps may be attempted altogether.
    """

    def __init__(
        self, agent: CountingAgent, starts: Sequence[Situation], confidence: float, budget: Budget
    ) -> None:
        super().__init__(agent.agent)
        self.counts, self._at = agent.counts, agent._at
        self._starts = starts
        self._budget = budget
        self._allowed = (1 - confidence) / SITUATIONS
        self._counts: dict[str, Counts] = {
            predicate.name: np.zeros((2, 2), dtype=np.int64) for predicate in agent.vocabulary.predicates
        }
        self._misreadings = misreadings(self._counts)
        self._balked = self._executed = 0
        self._settled: dict[Hashable, Situation] = {}
        self._sizes: dict[Objects, dict[str, int]] = {}

    @property
    def rates(self) -> ErrorRates:
        """The rates of error, as far as they have shown."""
        executions = posterior_mean(EXECUTED, 0, 0)  # looked into nowhere: a prior
        surely = refuses_surely(self.agent) and not self._balked
        return ErrorRates(self._misreadings, self._refusals, executions, surely)

    @property
    def erred(self) -> bool:
        """Whether anything was misread, or refused by mistake."""
        return bool(self._balked or any(own[0, 1] or own[1, 0] for own in self._counts.values()))

    @property
    def _refusals(self) -> float:
        return posterior_mean(REFUSED, self._balked, self._balked + self._executed)

    def initial(self) -> Sequence[Situation]:
        """The situations to begin with; the rates of error are estimated from them first."""
        seen = []
        for start in self._starts:
            sizes = self._sizes_of(start.state.objects)
            sightings = SequentialTest(start.state.objects, sizes)
            enough = max(FIRST_LOOKS, min(MOST_LOOKS, FIRST_VALUES // max(1, sum(sizes.values()))))
            at = start
            for _ in range(enough):
                at = self._look(at)
                sightings.add(at.state)
            seen.append((at, sightings))
        for _ in range(ROUNDS):
            self._misreadings = misreadings(estimate([sightings for _, sightings in seen], self._misreadings))
        return [self._certain(at, sightings) for at, sightings in seen]

    def ask_again(self, query: Query) -> Response:
        """The answer, every refusal of it repeated and its last situation looked at until they are certain.

        Raises:
            Spent: the budget does not allow that.
            AgentFailed: the agent cannot answer any more.
        """
        at, rest, refused = query.initial, query.plan, 0
        while True:
            response = super().ask_again(Query(at, rest))
            rest = rest[response.executed :]
            if response.executed:
                self._balked += refused
                self._executed += response.executed
                at, refused = response.final, 0
            else:
                at = replace(at, handle=response.final.handle)
            if not rest or (refused := refused + 1) >= self._enough:
                break
            if spent := self._budget.spent(self.counts, steps=len(rest)):
                raise Spent(spent)
        executed = len(query.plan) - len(rest)
        return Response(executed, self._certain(at) if executed else at)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The agent's walk; where its situations cannot be gone back to, in single steps, each looked at."""
        walked: list[WalkStep] = []
        if self.access is Access.SNAPSHOT:
            for step in super().walk(start, steps, rng):
                walked.append(WalkStep(start, step.action, self._certain(step.after)))
                start = walked[-1].after
            return walked
        while len(walked) < steps and (taken := super().walk(start, 1, rng)):
            walked.append(WalkStep(start, taken[0].action, self._certain(taken[0].after)))
            start = walked[-1].after
        return walked

    @property
    def _enough(self) -> int:
        """Refusals in a row that are not chance."""
        return max(REFUSALS, ceil(log(self._allowed) / log(self._refusals)))

    def _certain(self, at: Situation, sightings: SequentialTest | None = None) -> Situation:
        """The situation, looked at until every atom is certain; what cannot be is unknown."""
        if at.handle in self._settled:
            return self._settled[at.handle]
        sizes = self._sizes_of(at.state.objects)
        if sightings is None:
            sightings = SequentialTest(at.state.objects, sizes)
            sightings.add(at.state)
        threshold = log(max(1, sum(sizes.values())) / self._allowed)
        while not (reading := sightings.read(self._misreadings, threshold)).certain:
            if sightings.looks >= MOST_LOOKS:
                break
            at = self._look(at)
            sightings.add(at.state)
        for name, counts in sightings.confusion(reading.state).items():
            self._counts[name] += counts
        self._misreadings = misreadings(self._counts)
        state, doubtful = reading.state, reading.doubtful
        if doubtful:
            state = replace(state, true=state.true - doubtful, unknown=state.unknown | doubtful)
        self._settled[at.handle] = Situation(at.handle, state)
        return self._settled[at.handle]

    def _look(self, at: Situation) -> Situation:
        self._go(at)
        self.counts.looks += 1
        final = self.agent.ask(Query(at, ())).final
        self._at = final.handle
        return final

    def _sizes_of(self, objects: Objects) -> dict[str, int]:
        if objects not in self._sizes:
            self._sizes[objects] = dict(atom_counts(self.vocabulary, objects))
        return self._sizes[objects]
