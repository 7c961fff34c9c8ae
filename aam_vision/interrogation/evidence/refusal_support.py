"""What rests on refusals, and on how many: one wrong refusal proves as much as a right one.

A success shows what is not required, and shows it wherever the action is executed. That a literal *is* required is
shown by refusals alone. Those that violate nothing else bear it out: it is wrong only if every one of them was.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.nodes import Refusal
from aam_vision.interrogation.hypotheses.literals import Literals

REFUSALS = 3
"""Refusals that bear a conclusion out, where answers may be wrong."""


class Claim(NamedTuple):
    """That an action requires at least one of these literals."""

    action: str
    literals: Literals


def supported(evidence: Evidence) -> dict[Claim, list[Refusal]]:
    """Everything that is concluded from refusals, in a fixed order, with the refusals that bear it out."""
    refused: dict[str, list[tuple[Literals, Refusal]]] = defaultdict(list)
    for refusal in evidence.refusals:
        action = evidence.hypotheses[refusal.action.name]
        held, dim = action.index.values(refusal.at.state, refusal.action.objects)
        refused[refusal.action.name].append((action.violated(held, dim), refusal))
    return {
        Claim(name, literals): [refusal for violated, refusal in refused[name] if violated.within(literals)]
        for name, action in evidence.hypotheses.actions.items()
        for literals in (*action.proven.singles(), *sorted(action.clauses))
    }


def unconfirmed(evidence: Evidence) -> tuple[Claim, ...]:
    """What fewer than ``REFUSALS`` refusals bear out."""
    return tuple(claim for claim, refusals in supported(evidence).items() if len(refusals) < REFUSALS)
