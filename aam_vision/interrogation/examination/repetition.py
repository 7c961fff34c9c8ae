"""The doubtful step again after the same history, and what the step before each step tells.

Does it come out the same, and do earlier ones? Images, effects and refusals may come one step late, and something may be used up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from aam_vision.interrogation.examination.course import Course, Split, always, violated
from aam_vision.interrogation.examination.elsewhere import regular
from aam_vision.interrogation.examination.findings import Diagnosis, Family
from aam_vision.interrogation.examination.inquiry import Inquiry, cut, verdict
from aam_vision.interrogation.examination.looking import (
    images_of,
    read_otherwise,
    wrong_reading,
)
from aam_vision.interrogation.examination.outcomes import seen_once, varying
from aam_vision.interrogation.examination.predictions import differing
from aam_vision.interrogation.examination.trials import History, Trial, separating_literal
from aam_vision.model.query import Query, Situation
from aam_vision.model.strips import Atom, GroundAction, LiftedAtom, State, lifted_atoms
from aam_vision.support.wording import counted

LEAST = 5
"""Executed steps, at least, that images or refusals which come one step late have to explain."""
LATE = 2
"""Times, at least, that an effect has to come late, or that an outcome has to be seen early or late in an episode."""
REPEATED = 4
"""The same where it is one situation again and again."""
LATEST = 6
"""Executed steps after an action, at most, with the last of which an effect of it may come."""


class Key(NamedTuple):
    """An effect that comes late."""

    action: str
    atom: LiftedAtom
    value: bool
    steps: int
    """With which executed step after the action."""


LEAST_KEPT = 2
"""Further pictures, at least, that show what has changed by itself."""
BEFORE_AND_AFTER = 3
"""Steps of each outcome, at least, that are seen before and after an agent changed."""
REPEATS = 30
"""Times that a doubtful step is repeated, where that takes one step each."""
REPEATED_STEPS = 150
"""Steps that these repetitions take at most, but for the first ``FEWEST``."""
FEWEST = 4
EARLIER = 4
"""Earlier steps that are asked again, to find out whether the agent has changed."""
AGREEING = 1
"""Steps that came out as expected, at most, before one of them that never does so again counts as a change."""
SELDOM = 10
"""Repetitions in which an outcome never came again, at least, before it is no chance that it came once."""
LOOKS = 3
"""Looks at an outcome that all have to show it, before the reading is not to blame."""


def by_previous_step(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Hidden, misread or changing, if the steps agree with each other once those before them are taken into account."""
    course, name = Course.of(inquiry.trials), doubtful.step.name
    if found := one_step_late(course) or strange_changes(course, steady=True):
        return found
    for split in course.splits(course.seen, name):
        usual, strange = course.of_split(split)
        if separating_literal(course.vocabulary, course.header(name), usual, strange, own=True) is not None:
            continue
        shown = usual[0], strange[0]
        told = cut(strange[0].outcome, 40)
        if used_up := _used_up(course, split):
            uses, first, last = used_up
            told = f"{cut(last.outcome, 40)} after {counted(uses, 'use')} in an episode"
            return verdict(Family.HIDDEN, name, told, first, last)
        if found := by_history(course, split):
            return found
        if not strange[0].executed and refused_one_step_late(course):
            told = "refused after one of two steps to situations that look alike"
            return verdict(Family.HIDDEN, name, told, *shown)
        if split.turns == 1 and min(map(len, split)) >= BEFORE_AND_AFTER:
            return verdict(Family.CHANGING, name, f"{told} ever since a certain step", *shown)
    return None


def by_history(course: Course, split: Split) -> Diagnosis | None:
    """Hidden, if what was done before with an object of a step tells how it comes out; None if that does not tell.

    Steps with that object have come out both ways: what never changes may as well be a property of the object.
    """
    shared: dict[bool, list[set[tuple[str, int, int]]]] = {True: [], False: []}
    differing: dict[bool, set[tuple[State, GroundAction]]] = {True: set(), False: set()}
    named: dict[bool, set[tuple[int, str]]] = {True: set(), False: set()}
    for number in split.order:
        trial, strange = course.trials[number], number in split.strange
        if (found := course.shared(trial)) is not None:
            shared[strange].append(found)
            named[strange].update(enumerate(trial.step.objects))
            differing[strange].add((trial.before.state, trial.step))
    if min(map(len, differing.values())) < BEFORE_AND_AFTER:
        return None
    both_ways = {place for place, _ in named[True] & named[False]}
    for strange, when in ((True, "after"), (False, "unless after")):
        found = set.intersection(*shared[strange]).difference(*shared[not strange])
        if told := {one for one in found if one[2] in both_ways}:
            action, _, own = min(told)
            usual, others = course.of_split(split)
            parameter = course.header(usual[0].step.name).parameters[own]
            why = f"{cut(others[0].outcome, 40)} {when} {action} of ?{parameter} in an episode"
            return verdict(Family.HIDDEN, usual[0].step.name, why, usual[0], others[0])
    return None


