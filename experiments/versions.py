"""The versions that a result may depend on."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import aam_vision

PACKAGES = (
    "numpy", "torch", "pddlgym", "pyperplan", "unified_planning", "up_fast_downward", "python-sat",
    "amlgym", "olam", "information-gain-aml", "n-sam", "nolam",
)  # fmt: skip
"""Their versions can change what is measured."""


@cache
def versions() -> dict[str, str]:
    """Names and versions of this toolkit, Python and the packages behind it that are installed."""
    found = {"aam-vision": aam_vision.__version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
