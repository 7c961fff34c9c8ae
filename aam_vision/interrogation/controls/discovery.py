"""From transitions of controls to operators: of each control the fewest cases that explain all of its transitions.

1. Transitions with the same visible change are one group. An example whose change is a part of a larger group's effects,
   of which the rest was so already, is an example of that group, as long as the group's conditions can be told.
2. A group whose conditions cannot be told, or only with several more objects, may always be about the same objects: its
   effects name these then. Else it is split where its conditions cannot be told.
3. Groups are joined where the effects of both explain all examples of both (what was not seen was so already) and the
   conditions can still be told. This makes effects maximal, and cases few.

Operators and their parameters are named after the control, the effects and the types, the same in every run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Final

from aam_vision.interrogation.controls.cases import (
    BESIDE_CONSTANTS,
    HARDLY_CHANCE,
    MAX_COST,
    Case,
    Example,
    Separation,
    about_objects,
    candidate_facts,
    rather_by_facts,
    separable,
    with_constants,
    with_sure_constants,
)
from aam_vision.interrogation.controls.operators import (
    Derivation,
    Effect,
    Operator,
    Outcome,
    Transition,
    derived,
    explanations,
    outcome,
    pattern,
)
from aam_vision.model.strips import ROOT_TYPE, ActionHeader, State, Types, Vocabulary
from aam_vision.planning.joins import StateIndices

MAX_PARAMETERS = 9
"""A change of more objects is not explained."""
MAX_CASES = 24
"""Cases of one control; what needs more is not explained."""
MOST_NAMED = 4
"""Cases of a control, at most, that are told by which object links those that it changes."""
SUPPORTED = 3
"""Examples, at least, of a case that is split off in the end: fewer are told by facts that happen to be theirs."""


@dataclass(frozen=True)
class Grouped:
    """The cases of a control, and its transitions that none of them explains."""

    cases: tuple[Case, ...]
    unexplained: tuple[Transition, ...]
    spent: bool = False
    """Whether it was given up to look for fewer cases, or conditions of more of them."""


def grouped(
    vocabulary: Vocabulary,
    control: ActionHeader,
    transitions: Sequence[Transition],
    indices: StateIndices | None = None,
) -> Grouped:
    """The cases of one control, from all of its transitions; the same for the same transitions in the same order.

    ``indices`` keeps those of the states for later.
    """
    return _Grouping(control, Separation(vocabulary, transitions, indices or StateIndices())).run()


def apart(
    vocabulary: Vocabulary,
    control: ActionHeader,
    transitions: Sequence[Transition],
    indices: StateIndices | None = None,
) -> str | None:
    """A predicate that a control changes on its own: cases explain these changes, and others all that it changes besides.

    Where none explain both together, a control does two things at once, each on a condition of its own (it moves, if the
    next cell is free; and a gauge falls, wherever it moves). None if there is no such predicate.
    """
    changed = sorted({atom.predicate for one in transitions for atom in one.change})
    for predicate in changed if len(changed) > 1 else ():
        parts = [
            grouped(vocabulary, control, [_part(one, predicate, own=own) for one in transitions], indices)
            for own in (True, False)
        ]
        if not any(part.unexplained or part.spent for part in parts):
            return predicate
    return None


def _part(one: Transition, predicate: str, *, own: bool) -> Transition:
    """The transition as if it had changed this predicate only, or all others only."""
    other = frozenset(atom for atom in one.change if (atom.predicate == predicate) is not own)
    return Transition(
        one.before, one.control, State(one.after.true ^ other, one.after.objects, one.after.unknown)
    )


class _Grouping:
    def __init__(self, control: ActionHeader, separation: Separation) -> None:
        self._control = control
        self._separation = separation
        self._unexplained: list[Transition] = []

    def run(self) -> Grouped:
        """The cases, the greatest effects first."""
        bare: list[Case] = []
        for case in self._patterns():
            left = tuple(example for example in case.examples if not self._taken(example, bare))
            if left:
                rest = replace(case, examples=left)
                if about := self._about_objects(rest, 1):
                    bare += about
                else:
                    bare += self._split(rest) if separable(rest, self._separation) is None else [rest]
        bare = self._joined(bare)
        told = []
        for case in bare:
            if (found := separable(case, self._separation)) is not None:
                told.append(found)
                continue
            # its examples were alike, but not enough to tell them
            for part in self._one_by_one(case, strictly=True):
                found = separable(part, self._separation) if len(part.examples) >= SUPPORTED else None
                if found is not None:
                    told.append(found)
                else:
                    self._unexplained += [example.transition for example in part.examples]
        cases = [rather_by_facts(case, self._separation) for case in told]
        cases.sort(key=lambda one: one.order)
        for case in cases[MAX_CASES:]:
            self._unexplained += [example.transition for example in case.examples]
        return Grouped(tuple(cases[:MAX_CASES]), tuple(self._unexplained), self._separation.spent)

    def _patterns(self) -> list[Case]:
        """One case for every visible change."""
        examples: dict[tuple[Effect, ...], list[Example]] = {}
        for transition in self._separation.transitions:
            given = transition.control.objects
            if not transition.change:
                continue
            found = pattern(transition, self._separation.vocabulary.constants)
            if len(set(given)) < len(given) or len(found.objects) > MAX_PARAMETERS:
                self._unexplained.append(transition)
                continue
            examples.setdefault(found.effects, []).append(Example(transition, found.objects))
        cases = [Case(self._control, effects, tuple(some)) for effects, some in examples.items()]
        return sorted(cases, key=lambda one: one.order)

    # --- joining ---------------------------------------------------------------------------------

    def _joined(self, cases: list[Case]) -> list[Case]:
        """The cases, joined as long as that is possible; those that share most effects first."""
        cases = sorted(cases, key=lambda one: one.order)
        refused: set[tuple[int, int]] = set()
        while True:
            pairs = [
                (one, other)
                for place, one in enumerate(cases)
                for other in cases[place + 1 :]
                if (id(one), id(other)) not in refused
            ]
            for one, other in sorted(pairs, key=lambda pair: -_shared(*pair)):
                if self._separation.spent:
                    return cases
                union = self._union(one, other)
                if union is not None:
                    cases = [case for case in cases if case is not one and case is not other]
                    cases = sorted([*cases, union], key=lambda case: case.order)
                    break
                refused.add((id(one), id(other)))
            else:
                return cases

    def _union(self, one: Case, other: Case) -> Case | None:
        """One case in place of two, where its effects explain all examples of both and its conditions can be told."""
        if one.arity < other.arity:
            one, other = other, one
        for union in _unions(one, other):
            explained = all(
                outcome(union.effects, transition, objects) is Outcome.SEEN
                for transition, objects in union.examples
            )
            most = BESIDE_CONSTANTS if union.constants else MAX_COST
            if explained and separable(union, self._separation, most) is not None:
                return union
        return None

    # --- splitting -------------------------------------------------------------------------------

    def _taken(self, example: Example, others: list[Case]) -> bool:
        """Whether one of some cases explains an example, too: then it becomes one of its examples."""
        for place, other in enumerate(others):
            found = explanations(other.effects, other.arity, other.derivations, example.transition)
            for objects in found:
                more = replace(other, examples=(*other.examples, Example(example.transition, objects)))
                if self._same_conditions(other, more) or not self._separation.refuted(more):
                    others[place] = more
                    return True
        return False

    def _same_conditions(self, case: Case, more: Case) -> bool:
        one, other = self._separation.condition(case), self._separation.condition(more)
        return one.index.header.types == other.index.header.types and one.literals == other.literals

    def _split(self, case: Case) -> list[Case]:
        """As few cases with the same effects as their conditions need.

        Examples whose objects are linked by other facts (to the next cell, or beyond it) are cases of their own first. What
        all examples of one have in common shows in none of them by itself, so it is settled before they are split further.
        """
        if about := self._about_objects(case, MAX_COST):
            return about
        cases: list[Case] = []
        linked = _alike(case, [_links(one) for one in case.examples])
        for some in linked:
            part = with_sure_constants(replace(case, examples=tuple(some)))
            whole = len(linked) > 1 and separable(part, self._separation) is not None
            cases += [part] if whole else self._by_names(part) or self._one_by_one(part)
        return cases

    def _about_objects(self, case: Case, most: int) -> list[Case]:
        """Cases whose effects name objects, one for each choice of few, if at most so many others are needed to tell each.

        A lever always opens the same gate; a gauge goes from one mark to another one, and from there to a third. Parameters in
        their places would have to be determined by other objects, and take more of them. None if one other object suffices for that.
        """
        for places in self._places_of_few(case):
            some = _alike(case, [tuple([one.objects[place] for place in places]) for one in case.examples])
            if len(some) > MOST_NAMED or len(some[-1]) < (HARDLY_CHANCE if len(some) == 1 else SUPPORTED):
                continue
            if separable(case, self._separation, 1) is not None:
                return []
            named = [about_objects(replace(case, examples=tuple(one)), places) for one in some]
            if all(separable(one, self._separation, most) is not None for one in named):
                return named
        return []

    def _places_of_few(self, case: Case) -> Iterator[list[int]]:
        """The implicit parameters that never differ though they could; then those of a predicate that is only true of few things."""
        objects, given = case.examples[0].transition.before.objects, case.control.arity
        first = case.examples[0].objects
        same = [
            place
            for place in range(given, case.arity)
            if len(objects.of_type(objects[first[place]])) > 1
            and all(one.objects[place] == first[place] for one in case.examples)
        ]
        if same:
            yield same
        for predicate in sorted({effect.atom.predicate for effect in case.effects}):
            changed = [effect.atom for effect in case.effects if effect.atom.predicate == predicate]
            places = sorted(
                {a for atom in changed for a in atom.arguments if isinstance(a, int) and a >= given}
            )
            rows = {row for one in self._separation.transitions for row in one.before.rows.get(predicate, ())}
            if places and places != same and len(rows) <= MOST_NAMED:
                yield places

    def _by_names(self, case: Case) -> list[Case]:
        """A case for each other object that links those of the examples (to the next cell on the left), if each can be told."""
        named = _alike(case, [_links(one, by_name=True) for one in case.examples])
        if not 1 < len(named) <= MOST_NAMED or len(named[-1]) < SUPPORTED:
            return []
        parts = [with_sure_constants(replace(case, examples=tuple(some))) for some in named]
        return parts if all(separable(part, self._separation) is not None for part in parts) else []

    def _one_by_one(self, case: Case, *, strictly: bool = False) -> list[Case]:
        """The same of examples that are linked alike: each case takes the examples most alike, in turn.

        ``strictly`` leaves nothing to what their conditions have in common: every case can be told.
        """
        cases, left = [], list(case.examples)
        most = BESIDE_CONSTANTS if case.constants else MAX_COST
        while left:
            found = replace(case, examples=(left.pop(0),))
            if self._separation.spent or separable(found, self._separation, most) is None:
                self._unexplained.append(found.examples[0].transition)
                continue
            for example in self._alike(found.examples[0], left):
                more = replace(found, examples=(*found.examples, example))
                same = not strictly and self._same_conditions(found, more)
                if same or separable(more, self._separation, most) is not None:
                    found = more
            taken = {id(one.transition) for one in found.examples}
            left = [one for one in left if id(one.transition) not in taken]
            cases.append(found)
        return cases

    def _alike(self, first: Example, others: Sequence[Example]) -> list[Example]:
        """The examples that have most in common with the first one, first."""
        case = Case(self._control, (), (first, *others))
        index = self._separation.index_of(case)
        held, _ = index.values(first.transition.before, first.objects)
        return sorted(
            others,
            key=lambda one: (index.values(one.transition.before, one.objects)[0] ^ held).bit_count(),
        )


def _alike(case: Case, keys: Iterable[Hashable]) -> list[list[Example]]:
    """The examples of a case that have the same key; most first."""
    found: dict[Hashable, list[Example]] = {}
    for example, key in zip(case.examples, keys, strict=True):
        found.setdefault(key, []).append(example)
    return sorted(found.values(), key=len, reverse=True)


def _links(example: Example, *, by_name: bool = False) -> frozenset[object]:
    """The facts about two or more of an example's objects; any other object in them stands for its type, or for itself."""
    place = {name: number for number, name in enumerate(example.objects)}
    state = example.transition.before
    return frozenset(
        (predicate, *[place.get(name, name if by_name else state.objects[name]) for name in row])
        for predicate, rows in state.rows.items()
        for row in rows
        if len(place.keys() & row) > 1
    )


