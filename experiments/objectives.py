"""What agents that are told objectives, with flaws drawn at random, have in common, whatever their world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import gymnasium

from aam_vision.envs.policies import Objective, PolicyAgent
from aam_vision.interrogation.chance.observations import SideEffect, side_effects
from aam_vision.interrogation.controls.giving import ground
from aam_vision.model.query import CLAIMED
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Assignment,
    Atom,
    Effects,
    GroundAction,
    LiftedAtom,
    Model,
    Outcome,
    State,
    Vocabulary,
)

STARTS = 20  # situations in which pursuits begin


class World(NamedTuple):
    """A kind of agents, and what is true of those with given flaws."""

    vocabulary: Vocabulary
    objects: Mapping[str, str]
    objectives: tuple[str, ...]
    environment: Callable[[Any], gymnasium.Env[Any, Any]]
    """Of these flaws; ``true`` are its facts."""
    policy: Callable[[Any], Any]
    """With these flaws."""
    flawed: Callable[[int], Any]
    """Flaws, one or more, drawn at random from a seed."""
    schema: Callable[[PolicyAgent, ActionHeader, Any], ActionSchema]
    """What it does with what an objective names."""
    side_effects: Callable[[PolicyAgent, Any], dict[str, set[SideEffect]]]
    """What else, by instruction."""
    reachable: Callable[[PolicyAgent, Any], Iterable[State]] | None = None
    """All states that pursuits lead to, where the truth does not say what becomes of what an objective does not name; None where it does."""

    def agent(
        self, flaws: Any, access: str = "reset", seed: int = 0, of: type[PolicyAgent] = PolicyAgent
    ) -> PolicyAgent:
        """The agent with these flaws."""
        return of(
            lambda: self.environment(flaws),
            self.policy(flaws),
            vocabulary=self.vocabulary,
            facts=lambda environment: environment.true,
            objects=self.objects,
            objectives=self.objectives,
            seeds=range(STARTS),
            access=access,
            seed=seed,
        )

    def truth(self, agent: PolicyAgent, flaws: Any) -> Model:
        """What its pursuits do with what their objectives name."""
        return Model(agent.vocabulary, tuple(self.schema(agent, one, flaws) for one in agent.headers))


def instructions(agent: PolicyAgent) -> list[GroundAction]:
    """All that an agent can be told: every instruction, with every choice of different objects of its types."""
    return ground(agent.headers, State(frozenset(), agent.objects))


def goal_of(agent: PolicyAgent, header: ActionHeader) -> LiftedAtom:
    """The atom that an instruction tells to make true or false."""
    return LiftedAtom(agent.kind(header.name).split()[-1], tuple(range(header.arity)))


def told(objective: Objective) -> str:
    """The kind of an objective: what it makes true, ``on``, or false, ``not on``."""
    return f"{'' if objective.value else 'not '}{objective.atom.predicate}"


def ending(probability: float, changes: Assignment, *, claimed: bool) -> Outcome:
    """An outcome of a pursuit: what becomes true or false, and whether it is claimed to be done."""
    changes = {**changes, LiftedAtom(CLAIMED, ()): claimed}
    add, delete = (frozenset(atom for atom, to in changes.items() if to is side) for side in (True, False))
    return Outcome(probability, Effects(add, delete))


def beyond(state: State, after: Iterable[Atom], objects: tuple[str, ...]) -> set[SideEffect]:
    """What became of facts about objects that an objective did not name."""
    others = {one for one in state.true ^ frozenset(after) if not {*one.objects} <= {*objects}}
    return {*side_effects(others, objects, state)}
