"""Diagnoses from the order of the steps, where nothing can be had again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice, pairwise

from aam_vision.interrogation.examination.course import Course, Split
from aam_vision.interrogation.examination.diagnosis import Diagnosis, Family
from aam_vision.interrogation.examination.explanations import separating_literal
from aam_vision.interrogation.examination.inquiry import Inquiry, cut, example
from aam_vision.interrogation.examination.looking import wrong_reading
from aam_vision.interrogation.examination.previous_step import (
    LEAST,
    one_step_late,
    refused_one_step_late,
    strange_changes,
)
from aam_vision.interrogation.examination.surprises import differing
from aam_vision.interrogation.examination.trials import Trial
from aam_vision.interrogation.examination.wandering import Wanderer
from aam_vision.query import Access

WANDERED = 200
"""Steps that are made to see in which order the outcomes follow each other."""
SEVERAL = 2
"""States in which a step came out in each way, at least, before a literal may be the reason since a certain step."""
RETURNS = 6
"""Steps of the interrogation that are made once more before, where a way leads to their states."""
LOOKS = 4
"""Looks at a situation that was reached with a strange change."""
LOOKED_AT = 5
"""Such situations that are looked at."""


def on_trajectory(inquiry: Inquiry, doubtful: Trial | None) -> Diagnosis | None:
    """The verdict where nothing can be had again, from steps that are made to this end.

    Raises:
        Spent: too many steps have been attempted.
    """
    trials = inquiry.trials
    if trials.access is not Access.TRAJECTORY:
        return None
    name = _doubtful_action(inquiry, doubtful)
    if name is None:
        return None
    _again(inquiry, name)
    looked = 0
    for trial in Wanderer(inquiry, name).steps(WANDERED):
        if trial.after is None or looked == LOOKED_AT or not inquiry.strange_atoms(trial):
            continue
        looked += 1
        if found := _flickers(inquiry, trial):
            return found
    return by_order(inquiry, doubtful, steady=bool(looked))


def _again(inquiry: Inquiry, name: str) -> None:
    """Steps of the action that were executed before the doubtful one, made once more: they tell whether it has changed.

    Raises:
        Spent: too many steps have been attempted.
    """
    trials = inquiry.trials
    known = {
        (one.before.state, one.step): one
        for one in trials.seen[: trials.known]
        if one.step.name == name and one.executed and not inquiry.unexpected(one)
    }
    for state, step in islice(known, RETURNS):
        here = trials.here
        way = None if here is None else next((way for _, way in inquiry.ways(here.state, state.__eq__)), None)
        if way is None:
            continue
        for part in way:
            trial = trials.go_on(part)
            if trial is None or not trial.executed:
                break
        if trials.here is not None and trials.here.state == state:
            trials.go_on(step)


def by_order(inquiry: Inquiry, doubtful: Trial | None, *, steady: bool = False) -> Diagnosis | None:
    """The verdict that the steps allow, in the order in which they were taken.

    Args:
        inquiry: the steps, and what is known of the agent.
        doubtful: the step that came out otherwise than expected, if one was singled out.
        steady: whether strange readings stayed the same when they were looked at again.
    """
    course = Course.of(inquiry.trials)
    if found := one_step_late(course) or strange_changes(course, steady=steady):
        return found
    name = _doubtful_action(inquiry, doubtful)
    for one in sorted((header.name for header in course.headers), key=lambda one: one != name):
        splits = course.splits(course.seen, one)
        if splits:
            return _of_split(course, max(splits, key=lambda split: min(map(len, split))))
    return None


def by_literal(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Conditional, if a literal tells steps of the action apart that no STRIPS model explains."""
    course = Course.of(inquiry.trials)
    found = [_of_split(course, split) for split in course.splits(course.seen, doubtful.step.name)]
    return next((one for one in found if one.literal is not None), None)