def _shared(one: Case, other: Case) -> int:
    """How many effects of the same predicate and sign two cases have."""
    kinds = [(effect.atom.predicate, effect.becomes) for effect in one.effects]
    shared = 0
    for effect in other.effects:
        kind = effect.atom.predicate, effect.becomes
        if kind in kinds:
            kinds.remove(kind)
            shared += 1
    return shared


def _unions(one: Case, other: Case) -> Iterator[Case]:
    """The ways to read two cases as one, ``one`` having no fewer parameters; those that share most effects, only."""
    given, most = one.control.arity, 0
    found: list[tuple[int, tuple[int, ...], tuple[Effect, ...]]] = []
    for places in permutations(range(given, one.arity), other.arity - given):
        renamed = [effect.moved((*range(given), *places)) for effect in other.effects]
        shared = len(set(renamed) & set(one.effects))
        union = tuple(sorted({*one.effects, *renamed}, key=lambda effect: effect.order))
        if len({effect.atom for effect in union}) < len(union) or shared < most or (places and not shared):
            continue
        most = max(most, shared)
        found.append((shared, places, union))
    for shared, places, union in found:
        if shared == most:
            yield from _bound(one, other, places, union)


def _bound(one: Case, other: Case, places: tuple[int, ...], effects: tuple[Effect, ...]) -> Iterator[Case]:
    """The union with the other's examples bound anew; what they do not name must be derivable in all examples."""
    given = one.control.arity
    bound: list[tuple[Transition, list[str | None]]] = []
    for transition, objects in other.examples:
        binding: list[str | None] = [*objects[:given], *[None] * (one.arity - given)]
        for place, name in zip(places, objects[given:], strict=True):
            binding[place] = name
        bound.append((transition, binding))
    missing = [place for place in range(given, one.arity) if place not in places]
    known = tuple(derivation for derivation in one.derivations if derivation.parameter in missing)
    wanted = [place for place in missing if place not in {derivation.parameter for derivation in known}]
    for derivations in _ways(one, bound, wanted, known):
        examples = [derived(transition, binding, derivations) for transition, binding in bound]
        if all(objects is not None for objects in examples):
            more = [
                Example(transition, objects)
                for (transition, _), objects in zip(bound, examples, strict=True)
                if objects is not None
            ]
            kept = tuple(dict.fromkeys((*one.derivations, *derivations)))
            things = other.examples[0].transition.before.objects
            named = {
                name: things[name]
                for effect in effects
                for name in effect.atom.arguments
                if isinstance(name, str) and name in other.constants
            }
            yield Case(one.control, effects, (*one.examples, *more), kept, {**one.constants, **named})


