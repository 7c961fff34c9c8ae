"""Comparing a learned model with the ground truth. Only the command and the experiments use this.

``accuracy`` is the paper's: correctly learnt palm tuples over all. Functional equivalence asks what matters
to a planner: the same instructions applicable, with the same successors, in states never interrogated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from aam_vision.joins import StateIndex, bindings
from aam_vision.pddl import Problem
from aam_vision.planning.grounding import LiftedOperator, Operator, ground
from aam_vision.planning.planner import Found, Limits, Planner, SearchProblem
from aam_vision.strips import (
    ActionSchema,
    GroundAction,
    LiftedAtom,
    Location,
    Model,
    State,
    lifted_atoms,
)


def accuracy(learned: Model, truth: Model, *, repeated: bool = False) -> float:
    """The share of pal tuples with the right mode."""
    right = total = 0
    for schema in truth.actions:
        other = learned.schema(schema.header.name)
        for atom in lifted_atoms(truth.vocabulary, schema.header, repeated=repeated):
            for location in Location:
                total += 1
                right += schema.mode(atom, location) is other.mode(atom, location)
    return right / total if total else 1.0


def exact(learned: Model, truth: Model, *, repeated: bool = False) -> bool:
    """Whether every palm tuple is as in the ground truth."""
    return all(
        learned.schema(schema.header.name).mode(atom, location) is schema.mode(atom, location)
        for schema in truth.actions
        for atom in lifted_atoms(truth.vocabulary, schema.header, repeated=repeated)
        for location in Location
    )


def successors(
    model: Model, state: State, *, repeated: bool = False
) -> dict[GroundAction, frozenset[tuple[str, tuple[str, ...]]]]:
    """Every instruction applicable in a state (no object twice unless ``repeated``), with the state it leads to."""
    return {
        GroundAction(schema.header.name, objects): frozenset(schema.successor(state, objects).true)
        for schema, objects in _options(model, state, repeated=repeated)
    }


def equivalent(learned: Model, truth: Model, states: Iterable[State], *, repeated: bool = False) -> bool:
    """Whether both models have the same successors in all of these states."""
    return all(
        successors(learned, state, repeated=repeated) == successors(truth, state, repeated=repeated)
        for state in states
    )


def sample_states(
    truth: Model, initial: Sequence[State], count: int, rng: np.random.Generator
) -> list[State]:
    """About ``count`` reachable states in all, by random walks of the true model from every initial state."""
    states: dict[State, None] = dict.fromkeys(initial)
    share = count // max(1, len(initial))
    for start in initial:
        state = start
        for _ in range(share):
            options = _options(truth, state)
            if not options:
                break
            schema, objects = options[int(rng.integers(len(options)))]
            state = schema.successor(state, objects)
            states[state] = None
    return list(states)


def solve(model: Model, problem: Problem, planner: Planner, limits: Limits) -> list[GroundAction] | None:
    """A plan for a problem with a (learned) model; None if none was found within the limits."""
    operators = [
        LiftedOperator(
            schema.header,
            *(
                tuple(sorted(part, key=_key))
                for part in (schema.positive, schema.negative, schema.add, schema.delete)
            ),
        )
        for schema in model.actions
    ]
    true = frozenset(problem.initial.true)
    grounding = ground(operators, true, problem.initial.objects)
    goal = Operator(
        GroundAction("goal", ()),
        frozenset(problem.goal),
        frozenset(problem.goal_false),
        frozenset(),
        frozenset(),
    )
    outcome = planner.solve(SearchProblem(grounding.operators, [(true, frozenset())], [goal]), limits)
    return list(outcome.plan) if isinstance(outcome, Found) else None


def _options(
    model: Model, state: State, *, repeated: bool = False
) -> list[tuple[ActionSchema, tuple[str, ...]]]:
    index = StateIndex(state)
    return [
        (schema, objects)
        for schema in model.actions
        for objects in bindings(index, schema.header, sorted(schema.positive, key=_key), repeated=repeated)
        if schema.applicable(state, objects)
    ]


def _key(atom: LiftedAtom) -> str:
    return f"{atom.predicate}{atom.arguments}"
