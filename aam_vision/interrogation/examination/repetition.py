"""The doubtful step again after the same history: does it come out the same, and do earlier ones?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aam_vision.interrogation.examination.course import Course
from aam_vision.interrogation.examination.diagnosis import Diagnosis, Family
from aam_vision.interrogation.examination.inquiry import Inquiry, cut, example
from aam_vision.interrogation.examination.looking import read_differently, read_otherwise, wrong_reading
from aam_vision.interrogation.examination.previous_step import late_effect
from aam_vision.interrogation.examination.surprises import differing
from aam_vision.interrogation.examination.trials import History, Trial
from aam_vision.model.query import Situation

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
OFTEN = 4
"""Times that an outcome has to differ, of ``REPEATS``, before the reading is not to blame that never did."""


def not_repeatable(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Random, misread or changing, if the same steps do not come out as they did; None if they do.

    Raises:
        Spent: too many steps have been attempted.
    """
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
            found.append(trial)
        elif not found and number == FEWEST:
            break
    return found


def varying(inquiry: Inquiry, again: Sequence[Trial]) -> Diagnosis | None:
    """Random or misread, if the same step came out in several ways."""
    usual = again[0]
    unlike = [trial for trial in again if not trial.alike(usual)]
    if not unlike:
        return None
    executed = [trial for trial in again if trial.executed]
    if executed and (found := read_differently(inquiry, executed)):
        return found
    if 2 * len(unlike) > len(again):  # the more frequent outcome is the usual one
        usual = unlike[0]
        unlike = [trial for trial in again if not trial.alike(usual)]
    found = random_outcome(usual, unlike[0], len(unlike), len(again))
    if usual.executed and len(unlike) < OFTEN:
        return replace(found, by_chance=True)
    alike = all(
        trial.alike(executed[0]) for trial in executed
    )  # else chance refusals alone do not explain it
    return replace(found, by_chance=found.by_chance and alike)


def random_outcome(usual: Trial, other: Trial, seen: int, tried: int) -> Diagnosis:
    """The verdict that a step has two outcomes, the other one in ``seen`` of ``tried`` attempts."""
    name = usual.step.name
    return Diagnosis(
        Family.RANDOM,
        name,
        f"{name}: random, {cut(other.outcome, 40)} in {seen} of {tried} attempts from one situation",
        (example(usual), example(other)),
        seen=seen,
        tried=tried,
        by_chance=usual.executed and not other.executed,  # what is mostly refused is not refused by mistake
    )


def _changed(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Changing, if earlier steps come out otherwise than they did then; random or misread, if only one does."""
    differs: list[tuple[Trial, Trial]] = []
    for then in _earlier(inquiry, doubtful):
        if found := read_otherwise(inquiry, then):
            return found
        now = inquiry.again(then)
        if now is not None and not now.alike(then):
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
    name = then.step.name
    why = f"{name}: changing, once {cut(then.outcome, 30)}, later {cut(now.outcome, 30)}"
    return Diagnosis(Family.CHANGING, name, why, (example(then), example(now)))


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


def seen_once(inquiry: Inquiry, doubtful: Trial, again: Sequence[Trial]) -> Diagnosis:
    """Random or misread, where what was seen once did not come again."""
    usual = again[0]
    if doubtful.after is None or usual.after is None:
        return random_outcome(usual, doubtful, 0, len(again))
    seen = inquiry.trials.look(doubtful.after) if inquiry.trials.access.snapshots else None
    nothing = not differing(doubtful.before.state, doubtful.after.state)
    if nothing or (seen is not None and not differing(seen.state, doubtful.after.state)):
        return random_outcome(usual, doubtful, 0, len(again))
    changed = differing(usual.after.state, doubtful.after.state)
    return wrong_reading(usual, changed, doubtful, f"read otherwise 1 time in {len(again) + 1}")


# What happened before and after a step: the way to a situation that is reached no more, and the next picture.


def unexpected_on_the_way(inquiry: Inquiry, doubtful: Trial) -> Trial | None:
    """The first step on the way to a situation that comes out otherwise than expected, so that it is reached no more.

    Raises:
        Spent: too many steps have been attempted.
    """
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
