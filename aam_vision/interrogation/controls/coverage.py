"""Which combinations of circumstances every control was given in, and the way to the next one that is new.

A lever may do a second thing where a gate is open, a coin is held, or a crate was put down; a case that nobody has met cannot
be missed by any model. So, as in combinatorial testing (covering arrays), every control is to be given with every pair of facts
that can be met together: about what the situation points out (``reach.Standpoints``), what lies beside, and what is set elsewhere.
Controls that never did anything meet triples, with a fact from elsewhere. And since pairs are masked where a third fact
prevents what they would show, every known case is tried where all that its examples had in common holds but for as little as
can differ: the lever, charged and with empty hands, at the gate that is open already.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aam_vision.interrogation.controls.giving import ground
from aam_vision.interrogation.controls.reach import Node, Place, Reach, Way
from aam_vision.interrogation.controls.rules import Rules
from aam_vision.model.strips import ActionHeader, GroundAction

PLACES = 8
"""Ways to give one control in one situation that are looked at, at most."""
NEAR, SINGLE = 40, 20
"""What a case with little missing, and a fact that is new by itself, are worth; a new pair is worth 1."""
DIFFERENCE = 4
"""Facts of a case's examples that are missing, at most: some change together (a gate opens, is not shut, can be entered)."""
TRIPLES = 400
"""Facts up to which triples are kept."""


class Untried(NamedTuple):
    """A control that was not given in circumstances that can be met.

    Attributes:
        control: with its arguments.
        facts: of the situation, the first that tell what is new about it.
        steps: controls that lead there from a situation that was seen.
    """

    control: str
    facts: tuple[str, ...]
    steps: int

    def __str__(self) -> str:
        return f"{self.control} where {' and '.join(self.facts)}" if self.facts else self.control


@dataclass
class _Given:
    """The facts, pairs and triples of facts that one control was given with."""

    number: int = 0
    """Transitions that were looked at."""
    pairs: dict[int, int] = field(default_factory=dict)
    """By fact, a bit for every one that it was met together with, itself among them."""
    triples: dict[int, dict[int, int]] = field(default_factory=dict)
    """The same by a fact from elsewhere; kept for controls that never did anything."""

    def add(self, facts: frozenset[int], elsewhere: frozenset[int]) -> None:
        places = facts | elsewhere
        _mark(self.pairs, places)
        if places and max(places) < TRIPLES:
            for third in elsewhere:
                _mark(self.triples.setdefault(third, {}), places)

    def gain(self, facts: frozenset[int], elsewhere: frozenset[int], *, triples: bool) -> tuple[int, int]:
        """The new facts, and the new pairs, or triples where no pair is new."""
        places = facts | elsewhere
        new = _new(self.pairs, places)
        singles = sum([others >> fact & 1 for fact, others in new])
        pairs = _count(new) // 2
        if not pairs and triples and places and max(places) < TRIPLES:
            pairs = sum(
                [
                    _count(_new(self.triples[third], places)) if third in self.triples else len(places)
                    for third in elsewhere
                ]
            )
        return singles, pairs

    def alone(self, facts: frozenset[int]) -> int:
        """How many of these facts are new by themselves."""
        return len(facts - self.pairs.keys())

    def first_new(self, facts: frozenset[int], elsewhere: frozenset[int]) -> tuple[int, ...]:
        """One fact, or two, or three, that the control was not given with together; none if there are none."""
        places = facts | elsewhere
        if alone := places - self.pairs.keys():
            return (min(alone),)
        if pair := _first(_new(self.pairs, places)):
            return pair
        for third in sorted(elsewhere & self.triples.keys()):
            if pair := _first(_new(self.triples[third], places)):
                return tuple(dict.fromkeys((*pair, third)))
        return ()


def _mark(known: dict[int, int], facts: frozenset[int]) -> None:
    """Note that these facts were met together."""
    together = sum([1 << fact for fact in facts])
    for fact in facts:
        known[fact] = known.get(fact, 0) | together


def _new(known: dict[int, int], facts: frozenset[int]) -> list[tuple[int, int]]:
    """By fact, a bit for each of the others, and for itself, that it was not met together with."""
    together = sum([1 << fact for fact in facts])
    return [(fact, together & ~known.get(fact, 0)) for fact in facts]


def _count(new: list[tuple[int, int]]) -> int:
    return sum([others.bit_count() for _, others in new])


def _first(new: list[tuple[int, int]]) -> tuple[int, ...]:
    """The first pair of facts that were not met together; none if there is none."""
    fact, others = min([one for one in new if one[1]], default=(0, 0))
    return (fact, (others & -others).bit_length() - 1) if others else ()


@dataclass
class _Case:
    """What the examples of a case have in common, and what of that was missing where its control was given."""

    common: frozenset[int] | None = None
    missing: set[frozenset[int]] = field(default_factory=set)


