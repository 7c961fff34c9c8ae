"""How far the paper's algorithm has come, as plain data on the moves: all that it remembers between two of them.

A move's note has the place in the ordering Gamma and what is still to be tried there. The note of the first question
has S and Gamma as well. Everything else follows from the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, get_type_hints

from aam_vision.errors import UnusableInput
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Note
from aam_vision.interrogation.policies.agenda import Compare, Item
from aam_vision.interrogation.policies.distinguishing import resolved
from aam_vision.interrogation.policies.pal_ordering import (
    Change,
    ChangeOneByOne,
    ChangeSuspects,
    FirstSuccess,
    Update,
)
from aam_vision.interrogation.policies.seen_scene import Guess
from aam_vision.strips import Mode, PalTuple

AIA = "aia"
"""Begins the notes of this algorithm."""
KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (Compare, Guess, Update, FirstSuccess, ChangeOneByOne, ChangeSuspects, Change)
}
NOWHERE = -1


@dataclass(frozen=True)
class Course:
    """How far the algorithm has come."""

    states: tuple[int, ...]
    """S, as the numbers of its situations."""
    order: tuple[int, ...]
    """Gamma, as the numbers of its pal tuples."""
    exchanges: int
    """How many there had been when S was complete."""
    place: int = NOWHERE
    """Of the current pal tuple in Gamma."""
    items: tuple[Item, ...] = ()
    """What is still to be tried about it."""
    version: int = 0
    """Of the hypotheses, when it came up."""
    idle_since: int = NOWHERE
    """The place since which nothing was learned."""

    def following(self, evidence: Evidence, pals: Sequence[PalTuple]) -> Course | None:
        """The course at the next pal tuple that is not resolved; None after a round in which nothing was learned."""
        hypotheses, size = evidence.hypotheses, len(self.order)
        since = self.idle_since if self.version == hypotheses.version else NOWHERE
        if since == NOWHERE and self.place != NOWHERE and self.version == hypotheses.version:
            since = self.place
        for number in range(1, size + 1):
            place = (self.place + number) % size
            if place == since:
                return None
            if not resolved(hypotheses, pals[self.order[place]]):
                version = hypotheses.version
                return replace(self, place=place, items=(), version=version, idle_since=since)
        return None

    def note(self, *, first: bool) -> Note:
        """The course as it is written on a move; S and Gamma on the ``first`` one only."""
        fixed: Note = (self.states, self.order) if first else ()
        items = tuple((type(item).__name__, *map(_plain, item)) for item in self.items)  # type: ignore[call-overload]
        return AIA, self.place, self.version, self.idle_since, items, fixed


def course_of(evidence: Evidence, pals: Sequence[PalTuple]) -> Course | None:
    """The course as the moves in the evidence tell it; None if no question was asked yet.

    Raises:
        UnusableInput: the moves were recorded, and the record is damaged.
    """
    noted = [
        (number, exchange.move.note)
        for number, exchange in enumerate(evidence.exchanges)
        if isinstance(exchange.move, Ask) and exchange.move.note[:1] == (AIA,)
    ]
    if not noted:
        return None
    try:
        course = _read(noted[0][1], noted[-1][1], noted[0][0])
        _check(course, evidence, pals)
    except (ValueError, TypeError, LookupError):
        raise UnusableInput(
            "a recorded move is not one of the paper's algorithm: start a new run, without --resume"
        ) from None
    return course


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.value if isinstance(value, Enum) else value


def _read(first: Any, last: Any, exchanges: int) -> Course:
    _, place, version, idle_since, items, _ = last
    states, order = first[5]
    return Course(
        tuple(map(int, states)),
        tuple(map(int, order)),
        exchanges,
        int(place),
        tuple(_item(*told) for told in items),
        int(version),
        int(idle_since),
    )


def _item(name: str, *told: Any) -> Item:
    kind = KINDS[name]
    values = [_value(one, value) for one, value in zip(get_type_hints(kind).values(), told, strict=True)]
    item: Item = kind(*values)
    return item


def _value(kind: Any, told: Any) -> Any:
    """A field of an item: a number from 0, a mode or a location, or several modes."""
    if kind in (int, bool):
        if told < 0:
            raise ValueError(told)
        return kind(told)
    known: Callable[[Any], Any] = kind
    return tuple(Mode(one) for one in told) if kind == tuple[Mode, ...] else known(told)


def _check(course: Course, evidence: Evidence, pals: Sequence[PalTuple]) -> None:
    """Raise ValueError or LookupError for what the evidence does not have."""
    for number in course.states:
        if number < 0 or evidence.nodes[number].situation is None:
            raise ValueError(number)
    if any(not 0 <= number < len(pals) for number in course.order) or course.place < 0:
        raise ValueError(course.order)
    pal = pals[course.order[course.place]]
    everything = evidence.hypotheses[pal.action].index.everything
    for item in course.items:
        if isinstance(item, Change | ChangeSuspects) and evidence.edges[item.edge].action.name != pal.action:
            raise ValueError(item)
        mask = item.bit if isinstance(item, Change) else item.singles if isinstance(item, FirstSuccess) else 0
        if mask & ~everything or (isinstance(item, Change) and mask.bit_count() != 1):
            raise ValueError(item)
