"""All questions to an agent and all its answers, in order: enough to check a result.

A transcript holds no conclusions: they can be drawn from it again, whatever policy asked the questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aam_vision.interrogation.evidence.entries import Asked, Entry, Walked
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.model.query import Access, Situation
from aam_vision.model.strips import ActionHeader, Vocabulary
from aam_vision.support.wording import counted


@dataclass(frozen=True)
class Transcript:
    """The vocabulary and the start of an interrogation, and its questions, walks and answers."""

    vocabulary: Vocabulary
    headers: tuple[ActionHeader, ...]
    access: Access
    initial: tuple[Situation, ...]
    entries: tuple[Entry, ...]
    repeated: bool = False
    """Whether one object may be named by several arguments."""

    def names(self) -> list[str]:
        """Names of the entries for messages, e.g. ``query 3 (stack(a, b): 0 of 1 steps executed)``."""
        queries = looks = steps = 0
        found = []
        for entry in self.entries:
            if isinstance(entry, Asked) and entry.looks:
                looks += 1
                found.append(f"look {looks}")
            elif isinstance(entry, Asked):
                queries += 1
                plan = ", ".join(map(str, entry.query.plan))
                executed = f"{entry.response.executed} of {counted(len(entry.query.plan), 'step')} executed"
                found.append(f"query {queries} ({plan}: {executed})")
            else:
                first, steps = steps + 1, steps + len(entry.steps)
                which = f"walk step {steps}" if first == steps else f"walk steps {first} to {steps}"
                found.append(f"{which} ({', '.join(map(str, entry.actions))})")
        return found

    def in_single_steps(self) -> Transcript:
        """The same with every walk as walks of one step."""
        single: list[Entry] = []
        for entry in self.entries:
            single += [entry] if isinstance(entry, Asked) else [Walked((step,)) for step in entry.steps]
        return self.of(single)

    def of(self, entries: Sequence[Entry]) -> Transcript:
        """The same interrogation with other entries."""
        return replace(self, entries=tuple(entries))


def initial_evidence(transcript: Transcript) -> Evidence:
    """The evidence before the first question: the initial situations of the problems."""
    evidence = Evidence(Hypotheses(transcript.vocabulary, transcript.headers, repeated=transcript.repeated))
    for situation in transcript.initial:
        evidence.begin(situation)
    return evidence
