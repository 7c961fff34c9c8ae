"""Random STRIPS domains into which something hidden is planted: a fact, of the whole or of each object, or a counter.

Actions set and unset the fact, or count up and down; others depend on it: they are refused, or lack an effect, where it is not as they
need it. A drawn agent shows what is planted: random histories have steps that come out in both ways for no other reason.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.memory.facts import InventedFact, Rows
from aam_vision.model.query import Access
from aam_vision.model.strips import (
    ActionSchema,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
)
from experiments.faults.world import Fault, FaultyAgent, Nature, Outcome, Setting, World, lacking
from experiments.random_strips import all_bindings, random_domain

KINDS = ("fact", "fact of an object", "case", "counter", "two facts", "code", "by refusals", "cycle", "tank")
"""What is planted. A *cycle* is a counter that is 0 again after some steps; a *tank* is one that some action fills. A *case* lacks an effect where the fact is not as needed; a *code* wants four actions in a row; of a fact that is set
*by refusals* attempts that are refused set it, and only executed ones unset it."""
SHOWN = 4
"""Steps of each outcome, at least, among ``TRIED`` random ones."""
TRIED = 1500
EPISODE = 40
"""Steps of one history at most."""
ANY = 0.3
"""Share of random steps with any action and arguments; the others are what an honest agent could execute."""


class Need(NamedTuple):
    """What a step of an action depends on."""

    fact: int
    """The number of the planted fact."""
    place: int | None
    """The parameter that names the fact's object; None for a fact of the whole."""
    value: bool
    lacks: LiftedAtom | None = None
    """The effect that does not come otherwise; None if the step is refused."""


class Change(NamedTuple):
    """What an executed step of an action does to a planted fact."""

    fact: int
    place: int | None
    value: bool


@dataclass(eq=False, kw_only=True)
class PlantedFacts(Fault):
    """Facts that no predicate speaks of, all false at first."""

    needs: Mapping[str, Need] = field(default_factory=dict)
    changes: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    by_refusals: bool = False
    """Whether steps set a fact when they are refused, instead of when they are executed."""

    def fresh(self, state: State) -> Hashable:
        return frozenset()

    def decided(self, world: World, step: GroundAction) -> bool | None:
        """Whether what is hidden is as the step needs it; None if it needs nothing."""
        need = self.needs.get(step.name)
        if need is None:
            return None
        assert isinstance(world.hidden, frozenset)
        return (_named(need, step) in world.hidden) is need.value

    def step(self, world: World, step: GroundAction, nature: Nature) -> Outcome:
        state = self.setting.outcome(world.state, step)
        if state is not None and self.decided(world, step) is False:
            lacks = self.needs[step.name].lacks
            state = None if lacks is None else lacking(lacks)(world.state, step, state)
        hidden = world.hidden
        assert isinstance(hidden, frozenset)
        for change in self.changes.get(step.name, ()):
            one = frozenset({_named(change, step)})
            if (state is None) is (self.by_refusals and change.value):
                hidden = hidden | one if change.value else hidden - one
        return Outcome(state is not None, World(world.state if state is None else state, hidden))


@dataclass(eq=False, kw_only=True)
class PlantedCounter(Fault):
    """A number that some actions count up or down, and that others need."""

    first: int
    least: int
    """What the actions that need it need at least."""
    counts: Mapping[str, int]
    cycle: int = 0
    """The number that is 0 again; 0 if there is none."""
    fills: str = ""
    """The action after which the number is as at first."""
    lacks: LiftedAtom | None = None
    """The effect that does not come where the number is too small; None if the step is refused."""

    def fresh(self, state: State) -> Hashable:
        return self.first

    def decided(self, world: World, step: GroundAction) -> bool | None:
        """Whether the number is as the step needs it; None if it needs none."""
        assert isinstance(world.hidden, int)
        return world.hidden >= self.least if step.name in self.actions else None

    def step(self, world: World, step: GroundAction, nature: Nature) -> Outcome:
        state = self.setting.outcome(world.state, step)
        if state is not None and self.decided(world, step) is False:
            state = None if self.lacks is None else lacking(self.lacks)(world.state, step, state)
        if state is None:
            return Outcome(False, world)
        assert isinstance(world.hidden, int)
        number = max(0, world.hidden + self.counts.get(step.name, 0))
        number = self.first if step.name == self.fills else number
        return Outcome(True, World(state, number % self.cycle if self.cycle else number))