def _ways(
    case: Case,
    bound: Sequence[tuple[Transition, list[str | None]]],
    wanted: Sequence[int],
    known: tuple[Derivation, ...],
) -> Iterator[tuple[Derivation, ...]]:
    """The ways to derive each parameter that is wanted, from facts that determine it in all examples."""
    if not wanted:
        yield known
        return
    parameter, rest = wanted[0], wanted[1:]
    transition, objects = case.examples[0]
    others = [name for place, name in enumerate(objects) if place != parameter and place not in rest]
    places = [place for place in range(len(objects)) if place != parameter and place not in rest]
    for fact in candidate_facts(transition, tuple(others)):
        arguments = tuple(
            parameter if a == len(others) else places[a] if isinstance(a, int) else a for a in fact.arguments
        )
        derivation = Derivation(parameter, fact._replace(arguments=arguments))
        if all(
            derivation.value(one.transition.before, _without(one.objects, parameter))
            == one.objects[parameter]
            for one in case.examples
        ):
            yield from _ways(case, bound, rest, (*known, derivation))


def _without(objects: Sequence[str], parameter: int) -> list[str | None]:
    return [None if place == parameter else name for place, name in enumerate(objects)]


def headers(cases: Sequence[Case], types: Types) -> list[ActionHeader]:
    """A header for every case of one control, in the order of the cases.

    The only case has the control's name; of several, each is named after an effect that no other has (``push-at-goal``,
    ``push-not-at-goal``), the one without such an effect after the control alone.
    """
    taken: Counter[str] = Counter()
    found = []
    for case in cases:
        kinds = case.types(types)
        name = "-".join([case.control.name, *_own_effect(case, cases)])
        taken[name] += 1
        numbered = name if taken[name] == 1 else f"{name}-{taken[name]}"
        found.append(ActionHeader(numbered, _parameters(case, kinds), kinds))
    return found


