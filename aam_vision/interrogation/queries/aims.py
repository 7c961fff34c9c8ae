"""The queries that were asked for one purpose, read back from the evidence."""

from __future__ import annotations

from collections.abc import Iterator

from aam_vision.interrogation.evidence.graph import Evidence, Exchange
from aam_vision.interrogation.evidence.moves import Ask


def asked_for(evidence: Evidence, purpose: str, since: int = 0) -> Iterator[tuple[Ask, Exchange]]:
    """The queries with an aim of this purpose, and their exchanges, from the exchange of number ``since`` on."""
    for exchange in evidence.exchanges[since:]:
        move = exchange.move
        if isinstance(move, Ask) and any(aim.purpose == purpose for aim in move.aims):
            yield move, exchange
