"""The doubtful step after other histories: does it come out the same wherever all looks alike?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from aam_vision.interrogation.examination.course import Course
from aam_vision.interrogation.examination.findings import Diagnosis, Family
from aam_vision.interrogation.examination.inquiry import Inquiry, cut, verdict
from aam_vision.interrogation.examination.looking import pixels_differ, wrong_reading
from aam_vision.interrogation.examination.outcomes import random_outcome, varying
from aam_vision.interrogation.examination.predictions import differing
from aam_vision.interrogation.examination.repetition import later_otherwise, repeated
from aam_vision.interrogation.examination.trials import History, Spent, Trial
from aam_vision.model.query import Situation
from aam_vision.model.strips import Atom, GroundAction, State

ROUND_TRIPS = 4
"""Ways that lead from a situation back to it."""
REVISITED = 3
"""Situations that are left and gone back to, of those in which the doubtful action was executed."""
REVISITED_STEPS = 100
"""Steps after which no more of them are: where nothing but the beginning is gone back to, that takes long."""
STEADY = 3
"""Times that each of two outcomes has to come again, to be no chance."""
RETURNS = 6
"""Steps seen before that are gone back to with the history of the doubtful one."""
NOTHING = 6
"""Other steps that are attempted where the doubtful one was refused."""
FEW = 2
"""Of these, so many have to be refused at least, of several actions, and none executed, before nothing is possible."""
OTHER_STEPS = 5
"""Other steps that are executed before or after the doubtful one, to see whose effect was strange."""
ATTEMPTED = 15
"""Steps that are attempted for that, at most."""


def alike_but_different(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Hidden, if a step came out in two ways in situations that look alike."""
    first: dict[tuple[State, GroundAction], Trial] = {}
    for trial in inquiry.trials.seen:
        other = first.setdefault((trial.before.state, trial.step), trial)
        if not other.alike(trial) and _all_seen(inquiry, other, trial):
            return _hidden(inquiry, other, trial)
    return None


def _all_seen(inquiry: Inquiry, one: Trial, other: Trial) -> bool:
    """Whether what is unknown of the two situations cannot explain that they went differently."""
    hidden = one.before.state.unknown
    if one.after is not None and other.after is not None:
        return hidden.isdisjoint(differing(one.after.state, other.after.state))
    index = inquiry.evidence.hypotheses[one.step.name].index
    return not index.values(one.before.state, one.step.objects)[1]


