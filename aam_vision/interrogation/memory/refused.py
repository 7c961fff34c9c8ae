"""Actions that were refused wherever they were tried, though nothing that the vocabulary has words for explains that.

The agent cannot do such an action at all, or what it needs was never so and has no word: a robot that has lost its gripper is told to pick
things up. Refusals of which each rules out what explains the others contradict every model; all other actions are learned without it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import Malformed
from aam_vision.interrogation.evidence.moves import Asked, Entry, refused_step
from aam_vision.interrogation.evidence.transcript import Transcript, taken_in
from aam_vision.model.query import Agent, Situation, WalkStep
from aam_vision.model.strips import ActionHeader
from aam_vision.support.errors import InconsistentAgent
from aam_vision.support.wording import counted, listed


def refused_everywhere(transcript: Transcript) -> tuple[str, ...]:
    """The actions that were never executed and have to be left out for a model to explain all answers; none if that is not enough."""
    executed = {step.name for entry in transcript.entries for step in entry.executed}
    names: tuple[str, ...] = ()
    while True:
        left = without(transcript, names)
        _, contradicted = taken_in(left)
        if contradicted is None:
            return names
        entry = left.entries[contradicted]
        refused = refused_step(entry)
        if refused is None or refused.name in executed:
            return ()
        names = (*names, refused.name)


def told_refused(transcript: Transcript, names: Sequence[str]) -> str:
    """That actions are left out of a model, and why, in a sentence."""
    refused = [step.name for entry in transcript.entries if (step := refused_step(entry)) is not None]
    often = [counted(refused.count(name), "time") for name in names]
    are, them = ("are", "they were") if len(names) > 1 else ("is", "it was")
    return (
        f"{listed(names)} {are} not in the model: {them} refused wherever tried, {listed(often)}, "
        "and nothing that the vocabulary has words for explains that."
    )


def read_refused(told: Sequence[object], transcript: Transcript) -> tuple[str, ...]:
    """The names of actions that are left out, from plain data.

    Raises:
        Malformed: one is none of the agent's actions, or was executed.
    """
    executed = {step.name for entry in transcript.entries for step in entry.executed}
    names = tuple(header.name for header in transcript.headers if header.name in told)
    if len(names) != len(told) or executed.intersection(names):
        raise Malformed("actions that are left out are none of the agent's, or were executed")
    return names


def without(transcript: Transcript, names: Collection[str]) -> Transcript:
    """What is seen of an agent whose actions of these names are not known; none of them was executed."""
    if not names:
        return transcript
    entries = tuple(_without(entry, names) for entry in transcript.entries)
    return replace(transcript, headers=_others(transcript.headers, names), entries=entries)


class Without(AgentDecorator):
    """An agent whose actions of these names are not known."""

    def __init__(self, agent: Agent, names: Collection[str]) -> None:
        super().__init__(agent)
        self._names = names

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return _others(self.agent.headers, self._names)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The agent's walk.

        Raises:
            InconsistentAgent: it took a step that it refused everywhere before.
        """
        walked = self.agent.walk(start, steps, rng)
        for step in walked:
            if step.action.name in self._names:
                raise InconsistentAgent(
                    f"{step.action} was executed, and refused wherever it was tried before"
                )
        return walked


def _others(headers: Sequence[ActionHeader], names: Collection[str]) -> tuple[ActionHeader, ...]:
    return tuple(header for header in headers if header.name not in names)


def _without(entry: Entry, names: Collection[str]) -> Entry:
    """The same entry, of a question only what comes before the first of the actions."""
    if not isinstance(entry, Asked):
        return entry
    plan, told = entry.query.plan, entry.response.told
    kept = tuple(takewhile(lambda step: step.name not in names, plan))
    if kept == plan:
        return entry
    told = told if told is not None and told < len(kept) else None
    return replace(entry, query=replace(entry.query, plan=kept), response=replace(entry.response, told=told))
