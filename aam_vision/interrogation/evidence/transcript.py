"""Everything that was asked of an agent and everything it showed, in order: enough to check a result.

A transcript holds no conclusions: they can be drawn from it afresh, whatever policy asked the questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from aam_vision.interrogation.evidence.entries import Asked, Entry, Walked
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.query import Access, Situation
from aam_vision.strips import ActionHeader, Vocabulary


@dataclass(frozen=True)
class Transcript:
    """What an interrogation was about, where it began, and its questions, walks and answers."""

    vocabulary: Vocabulary
    headers: tuple[ActionHeader, ...]
    access: Access
    initial: tuple[Situation, ...]
    entries: tuple[Entry, ...]
    repeated: bool = False
    """Whether the interrogation was about arguments that are named twice, too."""

    def names(self) -> list[str]:
        """What the entries are called in messages, e.g. ``query 3 (stack(a, b): 0 of 1 steps executed)``."""
        queries = looks = steps = 0
        found = []
        for entry in self.entries:
            if isinstance(entry, Asked) and entry.looks:
                looks += 1
                found.append(f"look {looks}")
            elif isinstance(entry, Asked):
                queries += 1
                plan = ", ".join(map(str, entry.query.plan))
                executed = f"{entry.response.executed} of {len(entry.query.plan)} steps executed"
                found.append(f"query {queries} ({plan}: {executed})")
            else:
                first, steps = steps + 1, steps + len(entry.steps)
                which = f"walk step {steps}" if first == steps else f"walk steps {first} to {steps}"
                found.append(f"{which} ({', '.join(map(str, entry.actions))})")
        return found

    def in_single_steps(self) -> Transcript:
        """The same with every walk as walks of one step."""
        return self.of([*_in_single_steps(self.entries)])

    def of(self, entries: Sequence[Entry]) -> Transcript:
        """The same interrogation with other entries."""
        return replace(self, entries=tuple(entries))


def _in_single_steps(entries: Sequence[Entry]) -> Iterator[Entry]:
    for entry in entries:
        if isinstance(entry, Walked):
            yield from (Walked((step,)) for step in entry.steps)
        else:
            yield entry


def initial_evidence(transcript: Transcript) -> Evidence:
    """What is known before the first question: where the problems begin."""
    evidence = Evidence(Hypotheses(transcript.vocabulary, transcript.headers, repeated=transcript.repeated))
    for situation in transcript.initial:
        evidence.begin(situation)
    return evidence
