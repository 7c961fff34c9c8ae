"""The lifted atoms of an action as bits, and sets of literals over them as Python integers.

A *literal* of a precondition is an atom with a sign; masks come in pairs (positive, negative).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple, Self

from aam_vision.model.query import CLAIMED, objective
from aam_vision.model.strips import ActionHeader, Atom, LiftedAtom, State, Vocabulary, lifted_atoms
from aam_vision.support.unchanging import Unchanging


class Literals(NamedTuple):
    """A set of precondition literals over one action's atoms: bit masks of each sign."""

    positive: int
    negative: int

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __bool__(self) -> bool:
        return bool(self.positive or self.negative)

    def size(self) -> int:
        """The number of literals in the set."""
        return self.positive.bit_count() + self.negative.bit_count()

    def within(self, other: Literals) -> bool:
        """Whether every literal of this set is in the other."""
        return not (self.positive & ~other.positive or self.negative & ~other.negative)

    def overlaps(self, other: Literals) -> bool:
        """Whether any literal is in both sets."""
        return bool(self.positive & other.positive or self.negative & other.negative)

    def common(self, other: Literals) -> Literals:
        """The literals that are in both sets."""
        return Literals(self.positive & other.positive, self.negative & other.negative)

    def without(self, other: Literals) -> Literals:
        """The literals of this set that are not in the other."""
        return Literals(self.positive & ~other.positive, self.negative & ~other.negative)

    def opposite(self) -> Literals:
        """The same atoms with the other sign: the literals that hold where all of these are violated."""
        return Literals(self.negative, self.positive)

    def singles(self) -> Iterator[Literals]:
        """The literals one by one, positive ones first."""
        for bit in bits(self.positive):
            yield Literals(bit, 0)
        for bit in bits(self.negative):
            yield Literals(0, bit)


NOTHING = Literals(0, 0)


def union(literals: Iterable[Literals]) -> Literals:
    """All the literals of these sets."""
    positive = negative = 0
    for some in literals:
        positive |= some.positive
        negative |= some.negative
    return Literals(positive, negative)


def bits(mask: int) -> Iterator[int]:
    """The single-bit masks of which ``mask`` is made, lowest first."""
    while mask:
        low = mask & -mask
        yield low
        mask ^= low


Getter = Callable[[tuple[str, ...]], tuple[str, ...]]


