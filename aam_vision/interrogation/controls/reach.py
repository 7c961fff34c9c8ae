"""The situations that were seen or that operators probably lead to, and what kind of situation a control is given in there.

A situation points out the arguments of the control, the objects of facts of which there is always exactly one (where the
agent is, the way it faces), and what facts determine from these (the cell ahead); and what the only fact of a predicate
that changes says something of (the key that is held). Names do not matter: an object is called by how it is pointed out,
and any other that shares a fact with it by its type (a key lies ahead). Situations of the same kind differ only in what is
elsewhere. This chooses what is explored and says what was covered.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from aam_vision.interrogation.controls.giving import Giving, ground
from aam_vision.interrogation.controls.rules import Rule, Rules
from aam_vision.model.query import Situation
from aam_vision.model.strips import GroundAction, Objects, State, Vocabulary
from aam_vision.planning.joins import StateIndex

Role = Hashable
"""How an object is pointed out."""
COUNTED = 4
"""Facts of a predicate that are counted; where there were more in some situation, only whether there are any counts."""
FEW = 6
"""Objects of a type whose names count, such as directions, and things of which it counts whether they are anywhere."""
STEPS = 2
"""Objects in a row beside what is pointed out: the next cell in a direction, and the one beyond it."""
MOST = 1200
"""Situations that are left in one search, at most."""
QUESTIONS = 200
"""Questions about bindings of which the answers are kept, at most."""
NOTHING = GroundAction("", ())

Bindings = tuple[tuple[str, ...], ...]


class Standpoint(NamedTuple):
    """What a situation points out: facts about it, and the objects, each with how it is pointed out; as numbers."""

    facts: frozenset[int]
    objects: frozenset[tuple[str, int]]


class Standpoints:
    """The facts of situations in terms of what they point out, as small numbers.

    ``states``: those that were seen: a predicate that has at most one fact in each of them points its objects out.
    """

    def __init__(self, vocabulary: Vocabulary, states: Iterable[State] = ()) -> None:
        self._vocabulary = vocabulary
        self._sizes: dict[str, set[int]] = {one.name: set() for one in vocabulary.predicates}
        """By predicate, how many facts of it there were in a situation."""
        self._first: dict[tuple[Objects, str], object] = {}
        """By problem and predicate, its facts in the first situation."""
        self._changing: set[str] = set()
        self._always: tuple[str, ...] = ()
        self._sometimes: tuple[str, ...] = ()
        self._roles_known: dict[Role, int] = {}
        self._facts_known: dict[Hashable, int] = {}
        self._same: dict[frozenset[int], frozenset[int]] = {}
        self._placed: dict[tuple[str, str], set[bool]] = {}
        """By predicate and thing, whether it was anywhere, and nowhere."""
        self.take_in(states)

    def take_in(self, states: Iterable[State]) -> bool:
        """Count further situations as seen; whether they point out, or set elsewhere, other things than before."""
        before = self.pointing, self._settable
        for state in states:
            for predicate, sizes in self._sizes.items():
                rows = state.rows.get(predicate, [])
                sizes.add(len(rows))
                if (
                    predicate not in self._changing
                    and self._first.setdefault((state.objects, predicate), rows) != rows
                ):
                    self._changing.add(predicate)
            for predicate, thing, somewhere in self._things(state):
                self._placed.setdefault((predicate, thing), set()).add(somewhere)
        unary = {one.name for one in self._vocabulary.predicates if one.arity == 1}
        counted, changing = self._sizes.items(), self._changing
        self._always = tuple([one for one, some in counted if some == {1} and one in changing | unary])
        self._sometimes = tuple([one for one, some in counted if some == {0, 1} and one in changing & unary])
        return (self.pointing, self._settable) != before

    @property
    def _settable(self) -> tuple[object, ...]:
        """What ``elsewhere`` tells of situations: predicates that change, with the most facts that count; and things."""
        sizes = [
            (one, min(max(some), COUNTED + 1)) for one, some in self._sizes.items() if one in self._changing
        ]
        return tuple(sizes), tuple(one for one, both in self._placed.items() if len(both) > 1)

    @property
    def pointing(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The predicates whose only facts point objects out: those that always have one, and those that have it at times."""
        return self._always, self._sometimes

    def of(self, state: State, control: GroundAction, index: StateIndex) -> Standpoint:
        """The standpoint of a control in a situation; ``index`` is that of the situation."""
        numbers = self._roles_known
        roles = {
            name: numbers.setdefault(role, len(numbers)) for name, role in self._roles(control, index).items()
        }
        facts = self._numbered(self._facts(state, roles, index))
        return Standpoint(self._same.setdefault(facts, facts), frozenset(roles.items()))

    def elsewhere(self, state: State) -> frozenset[int]:
        """What is set anywhere in a situation: how many facts of each changing predicate there are, which things are placed.

        As numbers, like facts about what is pointed out. A predicate whose only facts point something out is left out.
        """
        found: list[Hashable] = []
        for predicate, sizes in self._sizes.items():
            if predicate in self._changing and len(sizes) > 1:
                size = len(state.rows.get(predicate, ()))
                found.append(("number", predicate, size if max(sizes) <= COUNTED else min(size, 1)))
        for predicate, thing, somewhere in self._things(state):
            if len(self._placed.get((predicate, thing), ())) > 1:
                found.append(("placed", (predicate, thing), somewhere))
        return self._numbered(found)

    def _things(self, state: State) -> Iterator[tuple[str, str, bool]]:
        """By changing predicate of several objects, and the few things that come first in it: whether there is such a fact."""
        for predicate in self._vocabulary.predicates:
            if predicate.arity > 1 and predicate.name in self._changing:
                things = state.objects.of_type(predicate.types[0])
                if len(things) <= FEW:
                    rows = state.rows.get(predicate.name, ())
                    placed = {row[0] for row in rows}
                    for thing in things:
                        yield predicate.name, thing, thing in placed

    def fixed(self, state: State) -> tuple[str, ...]:
        """The objects whose names count: all of a type that has few, of which no fact points one out, such as directions."""
        objects, pointing = state.objects, {*self._always, *self._sometimes}
        pointed = {kind for one in self._vocabulary.predicates if one.name in pointing for kind in one.types}
        count = Counter(kind for _, kind in objects.items())
        few = [kind for kind, number in count.items() if number <= FEW and kind not in pointed]
        return tuple(name for name, kind in objects.items() if kind in few)

    def beside(
        self, standpoint: Standpoint, names: Iterable[str], state: State, index: StateIndex
    ) -> tuple[frozenset[int], dict[str, Role]]:
        """The facts about what lies beside what is pointed out, as numbers; and these objects, each with its role.

        ``names``: of objects that facts name: what lies in this direction, and beyond.
        """
        roles: dict[str, Role] = {}
        pointed = dict(standpoint.objects)
        for fixed in names:
            if fixed in pointed:
                continue
            ends: dict[str, Role] = dict(pointed)
            for _ in range(STEPS):
                ends = dict(_next_to(ends, fixed, index, {*pointed, *roles}))
                roles.update(ends)
        found: list[Hashable] = []
        for predicate in self._vocabulary.predicates:
            if predicate.arity == 1:
                rows = index.rows.get(predicate.name, ())
                found += [
                    (predicate.name, role, (name,) in rows)
                    for name, role in roles.items()
                    if self._vocabulary.types.is_a(state.objects[name], predicate.types[0])
                ]
        return self._numbered(found), roles

    def _numbered(self, facts: Iterable[Hashable]) -> frozenset[int]:
        known = self._facts_known
        return frozenset([known.setdefault(fact, len(known)) for fact in facts])

    def told(self, number: int) -> Hashable:
        """The fact of a number."""
        return list(self._facts_known)[number]

    def _roles(self, control: GroundAction, index: StateIndex) -> dict[str, Role]:
        roles: dict[str, Role] = {}
        for place, name in enumerate(control.objects):
            roles.setdefault(name, ("given", place))
        _point_out(roles, self._always, index)
        for role, name in sorted(_determined(roles, index).items(), key=lambda item: str(item[0])):
            roles.setdefault(name, role)
        _point_out(roles, self._sometimes, index)
        return roles

    def _facts(self, state: State, roles: Mapping[str, int], index: StateIndex) -> Iterator[Hashable]:
        kinds, objects = self._vocabulary.types, state.objects
        for name, role in roles.items():
            yield role, objects[name]
        for predicate in self._vocabulary.predicates:
            rows = index.rows.get(predicate.name, ())
            if predicate.arity == 1:
                for name, role in roles.items():
                    if kinds.is_a(state.objects[name], predicate.types[0]):
                        yield predicate.name, role, (name,) in rows
            elif not predicate.arity:
                yield predicate.name, bool(rows)
            else:
                for place in range(predicate.arity):
                    for name in roles:
                        for row in index.matching(predicate.name, place, name):
                            told = [roles[one] if one in roles else objects[one] for one in row]
                            yield predicate.name, *told


