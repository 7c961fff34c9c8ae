"""Finding bindings: conjunctive queries over a set of atoms, as joins instead of products.

"Which arguments make all these literals true here?" is a query over the state's atoms. The next atom to join is always
the one with the fewest matching facts; most searches end after a few look-ups.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from aam_vision.model.strips import ActionHeader, LiftedAtom, Objects, State
from aam_vision.support.unchanging import Kept, Unchanging

Row = tuple[str, ...]
Columns = dict[str, dict[int, dict[str, list[Row]]]]
"""The facts by predicate, place and the value at that place."""
Fact = tuple[str, Row]
"""A ground atom as a plain tuple; equal to the ``Atom`` of the same predicate and objects."""


class FactIndex:
    """A growing set of facts by predicate, and by predicate and one argument."""

    def __init__(self, objects: Objects, facts: Iterable[Fact] = ()) -> None:
        self.objects = objects
        self.rows: dict[str, list[Row]] = defaultdict(list)
        self._columns: Columns = {}
        for predicate, row in facts:
            self.rows[predicate].append(row)

    def add(self, predicate: str, row: Row) -> None:
        """Add a fact that is not in the set yet."""
        self.rows[predicate].append(row)
        for place, column in self._columns.get(predicate, {}).items():
            column[row[place]].append(row)

    def matching(self, predicate: str, place: int, value: str) -> list[Row]:
        """The predicate's facts whose argument number ``place`` is ``value``."""
        columns = self._columns.get(predicate)
        if columns is None:
            columns = self._columns[predicate] = {}
        column = columns.get(place)
        if column is None:
            column = columns[place] = defaultdict(list)
            for row in self.rows.get(predicate, ()):
                column[row[place]].append(row)
        return column.get(value, _NO_ROWS)

    def about(self, name: str) -> Iterator[tuple[str, int, Row]]:
        """The facts that name an object: their predicate, at which place it stands, and all their arguments."""
        for predicate, rows in self.rows.items():
            for place in range(len(rows[0]) if rows else 0):
                for row in self.matching(predicate, place, name):
                    yield predicate, place, row


_NO_ROWS: list[Row] = []


class StateIndex(Unchanging, FactIndex):
    """The true atoms of a state, arranged for joins; sorted, so that all processes agree. It does not grow."""

    def __init__(
        self, state: State, rows: dict[str, list[Row]] | None = None, columns: Columns | None = None
    ) -> None:
        """``rows`` and ``columns``: the state's own, where they are known already."""
        super().__init__(state.objects)
        self.rows.update(state.rows if rows is None else rows)
        self._columns = columns or {}
        self.state = state

    def of(self, state: State) -> StateIndex:
        """The index of another state with the same objects; cheap where they differ in few facts.

        What is known of predicates with the same facts in both is shared.
        """
        rows, columns = self.rows.copy(), self._columns.copy()
        for predicate, row in self.state.true ^ state.true:
            some = rows[predicate]
            if some is self.rows.get(predicate):
                some = rows[predicate] = some.copy()
            columns.pop(predicate, None)
            place = bisect_left(some, row)
            if place < len(some) and some[place] == row:
                del some[place]
            else:
                some.insert(place, row)
        return StateIndex(state, rows, columns)


class StateIndices:
    """The indices of states, each worked out once."""

    def __init__(self) -> None:
        self._indices = Kept[State, StateIndex]()

    def of(self, state: State, like: State | None = None) -> StateIndex:
        """The index of a state; that of a state ``like`` it makes it cheap."""
        index = self._indices.get(state)
        if index is None:
            index = StateIndex(state) if like is None else self.of(like).of(state)
            self._indices[state] = index
        return index


def bindings(
    index: FactIndex,
    header: ActionHeader,
    required: Sequence[LiftedAtom],
    *,
    repeated: bool = False,
    match: tuple[LiftedAtom, Row] | None = None,
) -> Iterator[Row]:
    """All bindings of the header's parameters under which every required atom is a fact.

    Injective (no object twice) unless ``repeated``; parameters that no required atom names range over
    the objects of their type. ``match`` fixes one more atom to one fact. Lazily generated, in the order of
    the facts; the index must not grow meanwhile.
    """
    for atom in required:
        if not index.rows.get(atom.predicate):
            return
    search = _Search(index, header, repeated)
    if match is None or search.unify(*match) is not None:
        yield from search.join(required)


class _Search:
    """One search for bindings, with the parameters bound so far."""

    __slots__ = ("_allowed", "_binding", "_index", "_repeated", "_types")

    def __init__(self, index: FactIndex, header: ActionHeader, repeated: bool) -> None:
        self._index = index
        self._types = header.types
        self._repeated = repeated
        self._binding: list[str | None] = [None] * header.arity
        self._allowed = [index.objects.members(kind) for kind in header.types]

    def join(self, left: Sequence[LiftedAtom]) -> Iterator[Row]:
        """The bindings under which these atoms are facts as well."""
        if not left:
            yield from self._filled()
            return
        atom, rows = left[0], self._candidates(left[0])
        for other in left[1:]:
            if len(rows) <= 1:
                break
            others = self._candidates(other)
            if len(others) < len(rows):
                atom, rows = other, others
        rest = [other for other in left if other is not atom]
        binding = self._binding
        for row in rows:
            newly = self.unify(atom, row)
            if newly is not None:
                if rest:
                    yield from self.join(rest)
                elif None in binding:
                    yield from self._filled()
                else:
                    yield tuple(binding)  # type: ignore[arg-type]
                for argument in newly:
                    binding[argument] = None

    def unify(self, atom: LiftedAtom, row: Row) -> list[int] | None:
        """Bind parameters so that the atom is this fact, and return which; None if that is impossible."""
        binding = self._binding
        newly: list[int] = []
        for argument, value in zip(atom.arguments, row, strict=True):
            if isinstance(argument, int):
                bound = binding[argument]
                if bound == value:
                    continue
                if (
                    bound is None
                    and value in self._allowed[argument]
                    and (self._repeated or value not in binding)
                ):
                    binding[argument] = value
                    newly.append(argument)
                    continue
            elif argument == value:
                continue
            for undone in newly:
                binding[undone] = None
            return None
        return newly

    def _candidates(self, atom: LiftedAtom) -> list[Row]:
        """A list of facts that has all those that match the atom under the bound parameters."""
        predicate, arguments = atom
        best = self._index.rows.get(predicate, _NO_ROWS)
        if len(best) > 1:
            binding = self._binding
            for place, argument in enumerate(arguments):
                value = binding[argument] if isinstance(argument, int) else argument
                if value is not None:
                    rows = self._index.matching(predicate, place, value)
                    if len(rows) < len(best):
                        best = rows
                        if len(best) <= 1:
                            break
        return best

    def _filled(self) -> Iterator[Row]:
        """The bindings that give each remaining parameter an object of its type."""
        binding = self._binding
        if None not in binding:
            yield tuple(binding)  # type: ignore[arg-type]
            return
        place = binding.index(None)
        for value in self._index.objects.of_type(self._types[place]):
            if self._repeated or value not in binding:
                binding[place] = value
                yield from self._filled()
                binding[place] = None