class AtomIndex(Unchanging):
    """The lifted atoms of one action as bits, and their values under a binding."""

    def __init__(self, vocabulary: Vocabulary, header: ActionHeader, *, repeated: bool = False) -> None:
        self.header = header
        self.vocabulary = vocabulary
        self.repeated = repeated
        self.atoms = lifted_atoms(vocabulary, header, repeated=repeated)
        self.everything = (1 << len(self.atoms)) - 1
        self.bit = {atom: 1 << number for number, atom in enumerate(self.atoms)}
        self.constants = frozenset(vocabulary.constants)
        self._last = tuple(
            sorted(vocabulary.constants)
        )  # behind the objects of a binding: one way to look up all
        self._getters = [
            (bit, atom.predicate, self._getter(atom.arguments)) for atom, bit in self.bit.items()
        ]

    def grounded(self, objects: tuple[str, ...]) -> list[tuple[int, tuple[str, tuple[str, ...]]]]:
        """Every bit with its atom under the binding (a plain tuple, equal to the ``Atom``)."""
        names = (*objects, *self._last)
        return [(bit, (predicate, get(names))) for bit, predicate, get in self._getters]

    def fact(self, bit: int, objects: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """The atom of this bit under the binding."""
        _, predicate, get = self._getters[bit.bit_length() - 1]
        return predicate, get((*objects, *self._last))

    def facts_in_order(self, objects: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
        """The atoms under the binding, that of the lowest bit first."""
        return [fact for _, fact in self.grounded(objects)]

    def values(self, state: State, objects: tuple[str, ...]) -> tuple[int, int]:
        """Masks of the atoms that are true, and of those that are unknown, in the state."""
        true, hidden, names = state.true, state.unknown, (*objects, *self._last)
        if not hidden:
            return sum([bit for bit, predicate, get in self._getters if (predicate, get(names)) in true]), 0
        held = unknown = 0
        for bit, predicate, get in self._getters:
            atom = (predicate, get(names))
            if atom in true:
                held |= bit
            elif atom in hidden:
                unknown |= bit
        return held, unknown

    @cached_property
    def goal(self) -> Literals:
        """What an objective is to bring about; nothing of an instruction that is no objective."""
        if (found := objective(self.header, self.vocabulary)) is None:
            return NOTHING
        atom, value = found
        return Literals(self.bit[atom], 0) if value else Literals(0, self.bit[atom])

    @cached_property
    def given(self) -> Literals:
        """What holds by definition where the action is executed."""
        found = (
            Literals(self.bit[atom], 0) if value else Literals(0, self.bit[atom])
            for atom, value in self.header.given
        )
        return union(found)

    @cached_property
    def derived(self) -> int:
        """The atoms that follow from others, or tell what is to come or remembered, as a mask: what is true of them after a step is no effect of its own."""
        return sum(bit for atom, bit in self.bit.items() if atom.predicate in self.vocabulary.followed)

    @cached_property
    def remembered(self) -> int:
        """The atoms that tell what is remembered, as a mask: an action may require any of them."""
        memory = self.vocabulary.memory
        return 0 if memory is None else sum(self.bit[LiftedAtom(one.name, ())] for one in memory.predicates)

    @cached_property
    def reported(self) -> int:
        """What an agent says at the end of a pursuit, as a mask: no fact of the situation in which the next one begins."""
        return self.bit[LiftedAtom(CLAIMED, ())] if self.goal else 0

    def before(self, state: State, objects: tuple[str, ...]) -> int:
        """Mask of the atoms that are true where a step begins, what was only said at the end of the last one aside."""
        return self.values(state, objects)[0] & ~self.reported

    def _getter(self, arguments: tuple[int | str, ...]) -> Getter:
        """A fast function from the objects of a binding, and the constants behind them, to an atom's objects."""
        first = -len(self._last)
        places = [one if isinstance(one, int) else first + self._last.index(one) for one in arguments]
        if len(places) > 1:
            return itemgetter(*places)
        # one object or none: a slice of a tuple is a tuple
        return itemgetter(slice(places[0], places[0] + 1 or None) if places else slice(0))

    def coinciding(self, objects: tuple[str, ...]) -> list[int]:
        """Groups of atoms that are one under the binding, as masks of two bits or more.

        That needs an object named twice, or a constant for an argument. Several effects change such an atom jointly.
        """
        if len(set(objects)) == len(objects) and self.constants.isdisjoint(objects):
            return []
        groups: dict[tuple[str, tuple[str, ...]], int] = {}
        for bit, fact in self.grounded(objects):
            groups[fact] = groups.get(fact, 0) | bit
        return [mask for mask in groups.values() if mask.bit_count() > 1]

    def shared(self, objects: tuple[str, ...]) -> int:
        """Atoms that another atom of the action coincides with under the binding."""
        return sum(self.coinciding(objects))

    @cached_property
    def merges(self) -> list[tuple[int, int, Merged]]:
        """Pairs of atoms that some binding makes one, with the parameters that must be merged for that."""
        if not (self.repeated or self.constants):
            return []
        return [
            (bit, other, merged)
            for atom, bit in self.bit.items()
            for other_atom, other in self.bit.items()
            if bit != other
            and (merged := merge(self.vocabulary, self.header, atom, other_atom, repeated=self.repeated))
        ]

    @property
    def coinciding_constants(self) -> tuple[str, ...]:
        """The constants that make two atoms of the action one where they are an argument of it, in alphabetical order."""
        return tuple(sorted({one for *_, merged in self.merges for one in merged if isinstance(one, str)}))

    def atom(self, bit: int) -> LiftedAtom:
        """The atom of this bit."""
        return self.atoms[bit.bit_length() - 1]

    def facts(self, mask: int, objects: Sequence[str]) -> frozenset[Atom]:
        """The atoms whose bits are set, under the binding."""
        return frozenset([self.atom(bit).ground(objects) for bit in bits(mask)])

    def mask(self, atoms: Collection[LiftedAtom]) -> int:
        """The bits of these atoms, as far as they are atoms of the action."""
        return sum(bit for atom, bit in self.bit.items() if atom in atoms)

    def literals(self, positive: Collection[LiftedAtom], negative: Collection[LiftedAtom]) -> Literals:
        """These atoms, and these others under ``not``."""
        return Literals(self.mask(positive), self.mask(negative))

    def select(self, mask: int) -> frozenset[LiftedAtom]:
        """The atoms whose bits are set."""
        return frozenset([self.atom(bit) for bit in bits(mask)])

    def text(self, literals: Literals) -> list[str]:
        """The literals in words, e.g. ``["at(?p, ?from)", "not clear(?from)"]``."""
        names = self.header.parameters
        return [self.atom(bit).text(names) for bit in bits(literals.positive)] + [
            f"not {self.atom(bit).text(names)}" for bit in bits(literals.negative)
        ]


# Lifted atoms that can become one: when two parameters name one object, or one names a constant.
#
# Only then is it visible that an action adds an atom that it requires: the addition undoes the deletion of the other atom
# (deletes come first, then adds).


Merged = tuple[int | str, ...]
"""For every parameter the parameter (itself, if it is not merged) or the constant that replaces it."""


def merge(
    vocabulary: Vocabulary, header: ActionHeader, first: LiftedAtom, second: LiftedAtom, *, repeated: bool
) -> Merged | None:
    """The most general merging of parameters under which both atoms are one; None if there is none.

    Without ``repeated`` no two parameters are merged, but a parameter may be a constant.
    """
    if first.predicate != second.predicate:
        return None
    replaced: list[int | str] = list(range(header.arity))
    for left, right in zip(first.arguments, second.arguments, strict=True):
        a, b = (replaced[x] if isinstance(x, int) else x for x in (left, right))
        if a == b:
            continue
        if isinstance(a, str) and isinstance(b, str):
            return None
        kept, gone = (a, b) if isinstance(b, int) else (b, a)
        replaced = [kept if symbol == gone else symbol for symbol in replaced]
    merged = tuple(replaced)
    if not repeated and len(set(merged)) < len(merged):
        return None
    return merged if _typed(vocabulary, header, merged) else None


def _typed(vocabulary: Vocabulary, header: ActionHeader, merged: Merged) -> bool:
    """Whether an object can have the types of all the parameters that are merged into it."""
    for symbol in dict.fromkeys(merged):
        kinds = [kind for kind, other in zip(header.types, merged, strict=True) if other == symbol]
        narrowest = [vocabulary.constants[symbol]] if isinstance(symbol, str) else kinds
        if not any(all(vocabulary.types.is_a(one, kind) for kind in kinds) for one in narrowest):
            return False
    return True


def under(atom: LiftedAtom, merged: Sequence[int | str]) -> tuple[str, tuple[int | str, ...]]:
    """The atom with its parameters merged; equal for atoms that become one."""
    return atom.predicate, tuple(merged[a] if isinstance(a, int) else a for a in atom.arguments)
