"""STRIPS as the paper has it: predicates, action headers, states, pal tuples, models and problems.

Paper, Section "The Agent-Interrogation Task". A *lifted atom* is a predicate instantiated with the parameters of one
action (an element of the paper's P*). A *pal tuple* <p, a, l> names a place in a model; with a mode it is a *palm* tuple.

Models may have chance: an outcome of probability p is what one step of p * 100 in a hundred does, wherever the action can be done and
whatever happened before. Where the effects are conditional (``when`` in PDDL), that is so in each of their cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple, Self

from aam_vision.support.unchanging import Unchanging

if TYPE_CHECKING:
    from aam_vision.model.delayed import Delays
    from aam_vision.model.derived import AtLeast
    from aam_vision.model.remembered import Remembered

ROOT_TYPE = "object"
MAX_OUTCOMES = 10
"""Outcomes of one action at most."""


class Atom(NamedTuple):
    """A predicate applied to objects, e.g. ``Atom("at", ("player-01", "pos-1-2"))``."""

    predicate: str
    objects: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.predicate}({', '.join(self.objects)})"

    def __deepcopy__(self, memo: object) -> Self:
        return self


class GroundAction(NamedTuple):
    """An instruction with its arguments, e.g. ``GroundAction("pick", ("loc-0-0", "key-1", "room-2"))``."""

    name: str
    objects: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.objects)})"

    def __deepcopy__(self, memo: object) -> Self:
        return self


class LiftedAtom(NamedTuple):
    """A predicate applied to an action's parameters (by position) and to constants (by name)."""

    predicate: str
    arguments: tuple[int | str, ...]

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def ground(self, objects: Sequence[str]) -> Atom:
        """The atom under the binding that gives parameter i the object ``objects[i]``."""
        bound = [objects[a] if type(a) is int else a for a in self.arguments]
        return Atom(self.predicate, tuple(bound))  # type: ignore[arg-type]

    def text(self, parameters: Sequence[str]) -> str:
        """Readable form with the parameters' names, e.g. ``at(?p, ?from)``."""
        names = [f"?{parameters[a]}" if isinstance(a, int) else a for a in self.arguments]
        return f"{self.predicate}({', '.join(names)})"


@dataclass(frozen=True)
class Types:
    """A type hierarchy: every type's parent, up to the root type ``object``."""

    parents: Mapping[str, str] = field(default_factory=dict)

    def ancestry(self, name: str) -> Iterator[str]:
        """The type itself, its parent, and so on to the root."""
        while name != ROOT_TYPE:
            yield name
            name = self.parents.get(name, ROOT_TYPE)
        yield ROOT_TYPE

    def is_a(self, name: str, ancestor: str) -> bool:
        """Whether every object of type ``name`` is an object of type ``ancestor``."""
        return ancestor in self.ancestry(name)


@dataclass(frozen=True)
class Predicate:
    """A concept the user understands: a name and the type of each argument."""

    name: str
    types: tuple[str, ...] = ()

    @property
    def arity(self) -> int:
        return len(self.types)


@dataclass(frozen=True)
class ActionHeader:
    """An instruction the agent accepts: a name, and the name and type of each parameter."""

    name: str
    parameters: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    given: tuple[tuple[LiftedAtom, bool], ...] = ()
    """Literals, as atoms with their values, that hold by definition where it is executed: of one of several actions in place of an
    instruction, what tells it from the others."""
    over: tuple[LiftedAtom, ...] = ()
    """Atoms of derived predicates that it may require; of others it is sure to depend on none but those in ``given``."""

    @property
    def arity(self) -> int:
        return len(self.types)

    def __str__(self) -> str:
        pairs = zip(self.parameters, self.types, strict=True)
        return f"{self.name}({', '.join(f'?{name} - {kind}' for name, kind in pairs)})"