@dataclass(eq=False, kw_only=True)
class PlantedCode(Fault):
    """An action that is executed only after some others, one directly after the other."""

    code: tuple[str, ...]

    def fresh(self, state: State) -> Hashable:
        return ()

    def decided(self, world: World, step: GroundAction) -> bool | None:
        """Whether the code was given, of the action that wants it."""
        return world.hidden == self.code if step.name in self.actions else None

    def step(self, world: World, step: GroundAction, nature: Nature) -> Outcome:
        state = self.setting.outcome(world.state, step)
        if state is None or self.decided(world, step) is False:
            return Outcome(False, world)
        assert isinstance(world.hidden, tuple)
        return Outcome(True, World(state, (*world.hidden, step.name)[-len(self.code) :]))


Planted = PlantedFacts | PlantedCounter | PlantedCode


def planted_agent(kind: str, access: Access | str, seed: int) -> FaultyAgent:
    """The agent of this kind and seed. Whatever the access, it is the same one.

    Args:
        kind: one of ``KINDS``.
        access: what may be asked of it.
        seed: of the domain, and of what is planted.
    """
    fault = planted(kind, seed)
    return FaultyAgent(fault, fault.setting.problems, Access(access), np.random.default_rng(seed))


@cache
def planted(kind: str, seed: int) -> Planted:
    """What the agent is made of, drawn until it shows."""
    rng = np.random.default_rng([seed, KINDS.index(kind), 33])
    while True:
        drawn = random_domain(int(rng.integers(2**31)))
        if drawn.repeated:
            continue
        setting = Setting("random", drawn.model, drawn.problems, len(drawn.problems), seed)
        fault = _fault(kind, setting, rng)
        if fault is not None and _shows(fault, rng):
            return fault


class Step(NamedTuple):
    """One step of a history."""

    state: State
    """As it is seen before the step."""
    action: GroundAction
    executed: bool
    after: State
    first: bool
    """Whether a history begins with it, after a reset."""
    decided: bool | None
    """Whether what is hidden was as the step needs it; None if it needs nothing, or was refused for another reason."""


def histories(fault: Planted, rng: np.random.Generator, steps: int) -> Iterator[Step]:
    """Random histories from the initial situations, of so many steps together."""
    model, made = fault.setting.model, 0
    honest = FaultyAgent(fault, fault.setting.problems, Access.SETTABLE, rng)
    nature = Nature(rng)
    problems = [one for one in fault.setting.problems if _any(model, one, rng)]
    while problems and made < steps:
        world = World(state := problems[int(rng.integers(len(problems)))], fault.fresh(state))
        for number in range(EPISODE):
            step = None if rng.random() < ANY else honest.option(world.state, rng)
            step = step or _any(model, world.state, rng)
            assert step is not None, "the problem has steps"
            would = fault.setting.outcome(world.state, step) is not None
            outcome = fault.step(world, step, nature)
            decided = fault.decided(world, step) if would else None
            yield Step(world.state, step, outcome.executed, outcome.world.state, number == 0, decided)
            world, made = outcome.world, made + 1
            if made == steps:
                return


def _any(model: Model, state: State, rng: np.random.Generator) -> GroundAction | None:
    rows = {schema.header.name: all_bindings(schema.header, state.objects) for schema in model.actions}
    names = [name for name, found in rows.items() if found]
    if not names:
        return None
    name = names[int(rng.integers(len(names)))]
    return GroundAction(name, rows[name][int(rng.integers(len(rows[name])))])


def _shows(fault: Planted, rng: np.random.Generator) -> bool:
    decided = [step.decided for step in histories(fault, rng, TRIED)]
    return min(decided.count(True), decided.count(False)) >= SHOWN


