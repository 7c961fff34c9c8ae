"""Refusals that are a matter of chance: where no precondition explains them, to be refused is an outcome in which nothing changes.

A robot that now and then takes the arguments of ``move(?from, ?to)`` in the other order refuses, and carries out, steps wherever it stands.
With refusals as an outcome such an action requires nothing; its cases tell how often it is carried out where.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.interrogation.chance.intervals import precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge, index_of
from aam_vision.interrogation.chance.result import Options
from aam_vision.interrogation.chance.retelling import observed
from aam_vision.interrogation.evidence.moves import Asked, Entry, refused_step
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.model.query import Agent, Query, Response
from aam_vision.support.errors import InconsistentAgent
from aam_vision.support.wording import listed


def refused_by_chance(transcript: Transcript) -> tuple[str, ...]:
    """The actions that are carried out and refused, though nothing that they may require tells when."""
    precision = precision_of(Options().within)
    known = {
        header.name: ActionKnowledge(index_of(transcript.vocabulary, header, transcript.initial), precision)
        for header in transcript.headers
    }
    found, executed = set[str](), set[str]()
    for step in observed(transcript):
        name = step.action.name
        if step.executed:
            executed.add(name)
        try:
            if name not in found:
                known[name].was_seen(step)
        except InconsistentAgent:
            found.add(name)
    return tuple(name for name in known if name in found & executed)


def told_by_chance(names: Collection[str]) -> str:
    """That refusals are an outcome, and why, in a sentence; empty if they are not."""
    if not names:
        return ""
    return (
        f"A refused step of {listed(tuple(names))} counts as one that changes nothing: nothing that may be required explains "
        "when it is refused."
    )


def with_refusals(transcript: Transcript, names: Collection[str]) -> Transcript:
    """What is seen of an agent whose steps of these actions change nothing where they are refused."""
    return transcript.of([_carried_out(entry, names) for entry in transcript.entries])


def _carried_out(entry: Entry, names: Collection[str]) -> Entry:
    """The same entry; a question about a step of these that was refused ends with it."""
    refused = refused_step(entry)
    if not isinstance(entry, Asked) or refused is None or refused.name not in names:
        return entry
    response = replace(entry.response, executed=entry.response.executed + 1, told=None)
    return replace(entry, query=replace(entry.query, plan=entry.actions), response=response)


class WithRefusals(AgentDecorator):
    """An agent whose steps of these actions change nothing where it refuses them."""

    def __init__(self, agent: Agent, names: Collection[str]) -> None:
        super().__init__(agent)
        self._names = names

    def ask(self, query: Query) -> Response:
        plan, executed = query.plan, 0
        while True:
            response = self.agent.ask(query)
            told = len(query.plan) if response.told is None else response.told
            refused = query.plan[response.executed : told]
            executed += response.executed
            if not (refused and refused[0].name in self._names):
                break
            executed += 1
            query = Query(response.final, plan[executed:], goes_on=True)
            if not query.plan:
                return Response(executed, response.final)
        told_of = None if response.told is None else executed - response.executed + response.told
        return Response(executed, response.final, told_of)
