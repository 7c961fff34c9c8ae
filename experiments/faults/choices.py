"""Where a fault is put: an action, an effect or a condition that matters in random walks of the honest agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from aam_vision.strips import GroundAction, LiftedAtom, State
from experiments.faults.conditions import foreign, holds, own
from experiments.faults.world import Setting

One = TypeVar("One")
Test = Callable[[State, GroundAction], bool]
"""Whether something is the case before a step."""
LEAST = 6
"""Executed steps of an action from which it is told whether a condition matters."""
OFTEN = 30
"""The same where uses are counted."""
SHARES = (0.15, 0.85)
"""A condition matters if it holds in a share of the steps between these."""


class Unsuitable(Exception):
    """Raised where a domain has no place for a fault."""


def one_of(options: Sequence[One], rng: np.random.Generator) -> One:
    """One of them at random.

    Raises:
        Unsuitable: there is none.
    """
    if not options:
        raise Unsuitable
    return options[int(rng.integers(len(options)))]


def some_action(setting: Setting, rng: np.random.Generator, least: int = LEAST) -> str:
    """An action that occurs in the sample, at least so often."""
    return one_of([action for action, steps in setting.sample.items() if len(steps) >= least], rng)


def some_effect(setting: Setting, action: str, rng: np.random.Generator) -> LiftedAtom:
    """An effect that always shows."""
    return one_of(setting.effects(action), rng)


def where(condition: LiftedAtom, value: bool) -> Test:
    """The test whether an atom, of parameters and other objects, has a value."""
    return lambda state, step: holds(condition, state, step.objects) is value


def matters(setting: Setting, action: str, condition: Test) -> bool:
    """Whether a condition holds in some steps of an action, and in others it does not."""
    steps = setting.sample[action]
    share = sum(condition(before, step) for before, step, _ in steps) / max(1, len(steps))
    return len(steps) >= LEAST and SHARES[0] <= share <= SHARES[1]


def some_condition(setting: Setting, kind: str, rng: np.random.Generator) -> tuple[str, LiftedAtom]:
    """An action, and an ``own`` or ``foreign`` atom that makes a difference there."""
    atoms = own if kind == "own" else foreign
    options = [
        (action, atom)
        for action in setting.sample
        for atom in atoms(setting.model, setting.header(action))
        if matters(setting, action, where(atom, True))
    ]
    return one_of(options, rng)


def coincides(setting: Setting, action: str, one: Test, other: Test) -> bool:
    """Whether two tests come out alike in all steps of an action in the sample, or always differently."""
    same = {one(state, step) is other(state, step) for state, step, _ in setting.sample[action]}
    return len(same) == 1


def explanations(setting: Setting, action: str, condition: LiftedAtom) -> list[LiftedAtom]:
    """The condition, and all atoms that cannot be told from it, or from its negation, in the sample."""
    header, test = setting.header(action), where(condition, True)
    atoms = [*own(setting.model, header), *foreign(setting.model, header)]
    return [condition, *(atom for atom in atoms if coincides(setting, action, where(atom, True), test))]
