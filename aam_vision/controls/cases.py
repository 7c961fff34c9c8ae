"""A case of a control: effects, the transitions that are examples of it, and what these have in common.

What a case may require is what held in all of its examples. If that also held somewhere where the control did something
else, no conjunction of facts tells when the case comes about: either a parameter is missing, or these are several cases.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple

from aam_vision.controls.operators import Derivation, Effect, Outcome, outcome
from aam_vision.controls.transitions import Transition
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


class Example(NamedTuple):
    """A transition that a case explains, and the objects that its parameters stand for."""

    transition: Transition
    objects: tuple[str, ...]


class Counterexample(NamedTuple):
    """Where everything held that all examples of a case have in common, and something else came about."""

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
    return Vocabulary(
        vocabulary.name, vocabulary.predicates, vocabulary.types, {**vocabulary.constants, **constants}
    )


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

    Args:
        vocabulary: the user's.
        transitions: all transitions of the control, those without a change, too.
        indices: of states.
    """

    def __init__(
        self, vocabulary: Vocabulary, transitions: Sequence[Transition], indices: StateIndices
    ) -> None:
        self.work = 0
        """Situations, bindings in them, and examples that were looked at."""
        self._vocabulary = vocabulary
        self._transitions = transitions
        self._recent: list[Transition] = []
        self._indices = indices

    @property
    def spent(self) -> bool:
        """Whether more was looked at than conditions that can be told take."""
        return self.work > LEAST_WORK + WORK_EACH * len(self._transitions)

    def index_of(self, case: Case) -> AtomIndex:
        """The lifted atoms that the conditions of a case may have."""
        kinds = case.types(self._vocabulary.types)
        header = ActionHeader("", tuple(str(place) for place in range(len(kinds))), kinds)
        return AtomIndex(with_constants(self._vocabulary, case.constants), header)

    def condition(self, case: Case) -> Condition:
        """What the examples of a case have in common."""
        self.work += len(case.examples)
        return Condition(self.index_of(case), case.examples)

    def told_by_facts(self, case: Case) -> bool:
        """Whether what was true in all examples suffices, whatever was false in all of them."""
        condition = self.condition(case)
        condition.literals = Literals(condition.literals.positive, 0)
        return not any(
            contradiction(condition, case.effects, one, self._indices.of(one.before)) is not None
            for one in self._transitions
        )

    def counterexample(self, case: Case) -> Counterexample | None:
        """Where all held that the examples have in common and something else came about; None if nowhere."""
        condition = self.condition(case)
        for transition in chain(self._recent, self._transitions):
            index = self._indices.of(transition.before)
            objects = contradiction(condition, case.effects, transition, index)
            self.work += 1
            if objects is not None:
                self.work += condition.looked
                self._recent = [transition, *(one for one in self._recent if one is not transition)][:RECENT]
                return Counterexample(transition, objects)
        self.work += condition.looked
        return None

    def against(self, case: Case, among: Sequence[Transition] | None = None) -> list[Transition]:
        """All transitions in which all held that the examples have in common and something else came about.

        ``among``: those that were such for the same case with fewer parameters or constants; no other can be one.
        """
        condition, indices = self.condition(case), self._indices
        among = self._transitions if among is None else among
        found = [
            one
            for one in among
            if contradiction(condition, case.effects, one, indices.of(one.before)) is not None
        ]
        self.work += len(among) + condition.looked
        return found


def contradiction(
    condition: Condition, effects: Sequence[Effect], transition: Transition, index: StateIndex
) -> tuple[str, ...] | None:
    """A binding under which a condition held, and the effects did not come about; None if there is none.

    ``index`` is that of the state before.
    """
    for objects in condition.bindings(index, transition.control.objects):
        if outcome(effects, transition, objects) is Outcome.CONTRADICTED:
            return objects
    return None
