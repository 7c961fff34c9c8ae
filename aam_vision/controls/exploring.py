"""Walks that give controls at random: what discovery begins with, and what tells how often it would be surprised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.controls.choosing import Chooser
from aam_vision.controls.discovery import Discovery, discover
from aam_vision.controls.giving import Giving
from aam_vision.controls.rules import Refuted, Rules
from aam_vision.controls.seeking import Seeker
from aam_vision.query import Situation
from aam_vision.strips import GroundAction

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
FACTS, PAIRS = 0.5, 0.1
"""Controls that are given to cover all such kinds, as shares of those given before: all facts, and pairs of facts."""
IDLE = 20
"""Walks in a row that found nothing to give."""


def explore(giving: Giving, rng: np.random.Generator) -> Discovery:
    """Give controls until they show nothing that is not explained by what was seen before, and nothing new is near.

    Raises:
        StepsSpent: no more controls may be given.
        TwoWays: one situation and control went two ways.
    """
    discovery, initial, chooser = found(giving), list(giving.initial()), Chooser(giving, rng)
    least = max(LEAST, PER_CONTROL * len(giving.controls))
    rules, seeker = Rules(discovery, giving), Seeker(giving)
    quiet = idle = ways = sought = 0
    while idle < IDLE and giving.steps < MOST + least:
        here, before = start(giving, initial, rng), giving.steps
        way: Sequence[GroundAction] | None = None
        if giving.steps >= least and quiet >= PATIENCE and not any(map(giving.stuck, initial)):
            kind = seeker.way(rules) if sought < SOUGHT else None
            if kind is not None:
                sought += 1
                here, way = kind
            elif ways < WAYS:
                ways += 1
                here, way = _way(giving, chooser, rules, rng)
            if way is None:
                break
        try:
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


class Cover(NamedTuple):
    """The controls that never did anything were given in new kinds of situations.

    ``woken``: one of them did something. ``covered``: there is no situation near in which anything would be new to one.
    """

    woken: bool
    covered: bool


def cover(giving: Giving, rules: Rules) -> Cover:
    """Give the controls that never did anything where they meet something new, until one does something.

    Raises:
        Refuted: what was seen shows that the operators are not the right ones.
        StepsSpent: no more controls may be given.
        TwoWays: one situation and control went two ways.
    """
    seeker, dead, began = Seeker(giving), giving.dead, giving.steps
    for pairs, share in ((False, FACTS), (True, PAIRS)):
        most = giving.steps + int(share * began)
        while giving.steps < most and giving.dead == dead:
            way = seeker.way(rules, pairs=pairs)
            if way is None:
                break
            here = way.start
            for control in way.controls:
                transition, here = giving.give(here, control)
                rules.owner(transition)
        else:
            return Cover(giving.dead != dead, covered=pairs)
        if not seeker.covered:
            return Cover(woken=False, covered=False)
    return Cover(woken=False, covered=True)


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
    """What all that was seen so far amounts to."""
    return discover(giving.agent.vocabulary, giving.controls, giving.transitions, giving.indices)


def start(giving: Giving, initial: list[Situation], rng: np.random.Generator) -> Situation:
    """Where a walk begins: where problems begin, then in any problem where few controls were given, of some situations."""
    stuck = [situation for situation in initial if giving.stuck(situation)]
    if stuck:
        return min(stuck, key=lambda situation: len(giving.given_in(situation.state)))
    problems = list(giving.problems.values())
    known = problems[int(rng.integers(len(problems)))]
    drawn = [known[int(rng.integers(len(known)))] for _ in range(STARTS)]
    return min(drawn, key=lambda situation: len(giving.given_in(situation.state)))
