"""A case of a control: effects, the transitions that are examples of it, and what these have in common.

What a case may require is what held in all of its examples. If that also held somewhere where the control did something
else, no conjunction of facts tells when the case comes about: either a parameter is missing, or these are several cases.

A parameter that is missing is an object that a fact determines, or one that never differs. ``moveto(?loc)`` depends on the room of the location, the only one with ``locinroom(?loc, ?room)``; ``right`` always
concerns ``dir-right``, and may depend on the only cell with ``next(?here, ?cell, dir-right)``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import NamedTuple

from aam_vision.interrogation.controls.operators import Derivation, Effect, Outcome, Transition, outcome
from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals
from aam_vision.model.strips import ActionHeader, LiftedAtom, State, Types, Vocabulary
from aam_vision.planning.joins import StateIndex, StateIndices, bindings

MAX_BINDINGS = 5000
"""Bindings of one case that are looked at in one situation."""
LEAST_WORK, WORK_EACH = 40_000, 400
"""Situations, bindings and examples that are looked at to find the cases of a control, at most: so many, and so many more for
each of its transitions. Evidence that is read rightly mostly takes a tenth of it; what takes more has hardly any conditions to be told."""
RECENT = 8
"""Transitions that refuted a case lately, which are looked at first."""
MAX_COST = 4
"""Objects that are added to a case, at most."""
BY_CHANCE = 3
"""A constant that never differed perhaps by chance counts as so many objects."""
BESIDE_CONSTANTS = 2
"""The same where a constant was found already: it was what takes most."""
MAX_CANDIDATES = 30
"""Ways to add objects that are followed further: those that leave fewest counterexamples."""
HARDLY_CHANCE = 4
"""Different bindings of a control without arguments in which an object is the same, of several of its type, so that it
is taken for a constant first."""


class Example(NamedTuple):
    """A transition that a case explains, and the objects that its parameters stand for."""

    transition: Transition
    objects: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """Effects on parameters, with their examples."""

    control: ActionHeader
    effects: tuple[Effect, ...]
    examples: tuple[Example, ...]
    derivations: tuple[Derivation, ...] = ()
    constants: Mapping[str, str] = field(default_factory=dict)
    """Objects that its preconditions may name, with their types: the same in all examples."""

    @property
    def arity(self) -> int:
        """The number of parameters."""
        return len(self.examples[0].objects)

    @property
    def order(self) -> tuple[object, ...]:
        """Sorts cases; the greatest effects first."""
        return -len(self.effects), [effect.order for effect in self.effects], self.arity

    def types(self, types: Types) -> tuple[str, ...]:
        """The types of the parameters: the control's own, and the closest common one of what others stood for."""
        kinds = list(self.control.types)
        for place in range(len(kinds), self.arity):
            kinds.append(
                _common({one.transition.before.objects[one.objects[place]] for one in self.examples}, types)
            )
        return tuple(kinds)


def _common(kinds: set[str], types: Types) -> str:
    """The closest type that all of these are."""
    first, *others = sorted(kinds)
    return next(kind for kind in types.ancestry(first) if all(types.is_a(one, kind) for one in others))


def with_constants(vocabulary: Vocabulary, constants: Mapping[str, str]) -> Vocabulary:
    """The vocabulary with more objects that conditions may name."""
    if not constants:
        return vocabulary
    return replace(vocabulary, constants={**vocabulary.constants, **constants})


class Condition:
    """What all examples of a case have in common: the narrowest condition that it may have.

    ``literals`` may have held in every example. Those on ``seen`` atoms, which were not hidden in all examples, count; the
    others nobody could ever tell.
    """

    def __init__(self, index: AtomIndex, examples: Iterable[Example] = ()) -> None:
        self.index = index
        self.literals = Literals(index.everything, index.everything)
        self.seen = 0
        self.looked = 0
        """Bindings that were looked at."""
        self._required: tuple[int, list[LiftedAtom]] = 0, []
        for example in examples:
            self.extend(example)

    def extend(self, example: Example) -> bool:
        """Take in another example; whether the condition is wider now."""
        held, unknown = self.index.values(example.transition.before, example.objects)
        before = self.literals
        self.literals = Literals(before.positive & (held | unknown), before.negative & ~held)
        self.seen |= ~unknown
        return self.literals != before

    @property
    def required(self) -> list[LiftedAtom]:
        """The atoms that were true in every example, as far as they could be seen."""
        positive = self.literals.positive & self.seen
        if self._required[0] != positive:
            self._required = positive, sorted(self.index.select(positive), key=str)
        return self._required[1]

    @property
    def key(self) -> Hashable:
        """Equal for two conditions that hold under the same bindings of the same parameters."""
        return self.index.header, tuple(sorted(self.index.constants)), self.literals, self.seen

    def holds(self, state: State, objects: tuple[str, ...]) -> bool:
        """Whether it certainly holds in a state under a binding."""
        held, unknown = self.index.values(state, objects)
        positive, negative = self.literals
        return not (positive & self.seen & ~held or negative & self.seen & (held | unknown))

    def bindings(self, index: StateIndex, given: tuple[str, ...] | None = None) -> Iterator[tuple[str, ...]]:
        """The bindings under which it certainly holds in a state, where the first parameters are ``given``, if they are."""
        match = None if given is None else (LiftedAtom("", tuple(range(len(given)))), given)
        found = bindings(index, self.index.header, self.required, match=match)
        for objects in islice(found, MAX_BINDINGS):
            self.looked += 1
            if self.holds(index.state, objects):
                yield objects


