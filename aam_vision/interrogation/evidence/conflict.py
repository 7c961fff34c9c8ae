"""Answers of an agent that contradict each other.

Two where two suffice; else as few as can be found in one pass (QuickXplain: Junker, AAAI 2004). Each of them is
needed: without any one of them the others are consistent with some STRIPS agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aam_vision.interrogation.evidence.entries import Entry
from aam_vision.interrogation.evidence.transcript import Transcript, initial_evidence
from aam_vision.support.errors import InconsistentAgent


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
    last = _first_contradicted(transcript)
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
    return _first_contradicted(replace(transcript.of(entries), headers=headers)) is not None


def _first_contradicted(transcript: Transcript) -> int | None:
    """The number of the first entry that contradicts those before it."""
    evidence = initial_evidence(transcript)
    for number, entry in enumerate(transcript.entries):
        try:
            evidence.take_in(entry)
        except InconsistentAgent:
            return number
    return None
