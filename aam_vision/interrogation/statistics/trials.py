"""Trials: single steps from states that are known for certain, and what was seen of them.

Under ``settable`` access the state that a query starts from is known exactly, whatever is misread later. So the
first step of every query and walk is a trial; all other steps are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aam_vision.interrogation.evidence.entries import Asked, Entry
from aam_vision.strips import GroundAction, State


@dataclass(frozen=True)
class Trial:
    """A step that was attempted in a known state; ``seen`` is the state seen next, None if not observed."""

    start: State
    action: GroundAction
    executed: bool
    seen: State | None


def trials(entry: Entry) -> Iterator[Trial]:
    """The trials of one entry of a transcript under settable access."""
    if isinstance(entry, Asked):
        if entry.query.plan:
            executed = entry.response.executed
            seen = entry.response.final.state if executed <= 1 else None
            yield Trial(entry.query.initial.state, entry.query.plan[0], executed > 0, seen)
    elif entry.steps:
        step = entry.steps[0]
        yield Trial(step.before.state, step.action, True, step.after.state)
