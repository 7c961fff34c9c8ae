"""Thirty agents with chance: honest ones, and ones that hang on what no word says, on combinations, or on time.

Each presses boxes. How often a press works is said by a function of the moment; everything else an agent does is without chance. Facts
about a box are set and cleared by two actions each, and so are lamps, which no press names, and which of two spots a box stands on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.model.query import Access, Query, Response
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)

REFUSED = "refused"
TYPES = Types({"box": "object", "lamp": "object", "spot": "object"})


class Moment(NamedTuple):
    """What a press may hang on: the situation, the box (and the spot), and how many presses and steps came before."""

    state: State
    objects: tuple[str, ...]
    count: int
    rng: np.random.Generator
    memory: dict[str, float]
    steps: int
    """Steps of all actions that the agent carried out before."""
    attempts: int
    """The same with refused ones."""
    since: int
    """Steps carried out since the agent was last put into a situation."""
    last: str
    """The action of the step before, or ``REFUSED``; empty if the agent was put into a situation since."""
    turn: int
    """How often the same was pressed before."""

    def own(self, fact: str) -> bool:
        """Whether a fact holds of the box."""
        return (fact, self.objects[:1]) in self.state.true

    def lit(self, lamp: str) -> bool:
        """Whether a lamp is lit."""
        return ("lit", (lamp,)) in self.state.true

    @property
    def bright(self) -> bool:
        """The fact without arguments."""
        return ("bright", ()) in self.state.true


Rate = Callable[[Moment], float]


@dataclass(frozen=True)
class Fault:
    """An agent: the facts in its world, how often a press works, and on which facts that really depends."""

    name: str
    rate: Rate
    own: tuple[str, ...] = ("wet",)
    """Facts about a box."""
    lamps: int = 0
    bright: bool = False
    spots: bool = False
    """Whether boxes stand on spots, and a press names one."""
    boxes: int = 2
    depends: frozenset[str] = frozenset()
    """The predicates of the press's own atoms on which it depends."""
    kind: str = "honest"
    """``honest`` (a model of own atoms with constant rates says all), ``hidden`` (what no atom of it says), ``time`` (since it began), or
    ``episode`` (since it was last put into a situation)."""
    slips: float = 0.0
    """Of the presses that do not work, the share that makes the box ``bent``."""


def _xor(one: bool, other: bool) -> float:
    return 0.9 if one != other else 0.3


def _spells(now: Moment) -> float:
    """Good and bad spells of twelve presses on average."""
    if now.rng.random() < 1 / 12:
        now.memory["bad"] = 1 - now.memory.get("bad", 0)
    return 0.2 if now.memory.get("bad") else 0.9


def _pausing(now: Moment) -> float:
    """Each box wants a pause: pressed twice in a row, it works less often."""
    box = float(now.objects[0][1:])
    again, now.memory["box"] = now.memory.get("box") == box, box
    return 0.4 if again else 0.9


def _other_on_spot(now: Moment) -> bool:
    return any(
        predicate == "on" and there[1] == now.objects[1] and there[0] != now.objects[0]
        for predicate, there in now.state.true
    )


