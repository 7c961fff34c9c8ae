"""How much the property tests try, by the environment variable ``AAM_PROFILE``; and which cells of a matrix are for the night.

``default``: the number of examples each property asks for, always the same ones. ``ci``: a third as many, and 60 for
what the engine promises (``promised``). ``nightly``: ten times as many of all, other ones every time; what fails is
printed with the seed that repeats it. ``mutants``: half as many, and what fails is not made smaller: there it is enough
that something fails. There is no deadline anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

PROFILES = {"default": (1.0, 0), "ci": (1 / 3, 60), "nightly": (10.0, 5000), "mutants": (0.5, 0)}
"""A factor for every property, and the least number of examples for what the engine promises."""
PROFILE = os.environ.get("AAM_PROFILE", "default")
FACTOR, LEAST = PROFILES[PROFILE]
NIGHTLY = PROFILE == "nightly"
WHOLE = PROFILE in ("nightly", "mutants")
"""Whether what is marked ``nightly`` is tried, too: bugs that were put in have to be noticed by some test."""


def thorough(examples: int) -> settings:
    """The settings of a property that is tried on so many examples."""
    return settings(
        max_examples=scaled(examples),
        phases=[Phase.explicit, Phase.generate] if PROFILE == "mutants" else list(Phase),
        deadline=None,
        derandomize=not NIGHTLY,
        print_blob=NIGHTLY,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


def promised(examples: int) -> settings:
    """The settings of a property that the engine promises: never less than ``LEAST`` examples."""
    return settings(thorough(examples), max_examples=max(scaled(examples), LEAST))


def scaled(examples: int) -> int:
    """So many examples of a property, in this profile."""
    return max(1, round(examples * FACTOR))


def crossed(*axes: Iterable[Any]) -> list[Any]:
    """All combinations, as parameters of a test. Those few that have every value once are tried always, all others are ``nightly``."""
    values = [[*axis] for axis in axes]
    kept = [tuple(axis[number % len(axis)] for axis in values) for number in range(max(map(len, values)))]
    return [
        pytest.param(*cell, marks=() if cell in kept else pytest.mark.nightly) for cell in product(*values)
    ]


def first(number: int, cases: Iterable[Any]) -> list[Any]:
    """The cases as parameters of a test, of which the first so many are tried always, and all others are ``nightly``."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=pytest.mark.nightly if place >= number else (),
        )
        for place, case in enumerate(cases)
    ]


def some(number: int, cases: Sequence[Any]) -> Sequence[Any]:
    """The first so many of the cases that one test tries one after the other; all of them by night."""
    return cases if WHOLE else cases[:number]
