"""What no STRIPS agent that is seen rightly would show: a change that no executed step can have made.

Or the same step refused and executed where all that was seen was the same.

An action changes only atoms whose objects its arguments name (or are constants). All others must stay, so every
observed step holds a great many facts that are known beforehand. They tell of misread states at no extra question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from aam_vision.interrogation.evidence.entries import Asked, Entry
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.strips import Atom, GroundAction, State


def unexplained_changes(entry: Entry, constants: Collection[str]) -> list[Atom]:
    """Atoms that changed, in one answer or walk, although no executed step names their objects."""
    if isinstance(entry, Asked):
        executed = entry.query.plan[: entry.response.executed]
        return changed_untouched(entry.query.initial.state, executed, entry.response.final.state, constants)
    return [
        atom
        for step in entry.steps
        for atom in changed_untouched(step.before.state, [step.action], step.after.state, constants)
    ]


def changed_untouched(
    before: State, steps: Iterable[GroundAction], after: State, constants: Collection[str]
) -> list[Atom]:
    """The atoms that differ, known on both sides, of which no step names all objects; sorted."""
    named = [{*step.objects, *constants} for step in steps]
    differing = (before.true ^ after.true) - before.unknown - after.unknown
    found = []
    for atom in differing:
        for names in named:
            if names.issuperset(atom.objects):
                break
        else:
            found.append(atom)
    return sorted(found)


def shows_error(transcript: Transcript) -> bool:
    """Whether chance has shown: an untouched atom has changed, or a step was both refused and executed.

    The latter in states that looked the same.
    """
    constants = transcript.vocabulary.constants
    if any(unexplained_changes(entry, constants) for entry in transcript.entries):
        return True
    refused, executed = set[tuple[State, GroundAction]](), set[tuple[State, GroundAction]]()
    for entry in transcript.entries:
        if isinstance(entry, Asked):
            plan, reached = entry.query.plan, entry.response.executed
            if reached:
                executed.add((entry.query.initial.state, plan[0]))
            if reached < len(plan):
                at = entry.response.final if reached else entry.query.initial
                refused.add((at.state, plan[reached]))
        else:
            executed.update((step.before.state, step.action) for step in entry.steps)
    return not refused.isdisjoint(executed)


def contradicted_query(transcript: Transcript, hypotheses: Hypotheses) -> str | None:
    """A query that ended otherwise than its steps, as seen elsewhere, make it end; None if there is none.

    Of a plan's states only the last is seen, so what a step in the middle did otherwise shows there alone.
    """
    evidence, names = Evidence(hypotheses), transcript.names()
    for name, entry in zip(names, transcript.entries, strict=True):
        if not isinstance(entry, Asked) or entry.response.executed < 2:
            continue
        executed, final = entry.query.plan[: entry.response.executed], entry.response.final.state
        state = evidence.predict_plan(entry.query.initial.state, executed)
        differing = sorted((state.true ^ final.true) - state.unknown - final.unknown)
        if differing:
            atom = differing[0]
            actions = {step.name for step in executed if set(atom.objects) <= {*step.objects}}
            shown = [
                other
                for other, one in zip(names, transcript.entries, strict=True)
                if one is not entry and any(step.name in actions for step in one.actions)
            ]
            seen = "true" if atom in final.true else "false"
            return (
                f"{name} ended with {atom} {seen}, which disagrees with {shown[0] if shown else 'all else'}"
            )
    return None
