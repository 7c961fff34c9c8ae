"""What was seen of controls, from the transcript of a run that knew only these."""

from __future__ import annotations

from aam_vision.controls.giving import Given
from aam_vision.controls.transitions import Transition, idle
from aam_vision.interrogation.evidence.entries import Asked
from aam_vision.interrogation.evidence.transcript import Transcript


def control_steps(transcript: Transcript) -> list[Given]:
    """Every control that was given, in order; looks are left out."""
    found = []
    for entry in transcript.entries:
        if isinstance(entry, Asked) and len(entry.query.plan) == entry.response.executed == 1:
            before, after = entry.query.initial, entry.response.final
            found.append(Given(before, Transition(before.state, entry.query.plan[0], after.state), after))
    return found


def idle_controls(transcript: Transcript) -> tuple[str, ...]:
    """The controls that never did anything, in order."""
    seen: dict[str, list[Transition]] = {header.name: [] for header in transcript.headers}
    for step in control_steps(transcript):
        seen[step.transition.control.name].append(step.transition)
    return idle(seen)