@dataclass(frozen=True)
class Vocabulary:
    """The predicates a user understands, with their types and the domain's constants."""

    name: str
    predicates: tuple[Predicate, ...]
    types: Types = field(default_factory=Types)
    constants: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = field(default=(), compare=False)
    """Predicates of the file it was read from that are no concepts but instructions; problems may mention them."""
    defined: tuple[str, ...] = field(default=(), compare=False)
    """Predicates that follow from the others: of these, an action has only what its name says that it is to bring about."""
    derived: tuple[AtLeast, ...] = field(default=(), compare=False)
    """Predicates that follow from the others, on which actions may depend."""
    delays: Delays | None = field(default=None, compare=False)
    """Effects that come later, if there are any; some of the predicates tell what is to come."""
    memory: Remembered | None = field(default=None, compare=False)
    """What is remembered of the controls that were given, if anything is; some of the predicates tell it."""

    def plain(self, state: State) -> State:
        """A state without what follows from its facts, what is to come, and what is remembered."""
        state = state.plain(self.derived)
        state = state if self.delays is None else self.delays.plain(state)
        return state if self.memory is None else self.memory.plain(state)

    def freed(self, state: State) -> State:
        """A state in which all is unknown that may change in steps that do not name its objects; the same where nothing may."""
        state = state.freed(self.derived) if self.derived else state
        state = state if self.delays is None else self.delays.freed(state)
        return state if self.memory is None else self.memory.freed(state)

    @cached_property
    def followed(self) -> frozenset[str]:
        """The predicates that follow from others, or tell what is to come or remembered: of these no action has effects of its own."""
        names = {one.predicate.name for one in self.derived}
        names |= set() if self.delays is None else {*self.delays.waiting}
        return frozenset(
            names if self.memory is None else names | {one.name for one in self.memory.predicates}
        )

    def passed(self, before: State, step: GroundAction, after: State) -> State:
        """The state after an executed step, of which ``after`` tells the step's own effects, with what comes with it."""
        after = after if self.delays is None else self.delays.passed(before, step, after)
        return after if self.memory is None else self.memory.freed(after)

    def with_memory(self, memory: Remembered) -> Vocabulary:
        """The vocabulary with what is remembered, and the predicates that tell it."""
        return replace(self, predicates=(*self.predicates, *memory.predicates), memory=memory)

    def with_delays(self, delays: Delays) -> Vocabulary:
        """The vocabulary with effects that come later, and the predicates that tell of them."""
        return replace(self, predicates=(*self.predicates, *delays.predicates), delays=delays)

    def with_derived(self, derived: Iterable[AtLeast]) -> Vocabulary:
        """The vocabulary with these predicates, too."""
        more = tuple(one for one in derived if one not in self.derived)
        predicates = (*self.predicates, *(one.predicate for one in more))
        return replace(self, predicates=predicates, derived=(*self.derived, *more))

    def predicate(self, name: str) -> Predicate:
        """The predicate of that name; KeyError if the vocabulary has none."""
        return self._by_name[name]

    def undefined(self, facts: frozenset[Atom]) -> frozenset[Atom]:
        """Those of the facts that do not follow from others."""
        return frozenset(one for one in facts if one.predicate not in self.defined) if self.defined else facts

    @cached_property
    def _by_name(self) -> dict[str, Predicate]:
        return {p.name: p for p in self.predicates}


def lifted_atoms(
    vocabulary: Vocabulary, header: ActionHeader, *, repeated: bool = False
) -> tuple[LiftedAtom, ...]:
    """The part of P* that belongs to one action, in a fixed order.

    Every predicate is instantiated with every type-correct choice of the action's parameters and the domain's
    constants. As in the paper's evaluation no argument occurs twice in one atom, unless ``repeated`` allows it. Of
    predicates that are defined only the one after which the action is called (``achieve-NAME``) has an atom, with its parameters.
    """
    own = tuple(range(header.arity))
    pool: list[tuple[int | str, str]] = list(enumerate(header.types))
    pool += list(vocabulary.constants.items())
    wanted = {kind for predicate in vocabulary.predicates for kind in predicate.types}
    serving = {kind: [one for one, own in pool if vocabulary.types.is_a(own, kind)] for kind in wanted}
    return tuple(
        LiftedAtom(predicate.name, arguments)
        for predicate in vocabulary.predicates
        for arguments in product(*[serving[kind] for kind in predicate.types])
        if repeated or len(set(arguments)) == len(arguments)
        if predicate.name not in vocabulary.defined
        or (header.name.partition("-")[2] == predicate.name and arguments == own)
    )