def _next_to(
    roles: Mapping[str, Role], fixed: str, index: StateIndex, taken: Collection[str]
) -> Iterator[tuple[str, Role]]:
    """The only objects that stand in a fact together with one of these, first, and the fixed one: (here, it, right)."""
    for predicate, rows in index.rows.items():
        if not rows or len(rows[0]) < 3:
            continue
        for name, role in roles.items():
            found = [row for row in index.matching(predicate, 0, name) if fixed in row[1:]]
            others = {other for row in found for other in row[1:] if other != fixed}
            if len(found) == 1 and len(others) == 1 and not others & set(taken):
                yield others.pop(), ("beside", predicate, role, fixed)


def _point_out(roles: dict[str, Role], predicates: Iterable[str], index: StateIndex) -> None:
    """Give the objects of the only facts of these predicates their roles."""
    for predicate in predicates:
        for row in index.rows.get(predicate, ()):
            for place, name in enumerate(row):
                roles.setdefault(name, (predicate, place))


def _determined(roles: Mapping[str, Role], index: StateIndex) -> dict[Role, str]:
    """The objects that facts about those with a role determine: the only ones of which the fact holds."""
    found: dict[Role, set[str]] = {}
    for name in roles:
        for predicate, _, row in index.about(name):
            others = {other for other in row if other not in roles}
            if len(others) == 1:
                role = predicate, tuple([roles.get(other, "?") for other in row])
                found.setdefault(role, set()).update(others)
    return {role: next(iter(names)) for role, names in found.items() if len(names) == 1}