def _used_up(course: Course, split: Split) -> tuple[int, Trial, Trial] | None:
    """After how many uses of an action in an episode it has always come out otherwise, with a step before and one after; None if that does not tell."""
    name = course.trials[split.usual[0]].step.name
    uses: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for number in split.order:
        way = course.way(course.trials[number])
        if way is not None:
            uses[number in split.strange].append((sum(step.name == name for step in way), number))
    if min(map(len, uses.values())) < LATE:
        return None
    earlier, later = sorted(uses.values())  # whichever outcome was seen more often
    if max(earlier)[0] >= min(later)[0]:
        return None
    return min(later)[0], course.trials[min(earlier)[1]], course.trials[min(later)[1]]


def one_step_late(course: Course) -> Diagnosis | None:
    """Misread, if every image shows the state before the last executed step: then the steps agree with each other."""
    executed = [step for step in course.one_later if step.after is not None]
    if len(executed) < LEAST or course.disagreements(course.one_later):
        return None
    if not (course.led and course.disagreements(course.seen)):
        return None
    trial = next(trial for trial in reversed(course.trials) if trial.changed)
    return wrong_reading(
        trial, trial.changed, trial, "seen one step late, as all images are", by_chance=False
    )


def strange_changes(course: Course, *, steady: bool) -> Diagnosis | None:
    """Misread or hidden, by when atoms changed that the step does not touch.

    What changes and is back after the next step was misread. What always changes with the step after an action is an
    effect of that action that comes late.

    ``steady``: whether strange readings stayed the same when they were looked at again.
    """
    if not course.led:
        return None
    untouched = course.untouched(course.seen)
    strange = dict.fromkeys(course.trials[number] for number, _ in untouched)
    if found := regular(course, strange):
        return late_effect(course, alone=True) or found
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
        elif any(near is not None and atom in near.changed for near in (after, before)):
            one += [(trial, atom)] if _irregular(course, trial, atom) else []
    if 2 * len(both) <= len(untouched) and (found := late_effect(course)):
        return found
    if 2 * len(both + one) <= len(untouched):
        return None
    undone = [(trial, atom) for trial, atom in both + one if _changed_back(next_step, trial, atom)]
    if steady and (read := _read_otherwise_elsewhere(course, undone)):
        trial, atom = read
        told = f"{cut(str(atom), 40)} changes by itself, and back with the next step"
        return verdict(Family.HIDDEN, atom.predicate, told, trial)
    trial, atom = (both + one)[0]
    how = "wrong in one picture, right in the next"
    return wrong_reading(trial, [atom], trial, how, by_chance=not steady)


def changed_by_itself(course: Course) -> Diagnosis | None:
    """Hidden, if most atoms that changed with steps that do not touch them stayed so in further pictures.

    A picture that is misread is right again after the next step. What depends on the state comes again, and each time in that state.
    """
    untouched = course.untouched(course.seen)
    kept = [(number, atom, _further_pictures(course, number, atom)) for number, atom in untouched]
    lasted = [one for one in kept if one[2]]
    if 2 * len(lasted) <= len(kept) or sum(pictures for *_, pictures in lasted) < LEAST_KEPT:
        return None
    numbers = {number for number, _ in untouched}
    without = {
        step[:2]
        for number, step in enumerate(course.seen)
        if step.after is not None and number not in numbers
    }
    if len(numbers) > 1 and without.isdisjoint(course.seen[number][:2] for number in numbers):
        return None
    number, atom, _ = max(lasted, key=lambda one: one[2])
    trial = course.trials[number]
    told = f"{cut(str(atom), 40)} changes by itself: no step named it"
    return verdict(Family.HIDDEN, atom.predicate, told, trial)


