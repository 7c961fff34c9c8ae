"""How new it would be to give a control in a state: which facts about its situation no control was given with before.

Two kinds of facts count. Those that link the control's arguments to other things: ``pick(key-1)`` where the agent stands
beside the key. And, where all but one condition of a known operator hold, those about the objects of the condition that
does not: a cell ahead that is not clear, with a stone on it and a clear cell beyond. This chooses what is explored and
decides nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice

from aam_vision.controls.rules import Rule, Rules
from aam_vision.model.strips import Atom, GroundAction, LiftedAtom, State
from aam_vision.planning.joins import StateIndex, bindings

NEAR = 3
"""Bindings that are looked at for each condition."""

Feature = Hashable


class Novelty:
    """The facts that controls were given with."""

    def __init__(self) -> None:
        self._seen: set[Feature] = set()
        self._surroundings: tuple[State, Surroundings] | None = None
        self._near: dict[tuple[State, GroundAction], frozenset[Feature]] = {}
        self._of_rules: Rules | None = None
        """The operators that ``_near`` is about; their conditions become wider meanwhile, which hardly matters here."""

    def new(
        self, state: State, control: GroundAction, rules: Rules | None, index: StateIndex
    ) -> set[Feature]:
        """All new facts of a control in a state."""
        links = self._of(state).links(control.objects)
        found: set[Feature] = {(control.name, one) for one in links}
        found -= self._seen
        if rules is not None:
            if rules is not self._of_rules:
                self._near, self._of_rules = {}, rules
            near = self._near.get((state, control))
            if near is None:
                near = self._near[state, control] = self._near_misses(rules, state, control, index)
            found |= near - self._seen
        return found

    def note(self, features: set[Feature]) -> None:
        """Count that a control was given with these facts."""
        self._seen |= features

    def _near_misses(
        self, rules: Rules, state: State, control: GroundAction, index: StateIndex
    ) -> frozenset[Feature]:
        """The facts about what is missing where all else holds that an operator of the control requires."""
        missing = {
            atom: None for rule in rules.of(control.name) for atom in _missing(rule, state, control, index)
        }
        around = self._of(state)
        return frozenset(
            (control.name, atom.predicate, link)
            for atom in missing
            for link in around.links(atom.objects, control.objects)
        )

    def _of(self, state: State) -> Surroundings:
        if self._surroundings is None or self._surroundings[0] is not state:
            self._surroundings = state, Surroundings(state)
        return self._surroundings[1]


def _missing(rule: Rule, state: State, control: GroundAction, index: StateIndex) -> Iterator[Atom]:
    """The atoms that are not true, where all else holds that the operator requires."""
    match = LiftedAtom("", tuple(range(len(control.objects)))), control.objects
    required, header = rule.condition.required, rule.condition.index.header
    for left_out in required:
        others = [atom for atom in required if atom is not left_out]
        for objects in islice(bindings(index, header, others, match=match), NEAR):
            atom = left_out.ground(objects)
            if atom not in state.true:
                yield atom


class Surroundings:
    """The facts of a state by object."""

    def __init__(self, state: State) -> None:
        self._facts: dict[str, list[tuple[str, int, tuple[str, ...]]]] = defaultdict(list)
        self._sizes = tuple((predicate, len(rows)) for predicate, rows in state.rows.items())
        for predicate, rows in state.rows.items():
            for row in rows:
                for place, name in enumerate(row):
                    self._facts[name].append((predicate, place, row))

    def links(self, objects: Sequence[str], besides: Sequence[str] = ()) -> set[Feature]:
        """What facts say of these objects, and of others that share a fact with them.

        Without objects, how many facts of each predicate there are. ``besides`` are told apart from other objects, too.
        """
        if not objects:
            return {self._sizes}
        known = {name: place for place, name in enumerate(dict.fromkeys((*objects, *besides)))}
        links: set[Feature] = set()
        for argument, name in enumerate(objects):
            for predicate, _, row in self._facts[name]:
                shape = tuple([known.get(other, "") for other in row])
                links.add((argument, predicate, shape))
                for other_place, other in enumerate(row):
                    if other in known:
                        continue
                    for second, second_place, second_row in self._facts[other]:
                        if name not in second_row:
                            links.add((argument, predicate, shape, other_place, second, second_place))
        return links
