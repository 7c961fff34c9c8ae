"""The files of a run that knew only controls, beside those of every run: the transcript of its operators.

``transcript.sqlite`` has what was asked and answered: controls, and what came of them. What that says of the operators, as
queries and walks of them, is kept in a journal of its own, so that the proofs of the model can be shown from the folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from aam_vision.agents.journal import NAME, OPERATORS, Journal
from aam_vision.agents.journalled import JournalledAgent
from aam_vision.interrogation.evidence.moves import Asked, Entry
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.model.query import Query, Response, Situation, WalkStep


def clear_operators(folder: Path) -> None:
    """Remove the transcript of the operators of an earlier run in this folder."""
    place = folder / OPERATORS
    if place.is_symlink():  # it would lead out of the run's folder
        place.unlink()
    for path in place.glob(f"{NAME}*"):
        path.unlink()


def keep_operators(folder: Path, transcript: Transcript) -> None:
    """Write the transcript of the operators' interrogation. Raises UnusableInput: it cannot be written."""
    clear_operators(folder)
    (folder / OPERATORS).mkdir(exist_ok=True)
    told = list(_told(transcript.entries))
    with Journal.create(folder / OPERATORS, {"repeated_arguments": False}, {}, force=True) as journal:
        agent = JournalledAgent(_Retelling(transcript, told), journal)
        agent.initial()
        for entry in told:
            if isinstance(entry, Asked):
                agent.ask(entry.query)
            else:
                agent.walk(entry.steps[0].before, len(entry.steps), np.random.default_rng(0))


def _told(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The entries without the steps of which it could not be told whether they were carried out."""
    for entry in entries:
        if isinstance(entry, Asked) and entry.response.told is not None:
            query, response = entry.query, entry.response
            if response.told:
                told = Response(min(response.executed, response.told), response.final)
                yield Asked(Query(query.initial, query.plan[: response.told]), told)
        elif isinstance(entry, Asked) or entry.steps:
            yield entry


class _Retelling:
    """An agent that gives the answers of a transcript once more, in their order."""

    def __init__(self, transcript: Transcript, entries: Sequence[Entry]) -> None:
        self.vocabulary, self.headers = transcript.vocabulary, transcript.headers
        self.access = transcript.access
        self._transcript = transcript
        self._entries = iter(entries)

    def initial(self) -> Sequence[Situation]:
        return self._transcript.initial

    def ask(self, query: Query) -> Response:
        entry = next(self._entries)
        assert isinstance(entry, Asked)
        assert entry.query == query, "asked in the same order"
        return entry.response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        entry = next(self._entries)
        assert not isinstance(entry, Asked), "asked in the same order"
        return entry.steps