def _further_pictures(course: Course, number: int, atom: Atom) -> int:
    """In how many pictures after the next steps an atom is as a step left it, until a step touches it or it changes again."""
    after = course.trials[number].after
    assert after is not None, "it was executed"
    value, states = after.state.value(atom), {after.state}
    for trial in course.trials[number + 1 :]:
        if {*atom.objects} <= {*trial.step.objects}:
            break
        if trial.after is not None and trial.after.state.value(atom) is not value:
            break
        states.add(trial.before.state if trial.after is None else trial.after.state)
    return len(states) - 1


def _changed_back(next_step: Mapping[Hashable, Trial], trial: Trial, atom: Atom) -> bool:
    """Whether an atom that changed with a step changes back with the next one."""
    after = None if trial.after is None else next_step.get(trial.after.handle)
    return after is not None and atom in after.changed


def _read_otherwise_elsewhere(
    course: Course, changes: Sequence[tuple[Trial, Atom]]
) -> tuple[Trial, Atom] | None:
    """A change that cannot have been misread: the state without it was seen at another time, and what is misread always is."""
    states = {one.before.state for one in course.trials}.union(
        one.after.state for one in course.trials if one.after is not None
    )
    for trial, atom in changes:
        assert trial.after is not None, "it was executed"
        state = trial.after.state
        if replace(state, true=state.true ^ {atom}) in states:
            return trial, atom
    return None


def late_effect(course: Course, *, alone: bool = False) -> Diagnosis | None:
    """Hidden, if an atom that an action does not change always changes with a later step, the next one or the k-th.

    That is seen in several situations; or in one situation again and again, which other steps before it left otherwise.
    What changes later than with the next step has to be most of what changes in objects that no step names: of many
    that come by mistake, some are as far from the same action.

    ``alone``: only if it is all that changes so.
    """
    came: dict[Key, list[Trial]] = defaultdict(list)
    stayed: set[Key] = set()
    untouched = set(course.untouched(course.seen))
    for number, trial in enumerate(course.trials):
        for key, ground in _touched_before(course, trial):
            assert trial.after is not None, "it was executed"
            if (number, ground) in untouched:
                came[key].append(trial)
            elif trial.after.state.value(ground) is not key.value and not {*ground.objects} <= {
                *trial.step.objects
            }:
                stayed.add(key)
    for key in sorted(
        came.keys() - stayed, key=lambda key: (key.steps, key.action, str(key.atom), key.value)
    ):
        trials = came[key]
        several = {(trial.before.state, trial.step): trial for trial in trials}
        if len(trials) < len(untouched) and (alone or (key.steps > 1 and 2 * len(trials) <= len(untouched))):
            continue
        if len(several) >= LATE or (len(trials) >= REPEATED and _left(course, trials[0], key)):
            text = cut(key.atom.text(course.header(key.action).parameters), 40)
            when = "only with the step" if key.steps == 1 else f"{key.steps} steps"
            told = f"{text} changes {when} after it"
            return verdict(Family.HIDDEN, key.action, told, *[*several.values()][:2])
    return None


def _touched_before(course: Course, trial: Trial) -> Iterator[tuple[Key, Atom]]:
    """The atoms of the last steps before an executed one that no step between them names, as they would change with it."""
    earlier: set[Atom] = set()
    for steps, previous in enumerate(course.last(trial, LATEST) if trial.executed else (), 1):
        for atom in lifted_atoms(course.vocabulary, course.header(previous.name)):
            ground = atom.ground(previous.objects)
            value = trial.before.state.value(ground)
            if value is not None and ground not in earlier:
                yield Key(previous.name, atom, not value, steps), ground
            earlier.add(ground)


