"""How new it would be to give a control in a state: which facts link its arguments to others, and how often that was tried.

``pick(key-1)`` where the key lies anywhere else was tried often; where the agent stands beside it, never. This chooses what
is explored and decides nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable

from aam_vision.strips import GroundAction, State


class Novelty:
    """How often controls were given in each kind of situation."""

    def __init__(self) -> None:
        self._tried: Counter[Hashable] = Counter()
        self._surroundings: tuple[State, Surroundings] | None = None

    def tried(self, state: State, control: GroundAction) -> int:
        """How often the control was given in a situation of this kind."""
        return self._tried[self._kind(state, control)]

    def note(self, state: State, control: GroundAction) -> None:
        """Count that a control was given."""
        self._tried[self._kind(state, control)] += 1

    def least(self, state: State, controls: Iterable[GroundAction]) -> int | None:
        """How often the newest of these controls was tried in situations of this kind; None if there is none."""
        return min((self.tried(state, control) for control in controls), default=None)

    def _kind(self, state: State, control: GroundAction) -> Hashable:
        if self._surroundings is None or self._surroundings[0] is not state:
            self._surroundings = state, Surroundings(state)
        return self._surroundings[1].of(control)


class Surroundings:
    """The facts of a state by object."""

    def __init__(self, state: State) -> None:
        self._facts: dict[str, list[tuple[str, int, tuple[str, ...]]]] = defaultdict(list)
        self._sizes = tuple((predicate, len(rows)) for predicate, rows in state.rows.items())
        for predicate, rows in state.rows.items():
            for row in rows:
                for place, name in enumerate(row):
                    self._facts[name].append((predicate, place, row))

    def of(self, control: GroundAction) -> Hashable:
        """The kind of situation that a control is given in."""
        if not control.objects:
            return control.name, self._sizes
        links = set()
        for argument, name in enumerate(control.objects):
            for predicate, place, row in self._facts[name]:
                links.add((argument, predicate, place))
                for other_place, other in enumerate(row):
                    if other == name:
                        continue
                    if other in control.objects:
                        links.add((argument, predicate, place, control.objects.index(other)))
                        continue
                    for second, second_place, second_row in self._facts[other]:
                        if name not in second_row:
                            links.add((argument, predicate, place, other_place, second, second_place))
        return control.name, frozenset(links)
