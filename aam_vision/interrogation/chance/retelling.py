"""What the answers of a recorded interrogation say of each action: the same as was learned when they were given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from aam_vision.interrogation.chance.frequency import Precision
from aam_vision.interrogation.chance.intervals import concentration
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.evidence.attempted_steps import AttemptedStep, attempted
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.support.errors import InconsistentAgent, UnusableInput

ALPHA = 0.05
"""Probability that some interval of an action is wrong."""


class Retold(NamedTuple):
    """The knowledge of every action, and the steps that it rests on."""

    actions: tuple[ActionKnowledge, ...]
    steps: tuple[AttemptedStep, ...]
    """Those that count; of walks in single steps."""
    contradiction: str | None
    """Why the answers after these are left out; None if there are none."""


def precision_of(within: float) -> Precision:
    """The precision of intervals of this half width."""
    return Precision(ALPHA, within, concentration(within))


def retold(transcript: Transcript, precision: Precision) -> Retold:
    """Learn from the answers of a transcript once more.

    Raises:
        UnusableInput: it is none of such a run.
    """
    return learned(transcript, attempted(transcript.in_single_steps()), precision)


def learned(transcript: Transcript, steps: Iterable[AttemptedStep], precision: Precision) -> Retold:
    """Learn from some steps of a transcript, up to the first that contradicts those before."""
    actions = {
        header.name: ActionKnowledge(AtomIndex(transcript.vocabulary, header), precision)
        for header in transcript.headers
    }
    counted: list[AttemptedStep] = []
    for step in steps:
        action, objects = actions[step.action.name], step.action.objects
        if step.before is None or (step.executed and step.after is None):
            raise UnusableInput(
                f"the transcript has a plan of several steps ({step.action}): it is of another kind of run, or damaged"
            )
        if step.before.state.unknown:
            continue  # of such a step of a walk nothing is learned
        try:
            if step.executed and step.after is not None:
                action.was_executed(step.before.state, objects, step.after.state)
            else:
                action.was_refused(step.before.state, objects)
        except InconsistentAgent as error:
            return Retold(tuple(actions.values()), tuple(counted), str(error))
        counted.append(step)
    for action in actions.values():
        action.reconsider()
    return Retold(tuple(actions.values()), tuple(counted), None)
