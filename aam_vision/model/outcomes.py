"""Models with chance: one precondition per action, and several outcomes, each a set of effects with a probability.

An outcome of probability p is what one step of p * 100 in a hundred does, wherever the action can be done and whatever
happened before. Where the effects are conditional (``when`` in PDDL), that is so in each of their cases. ``of_model`` gives the model of an agent without chance in the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from aam_vision.model.strips import ActionHeader, ActionSchema, LiftedAtom, Model, State, Vocabulary

MAX_OUTCOMES = 10
"""Outcomes of one action at most."""


class Effects(NamedTuple):
    """What one outcome changes: the lifted atoms that are true afterwards, and those that are false."""

    add: frozenset[LiftedAtom] = frozenset()
    delete: frozenset[LiftedAtom] = frozenset()

    def applied(self, state: State, objects: Sequence[str]) -> State:
        """The state after them."""
        return ActionSchema(ActionHeader(""), add=self.add, delete=self.delete).successor(state, objects)


class Outcome(NamedTuple):
    """One thing that may happen: its probability, from 0 to 1, and its effects."""

    probability: float
    effects: Effects


class Case(NamedTuple):
    """What an action does where a condition holds: literals beside its precondition, and the outcomes there."""

    positive: frozenset[LiftedAtom] = frozenset()
    negative: frozenset[LiftedAtom] = frozenset()
    outcomes: tuple[Outcome, ...] = (Outcome(1.0, Effects()),)

    def holds(self, state: State, objects: Sequence[str]) -> bool:
        """Whether the condition certainly holds under the binding."""
        return ActionSchema(ActionHeader(""), self.positive, self.negative).applicable(state, objects)


@dataclass(frozen=True)
class ChanceSchema:
    """One action: its header, the lifted atoms of its precondition, and its outcomes (probabilities add up to 1).

    An action with conditional effects has ``cases`` in place of ``outcomes``. Exactly one of their conditions holds in each state.
    ``branches`` has the cases of every action: one without a condition for an action without conditional effects.
    """

    header: ActionHeader
    positive: frozenset[LiftedAtom] = frozenset()
    negative: frozenset[LiftedAtom] = frozenset()
    outcomes: tuple[Outcome, ...] = (Outcome(1.0, Effects()),)
    cases: tuple[Case, ...] = ()

    @property
    def branches(self) -> tuple[Case, ...]:
        """Every case, with its condition."""
        return self.cases or (Case(outcomes=self.outcomes),)

    @cached_property
    def bare(self) -> ActionSchema:
        """The action without its effects."""
        return ActionSchema(self.header, self.positive, self.negative)

    @cached_property
    def single(self) -> tuple[ActionSchema, ...]:
        """A schema without chance for every outcome of every case; its precondition is the action's and the case's."""
        return tuple(
            ActionSchema(
                self.header,
                self.positive | case.positive,
                self.negative | case.negative,
                one.effects.add,
                one.effects.delete,
            )
            for case in self.branches
            for one in case.outcomes
        )

    def applicable(self, state: State, objects: Sequence[str]) -> bool:
        """Whether all preconditions certainly hold under the binding."""
        return self.bare.applicable(state, objects)

    def case(self, state: State, objects: Sequence[str]) -> Case:
        """What the action does there."""
        return next(case for case in self.branches if case.holds(state, objects))

    def successors(self, state: State, objects: Sequence[str]) -> dict[State, float]:
        """The states after the action with their probabilities; outcomes that look alike here are added up."""
        found: dict[State, float] = {}
        for outcome in self.case(state, objects).outcomes:
            after = outcome.effects.applied(state, objects)
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
        outcomes: of one action, or of one of its cases.
        schema: has the action's precondition, and the case's condition.
    """
    found: dict[Effects, float] = {}
    for probability, effects in outcomes:
        if probability > 0:
            add = effects.add - schema.positive
            delete = effects.delete - effects.add - schema.negative
            plain = Effects(add, delete)
            found[plain] = found.get(plain, 0.0) + probability
    return tuple(Outcome(probability, effects) for effects, probability in found.items())


Assignment = Mapping[LiftedAtom, bool]
"""Values of atoms of an action."""


def cases(
    atoms: Sequence[LiftedAtom], outcomes: Callable[[Assignment], tuple[Outcome, ...]]
) -> tuple[Case, ...]:
    """The cases of an action whose outcomes depend on these atoms: as few as splitting on the atoms in turn makes.

    Args:
        atoms: on which they may depend; there is a call for each assignment of values to them.
        outcomes: those under an assignment.
    """

    def split(number: int, chosen: Assignment) -> tuple[Case, ...]:
        if number == len(atoms):
            return (Case(outcomes=outcomes(chosen)),)
        atom = atoms[number]
        yes, no = (split(number + 1, {**chosen, atom: value}) for value in (True, False))
        if _alike(yes, no):
            return yes
        return (
            *(one._replace(positive=one.positive | {atom}) for one in yes),
            *(one._replace(negative=one.negative | {atom}) for one in no),
        )

    return split(0, {})


def _alike(some: Sequence[Case], others: Sequence[Case]) -> bool:
    """Whether cases say the same, in whatever order their outcomes stand."""

    def plain(case: Case) -> tuple[object, ...]:
        return case.positive, case.negative, frozenset(case.outcomes)

    return {plain(one) for one in some} == {plain(one) for one in others}
