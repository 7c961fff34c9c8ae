"""A world with something hidden, and the base of all faults: an honest STRIPS agent that nothing is wrong with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aam_vision.agents.symbolic import ModelAgent, SymbolicAgent
from aam_vision.model.domains import generate, load
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Predicate,
    State,
    Types,
    lifted_atoms,
)
from aam_vision.support.errors import AccessViolation

PROBLEMS = 3  # problems of a domain that are interrogated (one under trajectory access), and as many more
WALKS = 15  # random walks in them, from which a fault learns where it will matter
LONGEST = 60  # steps of such a walk at most, and of a history that the outcome is examined on


class World(NamedTuple):
    """Everything that a snapshot brings back."""

    state: State  # the true symbolic state
    hidden: Any = None
    """A part that no predicate speaks of and that can be hashed: a counter, pending effects, an earlier state."""


Step = tuple[State, GroundAction, State]  # an executed step, between the states around it


class Outcome(NamedTuple):
    """What an attempted step came to. A refused one may still have changed what is hidden."""

    executed: bool
    world: World


@dataclass
class Nature:
    """What no snapshot and no reset brings back."""

    rng: np.random.Generator  # the source of all chance
    clock: int = 0  # steps attempted in this process
    uses: Counter[str] = field(default_factory=Counter)  # executed steps of each action in this process
    spell: bool = False  # what chance decided last, where that lasts for a while
    stopped: bool = False  # whether clock and uses stand still, so that an agent can be examined as it is now

    def passed(self, step: GroundAction, executed: bool) -> None:
        """One step was attempted."""
        if not self.stopped:
            self.clock += 1
            self.uses[step.name] += executed


@dataclass(frozen=True)
class Setting:
    """A domain and problems of it, in which a fault is put."""

    domain: str
    model: Model  # the model of the honest agent
    initial: tuple[State, ...]  # where the problems begin, interrogated ones first
    interrogated: int
    """The number of problems that are interrogated; the outcome is examined on the others, too."""
    seed: int
    access: Access = Access.SNAPSHOT  # the access that the agent allows

    @staticmethod
    def of(domain: str, access: Access, size: int, seed: int) -> Setting:
        """A packaged domain, with generated problems."""
        rng = np.random.default_rng([seed, 1])
        initial = tuple(generate(domain, size, rng).initial for _ in range(2 * PROBLEMS))
        interrogated = 1 if access is Access.TRAJECTORY else PROBLEMS
        return Setting(domain, load(domain), initial, interrogated, seed, access)

    def with_predicate(
        self,
        added: Predicate,
        dress: Callable[[State], State] = lambda state: state,
        types: Types | None = None,
    ) -> Setting:
        """The same with one more predicate, and with other atoms in the initial states."""
        told = self.model.vocabulary
        told = replace(told, predicates=(*told.predicates, added), types=types or told.types)
        return self.with_model(Model(told, self.model.actions), dress)

    def with_model(self, model: Model, dress: Callable[[State], State] = lambda state: state) -> Setting:
        """The same problems with another model, and with other atoms in their initial states."""
        return replace(self, model=model, initial=tuple(map(dress, self.initial)))

    @property
    def problems(self) -> tuple[State, ...]:
        """Where the interrogated problems begin."""
        return self.initial[: self.interrogated]

    def outcome(self, state: State, step: GroundAction) -> State | None:
        """The honest agent's state after a step; None if it refuses."""
        schema = self.model.schema(step.name)
        return schema.successor(state, step.objects) if schema.applicable(state, step.objects) else None

    def header(self, action: str) -> ActionHeader:
        return self.model.schema(action).header

    @cached_property
    def walks(self) -> Sequence[Sequence[Step]]:
        """Random walks of the honest agent in the interrogated problems."""
        rng = np.random.default_rng([self.seed, 2])
        agent = SymbolicAgent(self.model, self.initial)
        found = []
        for number in range(WALKS):
            state = self.problems[number % self.interrogated]
            walked = agent.walk(Situation(state, state), int(rng.integers(1, LONGEST + 1)), rng)
            found.append([(one.before.state, one.action, one.after.state) for one in walked])
        return found

    @cached_property
    def sample(self) -> Mapping[str, Sequence[Step]]:
        """The steps of these walks by action."""
        found: dict[str, list[Step]] = {schema.header.name: [] for schema in self.model.actions}
        for step in chain.from_iterable(self.walks):
            found[step[1].name].append(step)
        return found

    def effects(self, action: str) -> list[LiftedAtom]:
        """Effects of an action that change their atom in every step of the sample."""
        schema: ActionSchema = self.model.schema(action)
        return [
            atom
            for atom in sorted(schema.add | schema.delete, key=str)
            if all(
                before.value(ground := atom.ground(step.objects)) != after.value(ground)
                for before, step, after in self.sample[action]
            )
        ]


