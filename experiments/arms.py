"""Scripted robot arms on a table that are told objectives, with flaws drawn at random.

An arm stacks three blocks, puts them on the table, clears them, and moves them to the table's edge and away from it. A sound arm first
takes down whatever stands on the blocks that it is told of. A flawed one may take the tower along that stands on what it moves, not reach
the edge of the table, lose what it carries in a share of the attempts, and claim to be done when it is not. The layouts are those of the
tabletop environment (``aam_vision.envs.tabletop``); neither physics nor images are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np

from aam_vision.envs.policies import Objective, PolicyAgent
from aam_vision.envs.tabletop.layouts import BLOCK, COLUMNS, named, random_piles
from aam_vision.interrogation.chance.observations import SideEffect
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Assignment,
    Atom,
    LiftedAtom,
    Outcome,
    Predicate,
    State,
    Types,
    Vocabulary,
    cases,
)
from experiments.objectives import World, beyond, ending, goal_of, instructions, told

WORDS = Vocabulary(
    "tabletop",
    (
        Predicate("on", ("block", "block")),
        Predicate("on-table", ("block",)),
        Predicate("edge", ("block",)),
        Predicate("clear", ("block",)),
    ),
    Types({"block": "object"}),
)
"""``edge``: it stands on the table, in an outer column."""
THINGS = named([BLOCK] * 3, ("red", "green", "blue"))
BLOCKS = tuple(one.name for one in THINGS)
"""Three: with more, what comes of a pursuit depends on facts that its objective does not name."""
TABLE, EDGE = "table", "edge"
MOVES = [
    (block, onto, fast)
    for block in BLOCKS
    for onto in (*BLOCKS, TABLE, EDGE)
    for fast in (False, True)
    if onto != block
]
"""What the arm can do: move a block, with all that stands on it, onto a block, the middle of the table or its edge."""
OBJECTIVES = ("on", "on-table", "clear", "edge", "not edge")

TOWERS, REACHES, SLIPS = 0.5, 0.5, 0.6
"""Shares of the arms that take towers along, that do not reach the edge, and that lose what they carry."""
SUCCEEDS = 0.4, 0.9  # how often the last move succeeds of an arm that loses what it carries


@dataclass(frozen=True)
class Flaws:
    """What is wrong with an arm; none of it by default."""

    tower: bool = False  # whether it takes along what stands on a block; else it takes that down first
    takes: bool = True  # whether it can take a block from the edge of the table ...
    puts: bool = True  # ... and put one there, or onto one that stands there
    succeeds: float = 1.0  # how often the last move of a pursuit succeeds
    from_table: bool | None = None
    """Whether it fails only with what stands on the table, or only with what stands on a block; None: with both."""
    drops: bool = False  # whether a block that it loses falls onto the table; else it stays where it is
    claims: str = "honest"
    """``always``: it always claims to be done; ``unaware``: also where it lost what it carried."""


def flawed(seed: int) -> Flaws:
    """An arm with one flaw or more, drawn at random."""
    rng = np.random.default_rng([seed, 31])
    while True:
        tower = bool(rng.random() < TOWERS)
        takes, puts = [(False, True), (True, False), (False, False)][int(rng.integers(3))]
        if rng.random() >= REACHES:
            takes = puts = True
        succeeds = float(rng.uniform(*SUCCEEDS)) if rng.random() < SLIPS else 1.0
        from_table = [None, True, False][int(rng.integers(3))] if succeeds < 1 else None
        drops = bool(rng.random() < 0.5) and succeeds < 1
        claims = ["honest", "always", "unaware" if succeeds < 1 else "always"][int(rng.integers(3))]
        found = Flaws(tower, takes, puts, succeeds, from_table, drops, claims)
        if found != Flaws():
            return found


Pile = tuple[bool, tuple[str, ...]]  # whether it stands at the edge, and its blocks, the lowest first


class Table(gymnasium.Env[Any, Any]):
    """Three blocks in piles; what is seen are the facts that are true. ``step`` says whether the block was moved."""

    action_space = gymnasium.spaces.Discrete(len(MOVES))

    def __init__(self, flaws: Flaws) -> None:
        self.flaws = flaws
        self.piles: list[Pile] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        outer = sum(COLUMNS[-2:]) / 2
        self.piles = [
            (abs(pile.place[0]) > outer, tuple(BLOCKS[one] for one in pile.things))
            for pile in random_piles(self.np_random, THINGS)
        ]
        return self.true, {}

    @property
    def true(self) -> frozenset[Atom]:
        found = set[Atom]()
        for edge, blocks in self.piles:
            found |= {Atom("on-table", blocks[:1]), Atom("clear", blocks[-1:])}
            found |= {Atom("edge", blocks[:1])} if edge else set()
            found |= {Atom("on", (upper, lower)) for lower, upper in pairwise(blocks)}
        return frozenset(found)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        moved = self._moved(*MOVES[action])
        return self.true, 0.0, False, False, {"moved": moved}

    def _moved(self, block: str, onto: str, fast: bool) -> bool:
        at, (edge, blocks) = next(
            (number, pile) for number, pile in enumerate(self.piles) if block in pile[1]
        )
        height = blocks.index(block)
        left, lifted = blocks[:height], blocks[height:]
        far = onto == EDGE or any(low and pile[0] == onto for low, pile in self.piles)
        reaches = (self.flaws.takes or not edge or height > 0) and (self.flaws.puts or not far)
        if not reaches or onto in lifted:
            return False
        slippery = fast and self.flaws.from_table in (None, height == 0)
        slips = slippery and self.np_random.random() >= self.flaws.succeeds
        if slips and not (self.flaws.drops and onto != TABLE):
            return False
        self.piles[at : at + 1] = [(edge, left)] if left else []
        under = [number for number, pile in enumerate(self.piles) if pile[1][-1] == onto]
        if under and not slips:
            low, pile = self.piles[under[0]]
            self.piles[under[0]] = low, pile + lifted
        else:
            self.piles.append((onto == EDGE and not slips, lifted))
        return not slips


def _above(true: frozenset[Atom], block: str) -> list[str]:
    """The blocks that stand on a block, the highest first."""
    for atom in true:
        if atom.predicate == "on" and atom.objects[1] == block:
            return [*_above(true, atom.objects[0]), atom.objects[0]]
    return []


def scripted(flaws: Flaws) -> Any:
    """The policy of an arm: it clears what it is told of, and then makes the move that its objective asks for."""

    def pursue(environment: Any, seen: Any, objective: Objective, limit: int) -> bool:
        atom, value = objective
        block, *others = atom.objects

        def move(what: str, onto: str, *, fast: bool) -> bool:
            nonlocal seen
            seen, _, _, _, found = environment.step(MOVES.index((what, onto, fast)))
            return bool(found["moved"])

        def reaches(one: str) -> bool:
            return Atom("edge", (one,)) not in seen

        if (atom in seen) is value:
            return True
        always, unaware = flaws.claims == "always", flaws.claims != "honest"
        if atom.predicate == "clear":
            above = _above(seen, block)
            for what in [] if flaws.tower else above[:-1]:
                move(what, TABLE, fast=False)
            return move(above[-1], TABLE, fast=True) or unaware
        onto = others[0] if others else EDGE if told(objective) == "edge" else TABLE
        far = onto == EDGE or (bool(others) and not reaches(onto))
        if not (flaws.takes or reaches(block)) or not (flaws.puts or not far):
            return always
        if flaws.tower and onto in _above(seen, block):
            return always
        for one in [*([] if flaws.tower else [block]), *others]:
            for what in _above(seen, one)[-1:] if flaws.tower else _above(seen, one):
                move(what, TABLE, fast=False)
        return move(block, onto, fast=True) or unaware

    return pursue


# --- what is true of it -------------------------------------------------------------------------


def _schema(agent: PolicyAgent, header: ActionHeader, flaws: Flaws) -> ActionSchema:
    """Worked out by hand, from the facts about the named blocks alone."""
    on, back = LiftedAtom("on", (0, 1)), LiftedAtom("on", (1, 0))
    table, under_table = LiftedAtom("on-table", (0,)), LiftedAtom("on-table", (1,))
    edge, under_edge = LiftedAtom("edge", (0,)), LiftedAtom("edge", (1,))
    clear, under_clear = LiftedAtom("clear", (0,)), LiftedAtom("clear", (1,))
    goal, kind = goal_of(agent, header), agent.kind(header.name)
    value = not kind.startswith("not ")

    def gives_up(now: Assignment) -> bool:
        if kind == "on":
            within = flaws.tower and not now[clear] and not now[under_table]  # then it is in the tower
            return within or (not flaws.takes and now[edge]) or (not flaws.puts and now[under_edge])
        return (kind == "edge" and not flaws.puts) or (kind == "not edge" and not flaws.takes)

    def outcomes(now: Assignment) -> tuple[Outcome, ...]:
        if now[goal] is value:
            return (ending(1.0, {}, claimed=True),)
        if gives_up(now):
            return (ending(1.0, {}, claimed=flaws.claims == "always"),)
        first: dict[LiftedAtom, bool] = {}
        low = now[table]
        if kind != "clear" and not flaws.tower:
            first[clear] = True
        if kind == "on":
            first[under_clear] = True
            if not flaws.tower:
                low = low or not now[under_clear]  # it was taken down from what it is put onto
                first |= {back: False}
                first |= {} if now[clear] else {under_table: True}
                first |= {} if now[under_clear] else {table: True}
        elif kind == "clear":
            low = False  # that is what stands on it
        last = {
            "on": {on: True, under_clear: False, table: False, edge: False},
            "on-table": {table: True},
            "clear": {clear: True},
            "edge": {edge: True, table: True},
            "not edge": {edge: False},
        }[kind]
        lost = {table: True, edge: False} if flaws.drops and kind in ("on", "edge") else {}
        share = flaws.succeeds if flaws.from_table in (None, low) else 1.0
        found = (
            ending(share, {**first, **last}, claimed=True),
            ending(1 - share, {**first, **lost}, claimed=flaws.claims != "honest"),
        )
        return tuple(one for one in found if one.probability)

    atoms = [goal, *(one for one in (clear, table, edge) if one != goal)]
    if kind == "on":
        atoms += [under_clear, under_table, under_edge]
    return ActionSchema(header, cases=cases(atoms, outcomes))


def pursued(flaws: Flaws, piles: Sequence[Pile], objective: Objective) -> Iterator[tuple[list[Pile], bool]]:
    """What may come of a pursuit, each with what is claimed: where all succeeds, and where it slips if it ever does."""
    for succeeds in dict.fromkeys((1.0, float(flaws.succeeds == 1))):
        table = Table(replace(flaws, succeeds=succeeds))
        table.piles = list(piles)
        claimed = scripted(flaws)(table, table.true, objective, 0)
        yield table.piles, claimed


def reachable(agent: PolicyAgent, flaws: Flaws) -> dict[State, list[Pile]]:
    """All states that the arm can bring about from where pursuits begin, nothing claimed."""
    table, found = Table(flaws), dict[State, list[Pile]]()
    left = []
    for seed in agent.seeds:
        table.reset(seed=seed)
        left.append(table.piles)
    while left:
        table.piles = left.pop()
        state = State(table.true, agent.objects)
        if state not in found:
            found[state] = table.piles
            for one in instructions(agent):
                left += [piles for piles, _ in pursued(flaws, table.piles, agent.objective(one))]
    return found


def _side_effects(agent: PolicyAgent, flaws: Flaws) -> dict[str, set[SideEffect]]:
    """By instruction what may become of facts about blocks that it does not name."""
    found: dict[str, set[SideEffect]] = {one.name: set() for one in agent.headers}
    table = Table(flaws)
    for state, piles in reachable(agent, flaws).items():
        for one in instructions(agent):
            for table.piles, _ in pursued(flaws, piles, agent.objective(one)):
                found[one.name] |= beyond(state, table.true, one.objects)
    return found


KINDS = dict.fromkeys(BLOCKS, "block")
ARMS = World(WORDS, KINDS, OBJECTIVES, Table, scripted, flawed, _schema, _side_effects, reachable)
