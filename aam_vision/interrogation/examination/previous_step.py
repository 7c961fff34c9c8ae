"""What the step before each step tells: images, effects and refusals that come one step late, and what is used up."""

from __future__ import annotations

from collections import defaultdict

from aam_vision.interrogation.examination.course import Course, Split, always, violated
from aam_vision.interrogation.examination.diagnosis import Diagnosis, Family
from aam_vision.interrogation.examination.elsewhere import regular
from aam_vision.interrogation.examination.explanations import separating_literal
from aam_vision.interrogation.examination.inquiry import Inquiry, cut, example
from aam_vision.interrogation.examination.looking import wrong_reading
from aam_vision.interrogation.examination.surprises import differing
from aam_vision.interrogation.examination.trials import Trial
from aam_vision.model.strips import Atom, LiftedAtom, lifted_atoms
from aam_vision.support.wording import counted

LEAST = 5
"""Executed steps, at least, that images or refusals which come one step late have to explain."""
OFTEN = 2
"""Times, at least, that an effect has to come late, or that an outcome has to be seen early or late in an episode."""
REPEATED = 4
"""The same where it is one situation again and again."""
Key = tuple[str, LiftedAtom, bool]
"""An action, one of its atoms, and the value that it gets."""
BEFORE_AND_AFTER = 3
"""Steps of each outcome, at least, that are seen before and after an agent changed."""


