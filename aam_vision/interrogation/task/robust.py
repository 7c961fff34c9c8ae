"""An interrogation that takes answers at their word, until they prove to be wrong; then it weighs them.

An agent that is right is asked nothing new. One that is not shows it: answers contradict each other, or atoms change
that no step names (``symptoms``), or a step that was refused is executed when it is attempted once more
(``policies.confirming``). Then trials are made in states of our own (``engine``), or, where the agent's access allows
none, its answers are asked for until they are certain (``steady``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.errors import AgentFailed, InconsistentAgent
from aam_vision.interrogation.evidence.anomalies import contradicted_query, shows_error
from aam_vision.interrogation.evidence.entries import Asked
from aam_vision.interrogation.evidence.moves import Policy
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.diagnosis import ROUNDS, diagnose
from aam_vision.interrogation.task.loop import Interrupted, Watch, interrogate
from aam_vision.interrogation.task.repeating_agent import RepeatingAgent, Spent
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.resuming import MoveRecord, recorded
from aam_vision.interrogation.task.scrutiny import DOUBTED
from aam_vision.interrogation.task.settable_trials import CONFIDENCE, WatchTrial, weigh
from aam_vision.query import Access, Agent, Situation


def interrogate_robustly(
    agent: Agent,
    policy: Policy,
    rng: np.random.Generator,
    *,
    afresh: Callable[[], Policy],
    budget: Budget | None = None,
    repeated: bool = False,
    confidence: float = CONFIDENCE,
    confirm: bool = False,
    record: MoveRecord | None = None,
    watch: Watch = lambda move, evidence, agent: None,
    watch_trial: WatchTrial = lambda proposal, assessment, agent: None,
) -> Result:
    """As ``loop.interrogate``, and on with weighed answers where the agent contradicts itself.

    Args:
        agent: the one to ask.
        policy: one that asks again for what was refused, unless the agent refuses surely (``confirmed``).
        rng: the source of all random choices.
        afresh: gives a policy that knows nothing yet, for an interrogation that begins anew.
        budget: how much may be asked altogether.
        repeated: whether one object may be named twice.
        confidence: how probable the model has to be where answers prove unreliable.
        confirm: take no answer at its word.
        record: keeps all moves, and gives back those of a run that was cut short.
        watch: called after every move.
        watch_trial: called after every trial in a state of our own.

    Raises:
        AccessViolation: the policy started where the agent's access does not allow.
        Interrupted: the agent or the planner failed, or it contradicts itself and chance does not explain it.
    """
    counting = CountingAgent(EnforcingAgent(agent))
    budget = budget or Budget()
    settable = agent.access is Access.SETTABLE
    doubted: Interrupted | None = None
    if settable or not confirm:
        try:
            result = interrogate(
                counting,
                recorded(policy, record),
                rng,
                budget=budget,
                repeated=repeated,
                scrutiny=DOUBTED,
                watch=watch,
            )
            _check(result)
            if not confirm or repeated:
                return result
        except Interrupted as error:
            if not error.contradicted or (settable and repeated):
                raise
            doubted, result = error, _diagnosed(counting, error) if settable else error.result
        if settable:
            weighed = weigh(
                counting,
                result.transcript,
                rng,
                confidence=confidence,
                budget=budget,
                curve=result.curve,
                record=record,
                watch=watch_trial,
            )
            assert weighed.assessment is not None, "answers that were weighed are assessed"
            if doubted is None or shows_error(weighed.transcript) or weighed.assessment.unfit:
                return weighed
            return _unexplained(weighed, doubted)
    starts = _starts(counting, doubted)
    steady = RepeatingAgent(counting, starts, confidence, budget)
    curve = doubted.result.curve if doubted is not None else ()
    result = _steadily(steady, recorded(afresh(), record), rng, budget, repeated, watch)
    result = replace(result, rates=steady.rates, confidence=confidence, curve=(*curve, *result.curve))
    if doubted is None or steady.erred or shows_error(doubted.result.transcript):
        return result
    return _unexplained(result, doubted)


def _unexplained(result: Result, doubted: Interrupted) -> Result:
    """The result where chance does not explain why the agent contradicted itself: it never showed."""
    doubt = f"{doubted}; and nothing was misread since, or refused by mistake, for all that can be told"
    return replace(result, complete=False, why=f"nothing is certain: {doubt}", doubt=doubt)


def _steadily(
    steady: RepeatingAgent,
    policy: Policy,
    rng: np.random.Generator,
    budget: Budget,
    repeated: bool,
    watch: Watch,
) -> Result:
    """An interrogation of what is certain.

    Raises:
        Interrupted: the agent failed, or even this contradicts itself.
    """
    try:
        result = interrogate(steady, policy, rng, budget=budget, repeated=repeated, watch=watch)
        _check(result)
    except Interrupted as error:
        if isinstance(error.__cause__, Spent):
            return replace(error.result, why=str(error))
        if not error.contradicted:
            raise
        why = f"{error}; asked for until they were certain, the answers are these: it is no STRIPS agent in this vocabulary"
        result = replace(error.result, why=why, doubt=why, rates=steady.rates)
        raise Interrupted(why, result) from error.__cause__
    left = result.hypotheses.size - result.hypotheses.decided()
    if result.complete and left and steady.access is Access.TRAJECTORY:
        why = f"{left} pal tuples are open, and cannot be told from where the answers began to be weighed"
        return replace(result, complete=False, why=why)
    return result


def _check(result: Result) -> None:
    """Look at the answers once more in the light of all that followed from them.

    Raises:
        Interrupted: one of them disagrees with it.
    """
    if result.doubt or result.hypotheses.repeated:
        return
    if why := contradicted_query(result.transcript, result.hypotheses):
        try:
            raise InconsistentAgent(why)
        except InconsistentAgent as error:
            raise Interrupted(why, replace(result, complete=False, why=why, doubt=why)) from error


def _starts(agent: CountingAgent, doubted: Interrupted | None) -> list[Situation]:
    """Where an interrogation can begin anew: as at first, or where the agent stands if there is no way back."""
    if doubted is None:
        return list(agent.initial())
    so_far = doubted.result.transcript
    if agent.access is not Access.TRAJECTORY or not so_far.entries:
        return list(so_far.initial)
    last = so_far.entries[-1]
    assert isinstance(last, Asked), "a trajectory has no walks"
    return [last.response.final]


def _diagnosed(agent: CountingAgent, error: Interrupted) -> Result:
    """What was learned until the agent contradicted itself, and what asking again has shown.

    Raises:
        Interrupted: it gives the same answers again, and so is no STRIPS agent; or it failed.
    """
    result = error.result
    try:
        diagnosis = diagnose(agent, result.transcript)
    except AgentFailed as failure:
        raise Interrupted(str(failure), result) from failure
    transcript = result.transcript.of([*result.transcript.entries, *diagnosis.asked])
    if diagnosis.steadfast:
        why = f"{error}; asked again {ROUNDS} times it answered the same: it is no STRIPS agent in this vocabulary"
        raise Interrupted(why, replace(result, transcript=transcript, why=why)) from error.__cause__
    return replace(result, transcript=transcript)
