"""Models with chance: one precondition per action, and several outcomes, each a set of effects with a probability.

An outcome of probability p is what one step of p * 100 in a hundred does, wherever the action can be done and whatever
happened before. ``of_model`` gives the model of an agent without chance in the same form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from aam_vision.strips import ActionHeader, ActionSchema, LiftedAtom, Model, State, Vocabulary

MAX_OUTCOMES = 10
"""Outcomes of one action at most."""


class Effects(NamedTuple):
    """What one outcome changes: the lifted atoms that are true afterwards, and those that are false."""

    add: frozenset[LiftedAtom] = frozenset()
    delete: frozenset[LiftedAtom] = frozenset()


class Outcome(NamedTuple):
    """One thing that may happen: its probability, from 0 to 1, and its effects."""

    probability: float
    effects: Effects


@dataclass(frozen=True)
class ChanceSchema:
    """One action: its header, the lifted atoms of its precondition, and its outcomes (probabilities add up to 1)."""

    header: ActionHeader
    positive: frozenset[LiftedAtom] = frozenset()
    negative: frozenset[LiftedAtom] = frozenset()
    outcomes: tuple[Outcome, ...] = (Outcome(1.0, Effects()),)

    @cached_property
    def single(self) -> tuple[ActionSchema, ...]:
        """A schema without chance for every outcome."""
        return tuple(
            ActionSchema(self.header, self.positive, self.negative, one.effects.add, one.effects.delete)
            for one in self.outcomes
        )

    def applicable(self, state: State, objects: Sequence[str]) -> bool:
        """Whether all preconditions certainly hold under the binding."""
        return self.single[0].applicable(state, objects)

    def successors(self, state: State, objects: Sequence[str]) -> dict[State, float]:
        """The states after the action with their probabilities; outcomes that look alike here are added up."""
        found: dict[State, float] = {}
        for outcome, schema in zip(self.outcomes, self.single, strict=True):
            after = schema.successor(state, objects)
            found[after] = found.get(after, 0.0) + outcome.probability
        return found


@dataclass(frozen=True)
class ChanceModel:
    """A vocabulary and one schema with outcomes per action."""

    vocabulary: Vocabulary
    actions: tuple[ChanceSchema, ...]

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return tuple(schema.header for schema in self.actions)

    @cached_property
    def _by_name(self) -> dict[str, ChanceSchema]:
        return {schema.header.name: schema for schema in self.actions}

    def schema(self, name: str) -> ChanceSchema:
        """The schema of that name; KeyError if the model has none."""
        return self._by_name[name]


def of_model(model: Model) -> ChanceModel:
    """A model without chance: every action has one outcome."""
    return ChanceModel(
        model.vocabulary,
        tuple(
            ChanceSchema(
                schema.header,
                schema.positive,
                schema.negative,
                (Outcome(1.0, Effects(schema.add, schema.delete)),),
            )
            for schema in model.actions
        ),
    )


def merged(outcomes: Iterable[Outcome], schema: ActionSchema) -> tuple[Outcome, ...]:
    """The outcomes as states show them: effects that can change nothing left out, equal ones joined, impossible ones gone.

    Args:
        outcomes: of one action.
        schema: has the action's precondition.
    """
    found: dict[Effects, float] = {}
    for probability, effects in outcomes:
        if probability > 0:
            add = effects.add - schema.positive
            delete = effects.delete - effects.add - schema.negative
            plain = Effects(add, delete)
            found[plain] = found.get(plain, 0.0) + probability
    return tuple(Outcome(probability, effects) for effects, probability in found.items())
