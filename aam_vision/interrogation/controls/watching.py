"""Last walks in which the learned model predicts every control, so that a case that nobody has seen may show itself.

In walks without a return what was done before may matter, though nothing shows it. All controls are given there, those that
never did anything, too: next comes the one that followed the last one least, and of these the one that followed the last two
least. Of up to six controls each comes after each other one in sixty steps; of more, a few orders of two may be left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from aam_vision.agents.bare import random_control
from aam_vision.interrogation.controls.ahead import foreseen
from aam_vision.interrogation.controls.exploring import STRIDE, start
from aam_vision.interrogation.controls.giving import Giving, ground
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.controls.rules import ControlModel, Refuted, Rules
from aam_vision.model.query import Situation
from aam_vision.model.strips import GroundAction

SHARE, LEAST, MOST = 0.25, 60, 200
"""Controls of the walk: this share of those given before, at least so many, and at most so many."""
HISTORY = 40
"""Controls of a walk without a return: more of them find what comes of longer histories, and cost steps."""
DOING = 0.5
"""The share of controls with arguments that are given there with arguments with which they do something."""
EACH = 4
"""Controls for each control of a walk that gives again what did something; it is as long as others without a return, at least."""
EPISODES, AGAIN = 5, 2
"""Such walks that give again what did something before, where something is not explained; together they give at most so many
times as many controls as one long walk."""
REMEMBERED = 3
"""Walks without a return, controls at random, by which what is remembered is tried."""
RETRACED = 60
"""Controls that are given again where operators do not explain what they did, at most."""
IDLE = 20
"""Walks in a row that found nothing to give: all was given before."""


@dataclass(frozen=True)
class Watched:
    """The walk's controls that came out as predicted, and the first one that did not, if any."""

    steps: int
    surprise: Transition | None
    in_a_row: int = 0
    """Controls of walks without a return, most of them given before, that came out as predicted."""


def watch(giving: Giving, rules: Rules, predicted: ControlModel, rng: np.random.Generator) -> Watched:
    """Give controls at random, from random situations seen before, and compare each with the prediction.

    What was given in a situation that looks the same is not given again, and does not count. Where hardly anything is left
    to give, all of it is given, so that nothing else can happen; that was not chosen at random, and does not count.
    """
    if giving.copies > 1:
        giving.foresee(foreseen(giving, rules, predicted, rng, partial(_watched, predicted)))
    seen = _watched(predicted, giving, rules, rng)
    giving.foresee(())
    return seen


def _watched(predicted: ControlModel, giving: Giving, rules: Rules, rng: np.random.Generator) -> Watched:
    initial = list(giving.initial())
    in_a_row, surprise = _histories(giving, rules, predicted, initial, rng)
    if surprise is not None:
        return Watched(0, surprise)
    steps, wanted, idle = 0, min(max(LEAST, int(SHARE * giving.steps)), MOST), 0
    while steps < wanted and idle < IDLE:
        here, before = start(giving, initial, rng), steps
        for _ in range(STRIDE):
            control = random_control(giving.controls, here.state, rng)
            if control is None or control in giving.given_in(here.state):
                break
            transition, after = giving.give(here, control)
            here = after if transition.change else here
            if _surprises(transition, rules, predicted):
                return Watched(steps, transition)
            steps += 1
        idle = idle + 1 if steps == before else 0
    surprise = give_the_rest(giving, rules, predicted, max(wanted - steps, LEAST)) if idle == IDLE else None
    return Watched(steps, surprise, in_a_row)


def _histories(
    giving: Giving, rules: Rules, predicted: ControlModel, initial: list[Situation], rng: np.random.Generator
) -> tuple[int, Transition | None]:
    """Give all controls in the orders in which they were given least, without a return: does what was done before matter?

    The first walk begins where a problem does, others in situations that were seen later. Where some controls never did anything,
    one more gives these and others by turns: another one may make them do something later. How many controls of the other walks
    came out as predicted, and the first one of all that did not.
    """
    orders: Counter[tuple[str, ...]] = Counter()
    wanted, steps = max(LEAST, len(giving.controls) ** 2), 0
    lengths = [min(HISTORY, wanted - begun) for begun in range(0, wanted, HISTORY)]
    every = frozenset(one.name for one in giving.controls)
    dead = frozenset(one.name for one in giving.dead)
    turns = (every - dead, dead)
    if all(turns):
        lengths.append(HISTORY)
    if giving.memory is not None:
        surprise = _at_random(giving, rules, predicted, initial, rng)
        if surprise is not None:
            return 0, surprise
    for number, length in enumerate(lengths):
        begins = list(giving.situations.values()) if number else initial
        here = begins[int(rng.integers(len(begins)))]
        last: tuple[str, ...] = ()
        for place in range(length):
            names = every if steps < wanted else turns[place % 2]
            control = _least_given(giving, rules, here, last, orders, rng, names)
            if control is None:
                return steps, None
            transition, here = giving.give(here, control)
            if _surprises(transition, rules, predicted):
                return steps, transition
            last = (*last[-2:], control.name)
            orders.update({last[-2:], last})
            steps += names is every
    return steps, None