class Separation:
    """Tells whether the conditions of cases can be told from all else that was seen of a control.

    ``transitions``: all transitions of the control, those without a change, too.
    """

    def __init__(
        self, vocabulary: Vocabulary, transitions: Sequence[Transition], indices: StateIndices
    ) -> None:
        self.work = 0
        """Situations, bindings in them, and examples that were looked at."""
        self.vocabulary = vocabulary
        self.transitions = transitions
        self._recent: list[Transition] = []
        self._indices = indices

    @property
    def spent(self) -> bool:
        """Whether more was looked at than conditions that can be told take."""
        return self.work > LEAST_WORK + WORK_EACH * len(self.transitions)

    def index_of(self, case: Case) -> AtomIndex:
        """The lifted atoms that the conditions of a case may have."""
        kinds = case.types(self.vocabulary.types)
        header = ActionHeader("", tuple(str(place) for place in range(len(kinds))), kinds)
        return AtomIndex(with_constants(self.vocabulary, case.constants), header)

    def condition(self, case: Case) -> Condition:
        """What the examples of a case have in common."""
        self.work += len(case.examples)
        return Condition(self.index_of(case), case.examples)

    def told_by_facts(self, case: Case) -> bool:
        """Whether what was true in all examples suffices, whatever was false in all of them."""
        condition = self.condition(case)
        condition.literals = Literals(condition.literals.positive, 0)
        return not any(self._contradicted(condition, case, one) for one in self.transitions)

    def refuted(self, case: Case) -> bool:
        """Whether somewhere all held that the examples have in common, and something else came about."""
        condition, found = self.condition(case), None
        for one in chain(self._recent, self.transitions):
            self.work += 1
            if self._contradicted(condition, case, one):
                found = one
                break
        self.work += condition.looked
        if found is None:
            return False
        self._recent = [found, *(one for one in self._recent if one is not found)][:RECENT]
        return True

    def against(self, case: Case, among: Sequence[Transition] | None = None) -> list[Transition]:
        """All transitions in which all held that the examples have in common and something else came about.

        ``among``: those that were such for the same case with fewer parameters or constants; no other can be one.
        """
        condition, among = self.condition(case), self.transitions if among is None else among
        found = [one for one in among if self._contradicted(condition, case, one)]
        self.work += len(among) + condition.looked
        return found

    def _contradicted(self, condition: Condition, case: Case, one: Transition) -> bool:
        return contradicted(condition, case.effects, one, self._indices.of(one.before))


def contradicted(
    condition: Condition, effects: Sequence[Effect], transition: Transition, index: StateIndex
) -> bool:
    """Whether a condition held, under some binding, and the effects did not come about; ``index`` is that of the state before."""
    return any(
        outcome(effects, transition, objects) is Outcome.CONTRADICTED
        for objects in condition.bindings(index, transition.control.objects)
    )


def separable(case: Case, separation: Separation, most: int = MAX_COST) -> Case | None:
    """The case with as few additional parameters and constants as its conditions need; None if these do not help.

    ``most``: objects that are added, at most.
    """
    if not separation.refuted(case):
        return case
    if separation.spent:
        return None
    tried = [[(case, separation.against(case))]]
    for _ in range(most):
        longer = []
        for back in (1, BY_CHANCE):
            for one, among in tried[-back] if back <= len(tried) else ():
                if separation.spent:
                    return None
                for extended in _extended(one, by_chance=back != 1):
                    left = separation.against(extended, among)
                    if not left:
                        return extended
                    longer.append((extended, left))
        if len(longer) > MAX_CANDIDATES:
            longer.sort(key=lambda found: len(found[1]))
        tried.append(longer[:MAX_CANDIDATES])
    return None


def rather_by_facts(case: Case, separation: Separation) -> Case:
    """The case with the only object of which some predicate is true, where that takes the place of what was false.

    "The hand is not free" and "this key is held" may be true in the same situations, of all that were seen: which of both
    the case requires is a guess then. A fact about an object is taken rather than that another fact is false.
    """
    if not case.examples or separation.told_by_facts(case):
        return case
    for fact, values in _determined(case):
        if len(fact.arguments) == 1:
            longer = _longer(case, fact, values)
            if separation.told_by_facts(longer):
                return longer
    return case


