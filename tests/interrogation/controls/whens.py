"""Worlds of two lamps with a control that has conditional effects, ``(when CONDITION EFFECT)`` in PDDL."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

from aam_vision.agents.bare import BareSymbolicAgent

from . import worlds

ATOMS = ("(bright ?l)", "(warm ?l)", "(power)")
"""What conditions and effects are about: the lamp that is given, or nothing."""
Literal = tuple[str, bool]
When = tuple[tuple[Literal, ...], tuple[Literal, ...]]
"""A condition, and effects."""


def text_of(literals: Sequence[Literal]) -> str:
    return " ".join(atom if value else f"(not {atom})" for atom, value in literals)


def domain(whens: Sequence[When]) -> tuple[str, list[str]]:
    """A domain whose control ``press`` has these conditional effects, and its controls; the others flip one fact each.

    There is an operator of ``press`` for each set of atoms that may hold; as in PDDL, what is added and deleted is added.
    """
    actions, presses, controls = list[str](), list[str](), list[str]()
    for number, values in enumerate(product((False, True), repeat=len(ATOMS))):
        now = dict(zip(ATOMS, values, strict=True))
        fired = [
            effects for condition, effects in whens if all(now[atom] is value for atom, value in condition)
        ]
        after = now | {atom: False for some in fired for atom, value in some if not value}
        after |= {atom: True for some in fired for atom, value in some if value}
        if after != now:
            presses.append(f"press-{number}")
            changed = [(atom, value) for atom, value in after.items() if value != now[atom]]
            actions.append(_action(presses[-1], "?l - lamp", list(now.items()), changed))
    for atom in ATOMS:
        name, parameters = atom.strip("()").split()[0], "?l - lamp" if "?l" in atom else ""
        for value in (True, False):
            actions.append(
                _action(f"{name}-{value}".lower(), parameters, [(atom, not value)], [(atom, value)])
            )
        controls.append(f"flip-{name}({'?l' if parameters else ''})={name}-true,{name}-false")
    types = "(bright ?l - lamp) (warm ?l - lamp) (power)"
    head = (
        "(define (domain when) (:requirements :strips :typing :negative-preconditions) (:types lamp - object)"
    )
    return f"{head} (:predicates {types}) {' '.join(actions)})", [f"press(?l)={','.join(presses)}", *controls]


def _action(name: str, parameters: str, condition: Sequence[Literal], effects: Sequence[Literal]) -> str:
    return (
        f"(:action {name} :parameters ({parameters}) :precondition (and {text_of(condition)}) "
        f":effect (and {text_of(effects)}))"
    )


def world(whens: Sequence[When], folder: Path) -> BareSymbolicAgent:
    """The agent of such a domain, with two lamps."""
    text, controls = domain(whens)
    start = worlds.state(worlds.model(text, folder), {"one": "lamp", "two": "lamp"}, "bright one", "warm two")
    return worlds.agent(text, controls, [start], folder)


def some(seed: int) -> list[When]:
    """Two or three conditional effects at random, the first one of which does something."""
    rng = np.random.default_rng(seed)
    found = list[When]()
    for _ in range(int(rng.integers(2, 4))):
        places = [int(place) for place in rng.permutation(len(ATOMS))]
        size = int(rng.integers(1, 3))
        condition = tuple((ATOMS[place], bool(rng.integers(2))) for place in places[:size])
        effects = tuple(
            (ATOMS[place], bool(rng.integers(2))) for place in places[size:][: int(rng.integers(1, 3))]
        )
        found.append((condition, effects))
    return found
