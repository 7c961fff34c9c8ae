"""Signs that a state was misread: changes that no executed step can have made, steps both refused and executed.

An action changes only atoms whose objects its arguments name (or are constants). All other atoms must keep their
values, so every observed step checks a great many of them without an extra question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from aam_vision.interrogation.evidence.attempted_steps import attempted
from aam_vision.interrogation.evidence.entries import Asked, Entry
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.model.strips import Atom, GroundAction, State


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
    """The atoms with different known values before and after, of which no step names all objects; sorted."""
    named = [{*step.objects, *constants} for step in steps]
    differing = (before.true ^ after.true) - before.unknown - after.unknown
    return sorted(atom for atom in differing if not any(names.issuperset(atom.objects) for names in named))


def shows_error(transcript: Transcript) -> bool:
    """Whether an untouched atom has changed, or a step was refused and executed in states that looked the same."""
    constants = transcript.vocabulary.constants
    if any(unexplained_changes(entry, constants) for entry in transcript.entries):
        return True
    outcomes: dict[bool, set[tuple[State, GroundAction]]] = {True: set(), False: set()}
    for step in attempted(transcript.in_single_steps()):
        if step.before is not None:
            outcomes[step.executed].add((step.before.state, step.action))
    return not outcomes[True].isdisjoint(outcomes[False])


def contradicted_query(transcript: Transcript, hypotheses: Hypotheses) -> str | None:
    """A query whose final state contradicts the effects of its steps as seen elsewhere; None if there is none.

    Only the last state of a plan is seen, so an unusual effect of an earlier step shows there alone.
    """
    found = contradicted_entry(transcript, hypotheses)
    if found is None:
        return None
    number, atom = found
    names, entry = transcript.names(), transcript.entries[number]
    assert isinstance(entry, Asked), "only plans are predicted"
    executed = entry.query.plan[: entry.response.executed]
    actions = {step.name for step in executed if set(atom.objects) <= {*step.objects}}
    shown = [
        other
        for other, one in zip(names, transcript.entries, strict=True)
        if one is not entry and any(step.name in actions for step in one.actions)
    ]
    seen = "true" if atom in entry.response.final.state.true else "false"
    return (
        f"{names[number]} ended with {atom} {seen}, which disagrees with {shown[0] if shown else 'all else'}"
    )


def contradicted_entry(transcript: Transcript, hypotheses: Hypotheses) -> tuple[int, Atom] | None:
    """The number of such a query, and an atom that its final state has otherwise; None if there is none."""
    evidence = Evidence(hypotheses)
    for number, entry in enumerate(transcript.entries):
        if not isinstance(entry, Asked) or entry.response.executed < 2:
            continue
        executed, final = entry.query.plan[: entry.response.executed], entry.response.final.state
        state = evidence.predict_plan(entry.query.initial.state, executed)
        differing = sorted((state.true ^ final.true) - state.unknown - final.unknown)
        if differing:
            return number, differing[0]
    return None
