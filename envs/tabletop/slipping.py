"""The table with a hand that slips, as ``--env tabletop:slippery``; its classifiers are those of the table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import gymnasium

from aam_vision.envs.tabletop.environment import Table, TabletopEnv, intended, world
from aam_vision.outcomes import ChanceModel, Effects, Outcome, of_model
from aam_vision.strips import LiftedAtom

SLIP: Final = 0.15
"""How likely the hand slips."""
STAYS: Final = Effects()
DROPS: Final = Effects(
    frozenset({LiftedAtom("clear", (0,)), LiftedAtom("hand-empty", ()), LiftedAtom("on-table", (0,))}),
    frozenset({LiftedAtom("holding", (0,))}),
)
SLIPS: Final = {"pick-up": STAYS, "unstack": STAYS, "stack": DROPS}
"""What comes of a slip, by skill."""


def intended_slippery() -> ChanceModel:
    """The intended model of the table, with slips; for evaluation only."""
    model = of_model(intended())
    actions = []
    for schema in model.actions:
        if (slipped := SLIPS.get(schema.header.name)) is not None:
            (works,) = schema.outcomes
            schema = replace(schema, outcomes=(Outcome(1 - SLIP, works.effects), Outcome(SLIP, slipped)))
        actions.append(schema)
    return ChanceModel(model.vocabulary, tuple(actions))


def make_slippery() -> gymnasium.Env[Any, Any]:
    """The environment."""
    return TabletopEnv("rgb_array", slip=SLIP)


def slippery_world() -> Table:
    """The table with a hand that slips."""
    return replace(world(), make=make_slippery, truth=None, chance_truth=intended_slippery)
