"""Whether the images of two situations differ, of agents that are seen in images.

Looks at one situation again, and at what the images around a step show: is it read the same each time?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Protocol, cast

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.examination.findings import Diagnosis, Family
from aam_vision.interrogation.examination.inquiry import Inquiry, cut, example, verdict
from aam_vision.interrogation.examination.predictions import differing
from aam_vision.interrogation.examination.trials import Trial
from aam_vision.model.query import Agent, Query, Situation
from aam_vision.model.strips import Atom, GroundAction

LOOKS = 30
"""Looks at one situation, to find out whether it is read the same each time: they cost no step."""
AGAIN = 4
"""Looks that tell whether the last answer is read the same way each time."""


class Pictured(Protocol):
    """An agent that can tell whether two situations were seen in the same pixels."""

    def pixels(self, situation: Situation) -> frozenset[str] | None:
        """Digests of all images of a situation; None if none is known."""
        ...


def images_of(agent: Agent, situation: Situation) -> frozenset[str] | None:
    """Digests of all images that were seen of a situation; None if none is known."""
    while not hasattr(
        agent, "pixels"
    ):  # this is asked of every step, and isinstance of a protocol takes 100 times as long
        if not isinstance(agent, AgentDecorator):
            return None
        agent = agent.agent
    return cast(Pictured, agent).pixels(situation)


def pixels_differ(agent: Agent, one: Situation, other: Situation) -> bool | None:
    """Whether the images of two situations differ; None if that is not known, or a camera's noise may be the reason."""
    ours, theirs = images_of(agent, one), images_of(agent, other)
    if ours is None or theirs is None or len(ours) > 1 or len(theirs) > 1:
        return None
    return ours != theirs


def is_steady(agent: CountingAgent, situation: Situation) -> bool:
    """Whether a situation in which the agent stands shows the same pixels when it is looked at again."""
    agent.counts.looks += 1
    agent.ask_again(Query(situation, ()))
    found = images_of(agent, situation)
    return found is not None and len(found) == 1


def unseen_change(
    agent: Agent, before: Situation, step: GroundAction, after: Situation, constants: Collection[str] = ()
) -> bool:
    """Whether the image changed with a step, and no atom did.

    Not if an atom that the step can change could not be read, before or after: then that may have changed.

    ``constants``: objects that every step can change.
    """
    if before.state != after.state or pixels_differ(agent, before, after) is not True:
        return False
    within = {*step.objects, *constants}
    return not any(within.issuperset(atom.objects) for atom in before.state.unknown)


def misread_at_rest(inquiry: Inquiry) -> Diagnosis | None:
    """Misread, if atoms come and go while nothing is done: where the agent stands, or in the last answer.

    A camera's noise shows at any situation, so this comes first.
    """
    trials = inquiry.trials
    here = trials.here
    looks = [seen for _ in range(LOOKS) if here is not None and (seen := trials.look(here)) is not None]
    for seen in looks:
        if here is not None and (changed := differing(here.state, seen.state)):
            # a state that was made and is read otherwise, each time the same, is misread for good
            always = trials.access.constructs and all(one.state == seen.state for one in looks)
            return _at_rest(here, seen, changed, by_chance=not always)
    last = trials.transcript.entries[inquiry.doubtful_entry] if trials.transcript.entries else None
    if not isinstance(last, Asked) or last.response.executed:
        return None
    begun, ended = last.query.initial, last.response.final
    changed = differing(begun.state, ended.state)
    if not changed:
        return None
    again = [trials.look(begun) for _ in range(AGAIN)]
    always = all(one is not None and differing(begun.state, one.state) == changed for one in again)
    return _at_rest(begun, ended, changed, by_chance=not always)


def _at_rest(one: Situation, other: Situation, changed: Sequence[Atom], *, by_chance: bool) -> Diagnosis:
    look = GroundAction("look", ())
    shown = Trial(one, look, None), Trial(other, look, None)
    return wrong_reading(
        shown[0], changed, shown[1], "read differently when nothing is done", by_chance=by_chance
    )


def change_not_seen(inquiry: Inquiry) -> Diagnosis | None:
    """Misread, if a step changed the image and no atom: a classifier overlooks it, or a predicate is missing."""
    agent = inquiry.trials.agent
    for trial in inquiry.trials.seen[: inquiry.trials.known]:
        if trial.after is not None and unseen_change(
            agent, trial.before, trial.step, trial.after, agent.vocabulary.constants
        ):
            own = [one for one in inquiry.trials.seen if one.step.name == trial.step.name]
            usual = Counter(atom.predicate for one in own for atom in one.changed).most_common(1)
            culprit = usual[0][0] if usual else trial.step.name
            why = f"{culprit}: misread after {trial.step.name}, or a predicate is missing: only the image changed"
            return Diagnosis(Family.MISREAD, culprit, why, (example(trial),), pixels_differ=True)
    return None


def read_differently(inquiry: Inquiry, again: Sequence[Trial]) -> Diagnosis | None:
    """Misread, if the situation after the step is read otherwise when it is looked at again.

    A state that was seen and is then made may be another one than it was. Chance shows only where looks at it differ.
    """
    made = inquiry.trials.access.constructs
    for trial in (again[-1], again[0]):
        assert trial.after is not None
        first, other = trial.after, trial.after
        for number in range(LOOKS):
            seen = inquiry.trials.look(trial.after)
            if seen is None:
                break
            if made and number == 0:
                first = other = seen
            elif differing(first.state, seen.state):
                other = seen
                break
        if changed := differing(first.state, other.state) or differing(trial.after.state, first.state):
            always = first is other
            shown = replace(trial, after=first if always else other)
            how = "read otherwise each time it is made" if always else "read differently when looked at again"
            return wrong_reading(trial, changed, shown, how, by_chance=not always)
    return None


def read_otherwise(inquiry: Inquiry, trial: Trial) -> Diagnosis | None:
    """Misread, if the situation before a step is read otherwise now than it was then."""
    trials = inquiry.trials
    if trials.access.constructs:  # the state was made, and not read
        return None
    was: Situation | None = trial.before
    if trials.access.episodic and trial.history is not None:
        was = trials.reached(trial.history)
    seen = None if was is None else trials.look(was)
    if was is None or seen is None:
        return None
    changed = differing(was.state, seen.state)
    if not changed:
        return None
    return wrong_reading(trial, changed, replace(trial, before=seen), "read differently when looked at again")


def wrong_reading(
    one: Trial, changed: Sequence[Atom], other: Trial, how: str, *, by_chance: bool = True
) -> Diagnosis:
    """The verdict that a classifier was wrong about one of two situations."""
    name = Counter(atom.predicate for atom in changed).most_common(1)[0][0]
    told = f"{cut(str(changed[0]), 50)} is {how}"
    return verdict(Family.MISREAD, name, told, one, other, by_chance=by_chance)