def _at_random(
    giving: Giving, rules: Rules, predicted: ControlModel, initial: list[Situation], rng: np.random.Generator
) -> Transition | None:
    """Give controls at random, those that do nothing, too, from where problems begin, as what is remembered has to predict any history.

    The first one that did not come out as predicted.
    """
    for _ in range(REMEMBERED):
        here = initial[int(rng.integers(len(initial)))]
        for _ in range(HISTORY):
            control = random_control(giving.controls, here.state, rng)
            if control is None:
                break
            transition, here = giving.give(here, control)
            if _surprises(transition, rules, predicted):
                return transition
    return None


def _least_given(
    giving: Giving,
    rules: Rules,
    here: Situation,
    last: tuple[str, ...],
    orders: Counter[tuple[str, ...]],
    rng: np.random.Generator,
    names: Collection[str],
) -> GroundAction | None:
    """A control of the name that followed the last ones least; of its arguments rather some with which it does something."""
    own: dict[str, list[GroundAction]] = {}
    for control in ground(giving.controls, here.state):
        if control.name in names:
            own.setdefault(control.name, []).append(control)
    if not own:
        return None
    some = sorted(own)
    shuffled = [some[number] for number in rng.permutation(len(some))]
    name = min(shuffled, key=lambda one: (orders[(*last[-1:], one)], orders[(*last[-2:], one)]))
    options = own[name]
    if len(options) > 1 and rng.random() < DOING:
        likely = [one for one in rules.likely(here.state, giving.indices.of(here.state)) if one.name == name]
        options = likely or options
    return options[int(rng.integers(len(options)))]


def repeat(giving: Giving, rng: np.random.Generator) -> None:
    """Give what did something again, in some episodes, where situations look as they did before.

    Raises:
        TwoWays: it came out otherwise now: it depends on what was done before, and on nothing that is seen.
    """
    initial, long = giving.initial(), max(HISTORY, EACH * len(giving.controls))
    most = giving.steps + AGAIN * long
    for _ in range(EPISODES):
        here = initial[int(rng.integers(len(initial)))]
        for _ in range(long):
            if giving.steps >= most:
                return
            known = sorted(giving.given_in(here.state), key=str)
            options = [one for one in known if giving.seen_after(here.state, one) != here.state]
            options = options or ground(giving.controls, here.state)
            _, here = giving.give(here, options[int(rng.integers(len(options)))])


def retrace(giving: Giving, unexplained: Iterable[Transition]) -> None:
    """Give the controls that no operator explains where situations look the same, and others led there.

    Raises:
        TwoWays: it came out otherwise: it depends on what was done before, and on nothing that is seen.
    """
    most = giving.steps + RETRACED
    for strange in unexplained:
        for here in [one.after for one in giving.given if one.after.state == strange.before]:
            if giving.steps < most:
                giving.give(here, strange.control)


def give_the_rest(giving: Giving, rules: Rules, predicted: ControlModel, most: int) -> Transition | None:
    """Give every control where it was not given, if these are so many at most; the first that surprises, if any does."""
    given = 0
    while left := _left(giving, most - given):
        giving.foresee((here, [control]) for here, control in left)
        for here, control in left:
            given += 1
            transition, _ = giving.give(here, control)
            if _surprises(transition, rules, predicted):
                return transition
    return None


def _left(giving: Giving, most: int) -> list[tuple[Situation, GroundAction]]:
    """The controls that were not given, with the situations; nothing if these are more than so many."""
    found: list[tuple[Situation, GroundAction]] = []
    for state, here in giving.situations.items():
        known = giving.given_in(state)
        found += [(here, control) for control in ground(giving.controls, state) if control not in known]
        if len(found) > most:
            return []
    return found


def _surprises(transition: Transition, rules: Rules, predicted: ControlModel) -> bool:
    """Whether a transition did not come out as predicted, or shows that the operators are not the right ones."""
    if not predicted.agrees(transition.before, transition.control, transition.after):
        return True
    try:
        rules.owner(transition)
    except Refuted:
        return True
    return False
