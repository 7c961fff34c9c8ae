"""Conclusions from refusals, each with the refusals that support it.

Only refusals show that a literal is required, so a single wrong one can prove a literal that is not. Every refusal in
which nothing else was violated supports the conclusion: it is wrong only if all of these were.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.nodes import Refusal
from aam_vision.interrogation.hypotheses.literals import Literals

REFUSALS = 3
"""Refusals that make a conclusion certain where answers may be wrong. More: fewer wrong conclusions, more queries."""


class Claim(NamedTuple):
    """The conclusion that an action requires at least one of these literals."""

    action: str
    literals: Literals


def supported(evidence: Evidence) -> dict[Claim, list[Refusal]]:
    """All conclusions from refusals, in a fixed order, each with the refusals that support it."""
    refused: dict[str, list[tuple[Literals, Refusal]]] = defaultdict(list)
    for refusal in evidence.refusals:
        action = evidence.hypotheses[refusal.action.name]
        held, unknown = action.index.values(refusal.at.state, refusal.action.objects)
        refused[refusal.action.name].append((action.violated(held, unknown), refusal))
    return {
        Claim(name, literals): [refusal for violated, refusal in refused[name] if violated.within(literals)]
        for name, action in evidence.hypotheses.actions.items()
        for literals in (*action.proven.singles(), *sorted(action.clauses))
    }


def unconfirmed(evidence: Evidence) -> tuple[Claim, ...]:
    """The conclusions that fewer than ``REFUSALS`` refusals support."""
    return tuple(claim for claim, refusals in supported(evidence).items() if len(refusals) < REFUSALS)
