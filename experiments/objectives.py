"""What agents that are told objectives have in common, whatever their world."""

from __future__ import annotations

from itertools import product

from aam_vision.envs.policies import PolicyAgent
from aam_vision.model.query import CLAIMED
from aam_vision.model.strips import Assignment, Effects, GroundAction, LiftedAtom, Outcome


def instructions(agent: PolicyAgent) -> list[GroundAction]:
    """All that an agent can be told: every instruction, with every choice of different objects of its types."""
    return [
        GroundAction(one.name, objects)
        for one in agent.headers
        for objects in product(*map(agent.objects.of_type, one.types))
        if len({*objects}) == one.arity
    ]


def ending(probability: float, changes: Assignment, *, claimed: bool) -> Outcome:
    """An outcome of a pursuit: what becomes true or false, and whether it is claimed to be done."""
    changes = {**changes, LiftedAtom(CLAIMED, ()): claimed}
    add, delete = (frozenset(atom for atom, to in changes.items() if to is side) for side in (True, False))
    return Outcome(probability, Effects(add, delete))