FAULTS: tuple[Fault, ...] = (
    Fault("constant", lambda now: 0.7),
    Fault("nearly always", lambda now: 0.95, own=("wet", "old")),
    Fault("three outcomes", lambda now: 0.6, own=("wet", "bent"), slips=0.5),
    Fault("wide", lambda now: 0.5, own=("wet", "old", "red"), lamps=1),
    Fault("own fact", lambda now: 0.9 if now.own("wet") else 0.4, own=("wet", "old"), depends=frozenset({"wet"})),
    Fault("weak own fact", lambda now: 0.8 if now.own("wet") else 0.55, own=("wet", "old"), depends=frozenset({"wet"})),
    Fault(
        "conjunction",
        lambda now: 0.9 if now.own("wet") and now.own("old") else 0.3,
        own=("wet", "old", "red"),
        depends=frozenset({"wet", "old"}),
    ),
    Fault(
        "fact without arguments",
        lambda now: 0.85 if now.bright else 0.35,
        bright=True,
        depends=frozenset({"bright"}),
    ),
    Fault(
        "two differ",
        lambda now: _xor(now.own("wet"), now.own("old")),
        own=("wet", "old"),
        depends=frozenset({"wet", "old"}),
    ),
    Fault(
        "two of three differ",
        lambda now: _xor(now.own("wet"), now.own("red")),
        own=("wet", "old", "red"),
        depends=frozenset({"wet", "red"}),
    ),
    Fault(
        "majority",
        lambda now: 0.9 if now.own("wet") + now.own("old") + now.own("red") > 1 else 0.3,
        own=("wet", "old", "red"),
        depends=frozenset({"wet", "old", "red"}),
    ),
    Fault("lamps differ", lambda now: _xor(now.lit("l1"), now.lit("l2")), lamps=2, bright=True, kind="hidden"),
    Fault("lamp", lambda now: 0.9 if now.lit("l1") else 0.4, lamps=1, bright=True, kind="hidden"),
    Fault("one box", lambda now: 0.4 if now.objects[0] == "b3" else 0.8, boxes=4, kind="hidden"),
    Fault("spot is taken", lambda now: 0.1 if _other_on_spot(now) else 0.95, own=(), spots=True, kind="hidden"),
    Fault("same box again", _pausing, kind="hidden"),
    Fault("after a refusal", lambda now: 0.3 if now.last == REFUSED else 0.9, kind="hidden"),
    Fault("after undo", lambda now: 0.3 if now.last == "undo" else 0.9, own=("wet", "old"), kind="hidden"),
    Fault("only right after a press", lambda now: 0.9 if now.last == "press" else 0.4, own=("wet", "old"), kind="hidden"),
    Fault("every second of a box", lambda now: 0.4 if now.turn % 2 else 0.9, kind="hidden"),
    Fault("practice", lambda now: 0.4 + 0.5 * min(1.0, now.count / 300), own=("wet", "old"), kind="time"),
    Fault("wears out", lambda now: max(0.3, 0.95 - now.count / 500), kind="time"),
    Fault("every seventh", lambda now: 0.0 if now.count % 7 == 6 else 0.95, kind="time"),
    Fault("every twelfth", lambda now: 0.0 if now.count % 12 == 11 else 0.85, own=("wet", "old"), kind="time"),
    Fault("spells", _spells, kind="time"),
    Fault("every ninth step", lambda now: 0.0 if now.steps % 9 == 8 else 0.95, own=("wet", "old"), kind="time"),
    Fault("every fifth attempt", lambda now: 0.1 if now.attempts % 5 == 2 else 0.9, own=("wet",), kind="time"),
    Fault("cold start", lambda now: 0.2 if now.since == 0 else 0.9, own=("wet",), kind="episode"),
    Fault("tires", lambda now: 0.9 if now.since < 6 else 0.4, own=("wet", "old"), kind="episode"),
    Fault("breaks", lambda now: 0.85 if now.count < 80 else 0.4, kind="time"),
)  # fmt: skip


@dataclass
class Pressed:
    """One press of a run: where, of which objects, and how often it works there and then."""

    state: State
    objects: tuple[str, ...]
    rate: float


def _lifted(predicate: str, *arguments: int) -> LiftedAtom:
    return LiftedAtom(predicate, arguments)


def _set(name: str, atom: LiftedAtom, types: tuple[str, ...]) -> list[ActionSchema]:
    """Two actions: one makes a fact true, one makes it false."""
    one, none = frozenset({atom}), frozenset[LiftedAtom]()
    parameters = tuple(f"x{number}" for number in range(len(types)))
    return [
        ActionSchema(ActionHeader(f"set-{name}", parameters, types), none, one, one),
        ActionSchema(ActionHeader(f"clear-{name}", parameters, types), one, none, none, one),
    ]  # fmt: skip