def with_sure_constants(case: Case) -> Case:
    """The case with the objects as constants that never differed in its examples, where that is hardly chance."""
    while True:
        found = [one for one, sure in _never_differing(case, list(_determined(case))) if sure]
        if not found:
            return case
        case = found[0]


def about_objects(case: Case, places: Sequence[int]) -> Case:
    """The case without these parameters, each of which stands for one object in all examples: its effects name these.

    No derivation may depend on them.
    """
    first = case.examples[0]
    kept = [place for place in range(case.arity) if place not in places]
    new: list[int | str] = [
        first.objects[place] if place in places else kept.index(place) for place in range(case.arity)
    ]
    names = {first.objects[place]: first.transition.before.objects[first.objects[place]] for place in places}
    effects = sorted([effect.moved(new) for effect in case.effects], key=lambda effect: effect.order)
    return replace(
        case,
        effects=tuple(effects),
        examples=tuple(
            Example(one.transition, tuple([one.objects[place] for place in kept])) for one in case.examples
        ),
        constants={**case.constants, **names},
    )


def _extended(case: Case, *, by_chance: bool) -> Iterator[Case]:
    """The case with one more object: as a constant where it never differed though it could have, or as a parameter.

    ``by_chance``: only as a constant that may never have differed by chance.
    """
    found = list(_determined(case))
    constants = _never_differing(case, found)
    yield from [one for one, sure in constants if sure is not by_chance]
    if by_chance:
        yield from _beside_a_constant(case)
        return
    for fact, values in found:
        yield _longer(case, fact, values)


def _beside_a_constant(case: Case) -> Iterator[Case]:
    """The case with one more constant and the object that a fact about it determines, if both came up more than once."""
    if case.control.arity or len({one.objects for one in case.examples}) == 1:
        return
    for name in _names_beside(case):
        objects = case.examples[0].transition.before.objects
        if len(objects.of_type(objects[name])) == 1:
            continue
        constants = {**case.constants, name: objects[name]}
        for fact, values in _determined(case, name):
            yield replace(_longer(case, fact, values), constants=constants)


def _longer(case: Case, fact: LiftedAtom, values: list[str]) -> Case:
    """The case with one more parameter, which the fact determines; in each example it stands for one of the values."""
    examples = tuple(
        Example(one.transition, (*one.objects, value))
        for one, value in zip(case.examples, values, strict=True)
    )
    derivation = Derivation(case.arity, fact)
    return replace(case, examples=examples, derivations=(*case.derivations, derivation))


def _names_beside(case: Case) -> list[str]:
    """Objects that stand in facts about what the case concerns and one more object, in every example."""
    found: set[str] | None = None
    for transition, objects in case.examples:
        bound, beside = set(objects), set()
        for rows in transition.before.rows.values():
            for row in rows:
                others = set(row) - bound
                if len(others) == 2 and len(set(row)) > 2:
                    beside |= others
        found = beside if found is None else found & beside
    return sorted(found or ())


def _never_differing(case: Case, found: list[tuple[LiftedAtom, list[str]]]) -> list[tuple[Case, bool]]:
    """The case with each object that was the same in all examples as a constant, and whether that is hardly chance."""
    same = sorted({values[0] for _, values in found if len(set(values)) == 1} - set(case.constants))
    often = not case.control.arity and len({one.objects for one in case.examples}) >= HARDLY_CHANCE
    constants = []
    for name in same:
        objects = case.examples[0].transition.before.objects
        longer = replace(case, constants={**case.constants, name: objects[name]})
        constants.append((longer, often and len(objects.of_type(objects[name])) > 1))
    return constants


def _determined(case: Case, constant: str | None = None) -> Iterator[tuple[LiftedAtom, list[str]]]:
    """Facts (about a constant, if one is given) that determine one more object in every example, with the objects."""
    first = case.examples[0]
    for fact in candidate_facts(first.transition, first.objects, constant):
        derivation = Derivation(case.arity, fact)
        values: list[str] = []
        for one in case.examples:
            value = derivation.value(one.transition.before, (*one.objects, None))
            if value is None or value in one.objects:
                break
            values.append(value)
        else:
            yield fact, values


def candidate_facts(
    transition: Transition, objects: tuple[str, ...], constant: str | None = None
) -> list[LiftedAtom]:
    """The facts of a situation about bound objects and one other, lifted; the other one is the next parameter.

    ``constant``: only facts that name this object, too, which is none of these.
    """
    place: dict[str, int | str] = {name: number for number, name in enumerate(objects)}
    if constant is not None:
        place[constant] = constant
    found: dict[LiftedAtom, None] = {}
    for predicate, rows in transition.before.rows.items():
        for row in rows:
            if constant is not None and constant not in row:
                continue
            others = {name for name in row if name not in place}
            if len(others) == 1 and (len(row) == 1 or len(others) < len(set(row))):
                lifted = LiftedAtom(predicate, tuple([place.get(name, len(objects)) for name in row]))
                found[lifted] = None
    return sorted(found, key=lambda fact: (len(fact.arguments), str(fact)))
