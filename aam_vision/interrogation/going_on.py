"""From a diagnosis to a model: an agent that is no deterministic STRIPS agent is learned with what explains it, the cheapest first.

One that has changed is interrogated as it is now. For others constants are tried where steps change facts of objects that they do not name,
then facts that name one object twice, several actions in place of one, effects that come later, outcomes and cases, and an invented fact or
number; actions that are refused everywhere, whatever is tried, are left out. All that was seen before counts for these, so nothing is asked
twice. Where there is no way back, a change is the last that is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.agents.image import image_test
from aam_vision.interrogation.chance.going_on import can_go_on, go_on
from aam_vision.interrogation.chance.interrogating import Watch, interrogate
from aam_vision.interrogation.chance.refusals import refused_by_chance, told_by_chance, with_refusals
from aam_vision.interrogation.chance.result import ChanceResult, Options
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.examination.findings import ENOUGH, Family
from aam_vision.interrogation.memory.changed import can_renew, may_have_changed, renew
from aam_vision.interrogation.memory.constants import Constants, as_constants, meant, told, with_constants
from aam_vision.interrogation.memory.delayed import can_delay, with_delays
from aam_vision.interrogation.memory.diagnosed import Diagnosed, Further, Way
from aam_vision.interrogation.memory.divided import can_divide, with_divisions
from aam_vision.interrogation.memory.going_on import can_remember, remember
from aam_vision.interrogation.memory.histories import RecordingAgent
from aam_vision.interrogation.memory.refused import Without, refused_everywhere, told_refused, without
from aam_vision.interrogation.memory.twice import seen_twice, with_repeated
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.forgotten_constants import WithConstants
from aam_vision.interrogation.task.repeated_looks import LookingAgent
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verdict import BUDGET, NOT_STRIPS, OPEN
from aam_vision.model.query import Agent, traced
from aam_vision.support.errors import AgentFailed
from aam_vision.support.wording import counted, listed

READ_WELL = 0.98
"""Share of unseen images that classifiers read exactly, at least, before what looks hidden is taken for the agent's doing."""


ALL: Final = tuple(Way)
EXTENDING: Final = (Way.CONSTANTS, Way.REPEATED, Way.CASES, Way.DELAYED)
"""What extends the vocabulary so that it explains anything that never happens: nothing is explained by it as long as that does not happen."""


class Attempt(NamedTuple):
    """One way to explain an agent."""

    way: Way
    constants: Constants = MappingProxyType({})
    """What the vocabulary is extended by for it."""
    refusals: tuple[str, ...] = ()
    """The actions of which a refusal counts as an outcome."""

    def __str__(self) -> str:
        """With what a run goes on."""
        return f"{self.way}{f', refusals of {listed(self.refusals)} being one' if self.refusals else ''}"


Begins = Callable[[Attempt], Watch | None]
"""Told of each attempt when it begins; what it gives is told after every step that is taken to learn outcomes."""


def attempts(agent: Agent, result: Result, among: Collection[Way] = ALL) -> list[Attempt]:
    """What may explain what was diagnosed, in the order in which it is tried.

    Where looks err, refusals have to be right. Where classifiers read the agent's images, something hidden or changing is looked for only
    if they read unseen ones well, and outcomes only if they read all of those exactly: what is seldom misread would be an outcome.
    """
    test = image_test(agent)
    if traced(agent) or (test is not None and test.exact < READ_WELL * test.images):
        return []
    if (rates := result.rates) is not None and rates.looks_err and rates.refusals_err:
        return []
    lasts = can_renew(result)
    never = can_go_on(result, tuple(Family), anywhere=True) and refused_everywhere(result.transcript)
    found = [Attempt(Way.ANEW)] * lasts
    if test is None or test.passed:
        outcomes = not never and can_go_on(result, anywhere=True)
        unnamed = Way.CONSTANTS in among and can_go_on(result, anywhere=True)
        if unnamed and (constants := meant(result.transcript)):
            found.append(Attempt(Way.CONSTANTS, constants))
            found += [Attempt(Way.CASES, constants)] * can_divide(result, constants)
            found += [Attempt(Way.OUTCOMES, constants)] * outcomes
        found += [Attempt(Way.REPEATED)] * (test is None and seen_twice(result))
        found += [Attempt(Way.CASES)] * (Way.CASES in among and can_divide(result))
        found += [Attempt(Way.DELAYED)] * (Way.DELAYED in among and can_delay(result))
        found += [Attempt(Way.OUTCOMES)] * outcomes
        if outcomes and result.diagnosis is not None and result.diagnosis.family is Family.RANDOM:
            names = refused_by_chance(result.transcript)
            found += [Attempt(Way.OUTCOMES, refusals=names)] * bool(names)
    found += [Attempt(Way.MEMORY)] * can_remember(result)
    found += [Attempt(Way.REFUSED)] * bool(never)
    found += [Attempt(Way.ANEW)] * (not lasts and may_have_changed(result))
    return [one for one in found if one.way in among]