class Place:
    """A situation that was seen or is expected, and what was worked out about it; one object for equal ones."""

    __slots__ = ("ahead", "elsewhere", "index", "problem", "remembered", "standpoints", "state")

    def __init__(self, state: State, remembered: int, index: StateIndex, problem: int) -> None:
        self.state = state
        self.remembered = remembered
        """The state of what is remembered there, if anything is."""
        self.index = index
        self.problem = problem
        """The number of its problem."""
        self.standpoints: dict[tuple[str, ...], Standpoint] = {}
        """By the arguments of a control."""
        self.elsewhere: frozenset[int] | None = None
        """What is set anywhere, if that was worked out."""
        self.ahead: list[tuple[GroundAction, Place]] | None = None
        """Where the present operators lead, if that was worked out."""


class Node(NamedTuple):
    """A situation that was seen, or is expected: controls from one that was seen lead there."""

    place: Place
    start: Situation
    way: tuple[GroundAction, ...]

    @property
    def state(self) -> State:
        """The situation, as it is perceived."""
        return self.place.state

    @property
    def steps(self) -> int:
        """The controls that lead there, and one that is given there."""
        return len(self.way) + 1


class Way(NamedTuple):
    """Controls from a situation that was seen; the last one meets something new."""

    start: Situation
    controls: tuple[GroundAction, ...]


