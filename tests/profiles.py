"""How much the property tests try: a number of examples each, always the same ones, without a deadline.

``AAM_EXAMPLES=20`` tries twenty times as many, and other ones every time.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

FACTOR = int(os.environ.get("AAM_EXAMPLES", "1"))


def thorough(examples: int) -> settings:
    """The settings of a property that is tried on so many examples."""
    return settings(
        max_examples=examples * FACTOR,
        deadline=None,
        derandomize=FACTOR == 1,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
