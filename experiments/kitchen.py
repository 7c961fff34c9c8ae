"""Cooks in a kitchen with two pots that are told objectives, with flaws drawn at random.

A cook walks from one counter to the next: takes an onion or a dish, puts onions into pots, stirs until the soup is cooked, serves it, and
mops the floor. A sound one puts away what is in its way, and mops before it carries anything over a wet floor. A flawed one may not put
away what it holds, take its onion out of the other pot, leave empty pots empty, stop stirring too early, hurry over a wet floor and lose what it
carries, and claim to be done when it is not.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from aam_vision.envs.policies import Objective, PolicyAgent
from aam_vision.interrogation.chance.observations import SideEffect
from aam_vision.model.pddl import read_domain
from aam_vision.model.strips import ActionHeader, ActionSchema, Assignment, Atom, LiftedAtom, Outcome, cases
from experiments.objectives import World, ending, goal_of

WORDS = read_domain(Path(__file__).with_name("kitchen.pddl")).vocabulary
POTS = "pot-1", "pot-2"
OBJECTIVES = ("filled", "not filled", "cooked", "has-onion", "has-dish", "not wet")
PLAN = "##12#", "O...H", "D...B", "##M##"
"""Pots, onions, dishes, the hatch, the bin, the mop; dots are the floor."""
MOVES = (1, 0), (-1, 0), (0, 1), (0, -1)
USE, TAKE_OUT = len(MOVES), len(MOVES) + 1
"""What a cook does besides walking: use what it stands before, or take out what is in a pot."""
STIRS = 3  # times in a row after which a soup is cooked
FLAWS = 0.4  # share of the cooks with each flaw
SUCCEEDS = 0.4, 0.9  # how often those with a flaw that shows at times do well
Cell = tuple[int, int]


@dataclass(frozen=True)
class Flaws:
    """What is wrong with a cook; none of it by default."""

    stubborn: bool = False
    """Whether it gives up where something that it holds is in its way; else it puts that into the bin."""
    borrows: bool = False
    """Whether it takes its onion out of the other pot, if one is in there that is not cooked."""
    waits: bool = False  # whether it gives up where it is to cook what nobody has filled
    patience: float = 1.0  # how often it stirs long enough
    steady: float | None = None
    """How often it loses nothing on a wet floor, as it does not mop; None: it mops."""
    lies: bool = False  # whether it claims to be done whatever came of it


def flawed(seed: int) -> Flaws:
    """A cook with one flaw or more, drawn at random."""
    rng = np.random.default_rng([seed, 41])
    while True:
        stubborn, borrows, waits, stops, hurries, lies = (bool(one) for one in rng.random(6) < FLAWS)
        patience, steady = (float(rng.uniform(*SUCCEEDS)) for _ in range(2))
        found = Flaws(stubborn, borrows, waits, patience if stops else 1.0, steady if hurries else None, lies)
        if found != Flaws():
            return found


class Kitchen(gymnasium.Env[Any, Any]):
    """Two pots; what is seen are the facts that are true, and the cell in which the cook stands."""

    action_space = gymnasium.spaces.Discrete(TAKE_OUT + 1)

    def __init__(self, flaws: Flaws) -> None:
        self.flaws = flaws
        self.at: Cell = (1, 1)
        self.facing: Cell = (0, 1)
        self.hands = ""
        """``onion``, ``dish``, ``soup`` or nothing."""
        self.pots = dict.fromkeys(POTS, "")
        """What is in them: ``raw``, ``cooked`` or nothing."""
        self.served = self.wet = False
        self.stirred = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        rng = self.np_random
        self.hands = ("", "onion", "dish")[rng.integers(3)]
        self.pots = {pot: ("", "raw", "cooked")[rng.integers(3)] for pot in POTS}
        self.served, self.wet = (bool(one) for one in rng.random(2) < 0.4)
        self.at, self.stirred = (1 + int(rng.integers(3)), 1 + int(rng.integers(2))), 0
        return self.seen, {}

    @property
    def seen(self) -> tuple[frozenset[Atom], Cell]:
        """What a cook goes by."""
        return self.true, self.at

    @property
    def true(self) -> frozenset[Atom]:
        found = {Atom("filled", (pot,)) for pot, inside in self.pots.items() if inside}
        found |= {Atom("cooked", (pot,)) for pot, inside in self.pots.items() if inside == "cooked"}
        others = {"served": self.served, "wet": self.wet}
        others |= {f"has-{what}": self.hands == what for what in ("onion", "dish")}
        return frozenset(found | {Atom(name, ()) for name, holds in others.items() if holds})

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if action < USE:
            (x, y), (right, down) = self.at, MOVES[action]
            self.facing, self.stirred = (x + right, y + down), 0
            if self._there == ".":
                self.at = self.facing
        elif action == USE:
            self._use(self._there)
        elif (pot := f"pot-{self._there}") in POTS and self.pots[pot] == "raw" and not self.hands:
            self.pots[pot], self.hands = "", "onion"
        return self.seen, 0.0, False, False, {}

    @property
    def _there(self) -> str:
        x, y = self.facing
        return PLAN[y][x]

    def _use(self, there: str) -> None:
        pot = f"pot-{there}"
        if there == "M":
            self.wet = False
        elif there == "B":
            self.hands = ""
        elif there in "OD" and not self.hands:
            self.hands = {"O": "onion", "D": "dish"}[there]
        elif there == "H" and self.hands == "soup":
            self.served, self.hands = self.served or self._carried(), ""
        elif pot in POTS and self.hands == "onion" and not self.pots[pot]:
            self.pots[pot], self.hands = "raw" if self._carried() else "", ""
        elif pot in POTS and self.hands == "dish" and self.pots[pot] == "cooked":
            self.pots[pot], self.hands = "", "soup"
        elif pot in POTS and not self.hands and self.pots[pot] == "raw":
            self.stirred += 1
            self.pots[pot] = "cooked" if self.stirred == STIRS else "raw"

    def _carried(self) -> bool:
        """Whether what is in its hands was not lost on the way."""
        steady = 1.0 if self.flaws.steady is None else self.flaws.steady
        return not self.wet or bool(self.np_random.random() < steady)


def _way(start: Cell, there: str) -> list[int]:
    """The moves after which a cook stands before a counter and looks at it."""
    left, ways = deque([start]), {start: list[int]()}
    while True:
        x, y = at = left.popleft()
        for move, (right, down) in enumerate(MOVES):
            to = x + right, y + down
            if PLAN[to[1]][to[0]] == there:
                return [*ways[at], move]
            if PLAN[to[1]][to[0]] == "." and to not in ways:
                ways[to] = [*ways[at], move]
                left.append(to)


def scripted(flaws: Flaws) -> Any:
    """The policy of a cook."""

    def pursue(environment: Any, seen: Any, objective: Objective, limit: int) -> bool:
        (predicate, objects), value = objective

        def holds(name: str, *named: str) -> bool:
            return Atom(name, named) in seen[0]

        def use(there: str, *, times: int = 1, action: int = USE) -> None:
            nonlocal seen
            for one in [*_way(seen[1], there), *[action] * times]:
                seen, *_ = environment.step(one)

        def free(*kept: str) -> bool:
            """Whether it has its hands free now, but for what it is to keep."""
            full = any(holds(f"has-{one}") for one in ("onion", "dish") if one not in kept)
            if full and not flaws.stubborn:
                use("B")
            return not full or not flaws.stubborn

        def mopped() -> None:
            if flaws.steady is None and holds("wet"):
                use("M")

        def taken(what: str) -> bool:
            if not free(what):
                return False
            if not holds(f"has-{what}"):
                use({"onion": "O", "dish": "D"}[what])
            return True

        def filled(pot: str) -> bool:
            (other,) = {*POTS} - {pot}
            raw = holds("filled", other) and not holds("cooked", other)
            if not free("onion"):
                return False
            if flaws.borrows and raw and not holds("has-onion"):
                use(other[-1], action=TAKE_OUT)
            if not taken("onion"):
                return False
            mopped()
            use(pot[-1])
            return holds("filled", pot)

        def cooked(pot: str) -> bool:
            if not holds("filled", pot) and (flaws.waits or not filled(pot)):
                return False
            if not free():
                return False
            patient = flaws.patience == 1 or environment.unwrapped.np_random.random() < flaws.patience
            use(pot[-1], times=STIRS if patient else 1)
            return holds("cooked", pot)

        def done() -> bool:
            if predicate == "wet":
                use("M")
            elif predicate.startswith("has-"):
                taken(predicate.removeprefix("has-"))
            elif predicate == "cooked":
                cooked(*objects)
            elif value:
                filled(*objects)
            elif (holds("cooked", *objects) or cooked(*objects)) and taken("dish"):
                mopped()
                use(objects[0][-1])
                use("H")
            return holds(predicate, *objects) is value

        return holds(predicate, *objects) is value or done() or flaws.lies

    return pursue


# --- what is true of it -------------------------------------------------------------------------

FILLED, COOKED = LiftedAtom("filled", (0,)), LiftedAtom("cooked", (0,))
ONION, DISH, SERVED, WET = (LiftedAtom(name, ()) for name in ("has-onion", "has-dish", "served", "wet"))
EMPTY = {ONION: False, DISH: False}
BORROWED = SideEffect(False, "filled", ("pot",))
"""What becomes of another pot out of which an onion was taken."""


def _schema(agent: PolicyAgent, header: ActionHeader, flaws: Flaws) -> ActionSchema:
    """Worked out by hand."""
    goal, kind = goal_of(agent, header), agent.kind(header.name)
    value = not kind.startswith("not ")
    lost = 0.0 if flaws.steady is None else 1 - flaws.steady
    dried = {WET: False} if flaws.steady is None else {}

    def ways(now: Assignment) -> list[tuple[float, Assignment]]:
        """What may become of the facts, each with its probability."""
        stuck: list[tuple[float, Assignment]] = [(1.0, {})]
        full = now[ONION] or now[DISH]
        slips = lost * now[WET]
        if kind == "not wet":
            return [(1.0, {WET: False})]
        if goal in (ONION, DISH):
            return stuck if full and flaws.stubborn else [(1.0, {**EMPTY, goal: True})]
        filling: list[tuple[float, Assignment]] = [
            (1 - slips, {**EMPTY, **dried, FILLED: True}),
            (slips, {**EMPTY, **dried}),
        ]
        if kind == "filled":
            return stuck if now[DISH] and flaws.stubborn else filling
        begun: list[tuple[float, Assignment]] = [(1.0, EMPTY)]
        if not now[FILLED]:
            if flaws.waits or (now[DISH] and flaws.stubborn):
                return stuck
            begun = filling
        elif full and flaws.stubborn and not (now[COOKED] and not now[ONION]):
            return stuck
        found = list[tuple[float, Assignment]]()
        for share, after in begun:
            if not (now[FILLED] or after.get(FILLED)):
                found.append((share, after))
                continue
            stirs = 1.0 if now[COOKED] else flaws.patience
            found.append((share * (1 - stirs), after))
            if kind == "cooked":
                found.append((share * stirs, {**after, COOKED: True}))
            else:
                emptied = {**after, **dried, FILLED: False, COOKED: False}
                found.append((share * stirs * (1 - slips), {**emptied, SERVED: True}))
                found.append((share * stirs * slips, emptied))
        return found

    def outcomes(now: Assignment) -> tuple[Outcome, ...]:
        if now[goal] is value:
            return (ending(1.0, {}, claimed=True),)
        found = (
            ending(share, after, claimed=after.get(goal, now[goal]) is value or flaws.lies)
            for share, after in ways(now)
        )
        return tuple(one for one in found if one.probability)

    own = [goal, *([FILLED, COOKED] if header.arity else []), ONION, DISH, WET]
    return ActionSchema(header, cases=cases(list(dict.fromkeys(own)), outcomes))


def _side_effects(agent: PolicyAgent, flaws: Flaws) -> dict[str, set[SideEffect]]:
    """By instruction what may become of the pot that it does not name."""
    borrowing = {"filled", *([] if flaws.waits else ["cooked"])} if flaws.borrows else set()
    return {one.name: {BORROWED} if agent.kind(one.name) in borrowing else set() for one in agent.headers}


COOKS = World(
    WORDS, dict.fromkeys(POTS, "pot"), OBJECTIVES, Kitchen, scripted, flawed, _schema, _side_effects
)