def _own_effect(case: Case, cases: Sequence[Case]) -> list[str]:
    """The effect that tells a case from all others, in words; none if there is none."""
    others = {
        (effect.atom.predicate, effect.becomes) for one in cases if one is not case for effect in one.effects
    }
    own = [effect for effect in case.effects if (effect.atom.predicate, effect.becomes) not in others]
    if len(cases) == 1 or not own:
        return []
    first = min(own, key=lambda effect: (not effect.becomes, effect.order))
    return [first.atom.predicate if first.becomes else f"not-{first.atom.predicate}"]


def _parameters(case: Case, kinds: Sequence[str]) -> tuple[str, ...]:
    """The control's own names, and numbered ones after the types of the other parameters."""
    names = list(case.control.parameters)
    own = kinds[len(names) :]
    total, number = Counter(own), Counter[str]()
    for kind in own:
        stem = "thing" if kind == ROOT_TYPE else kind
        number[kind] += 1
        name = stem if total[kind] == 1 else f"{stem}{number[kind]}"
        while name in names:
            number[kind] += 1
            name = f"{stem}{number[kind]}"
        names.append(name)
    return tuple(names)


NONE: Final = Grouped((), ())
AGAIN: Final = 0.25
"""By what share more must have been seen of a control before its cases are looked for again, where that was given up."""