def model_of(fault: Fault) -> tuple[Model, State]:
    """What an agent does, with a press that always works, and where it begins."""
    done = _lifted("done", 0)
    predicates = [Predicate("done", ("box",)), *(Predicate(name, ("box",)) for name in fault.own)]
    types = ("box", "spot") if fault.spots else ("box",)
    on = frozenset({_lifted("on", 0, 1)}) if fault.spots else frozenset[LiftedAtom]()
    press = ActionSchema(
        ActionHeader("press", ("x", "y")[: len(types)], types), on, frozenset({done}), frozenset({done})
    )  # fmt: skip
    actions = [press]
    undo = ActionHeader("undo", ("x",), ("box",))
    actions.append(ActionSchema(undo, frozenset({done}), frozenset(), delete=frozenset({done})))
    for name in fault.own:
        actions += _set(name, _lifted(name, 0), ("box",))
    objects = {f"b{number + 1}": "box" for number in range(fault.boxes)}
    if fault.lamps:
        predicates.append(Predicate("lit", ("lamp",)))
        actions += _set("lit", _lifted("lit", 0), ("lamp",))
        objects |= {f"l{number + 1}": "lamp" for number in range(fault.lamps)}
    if fault.bright:
        predicates.append(Predicate("bright", ()))
        actions += _set("bright", _lifted("bright"), ())
    initial: list[Atom] = []
    if fault.spots:
        predicates.append(Predicate("on", ("box", "spot")))
        from_, to = _lifted("on", 0, 1), _lifted("on", 0, 2)
        move = ActionHeader("move", ("x", "y", "z"), ("box", "spot", "spot"))
        there, here = frozenset({to}), frozenset({from_})
        actions.append(ActionSchema(move, here, there, there, here))
        objects |= {"s1": "spot", "s2": "spot", "s3": "spot"}
        initial = [Atom("on", (f"b{number + 1}", f"s{number + 1}")) for number in range(fault.boxes)]
    vocabulary = Vocabulary("faults", tuple(predicates), TYPES)
    return Model(vocabulary, tuple(actions)), State(frozenset(initial), Objects(objects, TYPES))


@dataclass
class _Memory:
    count: int = 0
    steps: int = 0
    attempts: int = 0
    since: int = 0
    last: str = ""
    turns: dict[tuple[str, ...], int] = field(default_factory=dict)
    stands: State | None = None
    kept: dict[str, float] = field(default_factory=dict)


class FaultyAgent(SymbolicAgent):
    """Presses as a fault says; ``pressed`` has every press, for measuring."""

    def __init__(self, fault: Fault, seed: int, access: Access) -> None:
        model, initial = model_of(fault)
        chance = np.random.default_rng([seed, 4])
        super().__init__(model, [initial], access, refuses_surely=True, chance=chance)
        self.pressed: list[Pressed] = []
        self._fault, self._memory = fault, _Memory()

    def ask(self, query: Query) -> Response:
        self._put(query.initial.state)
        response = super().ask(query)
        if response.executed < len(query.plan):
            self._memory.attempts += 1
            self._memory.last = REFUSED
        return response

    def _put(self, state: State) -> None:
        memory = self._memory
        if state != memory.stands:  # or it happens to be put where it stands, which nobody can tell
            memory.since, memory.last, memory.stands = 0, "", state

    def after(self, state: State, action: GroundAction) -> State:
        self._put(state)
        memory = self._memory
        memory.stands = self._after(state, action)
        memory.last = action.name
        memory.steps += 1
        memory.attempts += 1
        memory.since += 1
        return memory.stands

    def _after(self, state: State, action: GroundAction) -> State:
        if action.name != "press":
            return super().after(state, action)
        memory = self._memory
        now = Moment(
            *(state, action.objects, memory.count, self.chance, memory.kept),
            *(memory.steps, memory.attempts, memory.since, memory.last, memory.turns.get(action.objects, 0)),
        )
        rate = self._fault.rate(now)
        memory.count += 1
        memory.turns[action.objects] = now.turn + 1
        self.pressed.append(Pressed(state, action.objects, rate))
        drawn = self.chance.random()
        box = action.objects[:1]
        if drawn < rate:
            return State(state.true | {Atom("done", box)}, state.objects)
        if drawn < rate + (1 - rate) * self._fault.slips:
            return State(state.true | {Atom("bent", box)}, state.objects)
        return state