Consequence = Callable[[State, GroundAction, State], State | None]
"""The state after a step at which a fault strikes, or None if it is refused; from the honest states around it."""


def refuse(before: State, step: GroundAction, after: State) -> State | None:
    """The step is refused."""
    return None


def nothing(before: State, step: GroundAction, after: State) -> State | None:
    """The step is executed, and nothing changes."""
    return before


def lacking(effect: LiftedAtom) -> Consequence:
    """One effect does not come."""

    def without(before: State, step: GroundAction, after: State) -> State | None:
        atom = effect.ground(step.objects)
        return with_value(after, atom, atom in before.true)

    return without


def with_value(state: State, atom: Atom, value: bool) -> State:
    """The same state, but for one atom."""
    return replace(state, true=state.true | {atom} if value else state.true - {atom})


@dataclass(eq=False)
class Fault:
    """An honest agent; a family overrides one or two of its methods."""

    setting: Setting  # the domain and its problems
    actions: Collection[str] = ()  # those at which the fault may strike
    consequence: Consequence = refuse  # what happens then
    _: KW_ONLY
    condition: LiftedAtom | None = None  # the atom on which it depends, if it does on one
    rate: float | None = None  # how often it strikes, where that is chance
    noisy: bool = False
    """Whether the honest agent's model is true but for chance or misreading, so that no other can be certain."""
    only_seen: ClassVar[bool] = False  # whether the agent is honest, and only seen wrongly

    def __str__(self) -> str:
        """The domain, and where the fault is put in it."""
        told = [self.setting.domain]
        if len(self.actions) < len(self.setting.model.actions):
            told += self.actions
        if self.condition is not None:
            told.append(self.condition.text(self.setting.header(next(iter(self.actions))).parameters))
        if self.rate is not None:
            told.append(f"rate {self.rate:.2f}")
        return ", ".join(filter(None, [*told, self.detail]))

    @property
    def detail(self) -> str:
        """What else tells faults of one family apart."""
        return ""

    def fresh(self, state: State) -> Any:
        """What is hidden at the beginning of an episode."""
        return None

    def strikes(self, world: World, step: GroundAction, nature: Nature) -> bool:
        """Whether a step of ``actions`` that an honest agent would execute has the consequence."""
        return False

    def remembers(self, world: World, step: GroundAction, executed: bool) -> Any:
        """What is hidden after a step."""
        return world.hidden

    def see(self, world: World, nature: Nature) -> State:
        """What is seen of the world at one look."""
        return world.state

    def step(self, world: World, step: GroundAction, nature: Nature) -> Outcome:
        """Attempt a step."""
        state = self.setting.outcome(world.state, step)
        if state is not None and step.name in self.actions and self.strikes(world, step, nature):
            state = self.consequence(world.state, step, state)
        hidden = self.remembers(world, step, state is not None)
        return Outcome(state is not None, World(world.state if state is None else state, hidden))


# Conditions on a state, as a fault may have them: atoms over an action's parameters and over other objects.

OTHER = "*"  # in a lifted atom: some object that is no argument of the step


def holds(condition: LiftedAtom, state: State, objects: Sequence[str]) -> bool:
    """Whether the condition holds for a step with these arguments; ``OTHER`` stands for any other object."""
    if OTHER not in condition.arguments:
        return condition.ground(objects) in state.true
    return any(
        all(
            one not in objects if argument == OTHER else one == objects[argument]  # type: ignore[index]
            for one, argument in zip(row, condition.arguments, strict=True)
        )
        for row in state.rows.get(condition.predicate, ())
    )


def own(model: Model, header: ActionHeader) -> list[LiftedAtom]:
    """Atoms over the parameters, those of P*."""
    return list(lifted_atoms(model.vocabulary, header))


def foreign(model: Model, header: ActionHeader) -> list[LiftedAtom]:
    """Atoms over parameters and at least one object that is no argument."""
    types = model.vocabulary.types
    found = []
    for predicate in model.vocabulary.predicates:
        pools: list[list[int | str]] = [
            [OTHER, *(place for place, own in enumerate(header.types) if types.is_a(own, kind))]
            for kind in predicate.types
        ]
        found += [LiftedAtom(predicate.name, row) for row in product(*pools) if OTHER in row]
    return found


