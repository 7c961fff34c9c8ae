"""Comparing a learned model with the ground truth. Only the command and the experiments use this.

``accuracy`` is the paper's: correctly learnt palm tuples over all. Functional equivalence is what matters to a
planner: in states never interrogated, the same instructions are applicable, with the same successors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from aam_vision.model.pddl import Problem
from aam_vision.model.strips import (
    ActionSchema,
    GroundAction,
    LiftedAtom,
    Location,
    Model,
    State,
    lifted_atoms,
)
from aam_vision.planning.joins import StateIndex, bindings
from aam_vision.planning.planner import Found, Limits, Planner, planned
from aam_vision.report.english import signed


def accuracy(learned: Model, truth: Model, *, repeated: bool = False) -> float:
    """The share of pal tuples with the right mode, of those of the paper's P*.

    What P* lacks does not count: without ``repeated`` no atom that names an argument twice, such as ``on(?x, ?x)``.
    """
    right = total = 0
    for schema in truth.actions:
        other = learned.schema(schema.header.name)
        for atom in lifted_atoms(truth.vocabulary, schema.header, repeated=repeated):
            for location in Location:
                total += 1
                right += schema.mode(atom, location) is other.mode(atom, location)
    return right / total if total else 1.0


def exact(learned: Model, truth: Model) -> bool:
    """Whether every palm tuple is as in the ground truth, those of literals outside of P*, too.

    A model with chance or conditional effects is not compared so: False.
    """
    return truth.strips and all(
        learned.schema(schema.header.name).mode(atom, location) is schema.mode(atom, location)
        for schema in truth.actions
        # an atom that is in neither schema is absent from both
        for _, atom in literals(schema) | literals(learned.schema(schema.header.name))
        for location in Location
    )


def syntactic(learned: Model, truth: Model) -> tuple[float, float]:
    """AMLGym's syntactic precision and recall: literals in both models, of those in the learned and in the true one (1 of none); means over actions."""
    shares: list[tuple[float, float]] = []
    for schema in truth.actions:
        mine, true = literals(learned.schema(schema.header.name)), literals(schema)
        both = len(mine & true)
        shares.append((both / len(mine) if mine else 1.0, both / len(true) if true else 1.0))
    precision, recall = (sum(each) / len(shares) for each in zip(*shares, strict=True))
    return precision, recall


def literals(schema: ActionSchema) -> set[tuple[str, LiftedAtom]]:
    """The literals of an action, each with the part of it where it stands."""
    parts = ("positive", "negative", "add", "delete")
    return {(part, atom) for part in parts for atom in getattr(schema, part)}


def successors(model: Model, state: State, *, repeated: bool = False) -> dict[GroundAction, frozenset[State]]:
    """Every instruction applicable in a state (no object twice unless ``repeated``), with the states it may lead to."""
    return {
        GroundAction(schema.header.name, objects): frozenset(schema.successors(state, objects))
        for schema, objects in applicable(model, state, repeated=repeated)
    }


def equivalent(learned: Model, truth: Model, states: Iterable[State], *, repeated: bool = False) -> bool:
    """Whether both models have the same successors in all of these states, with chance or without."""
    return all(
        successors(learned, state, repeated=repeated) == successors(truth, state, repeated=repeated)
        for state in dict.fromkeys(states)
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
            options = applicable(truth, state)
            if not options:
                break
            schema, objects = options[int(rng.integers(len(options)))]
            after = schema.successors(state, objects)
            chosen = rng.choice(len(after), p=list(after.values())) if len(after) > 1 else 0
            state = list(after)[chosen]
            states[state] = None
    return list(states)


def solve(model: Model, problem: Problem, planner: Planner, limits: Limits) -> list[GroundAction] | None:
    """A plan for a problem with a (learned) model; None if none was found within the limits."""
    outcome = planned(model, problem, planner, limits)
    return list(outcome.plan) if isinstance(outcome, Found) else None


def applicable(
    model: Model, state: State, *, repeated: bool = False
) -> list[tuple[ActionSchema, tuple[str, ...]]]:
    """Every action and binding (no object twice unless ``repeated``) that can be executed in a state."""
    index = StateIndex(state)
    return [
        (schema, objects)
        for schema in model.actions
        for objects in bindings(index, schema.header, sorted(schema.positive, key=str), repeated=repeated)
        if schema.applicable(state, objects)
    ]


@dataclass(frozen=True)
class Disagreement:
    """The result of a search for a query that tells two models apart."""

    plan: tuple[GroundAction, ...] | None
    """A shortest plan that tells them apart; None if none was found."""
    outcomes: tuple[str, str]
    """Each model's prediction for its last step."""
    states: int
    """The number of states that were searched."""
    exhausted: bool
    """Whether these were all that both models can reach, so that no plan tells them apart."""


def shortest_disagreement(one: Model, other: Model, initial: State, max_states: int) -> Disagreement:
    """A shortest plan to which two models give different answers, from one state on, breadth first.

    Up to its last step both agree, so that one state stands for both.
    """
    came: dict[State, tuple[State, GroundAction] | None] = {initial: None}
    waiting = deque([initial])
    looked = 0
    while waiting and looked < max_states:
        state = waiting.popleft()
        looked += 1
        ours, theirs = successors(one, state), successors(other, state)
        for step in sorted(ours.keys() | theirs.keys()):
            if ours.get(step) != theirs.get(step):
                outcomes = _outcome(state, ours.get(step), step), _outcome(state, theirs.get(step), step)
                return Disagreement((*_way(came, state), step), outcomes, looked, exhausted=False)
            (after,) = ours[step]
            if after not in came:
                came[after] = state, step
                waiting.append(after)
    return Disagreement(None, ("", ""), looked, exhausted=not waiting)


def _way(came: dict[State, tuple[State, GroundAction] | None], state: State) -> list[GroundAction]:
    plan = []
    while (last := came[state]) is not None:
        state, step = last
        plan.append(step)
    return plan[::-1]


def _outcome(state: State, ends: frozenset[State] | None, step: GroundAction) -> str:
    """A model's prediction for a step, in words."""
    if ends is None:
        return f"{step} cannot be done"
    (after,) = ends
    changes = ", ".join(signed(after.true - state.true, state.true - after.true))
    return f"{step} can be done: {changes or 'nothing changes'}"
