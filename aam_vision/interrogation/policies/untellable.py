"""Stopping where what is open cannot matter for a reason that the agent's maker knows: a decorator around any policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from aam_vision.interrogation.completeness.closed_sets import NONE, Closed, Closure
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Move, Policy, Stop
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses

Reasons = Mapping[tuple[str, Literals], str]
"""By action and undecided literal, why no answer can tell whether the action requires it."""
Untellable = Callable[[Hypotheses, Closure], Reasons]
"""Such reasons, given what is undecided and what is proven to be beyond every query."""


@dataclass(frozen=True)
class Excusing:
    """The moves of a policy; its stop is complete if there are such reasons for all that it leaves open."""

    policy: Policy
    untellable: Untellable

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move, or its stop with the reasons."""
        move = self.policy.next(evidence, rng)
        if not isinstance(move, Stop) or move.complete or move.beyond is None or evidence.supposes:
            return move
        hypotheses = evidence.hypotheses
        beyond = {name: Closed(*move.beyond.get(name, NONE)) for name in hypotheses.actions}
        reasons = self.untellable(hypotheses, beyond)
        for name, literal in reasons:
            beyond[name] = beyond[name].joined(_with_effect(hypotheses[name], literal))
        if any(_left(action, beyond[name]) for name, action in hypotheses.actions.items()):
            return replace(move, beyond=beyond, reasons=reasons)
        return Stop(True, "no query could tell any more", beyond, reasons)


def _with_effect(action: ActionHypotheses, literal: Literals) -> Closed:
    """The literal, and the undecided effect that could only show where it is violated."""
    bit = literal.positive | literal.negative
    elsewhere = action.deletes if literal.positive else action.adds
    shows_there = bit & action.undecided_effects and not bit & elsewhere and not action.index.merges
    return Closed(literal, bit if shows_there else 0)


def _left(action: ActionHypotheses, beyond: Closed) -> bool:
    return bool(Closed(action.undecided, action.undecided_effects).without(beyond))