def _left(course: Course, strange: Trial, key: Key) -> bool:
    """Whether the step left the atom as it was in the same perceived state, where no step before can have changed it."""
    (atom,) = [ground for one, ground in _touched_before(course, strange) if one == key]
    return any(
        (trial.before.state, trial.step) == (strange.before.state, strange.step)
        and trial.after is not None
        and trial.after.state.value(atom) is not key.value
        and course.previous(trial) is not None
        and (key, atom) not in _touched_before(course, trial)
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
        literals = always((step[:2] for step in earlier.values() if step.after is not None), atoms)
        splits = course.splits(course.seen, header.name)
        strange = {n for split in splits for n in split.strange if course.seen[n].after is None}
        if not all(violated(*earlier[number][:2], literals) for number in strange & set(earlier)):
            return False
        refused += len(strange & set(earlier))
        executed += sum(step.after is not None for step in earlier.values()) if strange else 0
    return executed >= LEAST and refused > 0


def not_repeatable(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Random, misread or changing, if the same steps do not come out as they did; None if they do."""
    if found := read_otherwise(inquiry, doubtful) or _varying_where_made(inquiry, doubtful):
        return found
    again = repeated(inquiry, doubtful)
    if not again and (earlier := unexpected_on_the_way(inquiry, doubtful)) is not None:
        doubtful, again = earlier, repeated(inquiry, earlier)
    if not again:
        return None
    if found := varying(inquiry, again):
        if not inquiry.trials.access.restarts and (late := late_effect(Course.of(inquiry.trials))):
            return late  # the steps before these were not the same
        if before := _varying_on_the_way(inquiry, doubtful):
            return before
        if not _strange_each_time(inquiry, doubtful, again):
            return found
        again = [trial for trial in again if trial.executed]
    if not inquiry.trials.access.restarts:  # what was before cannot be had again
        return None
    if again[0].alike(doubtful):
        inquiry.steadfast = len(again) >= FEWEST
        return _changed(inquiry, doubtful)
    return seen_once(inquiry, doubtful, again)


def _strange_each_time(inquiry: Inquiry, doubtful: Trial, again: Sequence[Trial]) -> bool:
    """Whether the step came out in the strange way whenever it was not refused: refusals by mistake are no reason then."""
    executed = [trial for trial in again if trial.executed]
    return (
        doubtful.executed
        and 2 * len(executed) > len(again)
        and bool(inquiry.strange_atoms(doubtful))
        and all(trial.alike(doubtful) for trial in executed)
    )


def _varying_where_made(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Random or misread, if the step varies in the situation as it can be made: no chance on the way to it plays a part."""
    state, history = doubtful.before.state, doubtful.history
    if not inquiry.trials.access.constructs or history is None or not history.asked:
        return None
    made = Situation(state, state)
    again = repeated(inquiry, replace(doubtful, before=made, history=History(made)))
    found = varying(inquiry, again) if again else None
    return None if found is None or _strange_each_time(inquiry, doubtful, again) else found


def _varying_on_the_way(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Random or misread, if a step before it varies where that can be made: a question shows only where its last step led."""
    if not inquiry.trials.access.constructs or doubtful.history is None:
        return None
    state = doubtful.history.start.state
    for step in doubtful.history.executed:
        trial = inquiry.trials.attempt(History(Situation(state, state)), step)
        again = [] if trial is None else repeated(inquiry, trial)
        if again and (found := varying(inquiry, again)):
            return found
        if trial is None or trial.after is None:
            return None
        state = trial.after.state
    return None


def repeated(inquiry: Inquiry, doubtful: Trial) -> list[Trial]:
    """The doubtful step again and again."""
    found: list[Trial] = []
    cost = 1 if doubtful.history is None else doubtful.history.length + 1
    for number in range(REPEATS):
        if number >= FEWEST and number * cost > REPEATED_STEPS:
            break
        trial = inquiry.again(doubtful)
        if trial is not None and trial.before.state == doubtful.before.state:
            strange = not found or not trial.alike(found[0])
            found.append(replace(trial, steady=strange and _is_steady(inquiry, trial)))
        elif not found and number == FEWEST:
            break
    return found


def _is_steady(inquiry: Inquiry, trial: Trial) -> bool:
    """Whether a step that has just been executed shows the same outcome however often the agent is looked at.

    Nothing follows from images, which may be misread alike each time, where a look puts the agent into the state that it shows, or on a
    trajectory.
    """
    after, trials = trial.after, inquiry.trials
    vain = trials.access.constructs or not trials.access.restarts
    if after is None or vain or images_of(trials.agent, after) is not None:
        return False
    looks = (trials.look(after) for _ in range(LOOKS))
    return all(look is not None and not differing(look.state, after.state) for look in looks)


def _changed(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Changing, if earlier steps come out otherwise than they did then; random or misread, if only one does."""
    differs: list[tuple[Trial, Trial]] = []
    for then in _earlier(inquiry, doubtful):
        if found := read_otherwise(inquiry, then):
            return found
        now = inquiry.again(then)
        if now is None:
            differs += _refused_on_the_way(inquiry, then)
        elif not now.alike(then):
            differs.append((then, now))
    if not differs:
        return None
    then, now = differs[0]
    again = [now, *repeated(inquiry, then)]
    if found := varying(inquiry, again):
        return found
    if len(differs) > 1 or (then.executed and not now.executed):  # an executed step is no chance refusal
        return _changing(then, now)
    return later_otherwise(inquiry, then, again)


def _refused_on_the_way(inquiry: Inquiry, then: Trial) -> list[tuple[Trial, Trial]]:
    """The first step on the way to an earlier one that is refused now: as it was seen then, and as it is."""
    trials, history = inquiry.trials, then.history
    if not trials.access.episodic or history is None:
        return []
    way, start = history.executed, history.start
    executed, _ = trials.ask(Query(start, way))
    if executed == len(way):
        return []
    wanted = start, way[:executed], way[executed]
    for one in trials.seen[: trials.known]:
        if one.history is not None and (one.history.start, one.history.executed, one.step) == wanted:
            now = inquiry.again(one)
            return [(one, now)] if one.executed and now is not None and not now.executed else []
    return []


def later_otherwise(inquiry: Inquiry, then: Trial, again: Sequence[Trial]) -> Diagnosis:
    """The verdict on a step that never came out again as it once did.

    If other steps of the action had come out like it then, the agent has changed. If it was the only one, its outcome
    was random, or misread.
    """
    if found := varying(inquiry, again):
        return found
    if then.executed and again[0].executed:
        agreeing = [
            trial
            for trial in inquiry.trials.seen[: inquiry.trials.known]
            if trial.step.name == then.step.name and trial.executed and not inquiry.unexpected(trial)
        ]
        if len(agreeing) > AGREEING or (len(again) >= SELDOM and kept(inquiry, then, again[0])):
            return _changing(then, again[0])
    return seen_once(inquiry, then, again)


def _changing(then: Trial, now: Trial) -> Diagnosis:
    told = f"once {cut(then.outcome, 30)}, later {cut(now.outcome, 30)}"
    return verdict(Family.CHANGING, then.step.name, told, then, now)


def _earlier(inquiry: Inquiry, doubtful: Trial) -> list[Trial]:
    """Steps from which something else was concluded: those named by the contradiction, then the most similar ones."""
    trials, evidence = inquiry.trials, inquiry.evidence
    index = evidence.hypotheses[doubtful.step.name].index
    held, _ = index.values(doubtful.before.state, doubtful.step.objects)

    def distance(trial: Trial) -> int:
        return (index.values(trial.before.state, trial.step.objects)[0] ^ held).bit_count()

    others = [
        trial
        for trial in trials.seen[: trials.known]
        if trial.step.name == doubtful.step.name and not trial.alike(doubtful)
    ]
    named = [trial for trial in inquiry.contradicting() if trial is not doubtful]
    similar = sorted((trial for trial in others if trial not in named), key=distance)
    return [*named[:EARLIER], *similar[:EARLIER]]


# What happened before and after a step: the way to a situation that is reached no more, and the next picture.


def unexpected_on_the_way(inquiry: Inquiry, doubtful: Trial) -> Trial | None:
    """The first step on the way to a situation that comes out otherwise than expected, so that it is reached no more."""
    if not inquiry.trials.access.episodic or doubtful.history is None:
        return None
    history = History(doubtful.history.start)
    for step in doubtful.history.executed:
        trial = inquiry.trials.attempt(history, step)
        if trial is None or inquiry.unexpected(trial) or not trial.executed:
            return trial
        history = history.then((step,), 1)
    return None


def kept(inquiry: Inquiry, then: Trial, now: Trial) -> bool:
    """Whether the next picture after a step showed its outcome, too: then it was not misread."""
    if then.after is None or now.after is None:
        return False
    atoms = differing(then.after.state, now.after.state)
    return any(
        trial.after is not None
        and any(trial.after.state.value(atom) is then.after.state.value(atom) for atom in atoms)
        for trial in inquiry.trials.seen[: inquiry.trials.known]
        if trial.before.handle == then.after.handle
    )
