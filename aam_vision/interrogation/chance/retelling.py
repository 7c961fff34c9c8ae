"""What the answers of a recorded interrogation say of each action: the same as was learned when they were given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from aam_vision.interrogation.chance.intervals import Precision
from aam_vision.interrogation.chance.knowledge import ActionKnowledge, compare_objectives, index_of
from aam_vision.interrogation.evidence.transcript import AttemptedStep, Course, Transcript, attempted
from aam_vision.support.errors import InconsistentAgent


class Retold(NamedTuple):
    """The knowledge of every action, and the steps that it rests on."""

    actions: tuple[ActionKnowledge, ...]
    steps: tuple[AttemptedStep, ...]
    """Those that count; of walks in single steps."""
    contradiction: str | None
    """Why the answers after these are left out; None if there are none."""


def retold(transcript: Transcript, precision: Precision) -> Retold:
    """Learn from the answers of a transcript once more."""
    return learned(transcript, observed(transcript), precision)


def observed(transcript: Transcript, course: Course | None = None) -> Iterator[AttemptedStep]:
    """The steps of a transcript before and after which the agent was seen, whatever came of them; of walks in single steps.

    Of a plan of several steps only a refusal of the first counts: whether another step's outcome is seen depends on what it is.

    ``course``: counts all steps of the transcript.
    """
    single = transcript.in_single_steps()
    return (step for step in attempted(single, course) if len(single.entries[step.entry].actions) == 1)


def learned(transcript: Transcript, steps: Iterable[AttemptedStep], precision: Precision) -> Retold:
    """Learn from some steps of a transcript, up to the first that contradicts those before."""
    actions = {
        header.name: ActionKnowledge(index_of(transcript.vocabulary, header, transcript.initial), precision)
        for header in transcript.headers
    }
    counted, contradiction = list[AttemptedStep](), None
    for step in steps:
        try:
            if actions[step.action.name].was_seen(step):
                counted.append(step)
        except InconsistentAgent as error:
            contradiction = str(error)
            break
    else:
        for action in actions.values():
            action.reconsider()
    compare_objectives([*actions.values()])
    return Retold(tuple(actions.values()), tuple(counted), contradiction)
