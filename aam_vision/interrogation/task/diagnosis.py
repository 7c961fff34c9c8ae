"""Why an agent contradicts itself: it is asked again what disagrees.

A misread agent sometimes answers differently, and the contradiction goes away. An agent that gives the same answers
every time, although no STRIPS model explains them, is not a STRIPS agent in this vocabulary: its effects depend on
the state, or on something that the vocabulary does not express.
"""

from __future__ import annotations

from dataclasses import dataclass

from aam_vision.interrogation.evidence.anomalies import unexplained_changes
from aam_vision.interrogation.evidence.conflict import contradicting_entries
from aam_vision.interrogation.evidence.entries import Asked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.query import Agent, Query

ROUNDS = 3
"""How often the same questions have to get the same answers."""


@dataclass(frozen=True)
class Diagnosis:
    """The outcome of asking again."""

    asked: tuple[Asked, ...]
    steadfast: bool
    """Whether every answer was the same each time, and they contradict each other still."""


def diagnose(agent: Agent, transcript: Transcript) -> Diagnosis:
    """Ask again what disagrees in a transcript, until it agrees or has been asked ``ROUNDS`` times.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    questions = _questions(transcript)
    asked: list[Asked] = []
    first: list[Asked] = []
    for _ in range(ROUNDS if questions else 0):
        answers = [Asked(query, agent.ask(query)) for query in questions]
        asked += answers
        first = first or answers
        if [a.response for a in answers] != [a.response for a in first] or not _questions(
            transcript.of(answers)
        ):
            return Diagnosis(tuple(asked), False)
    return Diagnosis(tuple(asked), bool(questions))


def _questions(transcript: Transcript) -> list[Query]:
    """The questions, and steps of walks, whose answers contradict each other or themselves."""
    single = transcript.in_single_steps()
    constants = transcript.vocabulary.constants
    wrong = [n for n, entry in enumerate(single.entries) if unexplained_changes(entry, constants)][:1]
    numbers = wrong or contradicting_entries(single) or []
    found = []
    for entry in (single.entries[number] for number in numbers):
        if isinstance(entry, Asked):
            found.append(entry.query)
        else:
            found += [Query(step.before, (step.action,)) for step in entry.steps]
    return found
