"""An agent that has changed is learned as it is now: nothing that was seen before counts, but it tells what is different, and since when.

Where no access leads back, what is hidden cannot begin afresh either: an agent that does another thing ever since a certain step is then as good
as another one, whatever the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Final

from aam_vision.interrogation.chance.going_on import VISIBLE, Begun, can_go_on
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Asked, Entry, Walk
from aam_vision.interrogation.evidence.transcript import Transcript, taken_in
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.examination.predictions import surprise
from aam_vision.interrogation.memory.diagnosed import Diagnosed, Further
from aam_vision.interrogation.task.result import Result, differences
from aam_vision.support.wording import listed

FAMILIES: Final = (Family.CHANGING,)
"""Diagnoses of an agent that is another one since some step."""


def can_renew(result: Result) -> bool:
    """Whether the agent has changed, and may be interrogated anew."""
    if result.transcript.access.restarts:
        return can_go_on(result, FAMILIES)
    return result.diagnosis is not None and result.diagnosis.ever_since and may_have_changed(result)


def may_have_changed(result: Result) -> bool:
    """Whether there is no way back, and a change may be the reason for another diagnosis: one agent explains all up to some step, another the rest."""
    transcript = result.transcript
    if transcript.access.restarts or not can_go_on(result, VISIBLE, anywhere=True):
        return False
    _, contradicted = taken_in(transcript)
    return contradicted is not None and taken_in(transcript.of(transcript.entries[contradicted:]))[1] is None


def renew(diagnosed: Diagnosed) -> Further:
    """Interrogate an agent as it is now (``can_renew``); or why no model fits it either, in a line. Raises AgentFailed."""
    recorded, result = diagnosed.recorded, diagnosed.result
    before = recorded.transcript
    here = None if before.access.restarts else before.end
    began = recorded if here is None else Begun(recorded, [here])
    found = diagnosed.interrogated(began)
    if isinstance(found, str):
        return Further(None, f"it has not been the same ever since: {found}")
    change = Change.between(before, found)
    if here is not None and not change.explains(sure=can_renew(result)):
        return Further(None, "what was seen before is not that of one other agent")
    why = f"deterministic since it has changed: {found.why}"
    return Further(replace(found, why=why, diagnosis=result.diagnosis, changed=change.told(found)))


@dataclass(frozen=True)
class Change:
    """What was seen before an agent changed, and after which answers it may have done so."""

    before: Transcript
    last: int | None
    """The last answer that its model as it is now rules out; None if there is none."""

    @staticmethod
    def between(before: Transcript, now: Result) -> Change:
        """The change that was seen."""
        evidence, _ = taken_in(now.transcript)
        otherwise = [n for n, entry in enumerate(before.entries) if _surprising(evidence, entry)]
        return Change(before, otherwise[-1] if otherwise else None)

    @cached_property
    def _then(self) -> tuple[Evidence, int | None]:
        """What was known up to that answer, and the number of the answer that contradicts those before it."""
        assert self.last is not None, "something was otherwise"
        return taken_in(self.before.of(self.before.entries[: self.last + 1]))

    def explains(self, *, sure: bool) -> bool:
        """Whether it was one agent up to the last answer that is not as it is now; if it is ``sure`` that it has changed, there may be no such answer."""
        return sure if self.last is None else self._then[1] is None

    def told(self, now: Result) -> str:
        """Since when the agent is as the model says, and what is different, in a sentence."""
        if self.last is None:
            return "Nothing that was seen before contradicts the model of the agent as it is now."
        entries = self.before.entries
        steps = list(accumulate(len(entry.actions) for entry in entries))
        _, contradicted = taken_in(self.before)
        by = len(entries) if contradicted is None else contradicted + 1
        when = f"The agent has changed after step {steps[self.last]}"
        if by > self.last + 1:
            when += f" and by step {steps[by - 1]}"
        then = self._then[0].hypotheses
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