class Reach:
    """What is near. What was worked out is kept as long as it holds, from one discovery to the next, too."""

    def __init__(self, giving: Giving) -> None:
        self.giving = giving
        self.standpoints = Standpoints(giving.vocabulary)
        """What situations point out."""
        self._places: dict[tuple[State, int], Place] = {}
        self._problems: dict[Objects, int] = {}
        self._seen: list[Node] = []
        self._given = 0
        self._of: tuple[Rules, int] | None = None
        self._rules: list[Rule] = []
        self._bindings: dict[int, dict[Place, Bindings]] = {}
        self._known: dict[Hashable, dict[Place, Bindings]] = {}

    def bring_up_to_date(self, rules: Rules) -> bool:
        """Take in what was seen since the last time; whether situations point out other things than before."""
        if self._of != (rules, rules.widened):
            self._of = rules, rules.widened
            self._rules = list(rules.by_name.values())
            self._bindings = {id(rule): self.answers(rule.condition.key) for rule in self._rules}
            for place in self._places.values():
                place.ahead = None
        for one in islice(self.giving.given, self._given, None):  # it may lead elsewhere than was expected
            remembered, after = self.giving.remembered(one.before), one.transition.after
            before = self._places.get((one.transition.before, remembered))
            if before is not None and before.ahead is not None:
                expected = dict(before.ahead).get(one.transition.control)
                _, after = self.giving.moved_on(
                    one.transition.before, remembered, one.transition.control, after
                )
                if expected is not None and expected.state != after:
                    before.ahead = None
        self._given = len(self.giving.given)
        new = list(islice(self.giving.situations.items(), len(self._seen), None))
        for state, situation in new:
            place = self.place(state, self.giving.remembered(situation))
            place.state = state  # an equal one is found more slowly
            self._seen.append(Node(place, situation, ()))
        if not self.standpoints.take_in(state for state, _ in new):
            return False
        for place in self._places.values():
            place.standpoints, place.elsewhere = {}, None
        return True

    def nodes(self) -> Iterator[Node]:
        """The situations that were seen, then where the operators lead from these, each kind of a problem left once.

        A kind is a standpoint and what is set elsewhere.

        As of the last time that this was brought up to date.
        """
        waiting = deque(self._seen)
        known = {node.place for node in waiting}
        left: set[tuple[int, int, Standpoint, frozenset[int]]] = set()
        while waiting:
            node = waiting.popleft()
            yield node
            place = node.place
            kind = place.problem, place.remembered, self.standpoint(place, NOTHING), self.elsewhere(place)
            if kind in left:
                continue
            if len(left) == MOST:
                return
            left.add(kind)
            if place.ahead is None:
                place.ahead = list(self._ahead(place).items())
            for control, after in place.ahead:
                if after not in known:
                    known.add(after)
                    waiting.append(Node(after, node.start, (*node.way, control)))

    def standpoint(self, place: Place, control: GroundAction) -> Standpoint:
        """The standpoint of a control in a situation."""
        found = place.standpoints.get(control.objects)
        if found is None:
            found = self.standpoints.of(place.state, control, place.index)
            place.standpoints[control.objects] = found
        return found

    def elsewhere(self, place: Place) -> frozenset[int]:
        """What is set anywhere in a situation."""
        if place.elsewhere is None:
            place.elsewhere = self.standpoints.elsewhere(place.state)
        return place.elsewhere

    def place(self, state: State, remembered: int = 0) -> Place:
        """The place of a situation; of those in which different things are remembered, any that look alike serve where only looks count."""
        return self._places.get((state, remembered)) or self._place(
            state, remembered, self.giving.indices.of(state)
        )

    def bindings(self, place: Place, rule: Rule) -> Bindings:
        """The bindings under which the condition of a present operator certainly holds in a situation."""
        answers = self._bindings[id(rule)]
        found = answers.get(place)
        if found is None:
            found = answers[place] = tuple(rule.condition.bindings(place.index))
        return found

    def answers(self, question: Hashable) -> dict[Place, Bindings]:
        """The bindings, by situation, that were found as the answer to a question before; others are to be added."""
        found = self._known.pop(question, {})
        self._known[question] = found
        if len(self._known) > QUESTIONS:
            del self._known[next(iter(self._known))]
        return found

    def _place(self, state: State, remembered: int, index: StateIndex) -> Place:
        problem = self._problems.setdefault(state.objects, len(self._problems))
        place = self._places[state, remembered] = Place(state, remembered, index, problem)
        return place

    def _ahead(self, place: Place) -> dict[GroundAction, Place]:
        """Where the operators lead from a situation, and controls that change what is remembered."""
        state, led = place.state, dict[GroundAction, State]()
        for rule in self._rules:
            for objects in self.bindings(place, rule):
                control = rule.operator.instructed(objects)
                if control in led:
                    continue
                expected = rule.operator.changes.applied(state, objects)
                if expected != state:
                    led[control] = self.giving.seen_after(state, control) or expected
        if self.giving.memory is not None:
            for control in ground(self.giving.controls, state):
                if self.giving.memory.after(place.remembered, control, did=False) != place.remembered:
                    led.setdefault(control, self.giving.seen_after(state, control) or state)
        found = dict[GroundAction, Place]()
        for control, after in led.items():
            then, after = self.giving.moved_on(state, place.remembered, control, after)
            found[control] = self._places.get((after, then)) or self._place(
                after, then, place.index.of(after)
            )
        return found
