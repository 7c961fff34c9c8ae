"""Near misses: single steps whose outcome is not known yet, found in a situation by a join over its atoms.

A probe *violates* some undecided literals of its action while everything proven holds. If the agent
refuses, one of the violated literals is a precondition; if it executes, none is. A probe that violates
one literal alone decides it either way: a *near miss*. Other arguments violate other literals, so that
``move`` asked of a stone tests ``is-player``. Which arguments to take is a join over the state's atoms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.ground_literals import atoms
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.joins import StateIndex, bindings
from aam_vision.strips import GroundAction

SEARCH_LIMIT = 400
"""Bindings looked at in one situation for one target."""


@dataclass(frozen=True)
class NearMiss:
    """A step to ask, and the undecided literals that it violates (or may violate)."""

    action: GroundAction
    violated: Literals


def near_misses(hypotheses: ActionHypotheses, index: StateIndex, suspects: Literals) -> Iterator[NearMiss]:
    """Probes in one situation that violate nothing but suspects, and at least one of them.

    Their outcome is open: neither a proven precondition nor a whole clause is violated. Something is violated
    for certain: where a literal is only unknown, a success would tell nothing of it.
    """
    trusted = hypotheses.candidates.without(suspects)
    required = atoms(hypotheses, trusted.positive)
    state = index.state
    for objects in islice(bindings(index, hypotheses.index.header, required), SEARCH_LIMIT):
        held, dim = hypotheses.index.values(state, objects)
        violated = hypotheses.violated(held, dim)
        if (
            hypotheses.certainly_violated(held, dim)
            and not (violated.positive & trusted.positive or violated.negative & trusted.negative)
            and not hypotheses.certain_to_fail(violated)
        ):
            yield NearMiss(GroundAction(hypotheses.index.header.name, objects), violated)


def revealing_step(hypotheses: ActionHypotheses, index: StateIndex, bit: int) -> GroundAction | None:
    """A step that can be executed in this situation and would show an undecided effect on one atom."""
    wanted = not hypotheses.adds & bit  # an atom that may be deleted must be there, else it must not
    required = atoms(hypotheses, hypotheses.positive | (bit if wanted else 0))
    for objects in islice(bindings(index, hypotheses.index.header, required), SEARCH_LIMIT):
        held, dim = hypotheses.index.values(index.state, objects)
        if bool(held & bit) == wanted and not dim & bit and not hypotheses.violated(held, dim):
            return GroundAction(hypotheses.index.header.name, objects)
    return None
