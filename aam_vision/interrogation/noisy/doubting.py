"""An interrogation that takes answers at their word, until they prove to be wrong; then it weighs them.

An agent that is right is asked nothing new. One that is not shows it: answers contradict each other, or atoms change
that no step names (``symptoms``), or a step that was refused is executed when it is asked for once more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.errors import AgentFailed, InconsistentAgent
from aam_vision.interrogation.evidence import Evidence
from aam_vision.interrogation.loop import Budget, Interrupted, interrogate
from aam_vision.interrogation.moves import Move, Policy
from aam_vision.interrogation.noisy.diagnosis import ROUNDS, diagnose, recheck
from aam_vision.interrogation.noisy.engine import CONFIDENCE, Watch, weigh
from aam_vision.interrogation.result import Result
from aam_vision.interrogation.transcript import Asked
from aam_vision.query import Access, Agent


def interrogate_doubting(
    agent: Agent,
    policy: Policy,
    rng: np.random.Generator,
    *,
    budget: Budget | None = None,
    repeated: bool = False,
    confidence: float = CONFIDENCE,
    confirm: bool = False,
    watch: Callable[[Move, Evidence, CountingAgent], None] = lambda move, evidence, agent: None,
    watch_trial: Watch = lambda proposal, assessment, agent: None,
) -> Result:
    """As ``loop.interrogate``, and on with weighed answers where the agent contradicts itself.

    That needs ``settable`` access. There every refused query is posed twice, since a single wrong refusal looks just
    like a right one. With ``confirm`` no answer at all is taken at its word.

    Raises:
        AccessViolation: the policy started where the agent's access does not allow.
        Interrupted: the agent or the planner failed, or it contradicted itself and cannot be asked in this way.
    """
    counting = CountingAgent(EnforcingAgent(agent))
    able = agent.access is Access.SETTABLE and not repeated
    try:
        result = interrogate(counting, policy, rng, budget=budget, repeated=repeated, watch=watch)
        if not able:
            return result
        result, doubtful = _checked(counting, result, budget)
        if not (doubtful or confirm):
            return result
    except Interrupted as error:
        if not (able and isinstance(error.__cause__, InconsistentAgent)):
            raise
        result = _diagnosed(counting, error)
    return weigh(
        counting,
        result.transcript,
        rng,
        confidence=confidence,
        budget=budget,
        curve=result.curve,
        watch=watch_trial,
    )


def _checked(agent: CountingAgent, result: Result, budget: Budget | None) -> tuple[Result, bool]:
    """The result with all refusals asked again, as far as the budget goes; and whether one was not repeated."""
    left = None if budget is None or budget.steps is None else budget.steps - agent.counts.steps
    again = recheck(agent, result.transcript, left)
    transcript = result.transcript.of([*result.transcript.entries, *again])
    answered = {
        entry.query: entry.response for entry in result.transcript.entries if isinstance(entry, Asked)
    }
    doubtful = any(entry.response != answered[entry.query] for entry in again)
    return replace(result, transcript=transcript), doubtful


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
