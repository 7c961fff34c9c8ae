"""Numbers for handles: an agent whose handles are its true states hides them behind numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aam_vision.agents.image import Passage, number_of
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import ActionHeader, Vocabulary
from aam_vision.support.errors import UnusableInput


class NumberedAgent:
    """A deterministic agent whose handles are numbers; it can be brought back to where it was (``Returning``).

    Or one whose chance is drawn from a generator, for executed steps only: then that has to be as at the beginning, so that the
    recorded steps draw the same again.

    Every look at the agent's world has a number of its own, so that numbers do not tell that two are alike; but
    where no step was executed, it is still the same one.

    ``exact``: whether recorded steps have to lead to the recorded states again; where these were misread they need not.
    """

    def __init__(self, agent: Agent, *, exact: bool = False) -> None:
        self._agent, self._exact = agent, exact
        self._behind: dict[int, Situation] = {}

    @property
    def vocabulary(self) -> Vocabulary:
        return self._agent.vocabulary

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return self._agent.headers

    @property
    def access(self) -> Access:
        return self._agent.access

    @property
    def checkpoint(self) -> Mapping[str, str]:
        """Which version it is, of one that says so."""
        found: Mapping[str, str] = getattr(self._agent, "checkpoint", {})
        return found

    def initial(self) -> Sequence[Situation]:
        return [self._numbered(situation) for situation in self._agent.initial()]

    def ask(self, query: Query) -> Response:
        response = self._agent.ask(replace(query, initial=self._of(query.initial)))
        if not response.executed:
            return Response(0, Situation(query.initial.handle, response.final.state))
        return Response(response.executed, self._numbered(response.final))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        before, walked = start, []
        for step in self._agent.walk(self._of(start), steps, rng):
            after = self._numbered(step.after)
            walked.append(WalkStep(before, step.action, after))
            before = after
        return walked

    def memo(self, situation: Situation) -> Any:
        """What the agent notes of a situation, if anything: the steps that led there lead there again."""
        behind = getattr(self._agent, "memo", None)
        return None if behind is None else behind(self._of(situation))

    def resume(self, history: Sequence[Passage]) -> None:
        """Take every recorded step again.

        Raises:
            UnusableInput: something else came of one, where that may not be.
        """
        initial = iter(self._agent.initial())
        for passage in history:
            after = number_of(passage.after)
            if passage.before is None:
                self._behind[after] = next(initial)
            elif passage.steps:
                query = Query(self._of(passage.before), passage.steps)
                self._behind[after] = self._agent.ask(query).final
                if self._exact and self._behind[after].state != passage.after.state:
                    step = ", ".join(map(str, passage.steps))
                    raise UnusableInput(
                        f"the agent has done {step} otherwise than it is recorded; start a new run"
                    )

    def _of(self, situation: Situation) -> Situation:
        return self._behind[number_of(situation)]

    def _numbered(self, situation: Situation) -> Situation:
        number = len(self._behind)
        self._behind[number] = situation
        return Situation(number, situation.state)
