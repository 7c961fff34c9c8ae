"""An outcome that came seldom: did the step bring it about, or was it misread?

Where states can be made, a look at the state that a step usually leads to is read as the picture after the step is. What is misread
by chance shows there, too; an outcome of the step does not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from aam_vision.interrogation.examination.findings import Diagnosis, Family
from aam_vision.interrogation.examination.inquiry import cut
from aam_vision.interrogation.examination.predictions import differing
from aam_vision.interrogation.examination.trials import Spent, Trials
from aam_vision.model.query import Query, Situation
from aam_vision.model.strips import State
from aam_vision.support.wording import counted

LOOKS_A_STEP: Final = 10
"""Looks at the usual outcome for each time that the step is made again: they cost no step."""
NEEDED: Final = 3
"""Times that the strange outcome has to come with the step before it first shows at a look. As long as a look shows it as often as a
step does, that happens once in ``(LOOKS_A_STEP + 1) ** NEEDED``, 1,331, however often that is."""
STEPS: Final = 150
"""Times that the step is made again, at most."""


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