def named(text: str, condition: LiftedAtom, header: ActionHeader) -> bool:
    """Whether a text such as ``not at(?ball, room1)`` names this condition, whatever its sign.

    Parameters must be the same; where the condition has some other object, any name but a parameter's fits.
    """
    parameters = [f"?{name}" for name in header.parameters]
    for predicate, listed in re.findall(r"([\w-]+)\(([^()]*)\)", text):
        arguments = [one.split(" - ")[0].strip() for one in listed.split(",")] if listed.strip() else []
        if predicate == condition.predicate and len(arguments) == len(condition.arguments):
            pairs = zip(arguments, condition.arguments, strict=True)
            return all(
                one not in parameters if place == OTHER else one == parameters[place]  # type: ignore[index]
                for one, place in pairs
            )
    return False


# An agent of any faulty world, under any access.


TRIES = 10  # instructions that the agent tries on its own before it gives up


class FaultyAgent(ModelAgent):
    """A world with a fault as a black box; ``rng`` is the source of all chance in it.

    Handles are numbers of stored worlds: a snapshot brings back what is hidden, too, but not ``nature``. Under
    settable access they are the states seen, and what is hidden begins afresh with every question.
    """

    def __init__(
        self, fault: Fault, initial: Sequence[State], access: Access, rng: np.random.Generator
    ) -> None:
        super().__init__(fault.setting.model, initial, access)
        self.fault = fault
        self.nature = Nature(rng)
        self.showed = 0
        """How many answers an honest agent would not have given."""
        self._honest = SymbolicAgent(fault.setting.model, initial)
        self._worlds: list[World] = []
        self._here: tuple[Hashable, World] | None = None

    @property
    def here(self) -> World | None:
        """The world as it stands, if it was looked at and cannot be set."""
        return None if self._here is None else self._here[1]

    def initial(self) -> Sequence[Situation]:
        return [self._look(World(state, self.fault.fresh(state))) for state in self._initial]

    def ask(self, query: Query) -> Response:
        """Attempt the steps of a plan, as far as they are executed."""
        start = world = self.world_of(query.initial)
        executed = 0
        for step in query.plan:
            outcome = self.attempt(world, step)
            world = outcome.world
            if not outcome.executed:
                break
            executed += 1
        final = self._look(world, None if executed else query.initial.handle)
        honest = self.fault.setting.model.run(start.state, query.plan)
        self.showed += (executed, final.state) != honest
        return Response(executed, final)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """Attempt steps that an honest agent could execute; those that are refused are not shown."""
        if self.access is Access.TRAJECTORY:
            raise AccessViolation("on a trajectory there are no walks")
        world, before = self.world_of(start), start
        walked: list[WalkStep] = []
        for _ in range(steps):
            for _ in range(TRIES):
                state, step = world.state, self.option(world.state, rng)
                outcome = Outcome(False, world) if step is None else self.attempt(world, step)
                world = outcome.world
                if outcome.executed:
                    break
            else:
                break
            assert step is not None, "it was executed"
            after = self._look(world)
            self.showed += after.state != self.fault.setting.outcome(state, step)
            walked.append(WalkStep(before, step, after))
            before = after
        return walked

    def option(self, state: State, rng: np.random.Generator) -> GroundAction | None:
        """Something that an honest agent could execute there; None if there is nothing."""
        taken = self._honest.walk(Situation(state, state), 1, rng)
        return taken[0].action if taken else None

    def attempt(self, world: World, step: GroundAction) -> Outcome:
        """One step, which takes time."""
        outcome = self.fault.step(world, step, self.nature)
        self.nature.passed(step, outcome.executed)
        return outcome

    def world_of(self, situation: Situation) -> World:
        """The world as it is in a situation: the present one, if the agent stands there."""
        handle = situation.handle
        if isinstance(handle, State):
            return World(handle, self.fault.fresh(handle))
        assert isinstance(handle, int), "handles are numbers"
        if self.access is Access.TRAJECTORY and self._here is not None and self._here[0] != handle:
            raise AccessViolation("on a trajectory it goes on from where it stands")
        if self._here is not None and self._here[0] == handle and self.access is not Access.SNAPSHOT:
            return self._here[1]
        return self._worlds[handle]

    def _look(self, world: World, handle: Hashable = None) -> Situation:
        """The situation as it is seen, under a new handle unless one is given."""
        seen = self.fault.see(world, self.nature)
        if self.access is Access.SETTABLE:
            return Situation(seen, seen)
        if handle is None:
            handle = len(self._worlds)
            self._worlds.append(world)
        self._here = handle, world
        return Situation(handle, seen)
