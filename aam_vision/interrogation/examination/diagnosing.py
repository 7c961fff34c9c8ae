"""Diagnosis by experiment: the doubtful step is asked again, in the same situation and in others.

In this order, since each question presumes that the ones before it were answered:

1. Does the same step after the same history come out the same? If not, its outcome is random, or was misread.
2. Do earlier answers come out as they did then? If not, the agent has changed.
3. Is a strange change undone by the next step, or made by whatever step comes? Then a picture was misread, or an
   effect came late.
4. Does the step come out the same in the same perceived situation after another history? If not, something is hidden.
5. Does one literal tell the situations in which it comes out as expected from the others? Then it is conditional,
   unless the steps agree with each other once the step before each is taken into account (``by_previous_step``): then
   an image, an effect or a refusal comes one step late.

On a trajectory nothing can be had again but a step that left everything as it was. There steps are made at random, and
the order in which the outcomes follow each other tells the families apart (``by_order``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice, pairwise, product

import numpy as np

from aam_vision.interrogation.examination.comparison import (
    alike_but_different,
    explored,
    left_and_gone_back_to,
    nothing_works,
    other_history,
    strange_effect,
)
from aam_vision.interrogation.examination.course import Course, Split
from aam_vision.interrogation.examination.elsewhere import Wanderer, changes_elsewhere
from aam_vision.interrogation.examination.findings import Diagnosis, Family
from aam_vision.interrogation.examination.inquiry import Inquiry, cut, example, verdict
from aam_vision.interrogation.examination.looking import change_not_seen, misread_at_rest, wrong_reading
from aam_vision.interrogation.examination.outcomes import brought_about
from aam_vision.interrogation.examination.predictions import differing, expected
from aam_vision.interrogation.examination.repetition import (
    LEAST,
    by_history,
    by_previous_step,
    changed_by_itself,
    late_effect,
    not_repeatable,
    one_step_late,
    refused_one_step_late,
    strange_changes,
)
from aam_vision.interrogation.examination.trials import (
    History,
    Spent,
    Trial,
    Trials,
    in_own_words,
    separating_literal,
    separating_pair,
)
from aam_vision.model.query import Situation, traced
from aam_vision.model.strips import Atom

LONGEST = 100
"""Characters of the line that says what is wrong."""


def diagnose(trials: Trials, rng: np.random.Generator) -> Diagnosis:
    """Find out which part of the assumption is false, by experiments with the agent.

    ``trials``: the agent, and the steps that it was seen to do; the last answer is the one that cannot be right.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    inquiry = Inquiry.of(trials, rng)
    doubtful: Trial | None = None
    try:
        if not traced(trials.agent) and (found := misread_at_rest(inquiry) or change_not_seen(inquiry)):
            return replace(found, steps=trials.steps)
        doubtful = inquiry.doubtful_step()
        found = brought_about(trials, _verdict(inquiry, doubtful))
    except Spent:
        found = _verdict_without(inquiry, doubtful)
    return replace(found, why=cut(found.why, LONGEST), steps=trials.steps)


def _verdict(inquiry: Inquiry, doubtful: Trial | None) -> Diagnosis:
    if doubtful is not None:
        for experiment in EXPERIMENTS if inquiry.trials.access.restarts else AT_REST:
            if found := experiment(inquiry, doubtful):
                return found
    if found := on_trajectory(inquiry, doubtful):
        return found
    return _verdict_without(inquiry, doubtful)


def _verdict_without(inquiry: Inquiry, doubtful: Trial | None) -> Diagnosis:
    """The verdict that follows from what was seen, with no further experiment."""
    if not inquiry.trials.access.restarts and (found := by_order(inquiry, doubtful)):
        return found
    if doubtful is not None:
        found = by_previous_step(inquiry, doubtful) or conditional(inquiry, doubtful)
        return (by_literal(inquiry, doubtful) or found) if found.family is Family.UNKNOWN else found
    names = [step.name for entry in inquiry.trials.transcript.entries[-1:] for step in entry.actions]
    name = names[-1] if names else "the agent"
    return Diagnosis(
        Family.UNKNOWN, name, f"{name}: its answers contradict each other, and no experiment told why"
    )


# The doubtful step in other perceived states: which literal does its outcome depend on?


TOGGLED = 150
"""Atoms that are changed one at a time in the doubtful situation, where any state can be made."""