class Objects(Unchanging, Mapping[str, str]):
    """The objects of one problem and their types; compared by content, grouped by type on demand."""

    def __init__(self, kinds: Mapping[str, str], types: Types) -> None:
        self._kinds = dict(kinds)
        self._types = types
        self._groups: dict[str, tuple[str, ...]] = {}
        self._members: dict[str, frozenset[str]] = {}
        self._names = frozenset(self._kinds)

    def __getitem__(self, name: str) -> str:
        return self._kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    def __hash__(self) -> int:
        return hash(self._names)  # a frozenset keeps its hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Objects) and self._kinds == other._kinds)

    def of_type(self, kind: str) -> tuple[str, ...]:
        """All objects that are a ``kind``, in the problem's order."""
        if kind not in self._groups:
            found = [name for name, own in self._kinds.items() if self._types.is_a(own, kind)]
            self._groups[kind] = tuple(found)
        return self._groups[kind]

    def members(self, kind: str) -> frozenset[str]:
        """The same as a set, for membership tests."""
        if kind not in self._members:
            self._members[kind] = frozenset(self.of_type(kind))
        return self._members[kind]

    def fit(self, names: Sequence[str], kinds: Sequence[str]) -> bool:
        """Whether all of these are objects here, each of its type: those of another problem need not be."""
        return len(names) == len(kinds) and all(
            map(lambda name, kind: name in self.members(kind), names, kinds)
        )


@dataclass(frozen=True, eq=False)
class State(Unchanging):
    """The facts of a situation: atoms known to be true, atoms that are unknown, all others false.

    ``unknown`` is empty for symbolic agents; perception uses it for what an image does not show.
    """

    true: frozenset[Atom]
    objects: Objects
    unknown: frozenset[Atom] = frozenset()

    @cached_property
    def rows(self) -> Mapping[str, list[tuple[str, ...]]]:
        """The objects of the true atoms by predicate; sorted, so that all processes agree."""
        rows: dict[str, list[tuple[str, ...]]] = {}
        for predicate, objects in self.true:
            rows.setdefault(predicate, []).append(objects)
        return {predicate: sorted(rows[predicate]) for predicate in sorted(rows)}

    def value(self, atom: Atom) -> bool | None:
        """True, False, or None where the state does not say."""
        return True if atom in self.true else None if atom in self.unknown else False

    def certain(self, predicate: str) -> set[tuple[str, ...]]:
        """The objects of the atoms of a predicate that are true."""
        return set(self.rows.get(predicate, ()))

    def possible(self, predicate: str) -> set[tuple[str, ...]]:
        """The objects of the atoms of a predicate that are true or unknown."""
        return self.certain(predicate) | {
            atom.objects for atom in self.unknown if atom.predicate == predicate
        }

    def completed(self, derived: Sequence[AtLeast]) -> State:
        """The state with what follows from its facts by these definitions."""
        if not derived:
            return self
        plain = self.plain(derived)
        true, unknown = set(plain.true), set(plain.unknown)
        for one in derived:
            known, possible = (one.counts(some, self.objects) for some in (plain.true, plain.unknown))
            for objects, number in (known + possible).items():
                if number >= one.number:
                    found = true if known[objects] >= one.number else unknown
                    found.add(Atom(one.predicate.name, objects))
        return State(frozenset(true), self.objects, frozenset(unknown))

    def plain(self, derived: Sequence[AtLeast]) -> State:
        """The state without what follows from its facts by these definitions."""
        if not derived:
            return self
        names = {one.predicate.name for one in derived}
        true, unknown = (
            frozenset(atom for atom in some if atom.predicate not in names)
            for some in (self.true, self.unknown)
        )
        return State(true, self.objects, unknown)

    def freed(self, derived: Sequence[AtLeast]) -> State:
        """The state in which all that would follow from its facts by these definitions is unknown: whatever may come of them."""
        plain = self.plain(derived)
        anything = {
            Atom(one.predicate.name, objects)
            for one in derived
            for objects in product(*map(self.objects.of_type, one.predicate.types))
        }
        return State(plain.true, self.objects, plain.unknown | anything)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, State)
            and (self.true, self.unknown, self.objects) == (other.true, other.unknown, other.objects)
        )

    def __hash__(self) -> int:
        return hash((self.true, self.unknown))  # frozensets keep theirs