def go_further(
    agent: Agent,
    result: Result,
    seed: int,
    options: Options,
    budget: Budget | None = None,
    exam: int | None = None,
    among: Collection[Way] = ALL,
    begins: Begins = lambda attempt: None,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Further:
    """Learn a model of an agent from what was seen and from further steps.

    What was seen in one attempt tells which are worth making after it. One that extends the vocabulary takes half of the steps that are left,
    at most, while there are others: with a small budget it would leave none for these, right or not.

    Args:
        agent: that was interrogated.
        result: with a diagnosis.
        seed: of every random choice.
        options: precision and budget where outcomes are learned, of all together.
        budget: of all together, where they are not.
        exam: steps of an examination; None for a quarter of all others, or for as many as are needed where outcomes are learned.
        among: what is tried, of what may explain the diagnosis.
        begins: told of each attempt when it begins.
        names: for what is invented, in the stead of its usual name.
    """
    if not agent.access.restarts:
        agent = EnforcingAgent(agent, result.transcript.end)
    options = replace(options, exam=ENOUGH + 1 if exam is None else exam)
    looking: LookingAgent | None = None
    if result.looks_err and attempts(agent, result, among):
        agent = looking = LookingAgent(agent, result.confidence, whole=False)
        try:
            looking.begin(result.transcript.beginnings)
        except AgentFailed as error:
            return Further(None, f"Nothing more could be looked at: the agent failed meanwhile ({error}).")
    recorded, why, tried = RecordingAgent(agent, result.transcript), list[str](), list[Attempt]()
    waiting = list[Attempt]()
    while True:
        found_so_far = replace(result, transcript=recorded.transcript)
        left = [one for one in attempts(agent, found_so_far, among) if one not in tried]
        if not left and not waiting:
            return Further(None, " ".join(why))
        attempt = left[0] if left else waiting.pop(0)
        tried.append(attempt)
        watch, made = begins(attempt), recorded.counts.steps
        rng = np.random.default_rng(seed)
        diagnosed = Diagnosed(recorded, result, rng, budget or Budget(), exam)
        shares = len(left) > 1 and attempt.way in EXTENDING
        if shares:
            diagnosed = diagnosed.sharing()
        further = _tried(attempt, diagnosed, options, watch, names)
        if (
            attempt.way in EXTENDING
            and further.found is not None
            and (never := refused_everywhere(recorded.transcript))
        ):
            further = Further(None, f"{listed(never)} would never be executed, whatever else is added")
        if shares and further.found is not None and further.found.cut == BUDGET:
            waiting.append(attempt)  # for what no other attempt takes
            continue
        if further.found is not None:
            found = further.found
            if looking is not None:  # then it rests on answers that were weighed
                found = replace(found, rates=result.rates, confidence=result.confidence)
            return replace(
                further, way=attempt.way, found=found, looking=looking, transcript=recorded.transcript
            )
        taken = counted(recorded.counts.steps - made, "further step")
        why.append(f"{_in_vain(attempt)} ({taken}): {further.why}.")


def _in_vain(attempt: Attempt) -> str:
    """That an attempt came to nothing."""
    match attempt.way:
        case Way.ANEW:
            return "No model of the agent as it is now was found either"
        case Way.CONSTANTS:
            return f"It is no deterministic agent with {as_constants(attempt.constants)} of the model, either"
        case Way.REPEATED:
            return "It is no deterministic agent where facts may name one object twice, either"
        case Way.CASES:
            beside = f"{as_constants(attempt.constants)} and " if attempt.constants else ""
            return f"It is no deterministic agent with {beside}several actions in place of one, either"
        case Way.DELAYED:
            return "It is no deterministic agent with effects that come later, either"
        case Way.OUTCOMES:
            beside = f", with {as_constants(attempt.constants)}," if attempt.constants else ""
            beside += f", refusals of {listed(attempt.refusals)} among them," if attempt.refusals else ""
            return f"Outcomes and cases{beside} do not explain it either"
        case Way.MEMORY:
            return "No model with memory was found"
        case Way.REFUSED:
            return "It is no deterministic agent without what it refuses everywhere, either"


def _tried(
    attempt: Attempt, diagnosed: Diagnosed, options: Options, watch: Watch | None, names: Mapping[str, str]
) -> Further:
    """What comes of one attempt."""
    constants = attempt.constants
    try:
        match attempt.way:
            case Way.OUTCOMES:
                found = _with_outcomes(diagnosed, options, watch, attempt)
                if found.status == NOT_STRIPS:
                    return Further(None, found.why)
                return Further(_as_examined(found), constants=constants, refusals=attempt.refusals)
            case Way.CONSTANTS:
                return with_constants(diagnosed, constants)
            case Way.REPEATED:
                return with_repeated(diagnosed)
            case Way.CASES:
                return with_divisions(diagnosed, constants)
            case Way.DELAYED:
                return with_delays(diagnosed)
            case Way.REFUSED:
                return _without_refused(diagnosed)
            case Way.ANEW:
                return renew(diagnosed)
            case Way.MEMORY:
                return remember(diagnosed, names)
    except AgentFailed as error:
        return Further(None, f"the agent failed meanwhile ({error})")


def _as_examined(result: Result) -> Result:
    """A result with outcomes, open if it was not examined: what refusals seem to prove may be due to what was done before."""
    found = result.outcomes
    if not (isinstance(found, ChanceResult) and found.complete and found.exam_steps < ENOUGH):
        return result
    examined = f"{counted(found.exam_steps, 'step')} examined, {ENOUGH} are needed (--exam {ENOUGH + 1})"
    found = replace(found, status=OPEN, why=f"{found.why}; {examined}")
    return replace(result, outcomes=found, why=found.why)


def _without_refused(diagnosed: Diagnosed) -> Further:
    """What is learned of an agent without the actions that it refuses everywhere; or why no such model fits it, in a line."""
    recorded = diagnosed.recorded
    seen = recorded.transcript
    if not (names := refused_everywhere(seen)):
        return Further(None, "what was refused everywhere was executed after all")
    how, known = f"deterministic without {listed(names)}", without(seen, names).entries
    agent, left_out = Without(recorded, names), told_refused(seen, names)
    found = diagnosed.as_deterministic(agent, how, left_out, known=known)
    return Further.of(found if isinstance(found, str) else replace(found, refused=names))


def with_outcomes(
    agent: Agent,
    rng: np.random.Generator,
    options: Options,
    watch: Watch | None = None,
    refused: Callable[[Sequence[str]], None] = lambda names: None,
) -> ChanceResult:
    """Learn outcomes, when each comes and how often, whatever else may explain the agent.

    Args:
        agent: nothing was asked of it before.
        rng: for its own walks.
        options: precision and budget; the ``refusals`` that are outcomes are those and all that nothing else explains.
        watch: told after every step.
        refused: told the actions of which refusals count as an outcome, whenever these change.
    """
    seen = Transcript(agent.vocabulary, agent.headers, agent.access, tuple(agent.initial()), ())
    recorded = RecordingAgent(agent, seen)
    found = interrogate(recorded, rng, options, watch)
    if found.status != NOT_STRIPS:
        return found
    if not (names := refused_by_chance(with_refusals(recorded.transcript, options.refusals))):
        return found
    with_names = replace(options, refusals=(*options.refusals, *names))
    refused(with_names.refusals)
    again = go_on(recorded, recorded.transcript, found.counts, rng, with_names, watch)
    if again.status != NOT_STRIPS:
        return again
    refused(options.refusals)
    return replace(found, counts=again.counts)


def _with_outcomes(diagnosed: Diagnosed, options: Options, watch: Watch | None, attempt: Attempt) -> Result:
    """What comes of outcomes and cases."""
    recorded, result = diagnosed.recorded, diagnosed.result
    constants, refusals = attempt.constants, attempt.refusals
    options = replace(options, refusals=refusals)
    named = WithConstants(recorded, constants)
    found = go_on(named, recorded.transcript, diagnosed.counts, diagnosed.rng, options, watch)
    merged = [
        one.index.header.name for one in found.actions if {*constants} & {*one.index.coinciding_constants}
    ]
    if merged and found.complete:
        why = f"steps of {listed(merged)} that name {' or '.join(constants)} were not tried: nothing is claimed of them"
        found = replace(found, status=OPEN, why=why)
    explained = [told(constants)] * bool(constants) + [told_by_chance(refusals)]
    return with_learned(result, found, " ".join(filter(None, explained)))


def with_learned(result: Result, found: ChanceResult, explained: str) -> Result:
    """The result with what was learned of outcomes in the place of its model; ``explained``: what was added for it, in sentences."""
    return replace(
        result,
        model=found.model,
        why=found.why,
        counts=found.counts,
        outcomes=found,
        invented=explained,
    )
