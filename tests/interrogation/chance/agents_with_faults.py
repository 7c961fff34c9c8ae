"""Agents with chance: honest ones, and ones that hang on what no word says, on combinations, or on time.

Each presses boxes. How often a press works is said by a function of the moment; everything else an agent does is without chance. Facts
about a box are set and cleared by two actions each, and so are lamps, which no press names, and which of two spots a box stands on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.interrogating import interrogate
from aam_vision.interrogation.chance.result import ChanceResult, Options
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
LAST = 100
"""Presses whose mean rate the interval of an agent that changes has to hold."""


@dataclass
class Moment:
    """What a press may hang on: the situation, the box (and the spot), and how many presses and steps came before."""

    state: State
    objects: tuple[str, ...]
    rng: np.random.Generator
    memory: dict[str, float] = field(default_factory=dict)
    count: int = 0
    steps: int = 0
    """Steps of all actions that the agent carried out before."""
    attempts: int = 0
    """The same with refused ones."""
    since: int = 0
    """Steps carried out since the agent was last put into a situation."""
    last: str = ""
    """The action of the step before, or ``REFUSED``; empty if the agent was put into a situation since."""
    turns: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """How often the same was pressed before."""

    def own(self, fact: str) -> bool:
        """Whether a fact holds of the box."""
        return (fact, self.objects[:1]) in self.state.true

    def lit(self, lamp: str) -> bool:
        return ("lit", (lamp,)) in self.state.true

    @property
    def bright(self) -> bool:
        """The fact without arguments."""
        return ("bright", ()) in self.state.true


@dataclass(frozen=True)
class Fault:
    """An agent: how often a press works, the facts in its world, and on which facts that really depends."""

    rate: Callable[[Moment], float]
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
    told: str = ""
    """What the verdict says of it."""
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
    on = [there for predicate, there in now.state.true if predicate == "on"]
    return any(there[1] == now.objects[1] and there[0] != now.objects[0] for there in on)


FAULTS = {
    "constant": Fault(lambda now: 0.7),
    "nearly always": Fault(lambda now: 0.95, own=("wet", "old")),
    "three outcomes": Fault(lambda now: 0.6, own=("wet", "bent"), slips=0.5),
    "wide": Fault(lambda now: 0.5, own=("wet", "old", "red"), lamps=1),
    "own fact": Fault(lambda now: 0.9 if now.own("wet") else 0.4, own=("wet", "old"), depends=frozenset({"wet"})),
    "weak own fact": Fault(lambda now: 0.8 if now.own("wet") else 0.55, own=("wet", "old"), depends=frozenset({"wet"})),
    "conjunction": Fault(lambda now: 0.9 if now.own("wet") and now.own("old") else 0.3, own=("wet", "old", "red"), depends=frozenset({"wet", "old"})),
    "fact without arguments": Fault(lambda now: 0.85 if now.bright else 0.35, bright=True, depends=frozenset({"bright"})),
    "two differ": Fault(lambda now: _xor(now.own("wet"), now.own("old")), own=("wet", "old"), depends=frozenset({"wet", "old"})),
    "two of three differ": Fault(lambda now: _xor(now.own("wet"), now.own("red")), own=("wet", "old", "red"), depends=frozenset({"wet", "red"})),
    "majority": Fault(lambda now: 0.9 if now.own("wet") + now.own("old") + now.own("red") > 1 else 0.3, own=("wet", "old", "red"), depends=frozenset({"wet", "old", "red"})),
    "lamp": Fault(lambda now: 0.9 if now.lit("l1") else 0.4, lamps=1, bright=True, kind="hidden", told="differs with lit("),
    "lamps differ": Fault(lambda now: _xor(now.lit("l1"), now.lit("l2")), lamps=2, bright=True, kind="hidden", told="differs with exactly one of lit("),
    "one box": Fault(lambda now: 0.4 if now.objects[0] == "b3" else 0.8, boxes=4, kind="hidden", told="depends on which object ?x is"),
    "spot is taken": Fault(lambda now: 0.1 if _other_on_spot(now) else 0.95, own=(), spots=True, kind="hidden", told="differs with on("),
    "same box again": Fault(_pausing, kind="hidden", told="whether the step of it before named the same ?x"),
    "after a refusal": Fault(lambda now: 0.3 if now.last == REFUSED else 0.9, kind="hidden", told="refused"),
    "after undo": Fault(lambda now: 0.3 if now.last == "undo" else 0.9, own=("wet", "old"), kind="hidden", told="depends on whether it came right after undo"),
    "only right after a press": Fault(lambda now: 0.9 if now.last == "press" else 0.4, own=("wet", "old"), kind="hidden"),
    "every second of a box": Fault(lambda now: 0.4 if now.turns[now.objects] % 2 else 0.9, kind="hidden", told="goes in cycles of 2 steps of it with the same objects"),
    "every seventh": Fault(lambda now: 0.0 if now.count % 7 == 6 else 0.95, kind="time", told="goes in cycles of 7 steps"),
    "spells": Fault(_spells, kind="time", told="depends on what"),
    "every ninth step": Fault(lambda now: 0.0 if now.steps % 9 == 8 else 0.95, own=("wet", "old"), kind="time", told="goes in cycles of 9 steps of all actions"),
    "every fifth attempt": Fault(lambda now: 0.1 if now.attempts % 5 == 2 else 0.9, kind="time", told="goes in cycles of 5 steps of all actions, refused ones included"),
    "cold start": Fault(lambda now: 0.2 if now.since == 0 else 0.9, kind="episode"),
    "tires": Fault(lambda now: 0.9 if now.since < 6 else 0.4, own=("wet", "old"), kind="episode"),
    "breaks": Fault(lambda now: 0.85 if now.count < 80 else 0.4, kind="time", told="has changed"),
}  # fmt: skip


def _action(
    name: str,
    types: tuple[str, ...],
    needs: set[LiftedAtom],
    lacks: set[LiftedAtom],
    adds: set[LiftedAtom],
    deletes: set[LiftedAtom],
) -> ActionSchema:
    header = ActionHeader(name, ("x", "y", "z")[: len(types)], types)
    return ActionSchema(header, frozenset(needs), frozenset(lacks), frozenset(adds), frozenset(deletes))


def model_of(fault: Fault) -> tuple[Model, State]:
    """What an agent does, with a press that always works, and where it begins."""
    done, here, there = LiftedAtom("done", (0,)), LiftedAtom("on", (0, 1)), LiftedAtom("on", (0, 2))
    predicates, initial = [Predicate("done", ("box",))], list[Atom]()
    press = ("box", "spot") if fault.spots else ("box",)
    actions = [
        _action("press", press, {here} if fault.spots else set(), {done}, {done}, set()),
        _action("undo", ("box",), {done}, set(), set(), {done}),
    ]
    boxes = [f"b{number + 1}" for number in range(fault.boxes)]
    objects = dict.fromkeys(boxes, "box") | {f"l{number + 1}": "lamp" for number in range(fault.lamps)}
    varied: list[tuple[str, tuple[str, ...]]] = [(name, ("box",)) for name in fault.own]
    varied += [("lit", ("lamp",))] if fault.lamps else []
    varied += [("bright", ())] if fault.bright else []
    for name, types in varied:
        fact = {LiftedAtom(name, tuple(range(len(types))))}
        predicates.append(Predicate(name, types))
        actions.append(_action(f"set-{name}", types, set(), fact, fact, set()))
        actions.append(_action(f"clear-{name}", types, fact, set(), set(), fact))
    if fault.spots:
        predicates.append(Predicate("on", ("box", "spot")))
        actions.append(_action("move", ("box", "spot", "spot"), {here}, {there}, {there}, {here}))
        objects |= dict.fromkeys(("s1", "s2", "s3"), "spot")
        initial = [Atom("on", (box, f"s{box[1:]}")) for box in boxes]
    model = Model(Vocabulary("faults", tuple(predicates), TYPES), tuple(actions))
    return model, State(frozenset(initial), Objects(objects, TYPES))


class FaultyAgent(SymbolicAgent):
    """Presses as a fault says; ``pressed`` has every press, for measuring: where, of what, and how often it works there and then."""

    def __init__(self, fault: Fault, seed: int, access: Access) -> None:
        model, initial = model_of(fault)
        chance = np.random.default_rng([seed, 4])
        super().__init__(model, [initial], access, refuses_surely=True, chance=chance)
        self.pressed: list[tuple[State, tuple[str, ...], float]] = []
        self._fault, self._now = fault, Moment(initial, (), chance)

    def ask(self, query: Query) -> Response:
        self._put(query.initial.state)
        response = super().ask(query)
        if response.executed < len(query.plan):
            self._now.attempts += 1
            self._now.last = REFUSED
        return response

    def _put(self, state: State) -> None:
        now = self._now
        if state != now.state:  # or it happens to be put where it stands, which nobody can tell
            now.since, now.last, now.state = 0, "", state

    def after(self, state: State, action: GroundAction) -> State:
        self._put(state)
        now = self._now
        now.objects = action.objects
        now.state = self._pressed() if action.name == "press" else super().after(state, action)
        now.last = action.name
        now.steps += 1
        now.attempts += 1
        now.since += 1
        return now.state

    def _pressed(self) -> State:
        now = self._now
        state, rate = now.state, self._fault.rate(now)
        now.count += 1
        now.turns[now.objects] += 1
        self.pressed.append((state, now.objects, rate))
        drawn = now.rng.random()
        if drawn < rate:
            return replace(state, true=state.true | {Atom("done", now.objects[:1])})
        bent = drawn < rate + (1 - rate) * self._fault.slips
        return replace(state, true=state.true | {Atom("bent", now.objects[:1])}) if bent else state


def run(fault: Fault, seed: int, access: str, steps: int = 4000) -> tuple[ChanceResult, FaultyAgent]:
    """One interrogation."""
    agent = FaultyAgent(fault, seed, Access(access))
    return interrogate(agent, np.random.default_rng(seed), Options(0.1, max_steps=steps)), agent


def intervals_hold(result: ChanceResult, agent: FaultyAgent, fault: Fault) -> bool:
    """Whether each interval of a press has the rate of every press that it speaks of."""
    press = next(one for one in result.actions if one.index.header.name == "press")
    bit = {atom.predicate: bit for atom, bit in press.index.bit.items()}
    pressed = [(press.index.values(state, objects)[0], rate) for state, objects, rate in agent.pressed]
    for case in press.cases:
        if not case.explanation.sure:
            continue
        rates = [
            rate for held, rate in pressed if press.case(held) is case and case.explanation.revealing(held)
        ]
        if fault.kind == "time":
            rates = [float(np.mean(rates[-LAST:]))] if rates else []
        for outcome, found in zip(case.outcomes, case.frequencies, strict=True):
            for rate in rates:
                slip = (1 - rate) * fault.slips
                share = slip if outcome.adds & bit.get("bent", 0) else 1 - rate - slip
                share = rate if outcome.adds & bit["done"] else share
                if not found.low - 1e-9 <= share <= found.high + 1e-9:
                    return False
    return True


def false_names(result: ChanceResult, fault: Fault) -> int:
    """Atoms that are called certain, and are none on which the action depends."""
    wrong = 0
    for action in result.actions:
        wanted = fault.depends if action.index.header.name == "press" else frozenset()
        wrong += len({atom.predicate for atom in action.index.select(action.dependence.sure)} - wanted)
    return wrong