class Location(Enum):
    """Where in an action a pal tuple stands."""

    __hash__ = object.__hash__  # that of Enum is written in Python, and keys have them everywhere

    PRE = "pre"
    EFF = "eff"


class Mode(Enum):
    """How a pal tuple appears: as a true literal, as a false one, or not at all."""

    __hash__ = object.__hash__

    POSITIVE = "+"
    NEGATIVE = "-"
    ABSENT = "∅"


class PalTuple(NamedTuple):
    """<p, a, l>: a lifted atom at a location of an action (paper, "Components of agent models")."""

    atom: LiftedAtom
    action: str
    location: Location


class Effects(NamedTuple):
    """What one outcome changes: the lifted atoms that are true afterwards, and those that are false."""

    add: frozenset[LiftedAtom] = frozenset()
    delete: frozenset[LiftedAtom] = frozenset()

    def applied(self, state: State, objects: Sequence[str]) -> State:
        """The state after them: deletes first, then adds."""
        adds = frozenset([atom.ground(objects) for atom in self.add])
        deletes = frozenset([atom.ground(objects) for atom in self.delete])
        unknown = state.unknown and state.unknown - adds - deletes
        return State((state.true - deletes) | adds, state.objects, unknown)


class Outcome(NamedTuple):
    """One thing that may happen: its probability, from 0 to 1, and its effects."""

    probability: float
    effects: Effects


class Case(NamedTuple):
    """What an action does where a condition holds: literals beside its precondition, and the outcomes there."""

    positive: frozenset[LiftedAtom] = frozenset()
    negative: frozenset[LiftedAtom] = frozenset()
    outcomes: tuple[Outcome, ...] = (Outcome(1.0, Effects()),)

    def holds(self, state: State, objects: Sequence[str]) -> bool:
        """Whether the condition certainly holds under the binding."""
        return _hold(self.positive, self.negative, state, objects)


def _hold(
    positive: Iterable[LiftedAtom], negative: Iterable[LiftedAtom], state: State, objects: Sequence[str]
) -> bool:
    true = state.true
    return all(atom.ground(objects) in true for atom in positive) and not any(
        (ground := atom.ground(objects)) in true or ground in state.unknown for atom in negative
    )


