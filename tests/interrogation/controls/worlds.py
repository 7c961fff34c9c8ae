"""Small worlds behind controls: PDDL domains whose controls name only some parameters of the operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from aam_vision.agents.bare import BareSymbolicAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.perception import ImageTest
from aam_vision.interrogation.controls.giving import Giving, ground
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.controls.reach import Way
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Query, Response, Situation
from aam_vision.model.strips import Atom, GroundAction, Model, Objects, State
from aam_vision.run.targets.symbolic import read_controls
from tests.interrogation.controls.hidden_arguments import everything

WET = """(define (domain wet) (:requirements :strips :typing :negative-preconditions)
  (:types cell - object)
  (:predicates (at ?c - cell) (path ?a - cell ?b - cell) (puddle ?c - cell) (wet))
  (:action walk :parameters (?a - cell ?b - cell) :precondition (and (at ?a) (path ?a ?b) (not (puddle ?b)))
    :effect (and (at ?b) (not (at ?a))))
  (:action splash :parameters (?a - cell ?b - cell) :precondition (and (at ?a) (path ?a ?b) (puddle ?b))
    :effect (and (at ?b) (not (at ?a)) (wet)))
  (:action dry :parameters () :precondition (and (wet)) :effect (and (not (wet)))))"""
"""Walking makes wet where there is a puddle: a conditional effect, as two operators of one control."""

DOOR = """(define (domain door) (:requirements :strips :typing)
  (:types key - object)
  (:predicates (open) (closed) (locked) (fits ?k - key) (held ?k - key) (lying ?k - key) (free))
  (:action unlock :parameters (?k - key) :precondition (and (locked) (held ?k) (fits ?k))
    :effect (and (open) (not (locked))))
  (:action swing :parameters () :precondition (and (closed)) :effect (and (open) (not (closed))))
  (:action shut :parameters () :precondition (and (open)) :effect (and (closed) (not (open))))
  (:action lock :parameters (?k - key) :precondition (and (closed) (held ?k) (fits ?k))
    :effect (and (locked) (not (closed))))
  (:action take :parameters (?k - key) :precondition (and (lying ?k) (free))
    :effect (and (held ?k) (not (lying ?k)) (not (free))))
  (:action put :parameters (?k - key) :precondition (and (held ?k))
    :effect (and (lying ?k) (free) (not (held ?k)))))"""
"""``toggle`` opens a locked door with the fitting key in hand, and a closed one without."""

LAMPS = """(define (domain lamps) (:requirements :strips :typing)
  (:types lamp - object)
  (:predicates (red ?l - lamp) (green ?l - lamp) (blue ?l - lamp))
  (:action make-red :parameters (?l - lamp) :precondition (and)
    :effect (and (red ?l) (not (green ?l)) (not (blue ?l))))
  (:action make-green :parameters (?l - lamp) :precondition (and)
    :effect (and (green ?l) (not (red ?l)) (not (blue ?l))))
  (:action make-blue :parameters (?l - lamp) :precondition (and)
    :effect (and (blue ?l) (not (red ?l)) (not (green ?l)))))"""
"""What was so already is not seen: making a green lamp red and a blue one look like different effects."""

ROOMS = """(define (domain rooms) (:requirements :strips :typing)
  (:types cell - object room - object)
  (:predicates (at ?c - cell) (in ?c - cell ?r - room) (lit ?r - room))
  (:action go :parameters (?from - cell ?to - cell ?room - room)
    :precondition (and (at ?from) (in ?to ?room) (lit ?room)) :effect (and (at ?to) (not (at ?from)))))"""
"""Going depends on the room of the goal, which the control does not name and nothing changes."""

HALL = """(define (domain hall) (:requirements :strips :typing)
  (:types cell chest - object)
  (:predicates (at ?c - cell) (path ?a - cell ?b - cell) (in ?x - chest ?c - cell) (shut) (cursed))
  (:action walk :parameters (?a - cell ?b - cell) :precondition (and (at ?a) (path ?a ?b))
    :effect (and (at ?b) (not (at ?a))))
  (:action lift :parameters (?x - chest ?c - cell) :precondition (and (at ?c) (in ?x ?c) (shut))
    :effect (and (not (shut))))
  (:action dispel :parameters () :precondition (and (cursed)) :effect (and (not (cursed)))))"""
"""``lift`` opens the chest, at one cell only; nothing is ever cursed."""

LOADS = """(define (domain loads) (:requirements :strips :typing)
  (:types key ball - thing thing - object)
  (:predicates (held ?x - thing) (lying ?x - thing) (free))
  (:action take :parameters (?x - thing) :precondition (and (lying ?x) (free))
    :effect (and (held ?x) (not (lying ?x)) (not (free))))
  (:action drop :parameters (?x - thing) :precondition (and (held ?x))
    :effect (and (lying ?x) (free) (not (held ?x)))))"""
"""Things of two types are taken and dropped."""

LAKE = """(define (domain lake) (:requirements :strips :typing :negative-preconditions)
  (:types cell - object way - object)
  (:constants left right - way)
  (:predicates (at ?c - cell) (next ?a - cell ?b - cell ?w - way) (hole ?c - cell))
  (:action walk-right :parameters (?a - cell ?b - cell) :precondition (and (at ?a) (next ?a ?b right) (not (hole ?b)))
    :effect (and (at ?b) (not (at ?a))))
  (:action fall-right :parameters (?a - cell ?b - cell) :precondition (and (at ?a) (next ?a ?b right) (hole ?b))
    :effect (and (not (at ?a))))
  (:action walk-left :parameters (?a - cell ?b - cell) :precondition (and (at ?a) (next ?a ?b left) (not (hole ?b)))
    :effect (and (at ?b) (not (at ?a))))
  (:action fall-left :parameters (?a - cell ?b - cell) :precondition (and (at ?a) (next ?a ?b left) (hole ?b))
    :effect (and (not (at ?a)))))"""
"""Who falls is nowhere: the hole is no part of the change, and only its way from the last cell tells it from other cells."""

TORCHES = """(define (domain torches) (:requirements :strips :typing :negative-preconditions)
  (:types torch - object)
  (:predicates (power) (dead) (charged ?t - torch) (empty ?t - torch) (lit ?t - torch) (dark ?t - torch))
  (:action by-mains :parameters (?t - torch) :precondition (and (power) (empty ?t) (dark ?t))
    :effect (and (lit ?t) (not (dark ?t))))
  (:action by-battery :parameters (?t - torch) :precondition (and (charged ?t) (dark ?t))
    :effect (and (lit ?t) (not (dark ?t))))
  (:action darken :parameters (?t - torch) :precondition (and (lit ?t)) :effect (and (dark ?t) (not (lit ?t))))
  (:action plug :parameters () :precondition (and (dead)) :effect (and (power) (not (dead))))
  (:action unplug :parameters () :precondition (and (power)) :effect (and (dead) (not (power))))
  (:action drain :parameters (?t - torch) :precondition (and (charged ?t))
    :effect (and (empty ?t) (not (charged ?t)))))"""
"""A torch needs power or a charge: neither is required by itself."""


def model(text: str, folder: Path) -> Model:
    """The model of a domain in PDDL."""
    path = folder / "domain.pddl"
    path.write_text(text, encoding="utf-8")
    return read_domain(path)


def agent(text: str, controls: Sequence[str], states: Sequence[State], folder: Path) -> BareSymbolicAgent:
    """The agent of a domain behind controls."""
    known = model(text, folder)
    return BareSymbolicAgent(known, read_controls(known, controls), states)


class Read(AgentDecorator):
    """An agent whose states are read by a function, which may be wrong; the handles are the states themselves."""

    def __init__(
        self, agent: BareSymbolicAgent, test: ImageTest, read: Callable[[State], State] = lambda state: state
    ) -> None:
        super().__init__(agent)
        self._read, self._test = read, test

    @property
    def image_test(self) -> ImageTest:
        return self._test

    def initial(self) -> list[Situation]:
        return [Situation(one.state, self._read(one.state)) for one in self.agent.initial()]

    def ask(self, query: Query) -> Response:
        true = query.initial.handle
        assert isinstance(true, State)
        response = self.agent.ask(replace(query, initial=Situation(true, true)))
        return replace(response, final=Situation(response.final.state, self._read(response.final.state)))


class Forgetful(BareSymbolicAgent):
    """Now and then a control does nothing, for no reason that a fact shows: each one ``every`` so many times."""

    def __init__(self, agent: BareSymbolicAgent, every: int) -> None:
        self.__dict__ = agent.__dict__
        self._every, self._given = every, Counter[GroundAction]()

    def ask(self, query: Query) -> Response:
        self._given.update(query.plan)
        forgotten = any(self._given[control] % self._every == 0 for control in query.plan)
        return Response(1, query.initial) if forgotten else super().ask(query)


class Moody(BareSymbolicAgent):
    """Now and then a control does nothing, by all that was given since the beginning: no memory of a few states tells when."""

    def __init__(self, agent: BareSymbolicAgent) -> None:
        self.__dict__ = agent.__dict__

    def initial(self) -> Sequence[Situation]:
        return [Situation((one.state, ()), one.state) for one in super().initial()]

    def ask(self, query: Query) -> Response:
        here: Any = query.initial.handle
        state, given = here
        for control in query.plan:
            given = (*given, str(control))
            if sha256("\n".join(given).encode()).digest()[0] % 4:
                state = self.given(state, control)
        return Response(len(query.plan), Situation((state, given), state))


def state(known: Model, kinds: dict[str, str], *facts: str) -> State:
    """A state of facts, each written as its predicate and objects: ``path a b``."""
    true = frozenset(Atom(one.split()[0], tuple(one.split()[1:])) for one in facts)
    return State(true, Objects(kinds, known.vocabulary.types))


def wet(known: Model) -> State:
    """Four cells in a ring, two of them puddles."""
    cells = ["a", "b", "c", "d"]
    paths = [f"path {one} {other}" for one, other in product(cells, cells) if one != other]
    return state(known, dict.fromkeys(cells, "cell"), "at a", "puddle b", "puddle c", *paths)


def door(known: Model) -> State:
    """A closed door and two keys, of which one fits."""
    kinds = {"gold": "key", "tin": "key"}
    return state(known, kinds, "closed", "fits gold", "lying gold", "lying tin", "free")


def one_key(known: Model) -> State:
    """A locked door and the only key, which fits: that it is held, and that the hand is not free, come to the same."""
    return state(known, {"gold": "key"}, "locked", "fits gold", "lying gold", "free")


def lamps(known: Model) -> State:
    """A lamp of each colour."""
    kinds = {"one": "lamp", "two": "lamp", "three": "lamp"}
    return state(known, kinds, "red one", "green two", "blue three")


def rooms(known: Model) -> State:
    """Two cells in each of two lit rooms and a dark one."""
    kinds = {**dict.fromkeys("abcdef", "cell"), **dict.fromkeys(("hall", "attic", "cellar"), "room")}
    inside = ["in a hall", "in b hall", "in c cellar", "in d cellar", "in e attic", "in f attic"]
    return state(known, kinds, "at a", "lit hall", "lit attic", *inside)


def hall(known: Model, *, cells: str = "abcdefg", chest: str = "d") -> State:
    """Cells in a ring, with a shut chest at one of them, or none; the agent is at the first one."""
    neighbours = list(zip(cells, cells[1:] + cells[0], strict=True))
    paths = [f"path {one} {other}" for pair in neighbours for one, other in (pair, pair[::-1])]
    kinds = {**dict.fromkeys(cells, "cell"), **dict.fromkeys(chest and ["box"], "chest")}
    inside = [f"in box {one}" for one in chest]
    return state(known, kinds, f"at {cells[0]}", "shut", *inside, *paths)


def loads(known: Model) -> State:
    """A key and a ball, neither of them held."""
    return state(known, {"gold": "key", "globe": "ball"}, "lying gold", "lying globe", "free")


def torches(known: Model) -> State:
    """A charged torch and an empty one, and no power."""
    kinds = {"one": "torch", "two": "torch"}
    return state(known, kinds, "dead", "charged one", "empty two", "dark one", "dark two")


def follow(giving: Giving, start: Situation, *controls: str) -> Situation:
    """Where controls lead that are given one after the other, each written as its name and objects: ``step b``."""
    here = start
    for one in controls:
        name, *objects = one.split()
        _, here = giving.give(here, GroundAction(name, tuple(objects)))
    return here


def gone(giving: Giving, way: Way) -> Iterator[Transition]:
    """The transitions of a way, each given when it is asked for."""
    here = way.start
    for control in way.controls:
        transition, here = giving.give(here, control)
        yield transition


def give_everywhere(giving: Giving, start: Situation, *names: str) -> None:
    """Give the controls of these names, with all objects, in every situation that they lead to."""
    waiting, known = [start], {start.state}
    while waiting:
        here = waiting.pop(0)
        for control in ground([one for one in giving.controls if one.name in names], here.state):
            _, after = giving.give(here, control)
            if after.state not in known:
                known.add(after.state)
                waiting.append(after)


def lakes(known: Model) -> list[State]:
    """Cells in rows of four, with a hole at one end of each; somebody stands in another row each time."""
    rows = [[f"{row}{column}" for column in range(4)] for row in "abcd"]
    pairs = [(one, other) for row in rows for one, other in pairwise(row)]
    paths = [
        text for one, other in pairs for text in (f"next {one} {other} right", f"next {other} {one} left")
    ]
    kinds = {**{name: "cell" for row in rows for name in row}, "left": "way", "right": "way"}
    holes = [f"hole {row[-1 if number % 2 else 0]}" for number, row in enumerate(rows)]
    return [state(known, kinds, f"at {row[1]}", *holes, *paths) for row in rows]


def reachable(world: BareSymbolicAgent) -> list[Transition]:
    """What every control does in every state that can be reached."""
    found = everything(world)
    assert found is not None, "these worlds are small"
    return found


def shuffled(transitions: Sequence[Transition], seed: int) -> dict[str, list[Transition]]:
    """By control, the transitions in a random order."""
    found: dict[str, list[Transition]] = {}
    for place in np.random.default_rng(seed).permutation(len(transitions)):
        one = transitions[int(place)]
        found.setdefault(one.control.name, []).append(one)
    return found


@dataclass(frozen=True)
class World:
    """A domain in PDDL behind controls, and the state in which its agent begins."""

    text: str
    controls: Sequence[str]
    start: Callable[[Model], State]

    def agent(self, folder: Path, *starts: Callable[[Model], State]) -> BareSymbolicAgent:
        """The agent, which begins in these states if any are given."""
        known = model(self.text, folder)
        return BareSymbolicAgent(
            known, read_controls(known, self.controls), [start(known) for start in starts or (self.start,)]
        )


WORLDS = {
    "wet": World(WET, ["step(?b)=walk,splash", "dry()=dry"], wet),
    "door": World(
        DOOR, ["toggle()=unlock,swing", "shut()=shut", "lock()=lock", "take(?k)=take", "put()=put"], door
    ),
    "lamps": World(LAMPS, ["red(?l)=make-red", "green(?l)=make-green", "blue(?l)=make-blue"], lamps),
    "rooms": World(ROOMS, ["go(?to)=go"], rooms),
    "hall": World(HALL, ["step(?b)=walk", "lift()=lift"], hall),
}
