"""Predicates that follow from the facts of others: that at least so many of them hold (derived predicates of PDDL 2.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from aam_vision.model.strips import Atom, Objects, Predicate

LARGEST = 100
"""The number that such a predicate may have at most: its definition in PDDL names so many objects, and that they differ."""
MOST_APART = 2
"""Objects apart from which facts are counted, at most: the predicate has an argument for each."""


@dataclass(frozen=True)
class AtLeast:
    """A predicate that holds by definition where at least so many facts of another one do; its first arguments are some of theirs."""

    of: Predicate
    places: tuple[int, ...]
    """The places of these arguments in the facts, ascending; whatever stands in the others."""
    number: int
    apart: tuple[str, ...] = ()
    """The types of further arguments: of objects that do not stand in the other places."""

    @property
    def within_limits(self) -> bool:
        """Whether it can be worked out, by its number and its arguments: what is read may be anybody's."""
        places = sorted({*self.places})
        fitting = [*self.places] == places and all(0 <= place < self.of.arity for place in places)
        return fitting and 1 <= self.number <= LARGEST and len(self.apart) <= MOST_APART

    @cached_property
    def predicate(self) -> Predicate:
        """The predicate, e.g. ``at-least-2-at-any-x(?x)``."""
        shape = ["x" if place in self.places else "any" for place in range(self.of.arity)]
        what = "-".join([self.of.name, *(shape if self.places else ())])
        name = f"some-{what}" if self.number == 1 else f"at-least-{self.number}-{what}"
        name += "".join(f"-{part}" for part in ("apart-from", *self.apart)) * bool(self.apart)
        return Predicate(name, (*(self.of.types[place] for place in self.places), *self.apart))

    def counts(self, facts: Iterable[Atom], objects: Objects) -> Counter[tuple[str, ...]]:
        """How many of the facts there are, by the arguments of the predicate."""
        rows = [row for predicate, row in facts if predicate == self.of.name]
        found: Counter[tuple[str, ...]] = Counter()
        for apart in product(*map(objects.of_type, self.apart)):
            found.update((*self.kept(row), *apart) for row in rows if self._others(row).isdisjoint(apart))
        return found

    def count(self, facts: Iterable[tuple[str, ...]], arguments: Sequence[str]) -> int:
        """How many of these facts of ``of``, as rows of objects, there are for some arguments."""
        size = len(self.places)
        own, apart = tuple(arguments[:size]), arguments[size:]
        return sum(self.kept(row) == own and self._others(row).isdisjoint(apart) for row in facts)

    def kept(self, row: Sequence[str]) -> tuple[str, ...]:
        """The first arguments of the predicate for a fact."""
        return tuple(row[place] for place in self.places)

    def _others(self, row: Sequence[str]) -> set[str]:
        return {one for place, one in enumerate(row) if place not in self.places}

    def told(self, arguments: Sequence[str], *, holds: bool = True) -> str:
        """That it holds for these arguments, or does not, in words."""
        own = iter(arguments)
        names = [next(own) if place in self.places else "_" for place in range(self.of.arity)]
        fact = f"{self.of.name}({', '.join(names)})"
        if self.number == 1:
            found = f"{'some' if holds else 'no'} fact {fact} holds"
        else:
            found = f"{'at least' if holds else 'fewer than'} {self.number} facts {fact} hold"
        return f"{found} apart from those of {', '.join(own)}" if self.apart else found

    def __str__(self) -> str:
        """The definition, in words."""
        arguments = [f"?x{number + 1}" for number in range(self.predicate.arity)]
        return f"{self.predicate.name}({', '.join(arguments)}) says that {self.told(arguments)}"
