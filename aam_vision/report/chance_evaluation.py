"""Comparing a learned model with chance with the ground truth. Only the command and the experiments use this.

The *variational distance* is that of QACE (Verma, Karia and Srivastava, NeurIPS 2023): over sampled transitions <s, a, s'> of the
truth, the mean of the difference between both models' probabilities of s' after a in s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.chance.cases import CaseKnowledge
from aam_vision.interrogation.chance.comparing import modes
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.observations import Change, holds
from aam_vision.model.strips import (
    ActionSchema,
    Case,
    GroundAction,
    LiftedAtom,
    Location,
    Model,
    Outcome,
    State,
    merged,
)
from aam_vision.report.evaluation import applicable

WALK = 30
"""Steps after which a walk begins again at a problem's initial state: QACE's horizon."""


class Transition(NamedTuple):
    """One step of the truth."""

    before: State
    action: GroundAction
    after: State


def sample_transitions(
    truth: Model, initial: Sequence[State], count: int, rng: np.random.Generator
) -> list[Transition]:
    """Steps of random walks from the initial states in turn: any that can be done, its outcome drawn; fewer than ``count`` where nothing can be done."""
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


def variational_distance(learned: Model, truth: Model, transitions: Sequence[Transition]) -> float:
    """The mean difference of both models' probabilities of what happened; a step that cannot be done leads nowhere."""

    def share(model: Model, step: Transition) -> float:
        schema = model.schema(step.action.name)
        if not schema.applicable(step.before, step.action.objects):
            return 0.0
        return schema.successors(step.before, step.action.objects).get(step.after, 0.0)

    differences = [abs(share(learned, step) - share(truth, step)) for step in transitions]
    return float(np.mean(differences)) if differences else 0.0


def exact(learned: Model, truth: Model) -> bool:
    """Whether preconditions and outcomes are as in the truth, but for probabilities and effects that change nothing, under all values of conditions."""
    return all(
        own.positive == schema.positive
        and own.negative == schema.negative
        and all(
            {one.effects for one in _shown(own, values)} == {one.effects for one in _shown(schema, values)}
            for values in _assignments(own, schema)
        )
        for schema in truth.actions
        for own in [learned.schema(schema.header.name)]
    )


def _assignments(*schemas: ActionSchema) -> Iterator[dict[LiftedAtom, bool]]:
    """All values of the atoms in the conditions of these schemas that the first one's precondition allows."""
    atoms = {atom for one in schemas for case in one.branches for atom in case.positive | case.negative}
    fixed = {**dict.fromkeys(schemas[0].positive, True), **dict.fromkeys(schemas[0].negative, False)}
    free = sorted(atoms - set(fixed), key=str)
    for values in product((False, True), repeat=len(free)):
        yield {**fixed, **dict(zip(free, values, strict=True))}


def _shown(schema: ActionSchema, values: Mapping[LiftedAtom, bool]) -> tuple[Outcome, ...]:
    """The outcomes under these values, as states show them."""
    case = next(
        one
        for one in schema.branches
        if all(values.get(atom, False) for atom in one.positive)
        and not any(values.get(atom, False) for atom in one.negative)
    )
    positive = frozenset(atom for atom, value in values.items() if value) | schema.positive
    negative = frozenset(atom for atom, value in values.items() if not value) | schema.negative
    return merged(case.outcomes, replace(schema.bare, positive=positive, negative=negative))


class Check(NamedTuple):
    """What is said of one action, held against the truth."""

    wrong: tuple[str, ...]
    """Palm tuples of the precondition, and outcomes, that are called certain and are wrong."""
    intervals: tuple[bool, ...]
    """For every outcome that is called certain, whether its interval has the true probability."""
    missing: float
    """The probability of the likeliest outcome that none of the known ones can be, as far as they are certain."""


def check(action: ActionKnowledge, truth: ActionSchema) -> Check:
    """Hold what is said of an action against the truth."""
    wrong = [*_wrong_preconditions(action, truth), *_wrong_conditions(action, truth)]
    intervals: list[bool] = []
    missing = 0.0
    for case in action.cases:
        tried = _tried(action, case, truth)
        explained: set[tuple[int, Outcome]] = set()
        for one, found in zip(case.outcomes, case.frequencies, strict=True):
            fitting = {
                (number, outcome)
                for number, (true, _) in enumerate(tried)
                for outcome in merged(true.outcomes, truth.bare)
                if _fits(action, one, outcome, true)
            }
            explained |= fitting
            if case.explanation.sure and not action.dependence.suspected:
                if not fitting:
                    wrong.append(f"{truth.header.name}: outcome {one}")
                shares = [
                    sum(each.probability for each in true.outcomes if _alike(action, case, one, each, true))
                    for true, told in tried
                    if told
                ]
                intervals.append(all(found.low - 1e-9 <= share <= found.high + 1e-9 for share in shares))
        for number, (true, _) in enumerate(tried):
            for outcome in merged(true.outcomes, truth.bare):
                if (number, outcome) not in explained:
                    missing = max(missing, outcome.probability)
    return Check(tuple(wrong), tuple(intervals), missing)


def _tried(action: ActionKnowledge, case: CaseKnowledge, truth: ActionSchema) -> list[tuple[Case, bool]]:
    """The true cases in which steps of a learned case were executed, and whether any of these show all outcomes."""
    found = []
    for one in truth.branches:
        condition = action.index.literals(one.positive, one.negative)
        contexts = [held for held in case.steps.contexts if holds(condition, held)]
        if contexts:
            found.append((one, any(case.explanation.revealing(held) for held in contexts)))
    return found


def _wrong_conditions(action: ActionKnowledge, truth: ActionSchema) -> list[str]:
    """Atoms on which the outcomes surely depend, and do not."""
    wrong = []
    for atom in action.index.select(action.dependence.sure):
        for values in _assignments(truth, replace(truth, cases=(Case(frozenset({atom})), Case()))):
            other = {**values, atom: not values[atom]}
            if sorted(_shown(truth, values)) != sorted(_shown(truth, other)):
                break
        else:
            wrong.append(f"{truth.header.name}: depends on {atom.text(truth.header.parameters)}")
    return wrong


def _wrong_preconditions(action: ActionKnowledge, truth: ActionSchema) -> list[str]:
    wrong = []
    for atom, bit in action.index.bit.items():
        found = modes(action, bit)
        if len(found) == 1 and found[0] is not truth.mode(atom, Location.PRE):
            wrong.append(f"{truth.header.name}: {atom.text(truth.header.parameters)} {found[0].value}")
    return wrong


def _fits(action: ActionKnowledge, one: Change, outcome: Outcome, case: Case) -> bool:
    """Whether all that is certain of a learned outcome is right of a true one, as far as its case can show it."""
    adds, deletes = action.index.literals(*outcome.effects)
    held, not_held = action.index.literals(case.positive, case.negative)
    return not (
        (one.adds & ~adds | one.adds_not & adds) & ~held
        or (one.deletes & ~deletes | one.deletes_not & deletes) & ~not_held
    )


def _alike(action: ActionKnowledge, case: CaseKnowledge, one: Change, outcome: Outcome, true: Case) -> bool:
    """Whether a true outcome looks like a learned one where all known outcomes of the case show themselves."""
    adds, deletes = action.index.literals(*outcome.effects)
    held, not_held = action.index.literals(true.positive, true.negative)
    additions, deletions = case.explanation.additions & ~held, case.explanation.deletions & ~not_held
    return one.adds & additions == adds & additions and one.deletes & deletions == deletes & deletions
