"""Walks that give controls: what discovery begins with, and what tells how often it would be surprised.

Next comes a control that probably does something, one whose situation is new, or any. How new it would be to give a control in a
state: which facts about its situation no control was given with before. Two kinds of facts count. Those that link the control's
arguments to other things: ``pick(key-1)`` where the agent stands beside the key. And, where all but one condition of a known operator
hold, those about the objects of the condition that does not: a cell ahead that is not clear, with a stone on it and a clear cell
beyond. This chooses what is explored and decides nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from itertools import islice
from typing import NamedTuple

import numpy as np

from aam_vision.agents.bare import random_control
from aam_vision.interrogation.controls.checking import Checker
from aam_vision.interrogation.controls.coverage import Coverage
from aam_vision.interrogation.controls.discovery import Discovery, discover
from aam_vision.interrogation.controls.giving import Giving, ground
from aam_vision.interrogation.controls.misreading import check
from aam_vision.interrogation.controls.reach import Reach, Way
from aam_vision.interrogation.controls.rules import Refuted, Rule, Rules
from aam_vision.model.query import Situation
from aam_vision.model.strips import Atom, GroundAction, LiftedAtom, State
from aam_vision.planning.joins import StateIndex, bindings

NEAR_MISSES = 3
"""Bindings that are looked at for each condition."""

Feature = Hashable
LIKELY = 0.5
"""Share of the controls that are chosen because they probably do something."""
DRAWN = 12
"""Controls of which the newest one is taken."""
STATES_ON_THE_WAY = 15
"""States that are looked at on the way to something new."""
LOOKED_AT = 60
"""Controls that probably do something of which the next situations are looked at, and controls that are looked at there."""
STRIDE = 5
"""Controls of one walk."""
LEAST, PER_CONTROL = 20, 4
"""Controls after which exploring ends at the earliest: these, or so many for each control."""
MOST = 200
"""Controls after which it ends at the latest, besides those."""
PATIENCE = 8
"""Exploring ends once so many controls in a row were given with nothing new and did nothing new."""
STARTS = 4
"""Situations that are drawn for the beginning of a walk."""
WAYS = 30
"""Ways to something new that are looked for: each costs more time than steps."""
SOUGHT = 20
"""Ways to a new kind of situation for a control that never did anything."""
CHECKS = 0.25
"""Controls that are given to refute cases: at most this share of those given before."""
COVER = 1200
"""Controls that are given in new circumstances in a whole interrogation, at most."""
IDLE = 20
"""Walks in a row that found nothing to give."""


def _missing(rule: Rule, state: State, control: GroundAction, index: StateIndex) -> Iterator[Atom]:
    """The atoms that are not true, where all else holds that the operator requires."""
    match = LiftedAtom("", tuple(range(len(control.objects)))), control.objects
    required, header = rule.condition.required, rule.condition.index.header
    for left_out in required:
        others = [atom for atom in required if atom is not left_out]
        for objects in islice(bindings(index, header, others, match=match), NEAR_MISSES):
            atom = left_out.ground(objects)
            if atom not in state.true:
                yield atom


def _links(index: StateIndex, objects: Sequence[str], besides: Sequence[str] = ()) -> set[Feature]:
    """What facts say of these objects, and of others that share a fact with them.

    Without objects, how many facts of each predicate there are. ``besides`` are told apart from other objects, too.
    """
    if not objects:
        return {tuple((predicate, len(rows)) for predicate, rows in index.state.rows.items())}
    known = {name: place for place, name in enumerate(dict.fromkeys((*objects, *besides)))}
    links: set[Feature] = set()
    for argument, name in enumerate(objects):
        for predicate, _, row in index.about(name):
            shape = tuple([known.get(other, "") for other in row])
            links.add((argument, predicate, shape))
            for other_place, other in enumerate(row):
                if other in known:
                    continue
                for second, second_place, second_row in index.about(other):
                    if name not in second_row:
                        links.add((argument, predicate, shape, other_place, second, second_place))
    return links


class Chooser:
    """Chooses controls, and remembers the facts that they were given with."""

    def __init__(self, giving: Giving) -> None:
        self._giving = giving
        self._seen: set[Feature] = set()
        self._of_rules: Rules | None = None
        """The operators that the following is about; their conditions become wider meanwhile, which hardly matters here."""
        self._near: dict[tuple[State, GroundAction], frozenset[Feature]] = {}
        self._after: dict[State, list[tuple[GroundAction, State]]] = {}
        self.surprised = False
        """Whether anything about the latest choice was new."""

    def next(
        self, here: Situation, rules: Rules | None, rng: np.random.Generator, likely: float = LIKELY
    ) -> GroundAction | None:
        """The next control; None if all that could be drawn were given there."""
        given = self._giving.given_in(here.state)
        control = None
        if rules is not None and rng.random() < likely:
            control = self._likely(here, rules, given, rng)
        control = control or self._new(here, rules, given, rng)
        if control is not None:
            self.note(here.state, control, rules)
        return control

    def note(self, state: State, control: GroundAction, rules: Rules | None) -> None:
        """Remember that a control is given; ``surprised`` tells whether anything about that is new."""
        features = self._new_facts(state, control, rules, self._giving.indices.of(state))
        self.surprised = bool(features)
        self._seen |= features

    def way_to_new(
        self, here: Situation, rules: Rules, rng: np.random.Generator
    ) -> list[GroundAction] | None:
        """Controls that probably lead to where the last of them meets something new; None if no such way is found near."""
        waiting: deque[tuple[State, list[GroundAction]]] = deque([(here.state, [])])
        known = {here.state}
        self._turn_to(rules)
        for _ in range(STATES_ON_THE_WAY):
            if not waiting:
                return None
            state, way = waiting.popleft()
            index = self._giving.indices.of(state)
            given = self._giving.given_in(state)
            for control in _some(ground(self._giving.controls, state), rng):
                if control not in given and self._new_facts(state, control, rules, index):
                    return [*way, control]
            if state not in self._after:
                self._after[state] = list(rules.likely(state, index).items())
            for control, after in self._after[state]:
                if after not in known:
                    known.add(after)
                    waiting.append((after, [*way, control]))
        return None

    def _turn_to(self, rules: Rules) -> None:
        if rules is not self._of_rules:
            self._near, self._after, self._of_rules = {}, {}, rules

    def _new_facts(
        self, state: State, control: GroundAction, rules: Rules | None, index: StateIndex
    ) -> set[Feature]:
        """The facts of a control in a state that no control of its name was given with."""
        found: set[Feature] = {(control.name, one) for one in _links(index, control.objects)}
        if rules is not None:
            self._turn_to(rules)
            near = self._near.get((state, control))
            if near is None:
                near = self._near[state, control] = self._near_misses(rules, state, control, index)
            found |= near
        return found - self._seen

    def _near_misses(
        self, rules: Rules, state: State, control: GroundAction, index: StateIndex
    ) -> frozenset[Feature]:
        """The facts about what is missing where all else holds that an operator of the control requires."""
        missing = {
            atom: None for rule in rules.of(control.name) for atom in _missing(rule, state, control, index)
        }
        return frozenset(
            (control.name, atom.predicate, link)
            for atom in missing
            for link in _links(index, atom.objects, control.objects)
        )

    def _likely(
        self, here: Situation, rules: Rules, given: Set[GroundAction], rng: np.random.Generator
    ) -> GroundAction | None:
        """A control that probably does something, rather where it leads to a situation that was not seen."""
        index = self._giving.indices.of(here.state)
        expected = {
            control: state
            for control, state in rules.likely(here.state, index).items()
            if control not in given
        }
        if not expected:
            return None
        options = list(expected)
        unseen = [control for control in options if expected[control] not in self._giving.situations]
        options = unseen or options
        names = sorted({control.name for control in options})
        name = names[int(rng.integers(len(names)))]
        own = [control for control in options if control.name == name]
        return own[int(rng.integers(len(own)))]

    def _new(
        self, here: Situation, rules: Rules | None, given: Set[GroundAction], rng: np.random.Generator
    ) -> GroundAction | None:
        """The control of those drawn with most that is new."""
        drawn = [random_control(self._giving.controls, here.state, rng) for _ in range(DRAWN)]
        options = [one for one in dict.fromkeys(drawn) if one is not None and one not in given]
        if not options:
            return None
        index = self._giving.indices.of(here.state)
        return max(options, key=lambda one: len(self._new_facts(here.state, one, rules, index)))


def _some(options: list[GroundAction], rng: np.random.Generator) -> list[GroundAction]:
    if len(options) <= LOOKED_AT:
        return options
    return [options[int(place)] for place in rng.permutation(len(options))[:LOOKED_AT]]


def explore(giving: Giving, near: Near, rng: np.random.Generator) -> Discovery:
    """Give controls until they show nothing that is not explained by what was seen before, and nothing new is near."""
    discovery, initial, chooser = found(giving), list(giving.initial()), Chooser(giving)
    least = max(LEAST, PER_CONTROL * len(giving.controls))
    rules = Rules(discovery, giving)
    for one in giving.given:  # to try what was found earlier
        chooser.note(one.before.state, one.transition.control, rules)
    quiet = idle = ways = sought = 0
    while idle < IDLE and giving.steps < MOST + least:
        here, before = start(giving, initial, rng), giving.steps
        try:
            way: Sequence[GroundAction] | None = None
            if giving.steps >= least and quiet >= PATIENCE and not any(map(giving.stuck, initial)):
                kind = near.way(rules) if sought < SOUGHT else None
                if kind is not None:
                    sought += 1
                    here, way = kind
                elif ways < WAYS:
                    ways += 1
                    here, way = _way(giving, chooser, rules, rng)
                if way is None:
                    break
            for number in range(STRIDE if way is None else len(way)):
                control = chooser.next(here, rules, rng) if way is None else way[number]
                if control is None:
                    break
                if way is not None:
                    chooser.note(here.state, control, rules)
                transition, after = giving.give(here, control)
                here = after if transition.change else here
                quiet = 0 if way is None and chooser.surprised else quiet + 1
                rules.owner(transition)
        except Refuted:
            rules, quiet = Rules(found(giving), giving), 0
        idle = idle + 1 if giving.steps == before else 0
    return found(giving)


class Near:
    """What is worth trying near the situations that were seen; one serves a whole interrogation."""

    def __init__(self, giving: Giving) -> None:
        reach = Reach(giving)
        self.checker, self.coverage = Checker(reach), Coverage(reach)
        self.covering = 0
        """Controls that were given in new circumstances."""

    def way(self, rules: Rules) -> Way | None:
        """The way to a new kind of situation for a control that never did anything, or to one that may refute a case."""
        return self.coverage.way_for_dead(rules) or self.checker.way(rules)


class Cover(NamedTuple):
    """What became of giving every control in all circumstances that can be met.

    ``woken``: a control did something for the first time. ``covered``: nothing new is within reach.
    """

    woken: bool
    covered: bool


def cover(giving: Giving, near: Near, rules: Rules) -> Cover:
    """Try what could refute a case; then give every control in combinations of circumstances that are new to it."""
    dead, began = giving.dead, giving.steps
    _follow(giving, rules, near.checker.way, int(CHECKS * began))
    began = giving.steps
    covered = _follow(giving, rules, near.coverage.way, COVER - near.covering)
    near.covering += giving.steps - began
    return Cover(woken=giving.dead != dead, covered=covered)


def _follow(giving: Giving, rules: Rules, way_of: Callable[[Rules], Way | None], most: int) -> bool:
    """Follow such ways until there is none, or so many controls were given, or one did something for the first time.

    Whether there is none.
    """
    dead, most = giving.dead, giving.steps + most
    while giving.steps < most and giving.dead == dead:
        way = way_of(rules)
        if way is None:
            return True
        here, before = way.start, giving.steps
        for control in way.controls:
            transition, here = giving.give(here, control)
            rules.owner(transition)
        if giving.steps == before:  # it did not lead where it was expected to
            break
    return False


def _way(
    giving: Giving, chooser: Chooser, rules: Rules, rng: np.random.Generator
) -> tuple[Situation, list[GroundAction] | None]:
    """A way to something new, and where it begins; None if none is found from a situation of each problem at random."""
    problems = list(giving.problems.values())
    for number in rng.permutation(len(problems)):
        known = problems[int(number)]
        here = known[int(rng.integers(len(known)))]
        way = chooser.way_to_new(here, rules, rng)
        if way is not None:
            return here, way
    return here, None


def found(giving: Giving) -> Discovery:
    """What all that was seen so far amounts to.

    Raises:
        Misread: it is more likely misread than done.
    """
    discovery = discovered(giving)
    check(giving, discovery)
    return discovery


def discovered(giving: Giving) -> Discovery:
    """What all that was seen so far amounts to, misread or not."""
    vocabulary, seen = giving.vocabulary, giving.transitions
    return discover(vocabulary, giving.controls, seen, giving.indices, giving.grouped)


def found_so_far(giving: Giving) -> Discovery:
    """The cases that were found last of every control, from the transitions that there were then."""
    seen = {name: giving.transitions[name][:number] for name, (number, _) in giving.grouped.items()}
    return discover(giving.vocabulary, giving.controls, seen, giving.indices, giving.grouped)


def start(giving: Giving, initial: list[Situation], rng: np.random.Generator) -> Situation:
    """Where a walk begins: where problems begin, then in any problem where few controls were given, of some situations."""
    stuck = [situation for situation in initial if giving.stuck(situation)]
    if stuck:
        return min(stuck, key=lambda situation: len(giving.given_in(situation.state)))
    problems = list(giving.problems.values())
    known = problems[int(rng.integers(len(problems)))]
    drawn = [known[int(rng.integers(len(known)))] for _ in range(STARTS)]
    return min(drawn, key=lambda situation: len(giving.given_in(situation.state)))
