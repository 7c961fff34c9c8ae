"""Signs that a state was misread, and answers that contradict each other.

An action changes only atoms whose objects its arguments name (or are constants). All other atoms must keep their
values, so every observed step checks a great many of them without an extra question.

Of answers that contradict each other two are named where two suffice; else as few as can be found in one pass (QuickXplain: Junker, AAAI 2004). Each of them is
needed: without any one of them the others are consistent with some STRIPS agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from math import comb
from typing import Final

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Asked, Entry
from aam_vision.interrogation.evidence.transcript import Transcript, attempted, taken_in
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.model.strips import Atom, GroundAction, State, Vocabulary

UNEVEN: Final = 0.01
"""How seldom refusals by mistake, all of one rate, may come so often in one action before that is not taken for their rate."""


def unexplained_changes(entry: Entry, vocabulary: Vocabulary) -> list[Atom]:
    """Atoms that changed, in one answer or walk, although no executed step names their objects; but for what follows from others, or was to come."""
    delays, plain = vocabulary.delays, vocabulary.plain
    if isinstance(entry, Asked):
        executed = entry.query.plan[: entry.response.executed]
        steps = [(entry.query.initial.state, executed, entry.response.final.state)]
    else:
        steps = [(step.before.state, (step.action,), step.after.state) for step in entry.steps]
    found: list[Atom] = []
    for before, actions, after in steps:
        due = frozenset[Atom]() if delays is None else delays.due_within(before, actions)
        changed = changed_untouched(plain(before), actions, plain(after), vocabulary.constants)
        found += [atom for atom in changed if atom not in due]
    return found


def changed_untouched(
    before: State, steps: Iterable[GroundAction], after: State, constants: Collection[str]
) -> list[Atom]:
    """The atoms with different known values before and after, of which no step names all objects; sorted."""
    named = [{*step.objects, *constants} for step in steps]
    differing = (before.true ^ after.true) - before.unknown - after.unknown
    return sorted(atom for atom in differing if not any(names.issuperset(atom.objects) for names in named))


def shows_error(transcript: Transcript) -> bool:
    """Whether an untouched atom has changed, or a step was refused and executed in states that looked the same."""
    known = transcript.vocabulary
    if any(unexplained_changes(entry, known) for entry in transcript.entries):
        return True
    outcomes: dict[bool, set[tuple[State, GroundAction]]] = {True: set(), False: set()}
    for step in attempted(transcript.in_single_steps()):
        if step.before is not None:
            outcomes[step.executed].add((step.before.state, step.action))
    return not outcomes[True].isdisjoint(outcomes[False])


def refused_unevenly(transcript: Transcript, hypotheses: Hypotheses) -> bool:
    """Whether one action is refused, where it can be executed, more often than the others are: no error of one rate comes so.

    Given how many such steps were refused altogether, those of one action are distributed hypergeometrically (Fisher's exact test). Walks
    do not count: what they choose is executed.

    Args:
        transcript: all answers.
        hypotheses: what follows from them once they are weighed. An action can be executed where all that it may require holds.
    """
    asked = transcript.of([one for one in transcript.entries if isinstance(one, Asked)])
    steps = [*attempted(asked)]
    executed = {(one.before.state, one.action) for one in steps if one.executed and one.before is not None}
    made, mistaken = Counter[str](), Counter[str]()
    for step in steps:
        name = step.action.name
        if step.executed:
            made[name] += 1
        elif step.before is not None:
            known = hypotheses[name]
            can = not known.violated(*known.index.values(step.before.state, step.action.objects))
            if can or (step.before.state, step.action) in executed:
                made[name] += 1
                mistaken[name] += 1
    chances = (
        _so_many(times, made[name], mistaken.total(), made.total()) for name, times in mistaken.items()
    )
    return len(transcript.headers) * min(chances, default=1.0) < UNEVEN


def _so_many(times: int, own: int, wrong: int, of: int) -> float:
    """The probability that at least ``times`` of ``wrong`` steps out of ``of`` are among ``own`` of these."""
    ways = sum(comb(own, one) * comb(of - own, wrong - one) for one in range(times, min(own, wrong) + 1))
    return ways / comb(of, wrong)


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


def disagreement(transcript: Transcript) -> str | None:
    """The entries that contradict each other, in one line; None if the transcript is consistent."""
    single = transcript.in_single_steps()
    numbers = contradicting_entries(single)
    if numbers is None:
        return None
    *others, last = (single.names()[number] for number in numbers)
    return f"{last} disagrees with {' together with '.join(others) or 'itself'}"


def contradicting_entries(transcript: Transcript) -> list[int] | None:
    """The numbers of the entries that contradict each other, in order; None if the transcript is consistent.

    The transcript's walks must be in single steps.
    """
    last = taken_in(transcript)[1]
    return None if last is None else [*_culprits(transcript, last), last]


def _culprits(transcript: Transcript, last: int) -> list[int]:
    """Earlier entries that contradict the entry number ``last``."""
    if _contradictory(transcript, [last]):
        return []
    actions = {action.name for action in transcript.entries[last].actions}
    for number in range(last):
        if any(action.name in actions for action in transcript.entries[number].actions) and _contradictory(
            transcript, [number, last]
        ):
            return [number]
    return sorted(_minimal(transcript, [last], list(range(last)), added=False))


def _minimal(transcript: Transcript, kept: list[int], pool: list[int], *, added: bool) -> list[int]:
    """A minimal part of the pool that contradicts the entries ``kept``."""
    if added and _contradictory(transcript, kept):
        return []
    if len(pool) == 1:
        return pool
    early, late = pool[: len(pool) // 2], pool[len(pool) // 2 :]
    from_late = _minimal(transcript, kept + early, late, added=True)
    from_early = _minimal(transcript, kept + from_late, early, added=bool(from_late))
    return from_early + from_late


def _contradictory(transcript: Transcript, numbers: Sequence[int]) -> bool:
    """Whether these entries alone, in their order, contradict each other."""
    entries: list[Entry] = [transcript.entries[number] for number in sorted(numbers)]
    named = {action.name for entry in entries for action in entry.actions}
    headers = tuple(header for header in transcript.headers if header.name in named)
    return taken_in(replace(transcript.of(entries), headers=headers))[1] is not None
