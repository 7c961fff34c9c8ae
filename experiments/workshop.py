"""Agents with a skill for each kind of objective among lamps and sockets, with flaws drawn at random.

They plug and unplug, switch, wipe, and turn an alarm off. A skill may fail where one or two literals hold, succeed in a share of the
attempts only, change something else (that the objective names or not, always or where a literal holds), and claim to be done whatever
came of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from aam_vision.envs.policies import Objective, PolicyAgent
from aam_vision.interrogation.chance.observations import SideEffect
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Assignment,
    Atom,
    LiftedAtom,
    Model,
    Outcome,
    Predicate,
    Types,
    Vocabulary,
    cases,
    lifted_atoms,
)
from experiments.objectives import ending

WORDS = Vocabulary(
    "workshop",
    (
        Predicate("plugged", ("lamp", "socket")),
        Predicate("live", ("socket",)),
        Predicate("dusty", ("lamp",)),
        Predicate("dark"),
        Predicate("alarm"),
    ),
    Types({"lamp": "object", "socket": "object"}),
)
LAMPS, SOCKETS = ("lamp-1", "lamp-2"), ("socket-1", "socket-2")
FACTS = {
    **{Atom("plugged", (lamp, socket)): 0.3 for lamp in LAMPS for socket in SOCKETS},
    **{Atom("live", (socket,)): 0.5 for socket in SOCKETS},
    **{Atom("dusty", (lamp,)): 0.4 for lamp in LAMPS},
    Atom("dark", ()): 0.2,
    Atom("alarm", ()): 0.1,
}
"""How often each fact is true where pursuits begin."""
STARTS = 20
OBJECTIVES = ("plugged", "not plugged", "live", "not live", "not dusty", "not alarm")
WAYS = [(kind, atom.objects) for kind in OBJECTIVES for atom in FACTS if atom.predicate == kind.split()[-1]]
"""The actions of the environment: a skill, and what it is used on."""
FAILS, TWO, SLIPS, BREAKS, BEYOND, WHERE, LIES = 0.6, 0.3, 0.6, 0.5, 0.3, 0.5, 0.5
"""Shares of the skills: that fail where a literal holds, of these where two do; that succeed at times only; that change something else, of
these what the objective does not name, and else where a literal holds; that always claim to be done."""
SUCCEEDS = 0.4, 0.9
"""How often those succeed that do not always."""

Literals = Mapping[LiftedAtom, bool]


@dataclass(frozen=True)
class Skill:
    """What comes of an attempt at an objective that does not hold."""

    goal: LiftedAtom
    value: bool
    fails: Literals
    """It never succeeds where all of these hold, if there are any ..."""
    succeeds: float
    """... and so often elsewhere."""
    breaks: Literals
    """What becomes true or false besides ..."""
    where: Literals
    """... where these hold."""
    beyond: SideEffect | None
    """What becomes true or false of all objects of a type that the objective does not name."""
    lies: bool
    """Whether it claims to be done whatever came of it."""

    def changes(self, values: Literals, *, succeeds: bool) -> Literals:
        """What becomes true or false of what the objective names, where these literals hold."""
        achieved = {self.goal: self.value} if succeeds and not self.blocked(values) else {}
        return {**achieved, **(self.breaks if _all(self.where, values) else {})}

    def blocked(self, values: Literals) -> bool:
        """Whether it fails where these literals hold."""
        return bool(self.fails) and _all(self.fails, values)


def _all(literals: Literals, values: Literals) -> bool:
    return all(values[atom] is value for atom, value in literals.items())


def flawed(seed: int) -> dict[str, Skill]:
    """The skills of an agent, with flaws drawn at random."""
    rng, found = np.random.default_rng([seed, 21]), {}
    for kind in OBJECTIVES:
        predicate = WORDS.predicate(kind.split()[-1])
        goal = LiftedAtom(predicate.name, tuple(range(predicate.arity)))
        atoms = lifted_atoms(WORDS, ActionHeader(kind, ("one", "other")[: predicate.arity], predicate.types))
        pool = [one for one in rng.permutation(len(atoms)) if atoms[one] != goal]

        def drawn(share: float, most: int = 1, pool: list[Any] = pool, atoms: Any = atoms) -> Literals:
            """So many literals about atoms that no other flaw is about, in this share of the skills."""
            number = min(most, len(pool)) if rng.random() < share else 0
            return {atoms[pool.pop()]: bool(rng.random() < 0.5) for _ in range(number)}

        fails = drawn(FAILS, 1 + int(rng.random() < TWO))
        succeeds = float(rng.uniform(*SUCCEEDS)) if rng.random() < SLIPS else 1.0
        breaks: Literals = {}
        where: Literals = {}
        beyond = None
        if rng.random() < BREAKS:
            if rng.random() < BEYOND:
                beyond = SideEffect(True, "dusty", ("lamp",))
            else:
                breaks = drawn(1)
                where = drawn(WHERE if breaks and len(fails) < 2 else 0)
        lies = bool(rng.random() < LIES)
        found[kind] = Skill(goal, not kind.startswith("not "), fails, succeeds, breaks, where, beyond, lies)
    return found


class Workshop(gymnasium.Env[Any, Any]):
    """Lamps and sockets; what is seen are the facts that are true."""

    action_space = gymnasium.spaces.Discrete(len(WAYS))

    def __init__(self, skills: Mapping[str, Skill]) -> None:
        self.skills = skills
        self.true = frozenset[Atom]()

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.true = frozenset(atom for atom, often in FACTS.items() if self.np_random.random() < often)
        return self.true, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        (kind, objects), before = WAYS[action], self.true
        skill = self.skills[kind]
        named = {*skill.fails, *skill.where}
        values = {atom: atom.ground(objects) in before for atom in named}
        succeeds = bool(self.np_random.random() < skill.succeeds)
        changes = {
            atom.ground(objects): value for atom, value in skill.changes(values, succeeds=succeeds).items()
        }
        if (other := skill.beyond) is not None:
            changes |= {Atom(other.predicate, (lamp,)): other.added for lamp in LAMPS if lamp not in objects}
        gone = frozenset(atom for atom, value in changes.items() if not value)
        self.true = before - gone | (changes.keys() - gone)
        return self.true, 0.0, False, False, {}


def workshop(skills: Mapping[str, Skill], access: str = "reset", seed: int = 0) -> PolicyAgent:
    """The agent with these skills."""

    def pursue(environment: Any, seen: Any, objective: Objective, limit: int) -> bool:
        kind = f"{'' if objective.value else 'not '}{objective.atom.predicate}"
        if (objective.atom in seen) is objective.value:
            return True
        seen, *_ = environment.step(WAYS.index((kind, objective.atom.objects)))
        return skills[kind].lies or (objective.atom in seen) is objective.value

    return PolicyAgent(
        lambda: Workshop(skills),
        pursue,
        vocabulary=WORDS,
        facts=lambda environment: environment.true,
        objects={**dict.fromkeys(LAMPS, "lamp"), **dict.fromkeys(SOCKETS, "socket")},
        objectives=OBJECTIVES,
        seeds=range(STARTS),
        access=access,
        seed=seed,
    )


def truth(agent: PolicyAgent, skills: Mapping[str, Skill]) -> Model:
    """What these skills do with what an objective names."""
    return Model(agent.vocabulary, tuple(_schema(one, skills[agent.kind(one.name)]) for one in agent.headers))


def _schema(header: ActionHeader, skill: Skill) -> ActionSchema:
    def outcomes(values: Assignment) -> tuple[Outcome, ...]:
        if values[skill.goal] is skill.value:
            return (ending(1.0, {}, claimed=True),)
        share = 0.0 if skill.blocked(values) else skill.succeeds
        found = (
            ending(probability, skill.changes(values, succeeds=succeeds), claimed=succeeds or skill.lies)
            for succeeds, probability in ((True, share), (False, 1 - share))
        )
        return tuple(one for one in found if one.probability)

    return ActionSchema(header, cases=cases([skill.goal, *skill.fails, *skill.where], outcomes))
