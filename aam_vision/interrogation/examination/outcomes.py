"""A step that comes out in several ways: are these its outcomes, or was one of them misread?

What comes often is an outcome, and so is what shows in other pixels where the usual outcome shows in the same each time. Where states
can be made, a look at the state that a step usually leads to is read as the picture after the step is: what is misread by chance
shows there, too; a seldom outcome does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aam_vision.interrogation.examination.findings import Diagnosis, Family
from aam_vision.interrogation.examination.inquiry import Inquiry, cut, verdict
from aam_vision.interrogation.examination.looking import images_of, read_differently, wrong_reading
from aam_vision.interrogation.examination.predictions import differing
from aam_vision.interrogation.examination.trials import Spent, Trial, Trials
from aam_vision.model.query import Query, Situation
from aam_vision.model.strips import State
from aam_vision.support.wording import counted

LOOKS_A_STEP: Final = 10
"""Looks at the usual outcome for each time that the step is made again: they cost no step."""
OFTEN: Final = 4
"""Times that an outcome has to differ, of ``REPEATS``, before the reading is not to blame that never did."""
SEVERAL: Final = 2
"""Times, at least, that the usual outcome has to be seen in the same pixels, before another that shows in others is no mistake."""
NEEDED: Final = 3
"""Times that the strange outcome has to come with the step before it first shows at a look. As long as a look shows it as often as a
step does, that happens once in ``(LOOKS_A_STEP + 1) ** NEEDED``, 1,331, however often that is."""
STEPS: Final = 150
"""Times that the step is made again, at most."""


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
    if _other_pixels(inquiry, [one for one in again if one.alike(usual)], unlike[0]):
        return replace(found, by_chance=False, unread=True)
    seldom = usual.executed and len(unlike) < OFTEN
    if seldom and not all(trial.steady for trial in unlike) and not _seen_again(usual, unlike):
        return replace(found, by_chance=True)
    alike = all(
        trial.alike(executed[0]) for trial in executed
    )  # else chance refusals alone do not explain it
    return replace(found, by_chance=found.by_chance and alike)


def _other_pixels(inquiry: Inquiry, usual: Sequence[Trial], other: Trial) -> bool:
    """Whether the usual outcome was seen in the same pixels each time, several times, and the other one in others: nobody has to read that."""
    afters = [one.after for one in usual if one.after is not None]
    if len(afters) < SEVERAL or other.after is None:
        return False
    same, differs = (images_of(inquiry.trials.agent, one) for one in (afters[0], other.after))
    steady = all(images_of(inquiry.trials.agent, one) == same for one in afters)
    return (
        same is not None
        and differs is not None
        and len(same) == 1 == len(differs)
        and steady
        and differs != same
    )


def _seen_again(usual: Trial, unlike: Sequence[Trial]) -> bool:
    """Whether one and the same outcome came twice that differs in several atoms: these are hardly misread together twice."""
    outcomes = [one.after.state for one in unlike if one.after is not None]
    return usual.after is not None and any(
        outcomes.count(one) > 1 and len(differing(usual.after.state, one)) > 1 for one in outcomes
    )


def random_outcome(usual: Trial, other: Trial, seen: int, tried: int) -> Diagnosis:
    """The verdict that a step has two outcomes, the other one in ``seen`` of ``tried`` attempts."""
    how_often = f"in {seen} of {tried} attempts from one situation"
    if not seen:
        how_often = f"once, and not in {counted(tried, 'attempt')} since"
    return verdict(
        Family.RANDOM,
        usual.step.name,
        f"{cut(other.outcome, 40)} {how_often}",
        usual,
        other,
        seen=seen,
        tried=tried,
        by_chance=usual.executed and not other.executed,  # what is mostly refused is not refused by mistake
    )


def seen_once(inquiry: Inquiry, doubtful: Trial, again: Sequence[Trial]) -> Diagnosis:
    """Random or misread, where what was seen once did not come again."""
    usual = again[0]
    if doubtful.after is None or usual.after is None:
        return random_outcome(usual, doubtful, 0, len(again))
    seen = inquiry.trials.look(doubtful.after) if inquiry.trials.access.snapshots else None
    if not doubtful.changed or (seen is not None and not differing(seen.state, doubtful.after.state)):
        return random_outcome(usual, doubtful, 0, len(again))
    changed = differing(usual.after.state, doubtful.after.state)
    tried = len(again) + 1
    found = wrong_reading(usual, changed, doubtful, f"read otherwise 1 time in {tried}")
    return replace(found, seen=1, tried=tried)


def brought_about(trials: Trials, found: Diagnosis) -> Diagnosis:
    """The diagnosis, *random* and no matter of chance errors once the strange outcome proves to come with the step only.

    Args:
        trials: of the diagnosis.
        found: what they came to so far.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    doubted = found.by_chance and found.family in (Family.RANDOM, Family.MISREAD)
    if not doubted or len(found.examples) < 2 or not trials.access.constructs:
        return found
    usual, strange = found.examples
    before, step = usual.situation.state, usual.step
    if (
        usual.after is None
        or strange.after is None
        or (strange.situation.state, strange.step) != (before, step)
    ):
        return found
    after = usual.after.state
    changed = differing(after, strange.after.state)
    if not changed or before.unknown or after.unknown:
        return found

    def strange_in(state: State) -> bool:
        return not any(state.value(atom) in (None, after.value(atom)) for atom in changed)

    again, look = Query(Situation(before, before), (step,)), Query(Situation(after, after), ())
    came = 0
    try:
        for tried in range(1, STEPS + 1):
            for _ in range(LOOKS_A_STEP):  # not kept: what was made was seen
                trials.agent.counts.looks += 1
                if strange_in(trials.agent.ask_again(look).final.state):
                    return found
            executed, final = trials.ask(again)
            came += executed and strange_in(final.state)
            if came == NEEDED:
                told = f"{cut(strange.outcome, 40)} in {came} of {tried} attempts from one situation"
                return _random(found, told, came, tried)
    except Spent:
        pass
    return found


def read_rightly(found: Diagnosis) -> Diagnosis:
    """The diagnosis, once it is known that no look errs: what was seen once, and taken for misread, was an outcome then."""
    if found.family is not Family.MISREAD or not found.tried:
        return found
    since = found.tried - found.seen
    told = f"{cut(found.examples[1].outcome, 40)} once, and not in {counted(since, 'attempt')} since"
    return _random(found, told, 0, since)


def _random(found: Diagnosis, told: str, seen: int, tried: int) -> Diagnosis:
    """The diagnosis as one of the step's outcomes, which no chance error explains."""
    name = found.examples[0].step.name
    why = f"{name}: {Family.RANDOM.value}, {told}"
    return replace(
        found, family=Family.RANDOM, culprit=name, why=why, by_chance=False, seen=seen, tried=tried
    )