def other_history(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """The same, sought on purpose: the doubtful situation by other ways, and known ones by the doubtful way."""
    for trial in _by_other_ways(inquiry, doubtful):
        if found := _hidden(inquiry, trial, doubtful):
            return found
    return _back_to_known(inquiry, doubtful) or _known_where_made(inquiry, doubtful)


def _by_other_ways(inquiry: Inquiry, doubtful: Trial) -> Iterator[Trial]:
    """The doubtful step in the same perceived state after other histories, where it comes out otherwise."""
    trials, state = inquiry.trials, doubtful.before.state
    histories = [*_round_trips(inquiry, doubtful)]
    if trials.access.constructs:
        made = History(Situation(state, state))
        histories = [made, *histories]
    elif trials.access.restarts:
        histories += [
            History(start).then(way, len(way))
            for start in trials.transcript.initial
            for _, way in inquiry.ways(start.state, state.__eq__)
        ]
    for history in histories:
        trial = trials.attempt(history, doubtful.step)
        if trial is not None and trial.before.state == state and not trial.alike(doubtful):
            yield trial


def _known_where_made(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Steps of the same action that were seen after others, in the same state as it can be made."""
    trials = inquiry.trials
    known: dict[State, Trial] = {}
    for trial in trials.seen if trials.access.constructs else ():
        if trial.step.name == doubtful.step.name and trial.history is not None and trial.history.asked:
            known.setdefault(trial.before.state, trial)
    for state, trial in islice(known.items(), RETURNS):
        now = trials.attempt(History(Situation(state, state)), trial.step)
        if now is not None and not now.alike(trial) and (found := _hidden(inquiry, now, trial)):
            return found
    return None


def left_and_gone_back_to(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """The same of steps of the action that were executed: again after others that lead back to where they were."""
    trials, begun = inquiry.trials, inquiry.trials.steps
    known = [
        (len({*trial.step.objects} & {*doubtful.step.objects}), -trial.history.length, trial)
        for trial in reversed(trials.seen[: trials.known])
        if trial.step.name == doubtful.step.name
        and trial.executed
        and trial.history is not None
        and not inquiry.unexpected(trial)
    ]
    known.sort(key=lambda one: one[:2], reverse=True)
    for _, _, trial in known[:REVISITED]:
        for history in _round_trips(inquiry, trial):
            if trials.steps - begun >= REVISITED_STEPS:
                return None
            now = trials.attempt(history, trial.step)
            if now is not None and now.before.state == trial.before.state and not now.alike(trial):
                return _hidden(inquiry, trial, now)
    return None


def _round_trips(inquiry: Inquiry, trial: Trial) -> Iterator[History]:
    """The history of a step, and then another step and the way back from it; those with objects of the step first."""
    state, found = trial.before.state, 0
    history = trial.history
    if history is None or not inquiry.trials.access.restarts:
        return
    plans = inquiry.plans(state)
    options = sorted(plans.executable(state), key=lambda step: {*trial.step.objects}.isdisjoint(step.objects))
    first = list({step.name: step for step in reversed(options)}.values())[::-1]  # every action once
    for step in [*first, *(step for step in options if step not in first)]:
        after = plans.successor(state, step)
        for _, back in inquiry.ways(after, state.__eq__):
            way = (step, *back)
            yield history.then(way, len(way))
            found += 1
        if found == ROUND_TRIPS:
            return


def _back_to_known(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Steps of the same action that came out as expected, with the doubtful history before them."""
    trials = inquiry.trials
    known: dict[State, Trial] = {}
    for trial in trials.seen:
        if trial.step.name == doubtful.step.name and not inquiry.unexpected(trial):
            known.setdefault(trial.before.state, trial)
    begun = doubtful.after or doubtful.before
    for tried, (state, way) in enumerate(inquiry.ways(begun.state, known.__contains__)):
        history = inquiry.after(doubtful) if doubtful.after else doubtful.history
        if not trials.access.restarts:
            history = trials.history(begun)
        if history is None or tried == RETURNS:
            return None
        now = trials.attempt(history.then(way, len(way)), known[state].step)
        if now is not None and now.before.state == state and not now.alike(known[state]):
            return _hidden(inquiry, known[state], now)
    return None


def _hidden(inquiry: Inquiry, one: Trial, other: Trial) -> Diagnosis | None:
    """Hidden, with both situations, if each keeps its outcome; random if one does not."""
    trials = inquiry.trials
    if not trials.access.restarts:
        if trials.seen.index(one) > trials.seen.index(other):
            one, other = other, one
        later = [now for _ in range(2 * STEADY) if (now := inquiry.again(other)) is not None]
        if not one.executed and other.executed and all(trial.executed for trial in later):
            return random_outcome(other, one, 1, len(later) + 2)  # what is used up does not come back
        if any(trial.alike(one) for trial in later) and (found := varying(inquiry, [other, *later])):
            return found
    for trial in (one, other) if trials.access.restarts else ():
        came = 0
        for _ in range(STEADY):
            now = inquiry.again(trial)
            if now is not None and not now.alike(trial):
                nows = [now, *repeated(inquiry, trial)]
                return later_otherwise(inquiry, trial, nows)
            came += now is not None
        if not came:
            return None
    if inquiry.unexpected(one) and not inquiry.unexpected(other):
        one, other = other, one
    if not _all_seen(inquiry, one, other):
        return None
    told = f"{cut(one.outcome, 30)} and {cut(other.outcome, 30)} in situations that look alike"
    if one.after is not None and other.after is not None:  # most of what changes is the same
        atom = differing(one.after.state, other.after.state)[0]
        told = f"{cut(str(atom), 40)} differs after situations that look alike"
    differ = pixels_differ(trials.agent, one.before, other.before)
    unread = differ is False and (
        one.after is None or other.after is None or bool(pixels_differ(trials.agent, one.after, other.after))
    )
    return verdict(Family.HIDDEN, one.step.name, told, one, other, pixels_differ=differ, unread=unread)


def nothing_works(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Hidden, if nothing can be executed any more that the model can execute: an episode's end, or something used up."""
    if doubtful.executed or doubtful.history is None:
        return None
    state, name = doubtful.before.state, doubtful.step.name
    options = [step for step in inquiry.plans(state).executable(state) if step != doubtful.step]
    first = list({step.name: step for step in options}.values())  # every action once
    others = [step for step in options if step not in first]
    steps = [*first, *others[:: max(1, len(others) // NOTHING)]][:NOTHING]
    if len(steps) < FEW or all(step.name == name for step in steps):
        return None
    for step in steps:
        trial = inquiry.again(replace(doubtful, step=step))
        if trial is None or trial.executed:
            return None
    earlier = [one for one in inquiry.trials.seen if one.executed and one.step.name == name]
    told = "refused, and so is all else that its model allows there"
    return verdict(Family.HIDDEN, name, told, *earlier[:1], doubtful)


def strange_effect(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Hidden or misread, if an atom changed that the step does not touch.

    If other steps from there change it as well, the step before did it, later than it seemed; or one before that, if the atom was the
    same in the pictures before. If it is back after the next step, this one picture was misread, unless it shows only after this history.
    """
    strange = inquiry.strange_atoms(doubtful)
    if not strange or doubtful.after is None or doubtful.history is None:
        return None
    atom = strange[0]
    after_all = _executed_apart(inquiry, doubtful.history, doubtful.before.state, atom)
    others = [one for one in after_all if one.step != doubtful.step]
    showing = [one for one in others if atom in inquiry.strange_atoms(one)]
    of_all = any(one.step.name != doubtful.step.name for one in showing)  # else it may be the action's effect
    if of_all and 2 * len(showing) > len(others):
        way = _way(inquiry, doubtful)
        naming = [step for step in way.executed if {*atom.objects} <= {*step.objects}]
        if naming and naming[-1] is way.executed[-1] and len(showing) == len(others):
            told = f"{cut(str(atom), 40)} changes only with the step after it"
            return verdict(Family.HIDDEN, naming[-1].name, told, doubtful, showing[0])
        if _stood(inquiry, way, doubtful.before.state.value(atom), atom):
            told = f"{cut(str(atom), 40)} changes some steps later, whatever is done"
            return verdict(Family.HIDDEN, (naming or [doubtful.step])[-1].name, told, doubtful, showing[0])
        return wrong_reading(showing[0], strange, doubtful, "wrong before whatever step", by_chance=False)
    after = inquiry.evidence.predict(doubtful.before.state, doubtful.step)
    nexts = _executed_apart(inquiry, inquiry.after(doubtful), after, atom)
    right = [one for one in nexts if one.after and one.after.state.value(atom) is after.value(atom)]
    if 2 * len(right) <= len(nexts):  # most of the next pictures show it, too
        return None
    with suppress(Spent):
        for trial in _by_other_ways(inquiry, doubtful):  # what is misread is misread whatever was done before
            came_right = trial.executed and not inquiry.unexpected(trial)
            if came_right and (found := _hidden(inquiry, trial, doubtful)):
                return found
    return wrong_reading(
        doubtful, strange, right[0], "wrong in one picture, right in the next", by_chance=False
    )


def _way(inquiry: Inquiry, doubtful: Trial) -> History:
    """How the agent came to the doubtful step, as far as it is known."""
    handle, history = doubtful.before.handle, doubtful.history
    if inquiry.trials.access.snapshots and (came := Course.of(inquiry.trials).led.get(handle)):
        return History(came[0]).then(came[1], len(came[1]))
    return history or History(doubtful.before)


def _stood(inquiry: Inquiry, way: History, value: bool | None, atom: Atom) -> bool:
    """Whether an atom had a value before the last step of a way, too, and after others from there: not all pictures are misread alike."""
    if not way.executed:
        return False
    earlier = History(way.start).then(way.executed[:-1], len(way.executed) - 1)
    begun = inquiry.trials.reached(earlier)
    if begun is None or begun.state.value(atom) is not value:
        return False
    others = _executed_apart(inquiry, earlier, begun.state, atom)
    stayed = [one for one in others if one.after is not None and one.after.state.value(atom) is value]
    return 2 * len(stayed) > len(others)


def _executed_apart(inquiry: Inquiry, history: History, state: State, atom: Atom) -> list[Trial]:
    """Steps that are executed after a history and do not touch an atom; every action's first, as far as possible."""
    known = inquiry.plans(state).executable(state)  # the model may be too poor yet to be sure
    types = {name: action.index.header.types for name, action in inquiry.evidence.hypotheses.actions.items()}
    seen = [
        trial.step
        for trial in reversed(inquiry.trials.seen)
        if trial.executed and state.objects.fit(trial.step.objects, types[trial.step.name])
    ]
    steps = [step for step in dict.fromkeys([*known, *seen]) if not set(atom.objects) <= set(step.objects)]
    first = list({step.name: step for step in reversed(steps)}.values())
    found: list[Trial] = []
    for step in [*first, *(step for step in steps if step not in first)][:ATTEMPTED]:
        trial = inquiry.trials.attempt(history, step)
        if trial is not None and trial.executed:
            found.append(trial)
        if len(found) == OTHER_STEPS:
            break
    return found


def explored(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Steps at random, until a step has two outcomes in situations that look alike."""
    for _ in inquiry.random_steps(doubtful.step.name, doubtful.after or doubtful.before):
        if found := alike_but_different(inquiry, doubtful):
            return found
    return None
