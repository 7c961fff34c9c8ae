"""Comparing a learned model with chance with the ground truth. Only the command and the experiments use this.

The *variational distance* is that of QACE (Verma, Karia and Srivastava, NeurIPS 2023): over sampled transitions <s, a, s'> of the
truth, the mean of the difference between both models' probabilities of s' after a in s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.chance.explaining import Change
from aam_vision.chance.knowledge import ActionKnowledge
from aam_vision.joins import StateIndex, bindings
from aam_vision.outcomes import ChanceModel, ChanceSchema, Outcome, merged
from aam_vision.strips import GroundAction, LiftedAtom, Location, Mode, State

WALK = 30
"""Steps after which a walk begins again at a problem's initial state: QACE's horizon."""


class Transition(NamedTuple):
    """One step of the truth."""

    before: State
    action: GroundAction
    after: State


def sample_transitions(
    truth: ChanceModel, initial: Sequence[State], count: int, rng: np.random.Generator
) -> list[Transition]:
    """Steps of random walks from the initial states in turn: any step that can be done, its outcome drawn.

    Args:
        truth: the true model.
        initial: the initial states.
        count: of the steps; fewer where nothing can be done in any initial state.
        rng: draws steps and outcomes.
    """
    found: list[Transition] = []
    turn = idle = 0
    while len(found) < count and idle < len(initial):
        state = initial[turn % len(initial)]
        turn += 1
        idle += 1
        for _ in range(min(WALK, count - len(found))):
            options = applicable(truth, state)
            if not options:
                break
            idle = 0
            schema, objects = options[int(rng.integers(len(options)))]
            after = schema.successors(state, objects)
            states = list(after)
            shares = np.array([after[one] for one in states])
            reached = states[int(rng.choice(len(states), p=shares / shares.sum()))]
            found.append(Transition(state, GroundAction(schema.header.name, objects), reached))
            state = reached
    return found


def applicable(model: ChanceModel, state: State) -> list[tuple[ChanceSchema, tuple[str, ...]]]:
    """Every action and binding (no object twice) that can be executed in a state."""
    index = StateIndex(state)
    return [
        (schema, objects)
        for schema in model.actions
        for objects in bindings(index, schema.header, sorted(schema.positive, key=str))
        if schema.applicable(state, objects)
    ]


def variational_distance(
    learned: ChanceModel, truth: ChanceModel, transitions: Sequence[Transition]
) -> float:
    """The mean difference of both models' probabilities of what happened; a step that cannot be done leads nowhere."""

    def share(model: ChanceModel, step: Transition) -> float:
        schema = model.schema(step.action.name)
        if not schema.applicable(step.before, step.action.objects):
            return 0.0
        return schema.successors(step.before, step.action.objects).get(step.after, 0.0)

    differences = [abs(share(learned, step) - share(truth, step)) for step in transitions]
    return float(np.mean(differences)) if differences else 0.0


def same_structure(learned: ChanceModel, truth: ChanceModel, states: Iterable[State]) -> bool:
    """Whether in all of these states the same steps can be done, with the same possible states after each."""

    def outcomes(model: ChanceModel, state: State) -> dict[GroundAction, frozenset[State]]:
        return {
            GroundAction(schema.header.name, objects): frozenset(schema.successors(state, objects))
            for schema, objects in applicable(model, state)
        }

    return all(outcomes(learned, state) == outcomes(truth, state) for state in dict.fromkeys(states))


def exact(learned: ChanceModel, truth: ChanceModel) -> bool:
    """Whether preconditions and outcomes are as in the truth, probabilities aside; effects that change nothing aside."""
    return all(
        own.positive == schema.positive
        and own.negative == schema.negative
        and {one.effects for one in merged(own.outcomes, schema.single[0])}
        == {one.effects for one in merged(schema.outcomes, schema.single[0])}
        for schema in truth.actions
        for own in [learned.schema(schema.header.name)]
    )


class Check(NamedTuple):
    """What is said of one action, held against the truth."""

    wrong: tuple[str, ...]
    """Palm tuples of the precondition, and outcomes, that are called certain and are wrong."""
    intervals: tuple[bool, ...]
    """For every outcome that is called certain, whether its interval has the true probability."""
    missing: float
    """The probability of the likeliest outcome that none of the known ones can be, as far as they are certain."""


def check(action: ActionKnowledge, truth: ChanceSchema) -> Check:
    """Hold what is said of an action against the truth."""
    wrong = [*_wrong_preconditions(action, truth)]
    outcomes = merged(truth.outcomes, truth.single[0])
    if not action.executed:
        return Check(tuple(wrong), (), 0.0)
    intervals: list[bool] = []
    explained: set[Outcome] = set()
    for one, found in zip(action.outcomes, action.frequencies, strict=True):
        fitting = {outcome for outcome in outcomes if _fits(action, one, outcome)}
        explained |= fitting
        if action.explanation.sure:
            if not fitting:
                wrong.append(f"{truth.header.name}: outcome {one}")
            share = sum(outcome.probability for outcome in outcomes if _alike(action, one, outcome))
            intervals.append(found.low - 1e-9 <= share <= found.high + 1e-9)
    missing = [outcome.probability for outcome in outcomes if outcome not in explained]
    return Check(tuple(wrong), tuple(intervals), max(missing, default=0.0))


def _wrong_preconditions(action: ActionKnowledge, truth: ChanceSchema) -> list[str]:
    schema, masks = truth.single[0], action.precondition.masks(Location.PRE)
    wrong = []
    for atom, bit in action.index.bit.items():
        modes = [mode for mode, mask in zip(Mode, masks, strict=True) if mask & bit]
        if len(modes) == 1 and modes[0] is not schema.mode(atom, Location.PRE):
            wrong.append(f"{truth.header.name}: {atom.text(truth.header.parameters)} {modes[0].value}")
    return wrong


def _masks(action: ActionKnowledge, outcome: Outcome) -> tuple[int, int]:
    """The atoms that an outcome adds, and those that it deletes."""

    def mask(atoms: Iterable[LiftedAtom]) -> int:
        return sum(action.index.bit.get(atom, 0) for atom in set(atoms))

    return mask(outcome.effects.add), mask(outcome.effects.delete)


def _fits(action: ActionKnowledge, one: Change, outcome: Outcome) -> bool:
    """Whether all that is certain of a learned outcome is right of a true one."""
    adds, deletes = _masks(action, outcome)
    return not (
        one.adds & ~adds or one.deletes & ~deletes or one.adds_not & adds or one.deletes_not & deletes
    )


def _alike(action: ActionKnowledge, one: Change, outcome: Outcome) -> bool:
    """Whether a true outcome looks like a learned one where all known outcomes show themselves."""
    adds, deletes = _masks(action, outcome)
    known = action.explanation
    return one.adds == adds & known.additions and one.deletes == deletes & known.deletions
