"""Finding bindings: conjunctive queries over a set of atoms, as joins instead of products.

"Which arguments make all these literals true here?" is a query over the state's atoms. The next atom to
join is always the one with the fewest matching facts, so that most searches end after a few look-ups.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from aam_vision.strips import ActionHeader, LiftedAtom, Objects, State

Row = tuple[str, ...]
Fact = tuple[str, Row]
"""A ground atom as a plain tuple; equal to the ``Atom`` of the same predicate and objects."""


class FactIndex:
    """A growing set of facts by predicate, and by predicate and one argument."""

    def __init__(self, objects: Objects, facts: Iterable[Fact] = ()) -> None:
        self.objects = objects
        self.rows: dict[str, list[Row]] = defaultdict(list)
        self._columns: dict[str, dict[int, dict[str, list[Row]]]] = {}
        for predicate, row in facts:
            self.rows[predicate].append(row)

    def add(self, predicate: str, row: Row) -> None:
        """Add a fact that is not there yet."""
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


_NO_ROWS: list[Row] = []


class StateIndex(FactIndex):
    """The true atoms of a state, arranged for joins; sorted, so that all processes agree. It does not grow."""

    def __init__(self, state: State, rows: Mapping[str, list[Row]] | None = None) -> None:
        """``rows``: the state's own, where they are known already."""
        super().__init__(state.objects)
        self.rows.update(state.rows if rows is None else rows)
        self.state = state

    def of(self, state: State) -> StateIndex:
        """The index of another state with the same objects; cheap where they differ in few facts.

        What is known of predicates with the same facts in both is shared.
        """
        flipped: dict[str, set[Row]] = defaultdict(set)
        for predicate, row in self.state.true ^ state.true:
            flipped[predicate].add(row)
        rows = {
            predicate: sorted(some.symmetric_difference(self.rows[predicate]))
            for predicate, some in flipped.items()
        }
        other = StateIndex(state, self.rows | rows)
        other._columns = self._columns.copy()
        for predicate in rows:
            other._columns.pop(predicate, None)
        return other


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
    binding: list[str | None] = [None] * header.arity
    allowed = [index.objects.members(kind) for kind in header.types]

    def candidates(atom: LiftedAtom) -> list[Row]:
        predicate, arguments = atom
        best = index.rows.get(predicate, _NO_ROWS)
        for place, argument in enumerate(arguments):
            if len(best) <= 1:
                break
            value = binding[argument] if isinstance(argument, int) else argument
            if value is not None:
                rows = index.matching(predicate, place, value)
                if len(rows) < len(best):
                    best = rows
        return best

    def unify(atom: LiftedAtom, row: Row) -> list[int] | None:
        newly: list[int] = []
        for argument, value in zip(atom.arguments, row, strict=True):
            if not isinstance(argument, int):
                if argument == value:
                    continue
            elif (bound := binding[argument]) is None:
                if value in allowed[argument] and (repeated or value not in binding):
                    binding[argument] = value
                    newly.append(argument)
                    continue
            elif bound == value:
                continue
            for undone in newly:
                binding[undone] = None
            return None
        return newly

    def join(left: Sequence[LiftedAtom]) -> Iterable[Row]:
        if left:
            return join_next(left)
        return fill(binding.index(None)) if None in binding else (tuple(binding),)  # type: ignore[arg-type]

    def join_next(left: Sequence[LiftedAtom]) -> Iterator[Row]:
        atom, rows = left[0], candidates(left[0])
        for other in left[1:]:
            if len(rows) <= 1:
                break
            others = candidates(other)
            if len(others) < len(rows):
                atom, rows = other, others
        rest = [other for other in left if other is not atom]
        for row in rows:
            newly = unify(atom, row)
            if newly is not None:
                yield from join(rest)
                for argument in newly:
                    binding[argument] = None

    def fill(place: int) -> Iterator[Row]:
        for value in index.objects.of_type(header.types[place]):
            if repeated or value not in binding:
                binding[place] = value
                yield from join(())
                binding[place] = None

    if match is None or unify(*match) is not None:
        yield from join(required)
