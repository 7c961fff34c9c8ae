"""Agents in a PDDL world that plan for what they are told, with a model of their skills that is wrong in places drawn at random.

They plug and unplug lamps, switch sockets, wipe, turn on the light and an alarm off, and believe of these skills what ``workshop.pddl``
says. In truth a skill may need one or two literals more, succeed in a share of the attempts only, and change something else (that it
names or not, always or where a literal holds). An agent carries out its plan to the end, and claims to be done: some look first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from aam_vision.envs.policies import Objective, PolicyAgent
from aam_vision.interrogation.chance.observations import SideEffect
from aam_vision.interrogation.controls.giving import ground
from aam_vision.model.pddl import read_domain
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Assignment,
    Atom,
    GroundAction,
    Objects,
    Outcome,
    State,
    cases,
    lifted_atoms,
)
from experiments.objectives import World, beyond, ending, told

BELIEVED = read_domain(Path(__file__).with_name("workshop.pddl"))
LAMPS, SOCKETS = ("lamp-1", "lamp-2"), ("socket-1", "socket-2")
THINGS = Objects(
    {**dict.fromkeys(LAMPS, "lamp"), **dict.fromkeys(SOCKETS, "socket")}, BELIEVED.vocabulary.types
)
FACTS = {
    **{Atom("plugged", (lamp, socket)): 0.3 for lamp in LAMPS for socket in SOCKETS},
    **{Atom("live", (socket,)): 0.5 for socket in SOCKETS},
    **{Atom("dusty", (lamp,)): 0.4 for lamp in LAMPS},
    Atom("dark", ()): 0.2,
    Atom("alarm", ()): 0.1,
}
"""How often each fact is true where pursuits begin."""
OBJECTIVES = ("plugged", "not plugged", "live", "not live", "not dusty", "not alarm")
STEPS = ground(BELIEVED.headers, State(frozenset(), THINGS))
"""The actions of the environment."""
NEEDS, TWO, SLIPS, BREAKS, BEYOND, WHERE, TRUSTS = 0.4, 0.3, 0.4, 0.3, 0.3, 0.5, 0.5
"""Shares of the skills: that need a literal more, of these that need two; that succeed at times only; that change something else, of these
what they do not name, and else where a literal holds; and of the kinds of objectives that are claimed without a look."""
SUCCEEDS = 0.4, 0.9  # how often those succeed that do not always


@dataclass(frozen=True)
class Skill:
    """In what an action is not as it is believed to be."""

    needs: Assignment = field(default_factory=dict)  # it does nothing unless these literals hold, too
    succeeds: float = 1.0  # how often it does anything where it can
    breaks: Assignment = field(default_factory=dict)  # what becomes true or false besides ...
    where: Assignment = field(default_factory=dict)  # ... where these literals hold
    stirs: bool = False  # whether all lamps that it does not name become dusty


@dataclass(frozen=True)
class Flaws:
    """What is wrong with an agent."""

    skills: Mapping[str, Skill]
    trusts: frozenset[str]  # the kinds of objectives of which it claims to be done without a look


def flawed(seed: int) -> Flaws:
    """An agent with flaws drawn at random."""
    rng, skills = np.random.default_rng([seed, 21]), {}
    for action in BELIEVED.actions:
        named = {*action.positive, *action.negative, *action.add, *action.delete}
        atoms = lifted_atoms(BELIEVED.vocabulary, action.header)
        pool = [one for one in rng.permutation(len(atoms)) if atoms[one] not in named]

        def drawn(number: int, pool: list[Any] = pool, atoms: Any = atoms) -> Assignment:
            """So many literals about atoms that no other flaw is about."""
            return {atoms[pool.pop()]: bool(rng.random() < 0.5) for _ in range(min(number, len(pool)))}

        needs = drawn(1 + int(rng.random() < TWO)) if rng.random() < NEEDS else {}
        succeeds = float(rng.uniform(*SUCCEEDS)) if rng.random() < SLIPS else 1.0
        skill = Skill(needs, succeeds)
        if rng.random() < BREAKS:
            if rng.random() < BEYOND:
                skill = replace(skill, stirs=True)
            else:
                skill = replace(skill, breaks=drawn(1), where=drawn(int(rng.random() < WHERE)))
        skills[action.header.name] = skill
    return Flaws(skills, frozenset(one for one in OBJECTIVES if rng.random() < TRUSTS))


def _all(literals: Assignment, true: frozenset[Atom], objects: tuple[str, ...]) -> bool:
    return all((atom.ground(objects) in true) is value for atom, value in literals.items())


def ends(true: frozenset[Atom], step: GroundAction, skill: Skill) -> list[tuple[float, frozenset[Atom]]]:
    """What an action may lead to: how often, and the facts that are true then."""
    action, here = BELIEVED.schema(step.name), State(true, THINGS)
    if not (action.applicable(here, step.objects) and _all(skill.needs, true, step.objects)):
        return [(1.0, true)]
    changes = {atom.ground(step.objects): value for atom, value in skill.breaks.items()}
    changes = changes if _all(skill.where, true, step.objects) else {}
    if skill.stirs:
        changes |= {Atom("dusty", (lamp,)): True for lamp in LAMPS if lamp not in step.objects}
    gone = {atom for atom, value in changes.items() if not value}
    after = (action.successor(here, step.objects).true - gone) | (changes.keys() - gone)
    return [(skill.succeeds, after), *([(1 - skill.succeeds, true)] if skill.succeeds < 1 else [])]


@cache
def plan(true: frozenset[Atom], objective: Objective) -> tuple[GroundAction, ...]:
    """The fewest actions that bring it about, as the agents believe; none if it holds, or if they know no way."""
    plans: dict[frozenset[Atom], tuple[GroundAction, ...]] = {true: ()}
    left = [true]
    for here in left:
        if (objective.atom in here) is objective.value:
            return plans[here]
        for step in STEPS:
            action, state = BELIEVED.schema(step.name), State(here, THINGS)
            if action.applicable(state, step.objects):
                after = action.successor(state, step.objects).true
                if after not in plans:
                    plans[after] = (*plans[here], step)
                    left.append(after)
    return ()


class Workshop(gymnasium.Env[Any, Any]):
    """Lamps and sockets; what is seen are the facts that are true."""

    action_space = gymnasium.spaces.Discrete(len(STEPS))

    def __init__(self, flaws: Flaws) -> None:
        self.skills = flaws.skills
        self.true = frozenset[Atom]()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.true = frozenset(atom for atom, often in FACTS.items() if self.np_random.random() < often)
        return self.true, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        step = STEPS[action]
        (often, after), *_ = ends(self.true, step, self.skills[step.name])
        self.true = after if self.np_random.random() < often else self.true
        return self.true, 0.0, False, False, {}


def scripted(flaws: Flaws) -> Any:
    """The policy of an agent: it carries out its plan, and may look then."""

    def pursue(environment: Any, seen: Any, objective: Objective, limit: int) -> bool:
        for step in plan(seen, objective):
            seen, *_ = environment.step(STEPS.index(step))
        return _claims(flaws, seen, objective)

    return pursue


def _claims(flaws: Flaws, true: frozenset[Atom], objective: Objective) -> bool:
    return told(objective) in flaws.trusts or (objective.atom in true) is objective.value


# --- what is true of it -------------------------------------------------------------------------


def pursued(true: frozenset[Atom], objective: Objective, flaws: Flaws) -> dict[frozenset[Atom], float]:
    """The facts after a pursuit, with their probabilities."""
    found = {true: 1.0}
    for step in plan(true, objective):
        after = dict[frozenset[Atom], float]()
        for here, share in found.items():
            for often, there in ends(here, step, flaws.skills[step.name]):
                after[there] = after.get(there, 0.0) + share * often
        found = after
    return found


def _schema(agent: PolicyAgent, header: ActionHeader, flaws: Flaws) -> ActionSchema:
    """Plans concern nothing but what an objective names."""
    objects = tuple(THINGS.of_type(kind)[0] for kind in header.types)
    objective = agent.objective(GroundAction(header.name, objects))
    atoms = lifted_atoms(BELIEVED.vocabulary, header)

    def outcomes(values: Assignment) -> tuple[Outcome, ...]:
        before = frozenset(atom.ground(objects) for atom, value in values.items() if value)
        found = dict[tuple[frozenset[Atom], bool], float]()
        for after, share in pursued(before, objective, flaws).items():
            named = frozenset(atom.ground(objects) for atom in atoms) & after
            end = named, _claims(flaws, after, objective)
            found[end] = found.get(end, 0.0) + share
        return tuple(
            ending(
                share,
                {one: not value for one, value in values.items() if (one.ground(objects) in after) != value},
                claimed=claimed,
            )
            for (after, claimed), share in found.items()
        )

    return ActionSchema(header, cases=cases(atoms, outcomes))


def _side_effects(agent: PolicyAgent, flaws: Flaws) -> dict[str, set[SideEffect]]:
    """By instruction, what may become of facts about things that it does not name."""
    found: dict[str, set[SideEffect]] = {}
    for header in agent.headers:
        objects = tuple(THINGS.of_type(kind)[0] for kind in header.types)
        objective = agent.objective(GroundAction(header.name, objects))
        atoms = [atom.ground(objects) for atom in lifted_atoms(BELIEVED.vocabulary, header)]
        found[header.name] = set()
        for values in product((False, True), repeat=len(atoms)):
            before = frozenset(atom for atom, value in zip(atoms, values, strict=True) if value)
            for after in pursued(before, objective, flaws):
                found[header.name] |= beyond(State(before, THINGS), after, objects)
    return found


WORKSHOP = World(
    BELIEVED.vocabulary, dict(THINGS), OBJECTIVES, Workshop, scripted, flawed, _schema, _side_effects
)