class Coverage:
    """The circumstances that controls were given in, of the situations within reach."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._giving = reach.giving
        self._given: dict[str, _Given] = {}
        self._cases: dict[str, dict[str, _Case]] = {}
        """By control and operator."""
        self._names: dict[str, tuple[str, ...]] = {}
        """By control, the objects that its conditions name, such as a direction."""
        self._facts: dict[tuple[Place, GroundAction], frozenset[int]] = {}
        self._worth: dict[tuple[Place, GroundAction], float] = {}
        """What it was worth to give a control in a situation when that was worked out last; it never grows."""
        self._spent: set[Place] = set()
        self._dead: list[ActionHeader] = []
        self._spent_of_dead: set[Place] = set()
        """Situations in which nothing is new, nor will be, of what is pointed out to controls that never did anything."""
        self._options: dict[tuple[str, int], list[GroundAction]] = {}
        """By control and problem, all ways to give it."""
        self._of: tuple[Rules, int] | None = None

    def way(self, rules: Rules) -> Way | None:
        """The way to where most is new for the fewest steps; None if nothing new is within reach."""
        self._bring_up_to_date(rules)
        return self._best(self._giving.controls, self._spent, self._worth_above)

    def way_for_dead(self, rules: Rules) -> Way | None:
        """The way to most that is pointed out and new to a control that never did anything, for the fewest steps.

        A first, cheap question: single facts, and none from elsewhere. None if nothing such is within reach.
        """
        if not self._giving.dead:
            return None
        self._bring_up_to_date(rules)
        return self._best(self._dead, self._spent_of_dead, self._new_alone)

    def _best(
        self,
        headers: Sequence[ActionHeader],
        spent: set[Place],
        worth_of: Callable[[Node, GroundAction, float], float],
    ) -> Way | None:
        """The way to where some control is worth most for each of its steps; ``spent``: situations in which nothing is, nor will be.

        ``worth_of`` is given the most for each step so far: of what is worth no more, any bound on the worth will do.
        """
        best, found = 0.0, None
        for number, node in enumerate(self._reach.nodes()):
            if node.place in spent:
                continue
            left = False
            for control in self._ways(node, number, headers):
                worth = worth_of(node, control, best)
                left = left or worth > 0
                if worth / node.steps > best:
                    best, found = worth / node.steps, Way(node.start, (*node.way, control))
            if not left and not self._some_left_out(node, headers):
                spent.add(node.place)
        return found

    def _worth_above(self, node: Node, control: GroundAction, best: float) -> float:
        """What a control is worth; where that is no more than the best for each step, what it was worth some time."""
        worth = self._worth.get((node.place, control))
        if worth is None or worth / node.steps > best:
            worth = self._worth[node.place, control] = self._worth_of(node.place, control)
        return worth

    def _new_alone(self, node: Node, control: GroundAction, best: float) -> float:
        """How many facts that are pointed out a control was never given with."""
        return self._given[control.name].alone(self._reach.standpoint(node.place, control).facts)

    def untried(self, rules: Rules, most: int) -> tuple[Untried, ...]:
        """The nearest circumstances in which a control was not given, one of each kind, at most so many.

        Controls that can be given in more ways than are looked at in one situation are left out.
        """
        self._bring_up_to_date(rules)
        found: dict[tuple[str, tuple[int, ...]], Untried] = {}
        for number, node in enumerate(self._reach.nodes()):
            if node.place in self._spent:
                continue
            for control in self._ways(node, number, self._giving.controls):
                if len(self._options[control.name, node.place.problem]) > PLACES:
                    continue
                facts, elsewhere = self._facts_of(node.place, control), self._reach.elsewhere(node.place)
                new = self._given[control.name].first_new(facts, elsewhere)
                if self._worth_of(node.place, control) and (control.name, new) not in found:
                    told = self._told(node.place, control, new)
                    found[control.name, new] = Untried(str(control), told, len(node.way))
        return tuple(sorted(found.values(), key=lambda one: one.steps))[:most]

    def _ways(self, node: Node, number: int, headers: Sequence[ActionHeader]) -> Iterator[GroundAction]:
        """Ways to give controls in a situation that were not given there; in another one, of another number, others of many."""
        given = self._giving.given_in(node.state)
        for header in headers:
            options = self._all(header, node.place)
            if len(options) > PLACES:
                first = number * PLACES % len(options)
                options = (options + options)[first : first + PLACES]
            for control in options:
                if control not in given:
                    yield control

    def _some_left_out(self, node: Node, headers: Sequence[ActionHeader]) -> bool:
        """Whether some control can be given in more ways than are looked at."""
        return any(len(self._all(header, node.place)) > PLACES for header in headers)

    def _all(self, header: ActionHeader, place: Place) -> list[GroundAction]:
        key = header.name, place.problem
        if key not in self._options:
            self._options[key] = ground([header], place.state)
        return self._options[key]

    def _worth_of(self, place: Place, control: GroundAction) -> float:
        facts, elsewhere = self._facts_of(place, control), self._reach.elsewhere(place)
        dead = any(control.name == one.name for one in self._dead)
        singles, pairs = self._given[control.name].gain(facts, elsewhere, triples=dead)
        near = sum(
            len(missing) <= DIFFERENCE and missing not in case.missing
            for case in self._cases[control.name].values()
            if case.common is not None
            for missing in [case.common - facts - elsewhere]
        )
        return SINGLE * singles + NEAR * near + pairs

    def _facts_of(self, place: Place, control: GroundAction) -> frozenset[int]:
        """The facts about what a control meets in a situation: what is pointed out, and what lies beside."""
        found = self._facts.get((place, control))
        if found is None:
            standpoint = self._reach.standpoint(place, control)
            names = self._names[control.name]
            beside, _ = self._reach.standpoints.beside(standpoint, names, place.state, place.index)
            found = self._facts[place, control] = standpoint.facts | beside
        return found

    # --- what was given -------------------------------------------------------------------------

    def _bring_up_to_date(self, rules: Rules) -> None:
        """Take in what was given since the last time; all anew where operators or what situations tell changed."""
        changed = self._reach.bring_up_to_date(rules)
        if (dead := self._giving.dead) != self._dead:
            self._dead, self._spent_of_dead = dead, set()
        names = {control.name: self._named(control, rules) for control in self._giving.controls}
        if changed or self._of is None or self._of[0] is not rules or names != self._names:
            self._names, self._given, self._facts = names, {}, {}
            self._cases = {
                control.name: {rule.operator.header.name: _Case() for rule in rules.of(control.name)}
                for control in self._giving.controls
            }
            self._worth, self._spent, self._spent_of_dead = {}, set(), set()
        elif self._of[1] != rules.widened:
            self._worth, self._spent = {}, set()
        self._of = rules, rules.widened
        for control in self._giving.controls:
            given = self._given.setdefault(control.name, _Given())
            transitions = self._giving.transitions[control.name]
            new = [(one, self._reach.place(one.before)) for one in transitions[given.number :]]
            given.number = len(transitions)
            narrower = False
            for one, place in new:
                facts, elsewhere = self._facts_of(place, one.control), self._reach.elsewhere(place)
                given.add(facts, elsewhere)
                owner = rules.owner(one)
                if owner is not None:
                    case = self._cases[control.name][owner.name]
                    known = facts | elsewhere
                    common = known if case.common is None else case.common & known
                    narrower, case.common = narrower or common != case.common, common
            self._note_missing(control, transitions if narrower else [one for one, _ in new])
            if narrower:
                self._worth, self._spent = {}, set()

    def _note_missing(self, control: ActionHeader, transitions: list) -> None:  # type: ignore[type-arg]
        """Note what was missing of each case where its control was given."""
        for one in transitions:
            place = self._reach.place(one.before)
            known = self._facts_of(place, one.control) | self._reach.elsewhere(place)
            for case in self._cases[control.name].values():
                if case.common is not None and len(missing := case.common - known) <= DIFFERENCE:
                    case.missing.add(missing)

    def _named(self, control: ActionHeader, rules: Rules) -> tuple[str, ...]:
        """The objects that the conditions of a control's cases name; all whose names count of one without a case."""
        found: dict[str, None] = {}
        for rule in rules.of(control.name):
            for atom in rule.condition.required:
                found.update({one: None for one in atom.arguments if isinstance(one, str)})
        if not rules.of(control.name):
            for state in list(self._giving.situations)[:1]:
                found.update(dict.fromkeys(self._reach.standpoints.fixed(state)))
        return tuple(found)

    # --- in words ----------------------------------------------------------------------------------

    def _told(self, place: Place, control: GroundAction, facts: tuple[int, ...]) -> tuple[str, ...]:
        """Facts of a situation by their names there."""
        standpoint = self._reach.standpoint(place, control)
        standpoints = self._reach.standpoints
        _, beside = standpoints.beside(standpoint, self._names[control.name], place.state, place.index)
        named: dict[Hashable, str] = {role: name for name, role in (*standpoint.objects, *beside.items())}
        return tuple(dict.fromkeys(_words(standpoints.told(fact), named, place) for fact in facts))


def _words(fact: Hashable, named: dict[Hashable, str], place: Place) -> str:
    """A fact in words."""
    assert isinstance(fact, tuple)
    if fact[0] == "number":
        _, predicate, number = fact
        rows = [f"{predicate}({', '.join(row)})" for row in place.state.rows.get(predicate, ())]
        return ", ".join(rows) if 0 < len(rows) <= 2 else f"{number or 'no'} {predicate}"
    if fact[0] == "placed":
        _, (predicate, thing), somewhere = fact
        return f"{thing} has {'a' if somewhere else 'no'} {predicate}"
    if len(fact) == 2 and isinstance(fact[1], bool):
        return f"{'' if fact[1] else 'not '}{fact[0]}()"
    if len(fact) == 3 and isinstance(fact[2], bool):
        return f"{'' if fact[2] else 'not '}{fact[0]}({named.get(fact[1], 'it')})"
    if len(fact) == 2:
        return f"{named.get(fact[0], 'it')} is a {fact[1]}"
    return f"{fact[0]}({', '.join(str(named.get(one, one)) for one in fact[1:])})"
