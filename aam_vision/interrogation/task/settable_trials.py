"""Interrogation of an agent whose answers may be wrong: trials until every palm tuple is certain enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.encoding import Malformed, field, plan_json, read_plan
from aam_vision.interrogation.evidence.entries import Asked
from aam_vision.interrogation.evidence.moves import Stop
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.statistics.assessment import Assessment, assessor_of
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import CurvePoint, Result
from aam_vision.interrogation.task.resuming import MoveRecord
from aam_vision.interrogation.task.trial_design import Proposal, next_trial
from aam_vision.interrogation.task.verdict import BUDGET
from aam_vision.query import Access, Query, Situation, refuses_surely
from aam_vision.strips import ActionHeader
from aam_vision.wording import counted

CONFIDENCE = 0.999
"""How probable a palm tuple has to be to count as certain, unless the user says otherwise."""

WatchTrial = Callable[[Proposal, Assessment, CountingAgent], None]


def weigh(
    agent: CountingAgent,
    so_far: Result,
    rng: np.random.Generator,
    *,
    confidence: float = CONFIDENCE,
    budget: Budget | None = None,
    record: MoveRecord | None = None,
    watch: WatchTrial = lambda proposal, assessment, agent: None,
) -> Result:
    """Go on with an interrogation whose answers are doubtful, under ``settable`` access.

    It ends when the whole model is right with a probability of ``confidence``: when no pal tuple is in more doubt
    than its share of what is left to 1. Should that not be reached, those count as certain that are so themselves.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    known, budget = so_far.transcript, budget or Budget()
    assert known.access is Access.SETTABLE, "trials start from states that are known for certain"
    assert not known.repeated, "trials name no object twice"
    entries, points = list(known.entries), list(so_far.curve)
    assessor = assessor_of(known.vocabulary, known.headers, entries)
    bases = [situation.state for situation in known.initial]
    blank = partial(Hypotheses, known.vocabulary, known.headers)
    allowed = (1 - confidence) / max(1, blank().size)
    while True:
        assessment = assessor.assess()
        propose = partial(next_trial, assessment, bases, allowed, rng)
        proposal = recorded_trial(propose, known.headers, record, rng)
        spent = budget.spent(agent.counts, steps=1, queries=1)
        if proposal is None or spent:
            break
        query = Query(Situation(proposal.start, proposal.start), (proposal.action,))
        entries.append(Asked(query, agent.ask(query)))
        assessor.take_in(entries[-1])
        model = assessment.hypotheses(confidence, blank()).model()
        points.append(CurvePoint(agent.counts.queries, agent.counts.steps, model))
        watch(proposal, assessment, agent)
    if not spent:
        assessment = assessment.sceptical(confidence)
    hypotheses = assessment.hypotheses(confidence, blank())
    stop = _stop(hypotheses, assessment, spent, confidence)
    return Result(
        hypotheses.model(),
        stop.complete,
        stop.why,
        agent.counts,
        hypotheses,
        known.of(entries),
        tuple(points),
        assessment,
        replace(assessment.rates, surely=refuses_surely(agent)),
        confidence,
        cut=stop.cut,
    )


def _stop(hypotheses: Hypotheses, assessment: Assessment, spent: str, confidence: float) -> Stop:
    """How the trials ended: everything is certain, nothing fits, the budget is spent, or no trial settles the rest."""
    left = hypotheses.size - hypotheses.decided()
    if spent:
        return Stop(False, spent, cut=BUDGET)
    if not left:
        why = f"every line of the model is certain, the whole model with a probability of {confidence:g}"
        return Stop(True, why)
    if assessment.unfit:
        return Stop(
            False, f"no STRIPS model fits {', '.join(assessment.unfit)}, whatever is put down to chance"
        )
    return Stop(False, f"{counted(left, 'line')} of the model in doubt, and no trial settles them")


def recorded_trial(
    propose: Callable[[], Proposal | None],
    headers: Sequence[ActionHeader],
    record: MoveRecord | None,
    rng: np.random.Generator,
) -> Proposal | None:
    """The next trial: the recorded one, if the run was cut short after it; else a new one, which is recorded.

    Raises:
        UnusableInput: the record is damaged.
    """
    earlier = None if record is None else record.next_move(rng)
    if record is not None and earlier is not None:
        start, told = earlier
        try:
            if start is None:
                raise Malformed("a trial begins nowhere")
            by_name = {header.name: header for header in headers}
            (action,) = read_plan(field(told, "trial", list), by_name, start.state.objects)
            return Proposal(start.state, action, field(told, "why", str))
        except (Malformed, ValueError, TypeError, LookupError) as error:
            raise record.damaged(error) from None
    proposal = propose()
    if record is not None and proposal is not None:
        start = Situation(proposal.start, proposal.start)
        record.note_move(start, {"trial": plan_json([proposal.action]), "why": proposal.why}, rng)
    return proposal