def by_previous_step(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Hidden, misread or changing, if the steps agree with each other once those before them are taken into account."""
    course, name = Course.of(inquiry.trials), doubtful.step.name
    if found := one_step_late(course) or strange_changes(course, steady=True):
        return found
    for split in course.splits(course.seen, name):
        usual, strange = course.of_split(split)
        if separating_literal(course.vocabulary, course.header(name), usual, strange, own=True) is not None:
            continue
        shown = example(usual[0]), example(strange[0])
        told = cut(strange[0].outcome, 40)
        if uses := _used_up(course, split):
            why = f"{name}: hidden, {told} after {counted(uses, 'use')} in an episode"
            return Diagnosis(Family.HIDDEN, name, why, shown)
        if not strange[0].executed and refused_one_step_late(course):
            why = f"{name}: hidden, refused after one of two steps to situations that look alike"
            return Diagnosis(Family.HIDDEN, name, why, shown)
        if split.turns == 1 and min(map(len, split)) >= BEFORE_AND_AFTER:
            return Diagnosis(
                Family.CHANGING, name, f"{name}: changing, {told} ever since a certain step", shown
            )
    return None


def _used_up(course: Course, split: Split) -> int:
    """After how many uses of an action in an episode it has always come out otherwise; 0 if that does not tell."""
    name = course.trials[split.usual[0]].step.name
    uses: dict[bool, list[int]] = {True: [], False: []}
    for number in split.order:
        way = course.way(course.trials[number])
        if way is not None:
            uses[number in split.strange].append(sum(step.name == name for step in way))
    if min(map(len, uses.values())) < OFTEN or max(uses[False]) >= min(uses[True]):
        return 0
    return min(uses[True])


def one_step_late(course: Course) -> Diagnosis | None:
    """Misread, if every image shows the state before the last executed step: then the steps agree with each other."""
    executed = [step for step in course.one_later if step.after is not None]
    if len(executed) < LEAST or course.disagreements(course.one_later):
        return None
    if not (course.led and course.disagreements(course.seen)):
        return None
    changed = [
        (trial, atoms)
        for trial in course.trials
        if trial.after is not None and (atoms := differing(trial.before.state, trial.after.state))
    ]
    trial, atoms = changed[-1]
    return wrong_reading(
        trial,
        atoms,
        trial,
        "seen one step late, as all images are",
        by_chance=False,
    )


def strange_changes(course: Course, *, steady: bool) -> Diagnosis | None:
    """Misread or hidden, by when atoms changed that the step does not touch.

    What changes and is back after the next step was misread. What always changes with the step after an action is an
    effect of that action that comes late.

    Args:
        course: the steps.
        steady: whether strange readings stayed the same when they were looked at again.
    """
    if not course.led:
        return None
    untouched = course.untouched(course.seen)
    strange = dict.fromkeys(course.trials[number] for number, _ in untouched)
    if found := regular(course, strange):
        return found
    where = {(course.trials[number].before.handle, atom) for number, atom in untouched}
    next_step = {trial.before.handle: trial for trial in course.trials if trial.executed}
    both: list[tuple[Trial, Atom]] = []
    one: list[tuple[Trial, Atom]] = []
    for number, atom in untouched:
        trial = course.trials[number]
        assert trial.after is not None, "it was executed"
        after, before = next_step.get(trial.after.handle), course.came.get(trial.before.handle)
        if (trial.after.handle, atom) in where or (
            before is not None and (before.before.handle, atom) in where
        ):
            both.append((trial, atom))
        elif any(near is not None and atom in _changed(near) for near in (after, before)):
            one += [(trial, atom)] if _irregular(course, trial, atom) else []
    if 2 * len(both) <= len(untouched) and (found := late_effect(course)):
        return found
    if 2 * len(both + one) <= len(untouched):
        return None
    trial, atom = (both + one)[0]
    how = "wrong in one picture, right in the next"
    return wrong_reading(trial, [atom], trial, how, by_chance=not steady)


def late_effect(course: Course) -> Diagnosis | None:
    """Hidden, if an atom that an action does not change always changes with the step after it.

    That is seen in several situations; or in one situation again and again, which a step after another action left
    otherwise.
    """
    came: dict[Key, list[Trial]] = defaultdict(list)
    stayed: set[Key] = set()
    untouched = set(course.untouched(course.seen))
    for number, trial in enumerate(course.trials):
        previous = course.previous(trial)
        if previous is None or trial.after is None:
            continue
        for atom in lifted_atoms(course.vocabulary, course.header(previous.name)):
            ground = atom.ground(previous.objects)
            value = trial.before.state.value(ground)
            if value is None:
                continue
            key = previous.name, atom, not value
            if (number, ground) in untouched:
                came[key].append(trial)
            elif trial.after.state.value(ground) is value and not {*ground.objects} <= {*trial.step.objects}:
                stayed.add(key)
    for key in sorted(came.keys() - stayed, key=lambda key: (key[0], str(key[1]), key[2])):
        name, atom, _ = key
        several = {(trial.before.state, trial.step): trial for trial in came[key]}
        if len(several) >= OFTEN or (len(came[key]) >= REPEATED and _left(course, came[key][0], name, atom)):
            text = atom.text(course.header(name).parameters)
            why = f"{name}: hidden, {cut(text, 40)} changes only with the step after it"
            return Diagnosis(Family.HIDDEN, name, why, tuple(map(example, [*several.values()][:2])))
    return None


def _left(course: Course, strange: Trial, name: str, lifted: LiftedAtom) -> bool:
    """Whether the step left the atom as it was in the same perceived state, where the step before cannot have changed it."""
    before = course.previous(strange)
    assert before is not None, "it made the change"
    atom = lifted.ground(before.objects)
    value = strange.before.state.value(atom)
    return any(
        (trial.before.state, trial.step) == (strange.before.state, strange.step)
        and trial.after is not None
        and trial.after.state.value(atom) is value
        and (previous := course.previous(trial)) is not None
        and (previous.name != name or lifted.ground(previous.objects) != atom)
        for trial in course.trials
    )


def _irregular(course: Course, strange: Trial, atom: Atom) -> bool:
    """Whether the same step left the atom as it was elsewhere: then it is no effect."""
    assert strange.after is not None, "it was executed"
    value = strange.before.state.value(atom)
    return any(
        trial.step == strange.step
        and trial.after is not None
        and trial.before.state.value(atom) is value
        and trial.after.state.value(atom) is value
        for trial in course.trials
    )


def _changed(trial: Trial) -> list[Atom]:
    return [] if trial.after is None else differing(trial.before.state, trial.after.state)


def refused_one_step_late(course: Course) -> bool:
    """Whether the state before the last executed step explains all refusals that the present state does not."""
    executed = refused = 0
    for header in course.headers:
        atoms = lifted_atoms(course.vocabulary, header)
        earlier = {
            number: step._replace(before=before)
            for number, (trial, step) in enumerate(zip(course.trials, course.seen, strict=True))
            if step.action.name == header.name and (before := course.earlier(trial)) is not None
        }
        literals = always((step for step in earlier.values() if step.after is not None), atoms)
        splits = course.splits(course.seen, header.name)
        strange = {n for split in splits for n in split.strange if course.seen[n].after is None}
        if not all(violated(earlier[number], literals) for number in strange & set(earlier)):
            return False
        refused += len(strange & set(earlier))
        executed += sum(step.after is not None for step in earlier.values()) if strange else 0
    return executed >= LEAST and refused > 0
