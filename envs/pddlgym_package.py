"""PDDLGym, imported when it is first needed.

PDDLGym 0.0.7 was written for the legacy ``gym`` package: ``gymnasium`` stands in for it, but only while
PDDLGym is imported.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType

from aam_vision.envs.pddlgym_files import INSTALL
from aam_vision.errors import UnusableInput

_LEGACY = ("gym", "gym.spaces", "gym.envs", "gym.envs.registration")


@contextmanager
def _gymnasium_as_gym() -> Iterator[None]:
    """Let ``import gym`` mean gymnasium, then put ``sys.modules`` back as it was."""
    import gymnasium.envs.registration
    import gymnasium.spaces  # noqa: F401

    before = {name: sys.modules.get(name) for name in _LEGACY}
    for name in _LEGACY:
        sys.modules[name] = sys.modules["gymnasium" + name.removeprefix("gym")]
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


@contextmanager
def without_its_warnings() -> Iterator[None]:
    """Keep quiet about PDDLGym's dated use of regular expressions, which users cannot change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@cache
def pddlgym() -> ModuleType:
    """PDDLGym's package, imported on first use (about 0.7 s, mostly matplotlib and scipy).

    Raises:
        UnusableInput: if it is not installed, as after a plain installation on Python 3.12 or later.
    """
    with _gymnasium_as_gym(), without_its_warnings():
        try:
            package = import_module("pddlgym")
        except ModuleNotFoundError as error:
            if error.name != "pddlgym":
                raise
            raise UnusableInput(INSTALL) from None
        import_module("pddlgym.core")
        import_module("pddlgym.parser")
        import_module("pddlgym.inference")
    return package
