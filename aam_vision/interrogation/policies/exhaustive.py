"""Stopping only when nothing is left to ask: a decorator around any policy.

A policy asks what is likely to tell most, and may overlook a question in an unusual domain. So before it stops without
a proof, all steps are tried in all states within the access, as far as these are few. A step whose outcome does not
follow from what is known is asked for. If it is executed, the policy goes on from there; if it is refused, the next one
follows at once, since a refusal seldom gives the policy anything to go on with. If there is none, no query could tell
any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aam_vision.interrogation.evidence.entries import Asked
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Aim, Ask, Move, Policy, Stop
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.queries.undetermined_steps import Found, constructed_step, reachable_step
from aam_vision.model.query import Access

OVERLOOKED = "overlooked"
"""The purpose of steps that the policy did not ask for."""


@dataclass(frozen=True)
class Exhaustive:
    """The moves of a policy; and once it stops without a proof, steps with an unknown outcome."""

    policy: Policy
    access: Access

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move, a step that it overlooked, or the policy's stop, with a proof if there is one."""
        found = self._overlooked(evidence) if _was_refused(evidence) else None
        if found is None or found.ask is None:
            move = self.policy.next(evidence, rng)
            if not isinstance(move, Stop) or move.complete or evidence.supposes:
                return move
            found = found or self._overlooked(evidence)
        if found.ask is not None:
            return replace(found.ask, aims=(Aim(OVERLOOKED, found.ask.plan[-1].name),))
        if found.exhausted and not self.access.restarts:
            # complete for all problems, not just for what is left of them
            found = reachable_step(evidence, _initial(evidence))
        return Stop(True, "no query could tell any more") if found.exhausted else move

    def _overlooked(self, evidence: Evidence) -> Found:
        if self.access.constructs:
            return constructed_step(evidence)
        return reachable_step(evidence, self._starts(evidence))

    def _starts(self, evidence: Evidence) -> Sequence[Node]:
        """Where a query may begin; under ``reset`` access it may lead to what was seen before."""
        if self.access.restarts:
            return evidence.visited
        return [evidence.current] if evidence.edges or evidence.refusals else _initial(evidence)


def _was_refused(evidence: Evidence) -> bool:
    """Whether the last question was for an overlooked step, which was refused."""
    if not evidence.exchanges:
        return False
    entry, move = evidence.exchanges[-1].entry, evidence.exchanges[-1].move
    return (
        isinstance(entry, Asked)
        and isinstance(move, Ask)
        and [aim.purpose for aim in move.aims] == [OVERLOOKED]
        and entry.response.executed < len(move.plan)
    )


def _initial(evidence: Evidence) -> Sequence[Node]:
    return [node for node in evidence.nodes if node.initial]