def _of_split(course: Course, split: Split) -> Diagnosis:
    """The verdict on an action of which some steps came out otherwise than others."""
    trials = course.trials
    usual, strange = [trials[n] for n in split.usual], [trials[n] for n in split.strange]
    name = usual[0].step.name
    shown = example(usual[0]), example(strange[0])
    told = cut(strange[0].outcome, 40)
    if _varies_at_rest(course, split):
        return _random(course, split)
    mixed = not {(one.before.state, one.step) for one in usual}.isdisjoint(
        (one.before.state, one.step) for one in strange
    )
    ever_since = Diagnosis(Family.HIDDEN, name, f"{name}: hidden, {told} ever since a certain step", shown)
    alike = Diagnosis(
        Family.HIDDEN, name, f"{name}: hidden, {told} in one of two situations that look alike", shown
    )
    if mixed:
        if split.turns == 1 or _since(course, split):
            return ever_since
        if refused_one_step_late(course) or _steady_refusals(course, split):
            return alike
        return _random(course, split)
    once = split.turns == 1  # what changes in time may coincide with anything else that does
    vocabulary = course.lasting if once else course.vocabulary
    literal = separating_literal(vocabulary, course.header(name), usual, strange, enough=1, own=once)
    if literal is not None:
        why = f"{name}: conditional, {told} where {cut(literal, 40)}"
        return Diagnosis(Family.CONDITIONAL, name, why, shown, literal)
    if once or _since(course, split, own=True):
        return ever_since
    if refused_one_step_late(course):
        return alike
    why = f"{name}: conditional, {cut(told, 30)} in some states; no single literal tells which"
    return Diagnosis(Family.CONDITIONAL, name, why, shown)


def _steady_refusals(course: Course, split: Split) -> bool:
    """Whether refusals stayed refusals whenever they were attempted again at once."""
    stayed = 0
    for one, other in pairwise(split.order):
        first, second = course.trials[one], course.trials[other]
        if first.executed or first.before.handle != second.before.handle or first.step != second.step:
            continue
        if second.executed:
            return False
        stayed += 1
    return stayed >= LEAST


def _random(course: Course, split: Split) -> Diagnosis:
    usual, strange = course.trials[split.usual[0]], course.trials[split.strange[0]]
    alone = len(course.splits(course.seen, usual.step.name)) == 1
    numbers = split.order
    if (
        not alone
    ):  # the outcomes have another frequency in each situation: count where the step was tried most
        ((most, _),) = Counter(course.seen[n][:2] for n in numbers).most_common(1)
        numbers = [n for n in numbers if course.seen[n][:2] == most]
    counted_strange = [n for n in numbers if n in split.strange]
    seen, tried = len(counted_strange), len(numbers)
    usual = next((course.trials[n] for n in numbers if n in split.usual), usual)
    strange = course.trials[counted_strange[0]] if counted_strange else strange
    name = usual.step.name
    why = f"{name}: random, {cut(strange.outcome, 40)} in {seen} of {tried} attempts"
    shown = example(usual), example(strange)
    chance = alone and not strange.executed and 2 * seen < tried
    return Diagnosis(Family.RANDOM, name, why, shown, seen=seen, tried=tried, by_chance=chance)


def _varies_at_rest(course: Course, split: Split) -> bool:
    """Whether a step came out otherwise when it was attempted once more where nothing had changed."""
    for one, other in pairwise(split.order):
        if (one in split.strange) == (other in split.strange):
            continue
        first, second = course.trials[one], course.trials[other]
        if first.executed is not second.executed and first.executed:
            continue  # the refused one came later: something may have been used up
        stood = (first.after or first.before).handle == second.before.handle
        if stood and first.step == second.step and first.before.state == second.before.state:
            return True
    return False


def _since(course: Course, split: Split, *, own: bool = False) -> bool:
    """Whether a literal tells the strange steps from the usual ones since the first strange one, and did not before.

    ``own``: only one over the action's arguments, from steps in several states.
    """
    first = min(split.strange)
    later, strange = ([n for n in numbers if n >= first] for numbers in split)
    if own and min(len({course.seen[n][:2] for n in numbers}) for numbers in (later, strange)) < SEVERAL:
        return False
    header = course.header(course.seen[first].action.name)
    usual, others = ([course.trials[n] for n in numbers] for numbers in (later, strange))
    return separating_literal(course.vocabulary, header, usual, others, own=own) is not None


def _flickers(inquiry: Inquiry, trial: Trial) -> Diagnosis | None:
    """Misread, if the situation after a step is read otherwise when it is looked at again."""
    assert trial.after is not None, "it was executed"
    for _ in range(LOOKS):
        seen = inquiry.trials.look(trial.after)
        if seen is None:
            return None
        if changed := differing(trial.after.state, seen.state):
            return wrong_reading(
                trial, changed, replace(trial, after=seen), "read differently when looked at again"
            )
    return None


def _doubtful_action(inquiry: Inquiry, doubtful: Trial | None) -> str | None:
    """The doubtful step's action; else the one that occurs most often in the doubtful answer."""
    if doubtful is not None:
        return doubtful.step.name
    entries = inquiry.trials.transcript.entries
    if not entries:
        return None
    names = Counter(step.name for step in entries[inquiry.doubtful_entry].actions)
    return names.most_common(1)[0][0] if names else None
