"""How much the property tests try, by the environment variable ``AAM_PROFILE``.

``default``: the number of examples each property asks for, always the same ones. ``ci``: the same, and 300 for
what the engine promises (``promised``). ``nightly``: ten times as many of all, other ones every time; what fails is
printed with the seed that repeats it. ``mutants``: half as many, and what fails is not made smaller: there it is
enough that something fails. There is no deadline anywhere.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

PROFILES = {"default": (1.0, 0), "ci": (1.0, 300), "nightly": (10.0, 5000), "mutants": (0.5, 0)}
"""A factor for every property, and the least number of examples for what the engine promises."""
PROFILE = os.environ.get("AAM_PROFILE", "default")
FACTOR, LEAST = PROFILES[PROFILE]


def thorough(examples: int) -> settings:
    """The settings of a property that is tried on so many examples."""
    return settings(
        max_examples=scaled(examples),
        phases=[Phase.explicit, Phase.generate] if PROFILE == "mutants" else list(Phase),
        deadline=None,
        derandomize=PROFILE != "nightly",
        print_blob=PROFILE == "nightly",
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


def promised(examples: int) -> settings:
    """The settings of a property that the engine promises: never less than ``LEAST`` examples."""
    return settings(thorough(examples), max_examples=max(scaled(examples), LEAST))


def scaled(examples: int) -> int:
    """So many examples of a property, in this profile."""
    return max(1, round(examples * FACTOR))