def one_literal_changed(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Conditional, if the step comes out as expected once a single literal of the situation is changed."""
    if not inquiry.trials.access.constructs:
        return None
    state, own = doubtful.before.state, set(doubtful.step.objects)
    atoms = [
        Atom(predicate.name, row)
        for predicate in inquiry.evidence.hypotheses.vocabulary.predicates
        for row in product(*map(state.objects.of_type, predicate.types))
    ]
    atoms.sort(key=lambda atom: (not own.issuperset(atom.objects), atom))
    found: list[tuple[Atom, Trial]] = []
    strange = inquiry.strange_atoms(doubtful)
    for atom in (atom for atom in atoms[:TOGGLED] if atom not in strange):
        other = replace(state, true=state.true ^ {atom})
        if expected(inquiry.evidence, other, doubtful.step) is False:
            continue
        trial = inquiry.trials.attempt(History(Situation(other, other)), doubtful.step)
        if trial is not None and trial.executed and not inquiry.unexpected(trial):
            found.append((atom, trial))
    if not found:
        return None
    atom, trial = found[0]  # an atom of the step's own objects, if there is one
    if len(found) > 1 and sum(own.issuperset(one.objects) for one, _ in found) != 1:
        return conditional(inquiry, doubtful, trial)
    header = inquiry.evidence.hypotheses[doubtful.step.name].index.header
    text = in_own_words(header, doubtful.step, atom)
    return conditional(inquiry, doubtful, trial, text if atom in state.true else f"not {text}")


def outcomes(inquiry: Inquiry, name: str) -> tuple[list[Trial], list[Trial]]:
    """The steps of an action that should have been executed: those that came out as expected, and the others."""
    applicable = [
        trial
        for trial in inquiry.trials.seen
        if trial.step.name == name and expected(inquiry.evidence, trial.before.state, trial.step) is not False
    ]
    strange = [trial for trial in applicable if inquiry.unexpected(trial)]
    usual = [trial for trial in applicable if not inquiry.unexpected(trial) and trial.executed]
    return usual, strange


def conditional(
    inquiry: Inquiry, doubtful: Trial, normal: Trial | None = None, literal: str | None = None
) -> Diagnosis:
    """Conditional on the perceived state; unknown if nothing shows that it depends on that."""
    evidence, name = inquiry.evidence, doubtful.step.name
    usual, strange = outcomes(inquiry, name)
    header = evidence.hypotheses[name].index.header
    vocabulary = evidence.hypotheses.vocabulary
    literal = literal or separating_literal(vocabulary, header, usual, strange)
    if literal is None and inquiry.steadfast:  # each of them comes out the same every time
        literal = separating_literal(vocabulary, header, usual, strange, enough=1, own=True)
    normal = normal or (usual[0] if usual else None)
    shown = [doubtful] if normal is None else [normal, doubtful]
    if literal is not None:
        told = f"{cut(doubtful.outcome, 40)} where {cut(literal, 40)}"
        return verdict(Family.CONDITIONAL, name, told, *shown, literal=literal)
    if len({(trial.before.state, trial.step) for trial in strange}) > 1 and usual:
        told = f"{cut(doubtful.outcome, 30)} in some states; no single literal tells which"
        return verdict(Family.CONDITIONAL, name, told, *shown)
    why = f"{name}: {cut(doubtful.outcome, 50)}, which its model rules out"
    examples = tuple(map(example, shown))
    return Diagnosis(Family.UNKNOWN, name, why, examples, by_chance=not inquiry.steadfast)


def of_other_objects(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Conditional, if the action changes atoms of other objects; hidden, if an earlier step explains these changes."""
    found = changes_elsewhere(inquiry, doubtful)
    return found and (late_effect(Course.of(inquiry.trials), alone=True) or found)


EXPERIMENTS = (
    not_repeatable,
    of_other_objects,
    strange_effect,
    alike_but_different,
    nothing_works,
    other_history,
    one_literal_changed,
    explored,
    left_and_gone_back_to,
)
AT_REST = (not_repeatable, nothing_works)
"""Those for which nothing has to be had again."""


# Diagnoses from the order of the steps, where nothing can be had again.


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
    """The verdict where nothing can be had again, from steps that are made to this end."""
    trials = inquiry.trials
    if trials.access.restarts:
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
    """Steps of the action that were executed before the doubtful one, made once more: they tell whether it has changed."""
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

    ``steady``: whether strange readings stayed the same when they were looked at again.
    """
    course = Course.of(inquiry.trials)
    if found := one_step_late(course) or strange_changes(course, steady=steady) or changed_by_itself(course):
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
    shown = usual[0], strange[0]
    told = cut(strange[0].outcome, 40)
    if _varies_at_rest(course, split):
        return _random(course, split)
    mixed = not {(one.before.state, one.step) for one in usual}.isdisjoint(
        (one.before.state, one.step) for one in strange
    )
    ever_since = verdict(Family.HIDDEN, name, f"{told} ever since a certain step", *shown, ever_since=True)
    alike = verdict(Family.HIDDEN, name, f"{told} in one of two situations that look alike", *shown)
    if mixed:
        if split.turns == 1 or _since(course, split):
            return ever_since
        if found := by_history(course, split):
            return found
        if refused_one_step_late(course) or _steady_refusals(course, split):
            return alike
        return _random(course, split)
    once = split.turns == 1  # what changes in time may coincide with anything else that does
    vocabulary, header = course.lasting if once else course.vocabulary, course.header(name)
    literal = separating_literal(vocabulary, header, usual, strange, enough=1, own=True)
    if literal is None and not once:
        if found := by_history(course, split):
            return found
        literal = separating_literal(vocabulary, header, usual, strange, enough=1)
    if literal is not None:
        told = f"{told} where {cut(literal, 40)}"
        return verdict(Family.CONDITIONAL, name, told, *shown, literal=literal)
    if once:
        return ever_since
    if _since(course, split, own=True):
        # that the agent has changed just before the first such step is less likely than that both were needed all the time
        pair = separating_pair(course.lasting, course.header(name), usual, strange)
        if pair is None:
            return ever_since
        return verdict(Family.CONDITIONAL, name, f"{told} where {cut(pair, 50)}", *shown)
    if refused_one_step_late(course):
        return alike
    told = f"{cut(told, 30)} in some states; no single literal tells which"
    return verdict(Family.CONDITIONAL, name, told, *shown)


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
    told = f"{cut(strange.outcome, 40)} in {seen} of {tried} attempts"
    found = {"seen": seen, "tried": tried, "by_chance": alone and not strange.executed and 2 * seen < tried}
    return verdict(Family.RANDOM, usual.step.name, told, usual, strange, **found)


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
