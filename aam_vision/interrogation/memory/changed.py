"""An agent that has changed is learned as it is now: nothing that was seen before counts, but it tells what is different, and since when."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import Final

import numpy as np

from aam_vision.interrogation.chance.going_on import can_go_on
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Asked, Entry, Walk
from aam_vision.interrogation.evidence.transcript import taken_in
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.examination.predictions import surprise
from aam_vision.interrogation.memory.going_on import interrogated
from aam_vision.interrogation.memory.histories import RecordingAgent
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import Result, differences
from aam_vision.support.wording import listed

FAMILIES: Final = (Family.CHANGING,)
"""Diagnoses of an agent that is another one since some step."""


def can_renew(result: Result) -> bool:
    """Whether the agent has changed, and may be interrogated anew."""
    return can_go_on(result, FAMILIES)


def renew(
    recorded: RecordingAgent,
    result: Result,
    rng: np.random.Generator,
    budget: Budget | None = None,
    exam: int | None = None,
) -> Result | str:
    """Interrogate the agent as it is now; or why no model fits it either, in a line.

    Args:
        recorded: the agent that was interrogated.
        result: with a diagnosis (``can_renew``).
        rng: for the agent's own walks.
        budget: of both together.
        exam: steps of the examination; None for a quarter of all others.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    found = interrogated(recorded, recorded, rng, budget or Budget(), exam, result.counts)
    if isinstance(found, str):
        return f"it has not been the same ever since: {found}"
    why = f"deterministic since it has changed: {found.why}"
    return replace(found, why=why, diagnosis=result.diagnosis, changed=_told(result, found))


def _told(before: Result, now: Result) -> str:
    """Since when the agent is as the model says, and what is different, in a sentence."""
    entries = before.transcript.entries
    steps = list(accumulate(len(entry.actions) for entry in entries))
    evidence, _ = taken_in(now.transcript)
    otherwise = [n for n, entry in enumerate(entries) if _surprising(evidence, entry)]
    if not otherwise:
        return "Nothing that was seen before contradicts the model of the agent as it is now."
    last = otherwise[-1]
    _, contradicted = taken_in(before.transcript)
    by = len(entries) if contradicted is None else contradicted + 1
    when = f"The agent has changed after step {steps[last]}"
    if by > last + 1:
        when += f" and by step {steps[by - 1]}"
    then = taken_in(before.transcript.of(entries[: last + 1]))[0].hypotheses
    known = {
        (pal.action, pal.location, pal.atom.text(then[pal.action].index.header.parameters))
        for pal in then.pal_tuples()
        if len(then.modes(pal)) == 1 == len(now.hypotheses.modes(pal))
    }
    different = [
        str(one)
        for one in differences(then.model(), now.model, repeated=then.repeated)
        if (one.action, one.location, one.atom) in known
    ]
    if not different:
        return f"{when}. What is different had not been determined by then."
    return f"{when}: {listed(different)}."


def _surprising(evidence: Evidence, entry: Entry) -> bool:
    """Whether the evidence rules out an answer."""
    if isinstance(entry, Asked):
        begun = evidence.situation(entry.query.initial)
        return surprise(evidence, entry, Ask(begun, entry.query.plan, "")) is not None
    if not entry.steps:
        return False
    begun = evidence.situation(entry.steps[0].before)
    return surprise(evidence, entry, Walk(begun, len(entry.steps))) is not None