@dataclass(frozen=True)
class Discovery:
    """What controls do, as far as was seen.

    ``vocabulary`` is the user's, and names the objects that some control always concerns as constants.
    """

    vocabulary: Vocabulary
    operators: tuple[Operator, ...]
    examples: Mapping[str, tuple[Example, ...]]
    """By operator, the transitions that it explains; each transition belongs to one operator."""
    unexplained: tuple[Transition, ...] = ()
    spent: bool = False
    """Whether it was given up to look for fewer cases of some control, or for their conditions."""
    waiting: bool = False
    """Whether more was seen of such a control since, but not enough to look again."""

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        """The operators as instructions."""
        return tuple(operator.header for operator in self.operators)

    def of(self, control: str) -> list[Operator]:
        """The operators that a control may carry out."""
        return [operator for operator in self.operators if operator.control == control]

    @property
    def signature(self) -> tuple[object, ...]:
        """Equal for two discoveries that lead to the same questions and answers."""
        return self.operators, tuple(sorted(self.vocabulary.constants.items()))


def discover(
    vocabulary: Vocabulary,
    controls: Sequence[ActionHeader],
    transitions: Mapping[str, Sequence[Transition]],
    indices: StateIndices | None = None,
    known: dict[str, tuple[int, Grouped]] | None = None,
) -> Discovery:
    """The operators of all controls.

    ``transitions``: by control, everything that was seen, in the order in which it was seen. ``known``: by control, how many
    transitions its cases were found from, and these; kept for later.
    """
    indices, known = indices or StateIndices(), {} if known is None else known
    operators: list[Operator] = []
    examples: dict[str, tuple[Example, ...]] = {}
    constants: dict[str, str] = {}
    unexplained: list[Transition] = []
    spent = waiting = False
    for control in controls:
        some = transitions.get(control.name, ())
        number, found = known.get(control.name, (0, NONE))
        if len(some) > number * (1 + AGAIN if found.spent else 1):
            found = grouped(vocabulary, control, some, indices)
            known[control.name] = len(some), found
        elif found.spent:
            since = tuple(one for one in some[number:] if one.change)
            found = replace(found, unexplained=(*found.unexplained, *since))
            waiting |= len(some) > number
        spent |= found.spent
        unexplained += found.unexplained
        for case, named in zip(found.cases, headers(found.cases, vocabulary.types), strict=True):
            header = _unique(named, control, examples)
            constants.update(case.constants)
            operators.append(_operator(case, header))
            examples[header.name] = case.examples
    return Discovery(
        with_constants(vocabulary, constants), tuple(operators), examples, tuple(unexplained), spent, waiting
    )


def _unique(header: ActionHeader, control: ActionHeader, taken: Collection[str]) -> ActionHeader:
    """The header with another name where another control's operator has that name."""
    name, number = header.name, 1
    while name in taken:
        number += 1
        name = f"{header.name}-of-{control.name}" + ("" if number == 2 else f"-{number}")
    return replace(header, name=name)


def _operator(case: Case, header: ActionHeader) -> Operator:
    return Operator(
        case.control.name, case.control.arity, header, case.effects, case.derivations, _pivot(case)
    )


def _pivot(case: Case) -> Effect | None:
    """An effect that was seen in every example: rather a deletion, which mostly requires what it deletes."""
    seen = [
        effect
        for effect in case.effects
        if all(
            transition.change.get(effect.atom.ground(objects)) == effect.becomes
            for transition, objects in case.examples
        )
    ]
    if not seen:
        return None
    return min(seen, key=lambda effect: (effect.becomes, -len(set(effect.atom.arguments)), effect.order))
