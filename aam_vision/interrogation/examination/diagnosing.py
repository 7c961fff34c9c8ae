"""Diagnosis by experiment: the doubtful step is asked again, in the same situation and in others.

In this order, since each question presumes that the ones before it were answered:

1. Does the same step after the same history come out the same? If not, its outcome is random, or was misread.
2. Do earlier answers come out as they did then? If not, the agent has changed.
3. Is a strange change undone by the next step, or made by whatever step comes? Then a picture was misread, or an
   effect came late.
4. Does the step come out the same in the same perceived situation after another history? If not, something is hidden.
5. Does one literal tell the situations in which it comes out as expected from the others? Then it is conditional,
   unless the steps agree with each other once the step before each is taken into account (``previous_step``): then
   an image, an effect or a refusal comes one step late.

On a trajectory nothing can be had again but a step that left everything as it was. There steps are made at random, and
the order in which the outcomes follow each other tells the families apart (``no_way_back``).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aam_vision.interrogation.examination.comparison import (
    alike_but_different,
    explored,
    nothing_works,
    other_history,
    strange_effect,
)
from aam_vision.interrogation.examination.dependence import conditional, one_literal_changed
from aam_vision.interrogation.examination.diagnosis import Diagnosis, Family
from aam_vision.interrogation.examination.elsewhere import changes_elsewhere
from aam_vision.interrogation.examination.inquiry import Inquiry, cut
from aam_vision.interrogation.examination.looking import change_not_seen, misread_at_rest
from aam_vision.interrogation.examination.no_way_back import by_literal, by_order, on_trajectory
from aam_vision.interrogation.examination.previous_step import by_previous_step
from aam_vision.interrogation.examination.repetition import not_repeatable
from aam_vision.interrogation.examination.trials import Spent, Trial, Trials
from aam_vision.query import Access

LONGEST = 100
"""Characters of the line that says what is wrong."""
EXPERIMENTS = (
    not_repeatable,
    changes_elsewhere,
    strange_effect,
    alike_but_different,
    nothing_works,
    other_history,
    one_literal_changed,
    explored,
)
AT_REST = (not_repeatable, nothing_works)
"""Those for which nothing has to be had again."""


def diagnose(trials: Trials, rng: np.random.Generator) -> Diagnosis:
    """Find out which part of the assumption is false, by experiments with the agent.

    Args:
        trials: the agent, and the steps that it was seen to do; the last answer is the one that cannot be right.
        rng: the source of the random choices.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    inquiry = Inquiry.of(trials, rng)
    doubtful: Trial | None = None
    try:
        if found := misread_at_rest(inquiry) or change_not_seen(inquiry):
            return replace(found, steps=trials.steps)
        doubtful = inquiry.doubtful_step()
        found = _verdict(inquiry, doubtful)
    except Spent:
        found = _verdict_without(inquiry, doubtful)
    return replace(found, why=cut(found.why, LONGEST), steps=trials.steps)


def _verdict(inquiry: Inquiry, doubtful: Trial | None) -> Diagnosis:
    if doubtful is not None:
        for experiment in EXPERIMENTS if inquiry.trials.access is not Access.TRAJECTORY else AT_REST:
            if found := experiment(inquiry, doubtful):
                return found
    if found := on_trajectory(inquiry, doubtful):
        return found
    return _verdict_without(inquiry, doubtful)


def _verdict_without(inquiry: Inquiry, doubtful: Trial | None) -> Diagnosis:
    """The verdict that follows from what was seen, with no further experiment."""
    if inquiry.trials.access is Access.TRAJECTORY and (found := by_order(inquiry, doubtful)):
        return found
    if doubtful is not None:
        found = by_previous_step(inquiry, doubtful) or conditional(inquiry, doubtful)
        return (by_literal(inquiry, doubtful) or found) if found.family is Family.UNKNOWN else found
    names = [step.name for entry in inquiry.trials.transcript.entries[-1:] for step in entry.actions]
    name = names[-1] if names else "the agent"
    return Diagnosis(
        Family.UNKNOWN, name, f"{name}: its answers contradict each other, and no experiment told why"
    )
