"""What no STRIPS agent that is seen rightly would show: a change that no executed step can have made.

An action changes only atoms whose objects its arguments name (or are constants). All others must stay, so every
observed step holds a great many facts that are known beforehand. They tell of misread states at no extra question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from aam_vision.interrogation.transcript import Asked, Entry
from aam_vision.strips import Atom, GroundAction, State


def unexplained(entry: Entry, constants: Collection[str]) -> list[Atom]:
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