@dataclass(frozen=True)
class ActionSchema:
    """One action of a model: its header, the lifted atoms of its precondition, and what it does.

    What it does are ``add`` and ``delete``; of an action with chance or with conditional effects, its ``cases`` instead. Exactly
    one of their conditions holds in each state. A single case without condition and chance becomes ``add`` and ``delete``.
    """

    header: ActionHeader
    positive: frozenset[LiftedAtom] = frozenset()
    negative: frozenset[LiftedAtom] = frozenset()
    add: frozenset[LiftedAtom] = frozenset()
    delete: frozenset[LiftedAtom] = frozenset()
    cases: tuple[Case, ...] = ()
    derived: tuple[AtLeast, ...] = field(default=(), compare=False)
    """What follows from the facts of a state, and so is worked out anew after a step."""
    delays: Delays | None = None
    """Effects that come later, of whatever action."""

    def __post_init__(self) -> None:
        if len(self.cases) == 1 and len(self.cases[0].outcomes) == 1:
            ((positive, negative, ((probability, effects),)),) = self.cases
            if probability == 1 and not positive and not negative:
                for name, value in (("add", effects.add), ("delete", effects.delete), ("cases", ())):
                    object.__setattr__(self, name, value)

    @cached_property
    def branches(self) -> tuple[Case, ...]:
        """Every case with its condition; without chance and conditional effects it is one."""
        return self.cases or (Case(outcomes=(Outcome(1.0, Effects(self.add, self.delete)),)),)

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What may happen, of an action without conditional effects."""
        (only,) = self.branches
        return only.outcomes

    @cached_property
    def bare(self) -> ActionSchema:
        """The action without what it does."""
        return ActionSchema(
            self.header, self.positive, self.negative, derived=self.derived, delays=self.delays
        )

    @cached_property
    def single(self) -> tuple[ActionSchema, ...]:
        """A schema without chance for every outcome of every case; its precondition is the action's and the case's."""
        return tuple(
            ActionSchema(
                self.header,
                self.positive | case.positive,
                self.negative | case.negative,
                *one.effects,
                derived=self.derived,
                delays=self.delays,
            )
            for case in self.branches
            for one in case.outcomes
        )

    def mode(self, atom: LiftedAtom, location: Location) -> Mode:
        """The mode in which the atom appears at the location; in effects, of an action without cases."""
        pre = location is Location.PRE
        if atom in (self.positive if pre else self.add):
            return Mode.POSITIVE
        if atom in (self.negative if pre else self.delete):
            return Mode.NEGATIVE
        return Mode.ABSENT

    def applicable(self, state: State, objects: Sequence[str]) -> bool:
        """Whether all preconditions certainly hold under the binding."""
        return _hold(self.positive, self.negative, state, objects)

    def case(self, state: State, objects: Sequence[str]) -> Case:
        """What the action does there."""
        return next(case for case in self.branches if case.holds(state, objects))

    def successor(self, state: State, objects: Sequence[str]) -> State:
        """The state after an action without cases. The caller checks applicability."""
        assert not self.cases, "several states may follow"
        return self._after(Effects(self.add, self.delete), state, objects)

    def _after(self, effects: Effects, state: State, objects: Sequence[str]) -> State:
        after = effects.applied(state, objects).completed(self.derived)
        if self.delays is None:
            return after
        return self.delays.passed(state, GroundAction(self.header.name, tuple(objects)), after)

    def successors(self, state: State, objects: Sequence[str]) -> dict[State, float]:
        """The states after the action with their probabilities; outcomes that look alike here are added up."""
        found: dict[State, float] = {}
        for outcome in self.case(state, objects).outcomes:
            after = self._after(outcome.effects, state, objects)
            found[after] = found.get(after, 0.0) + outcome.probability
        return found


@dataclass(frozen=True)
class Model:
    """A vocabulary and one schema per action header: a STRIPS model, unless an action has cases."""

    vocabulary: Vocabulary
    actions: tuple[ActionSchema, ...]

    def schema(self, name: str) -> ActionSchema:
        """The schema of that name; KeyError if the model has none."""
        return self._by_name[name]

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return tuple(schema.header for schema in self.actions)

    @property
    def strips(self) -> bool:
        """Whether no action has chance or conditional effects."""
        return not any(schema.cases for schema in self.actions)

    @cached_property
    def _by_name(self) -> dict[str, ActionSchema]:
        return {schema.header.name: schema for schema in self.actions}

    def run(
        self,
        state: State,
        plan: Iterable[GroundAction],
        after: Callable[[State, GroundAction], State] | None = None,
    ) -> tuple[int, State]:
        """The answer to a plan outcome query: steps executed and the state reached.

        ``after`` gives the state after a step that can be done, of a model with cases.
        """
        executed = 0
        for action in plan:
            schema = self.schema(action.name)
            if not schema.applicable(state, action.objects):
                break
            state = schema.successor(state, action.objects) if after is None else after(state, action)
            executed += 1
        return executed, state


# The number of a vocabulary's lifted atoms, counted before they are made: a stranger may have written it.


MAX_PAIRS = 1_000_000
"""Actions times predicates at most, and objects times types: looking at each pair takes that long."""
MAX_LIFTED_ATOMS = 100_000
"""Lifted atoms of all actions together, at most; so many take about 2 GB."""


def excess(vocabulary: Vocabulary, headers: Sequence[ActionHeader]) -> tuple[str, str] | None:
    """What there is too much of to be interrogated, and what to do; None if there is not too much."""
    predicates = len(vocabulary.predicates)
    if predicates * len(headers) > MAX_PAIRS:
        return f"{predicates} predicates and {len(headers)} actions are too many together", "use fewer"
    if (size := count_lifted_atoms(vocabulary, headers)) > MAX_LIFTED_ATOMS:
        found = f"{size} predicates with an action's parameters are more than {MAX_LIFTED_ATOMS}"
        return found, "use fewer parameters, or arguments"
    return None


def count_lifted_atoms(vocabulary: Vocabulary, headers: Sequence[ActionHeader]) -> int:
    """The number of lifted atoms of all actions, those with repeated arguments included."""
    constants = _counted(vocabulary.types, vocabulary.constants.values())
    total = 0
    for header in headers:
        own = _counted(vocabulary.types, header.types)
        total += sum(
            prod(constants[kind] + own[kind] for kind in predicate.types)
            for predicate in vocabulary.predicates
        )
    return total


def _counted(types: Types, kinds: Iterable[str]) -> Counter[str]:
    """The number of things of each type, given the type of each thing."""
    found: Counter[str] = Counter()
    for kind, number in Counter(kinds).items():
        for above in types.ancestry(kind):
            found[above] += number
    return found


@dataclass(frozen=True)
class Problem:
    """A planning problem: where it starts and what is wanted (atoms true, atoms false)."""

    name: str
    initial: State
    goal: frozenset[Atom] = frozenset()
    goal_false: frozenset[Atom] = frozenset()


def merged(outcomes: Iterable[Outcome], schema: ActionSchema) -> tuple[Outcome, ...]:
    """The outcomes as states show them: effects that can change nothing left out, equal ones joined, impossible ones gone.

    ``schema``: has the action's precondition, and the case's condition.
    """
    found: dict[Effects, float] = {}
    for probability, effects in outcomes:
        if probability > 0:
            add = effects.add - schema.positive
            delete = effects.delete - effects.add - schema.negative
            plain = Effects(add, delete)
            found[plain] = found.get(plain, 0.0) + probability
    return tuple(Outcome(probability, effects) for effects, probability in found.items())


Assignment = Mapping[LiftedAtom, bool]
"""Values of atoms of an action."""


def cases(
    atoms: Sequence[LiftedAtom], outcomes: Callable[[Assignment], tuple[Outcome, ...]]
) -> tuple[Case, ...]:
    """The cases of an action whose outcomes depend on these atoms: as few as splitting on the atoms in turn makes.

    ``atoms``: on which they may depend; there is a call for each assignment of values to them.
    """

    def split(number: int, chosen: Assignment) -> tuple[Case, ...]:
        if number == len(atoms):
            return (Case(outcomes=outcomes(chosen)),)
        atom = atoms[number]
        yes, no = (split(number + 1, {**chosen, atom: value}) for value in (True, False))
        if _alike(yes, no):
            return yes
        return (
            *(one._replace(positive=one.positive | {atom}) for one in yes),
            *(one._replace(negative=one.negative | {atom}) for one in no),
        )

    return split(0, {})


def _alike(some: Sequence[Case], others: Sequence[Case]) -> bool:
    """Whether cases say the same, in whatever order their outcomes stand."""

    def plain(case: Case) -> tuple[object, ...]:
        return case.positive, case.negative, frozenset(case.outcomes)

    return {plain(one) for one in some} == {plain(one) for one in others}
