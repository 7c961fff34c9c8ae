"""What kind of situation a control is given in: the facts about the objects that the situation itself points out.

A situation points out the arguments of the control, the objects of facts of which there is always exactly one (where the
agent is, the way it faces), and what facts determine from these (the cell ahead); and what the only fact of a predicate
that changes says something of (the key that is held). Names do not matter: an object is called by how it is pointed out,
and any other that shares a fact with it by its type (a key lies ahead). Situations of the same kind differ only in what is
elsewhere. This chooses what is explored and says what was covered.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from aam_vision.strips import GroundAction, Objects, State, Vocabulary

if TYPE_CHECKING:
    from aam_vision.joins import StateIndex

Role = Hashable
"""How an object is pointed out."""


class Standpoint(NamedTuple):
    """What a situation points out: facts about it, and the objects, each with how it is pointed out; as numbers."""

    facts: frozenset[int]
    objects: frozenset[tuple[str, int]]


class Standpoints:
    """The facts of situations in terms of what they point out, as small numbers.

    Args:
        vocabulary: the user's.
        states: those that were seen: a predicate that has at most one fact in each of them points its objects out.
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
        self.take_in(states)

    def take_in(self, states: Iterable[State]) -> bool:
        """Count further situations as seen; whether situations point out other things than before."""
        before = self.pointing
        for state in states:
            for predicate, sizes in self._sizes.items():
                rows = state.rows.get(predicate, [])
                sizes.add(len(rows))
                if (
                    predicate not in self._changing
                    and self._first.setdefault((state.objects, predicate), rows) != rows
                ):
                    self._changing.add(predicate)
        unary = {one.name for one in self._vocabulary.predicates if one.arity == 1}
        counted, changing = self._sizes.items(), self._changing
        self._always = tuple([one for one, some in counted if some == {1} and one in changing | unary])
        self._sometimes = tuple([one for one, some in counted if some == {0, 1} and one in changing & unary])
        return self.pointing != before

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
        numbers = self._facts_known
        facts = frozenset(
            [numbers.setdefault(fact, len(numbers)) for fact in self._facts(state, roles, index)]
        )
        return Standpoint(self._same.setdefault(facts, facts), frozenset(roles.items()))

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


def _point_out(roles: dict[str, Role], predicates: Iterable[str], index: StateIndex) -> None:
    """Give the objects of the only facts of these predicates their roles."""
    for predicate in predicates:
        for row in index.rows.get(predicate, ()):
            for place, name in enumerate(row):
                roles.setdefault(name, (predicate, place))


def _determined(roles: Mapping[str, Role], index: StateIndex) -> dict[Role, str]:
    """The objects that facts about those with a role determine: the only ones of which the fact holds."""
    found: dict[Role, set[str]] = {}
    for predicate, rows in index.rows.items():
        for place in range(len(rows[0]) if rows else 0):
            for name in roles:
                for row in index.matching(predicate, place, name):
                    others = {other for other in row if other not in roles}
                    if len(others) == 1:
                        role = predicate, tuple([roles.get(other, "?") for other in row])
                        found.setdefault(role, set()).update(others)
    return {role: next(iter(names)) for role, names in found.items() if len(names) == 1}