def _fault(kind: str, setting: Setting, rng: np.random.Generator) -> Planted | None:
    """Something planted; None if the domain has too few actions for it."""
    names = [schema.header.name for schema in setting.model.actions]
    if len(names) < 2:
        return None
    mixed = [names[int(n)] for n in rng.permutation(len(names))]
    if kind == "counter":
        counts = dict.fromkeys(mixed[1 : 2 + int(rng.integers(2))], 1)
        counts[mixed[0]] = -int(rng.integers(2))
        least = int(rng.integers(1, 3))
        return PlantedCounter(setting, (mixed[0],), first=int(rng.integers(4)), least=least, counts=counts)
    if kind == "tank":
        counts = dict.fromkeys((name for name in mixed[1:] if rng.random() < 0.5), -1) | {mixed[0]: -1}
        first, fills = int(rng.integers(1, 6)), mixed[-1]
        counts = {name: by for name, by in counts.items() if name != fills}
        return PlantedCounter(setting, tuple(counts), first=first, least=1, counts=counts, fills=fills)
    if kind == "cycle":
        own = rng.random() < 0.5
        effects = setting.effects(mixed[0])
        lacks = effects[int(rng.integers(len(effects)))] if effects and own else None
        counts = {mixed[0] if lacks is not None else mixed[1]: 1}
        cycle = int(rng.integers(2, 5))
        first = int(rng.integers(cycle))
        return PlantedCounter(
            setting, (mixed[0],), first=first, least=1, counts=counts, cycle=cycle, lacks=lacks
        )
    if kind == "code":
        code = tuple(mixed[1:][int(rng.integers(len(mixed) - 1))] for _ in range(4))
        return PlantedCode(setting, (mixed[0],), code=code)
    needs: dict[str, Need] = {}
    changes: dict[str, tuple[Change, ...]] = {}
    for fact in range(2 if kind == "two facts" else 1):
        found = _one_fact(kind, fact, setting, mixed[fact:] + mixed[:fact], rng)
        if found is None:
            return None
        needs |= found[0]
        for name, own in found[1].items():
            changes[name] = (*changes.get(name, ()), *own)
    refusals = kind == "by refusals"
    return PlantedFacts(setting, tuple(needs), needs=needs, changes=changes, by_refusals=refusals)


def _one_fact(
    kind: str, fact: int, setting: Setting, names: list[str], rng: np.random.Generator
) -> tuple[dict[str, Need], dict[str, tuple[Change, ...]]] | None:
    """The needs and changes of one fact: one setter, nobody or one or two that unset it, and one that needs it."""
    types = setting.model.vocabulary.types
    kinds = {name: setting.header(name).types for name in names}
    of: str | None = None
    if kind == "fact of an object":
        if not kinds[names[0]]:
            return None
        of = kinds[names[0]][int(rng.integers(len(kinds[names[0]])))]

    def places(name: str) -> list[int | None]:
        return [None] if of is None else [n for n, own in enumerate(kinds[name]) if types.is_a(own, of)]

    def place(name: str) -> int | None:
        return places(name)[int(rng.integers(len(places(name))))]

    able = [name for name in names if places(name)]
    if len(able) < 2:
        return None
    needing, setter, *others = able
    unsetting = [one for one in (needing, *others) if rng.random() < 0.5][:2]
    changes = {setter: (Change(fact, place(setter), True),)}
    at = place(needing)
    for name in unsetting:
        changes[name] = (Change(fact, at if name == needing else place(name), False),)
    lacks = None
    if kind == "case":
        effects = setting.effects(needing)
        if not effects:
            return None
        lacks = effects[int(rng.integers(len(effects)))]
    return {needing: Need(fact, at, bool(rng.random() < 0.7), lacks)}, changes


def _named(about: Need | Change, step: GroundAction) -> tuple[int, str | None]:
    return about.fact, None if about.place is None else step.objects[about.place]


def predicted_rightly(
    model: Model,
    fault: Planted,
    rng: np.random.Generator,
    fact: InventedFact | None = None,
) -> float:
    """The share of 500 steps of new histories whose outcome a model says, with what it says of an invented fact itself; of any number."""
    fact = fact or InventedFact(Predicate("memory-0"), ())
    fact = fact.of_numbers(range(-EPISODE, 2 * EPISODE))
    right, rows, state = 0, Rows(), State(frozenset(), Objects({}, Types()))
    for step in histories(fault, rng, 500):
        rows = fact.beginning if step.first else rows
        seen = fact.added(step.state, rows)
        invented = seen.true if step.first else state.true - fact.without(state).true
        state = State(step.state.true | invented, seen.objects)  # what is seen is known
        objects = fact.as_modelled(step.action, rows).objects
        schemas = [one for one in model.actions if _is_of(fact, one, step.action, objects)]
        after = [one.successor(state, objects) for one in schemas if one.applicable(state, objects)]
        rows = fact.after(rows, step.action) if step.executed else rows
        right += bool(after) is step.executed and fact.without((*after, state)[0]) == step.after
        state = (*after, state)[0]
    return right / 500


def _is_of(fact: InventedFact, schema: ActionSchema, step: GroundAction, objects: tuple[str, ...]) -> bool:
    given = fact.as_given(GroundAction(schema.header.name, objects)).name
    return given == step.name and schema.header.arity == len(objects)
