"""Walks that give controls at random: what discovery begins with, and what tells how often it would be surprised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.controls.checking import Checker
from aam_vision.controls.choosing import Chooser
from aam_vision.controls.coverage import Coverage
from aam_vision.controls.discovery import Discovery, discover
from aam_vision.controls.giving import Giving
from aam_vision.controls.misreading import check
from aam_vision.controls.reach import Reach, Way
from aam_vision.controls.rules import Refuted, Rules
from aam_vision.model.query import Situation
from aam_vision.model.strips import GroundAction

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


def explore(giving: Giving, near: Near, rng: np.random.Generator) -> Discovery:
    """Give controls until they show nothing that is not explained by what was seen before, and nothing new is near.

    Args:
        giving: the agent.
        near: what is near the situations that it was seen in.
        rng: chooses.

    Raises:
        StepsSpent: no more controls may be given.
        TwoWays: one situation and control went two ways.
    """
    discovery, initial, chooser = found(giving), list(giving.initial()), Chooser(giving, rng)
    least = max(LEAST, PER_CONTROL * len(giving.controls))
    rules = Rules(discovery, giving)
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
                control = chooser.next(here, rules) if way is None else way[number]
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
    """Try what could refute a case; then give every control in combinations of circumstances that are new to it.

    Raises:
        Refuted: what was seen shows that the operators are not the right ones.
        StepsSpent: no more controls may be given.
        TwoWays: one situation and control went two ways.
    """
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
        way = chooser.way_to_new(here, rules)
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
    vocabulary, seen = giving.agent.vocabulary, giving.transitions
    return discover(vocabulary, giving.controls, seen, giving.indices, giving.grouped)


def found_so_far(giving: Giving) -> Discovery:
    """The cases that were found last of every control, from the transitions that there were then."""
    seen = {name: giving.transitions[name][:number] for name, (number, _) in giving.grouped.items()}
    return discover(giving.agent.vocabulary, giving.controls, seen, giving.indices, giving.grouped)


def start(giving: Giving, initial: list[Situation], rng: np.random.Generator) -> Situation:
    """Where a walk begins: where problems begin, then in any problem where few controls were given, of some situations."""
    stuck = [situation for situation in initial if giving.stuck(situation)]
    if stuck:
        return min(stuck, key=lambda situation: len(giving.given_in(situation.state)))
    problems = list(giving.problems.values())
    known = problems[int(rng.integers(len(problems)))]
    drawn = [known[int(rng.integers(len(known)))] for _ in range(STARTS)]
    return min(drawn, key=lambda situation: len(giving.given_in(situation.state)))
