"""PDDLGym, imported when it is first needed, without what it brings along and does not need here.

PDDLGym 0.0.7 was written for the legacy ``gym`` package: ``gymnasium`` stands in for it, but only while PDDLGym is
imported. Its packages import all of its renderers and with them matplotlib, scikit-image and networkx, more than a
second's work: here only those of its modules are imported that are used, and stand-ins import what draws when it is
first called.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from aam_vision.envs.pddlgym_files import pddl_folder

_GYM = ("gym", "gym.spaces", "gym.envs", "gym.envs.registration")
_LATER = ("imageio", "matplotlib", "matplotlib.offsetbox", "matplotlib.patches", "matplotlib.pyplot", "skimage",
          "skimage.transform")  # fmt: skip
"""Modules of which PDDLGym calls nothing but functions and classes, and those only to draw."""


class _Later(ModuleType):
    """A stand-in for a module: each of its names is a function that imports the module when it is called."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        module = self.__name__
        if name.startswith("__"):
            raise AttributeError(name)
        if (module, name) == ("matplotlib.pyplot", "imread"):
            return _pixels

        def called(*arguments: Any, **options: Any) -> Any:
            return getattr(import_module(module), name)(*arguments, **options)

        return called


def _pixels(path: str) -> Any:
    """A PNG file as pyplot reads it: float32 from 0 to 1."""
    import numpy as np
    from PIL import Image

    with Image.open(path, formats=["PNG"]) as image:
        return np.divide(np.asarray(image), 255, dtype=np.float32)


class _Package(ModuleType):
    """A package of PDDLGym without the imports of its own: its modules are imported when they are asked for."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name)
        self.__path__ = [str(folder)]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        with _imported(self):
            return import_module(f"{self.__name__}.{name}")


@contextmanager
def _imported(package: _Package) -> Iterator[None]:
    """Let modules of a package be imported with stand-ins, then put ``sys.modules`` back as it was.

    The modules stay there, but not their package: whoever imports PDDLGym for themselves gets all of it.
    """
    import gymnasium.envs.registration
    import gymnasium.spaces  # noqa: F401

    lent: dict[str, ModuleType] = {name: sys.modules["gymnasium" + name.removeprefix("gym")] for name in _GYM}
    for name in _LATER:
        lent[name] = _Later(name)
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(lent[parent], own, lent[name])
    whole = pddlgym()
    lent |= {"pddlgym": whole, package.__name__: package}
    before = {name: sys.modules.get(name) for name in lent}
    sys.modules.update(lent)
    try:
        with without_its_warnings():
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
def pddlgym() -> Any:
    """PDDLGym's package; its modules are attributes that are imported on first use.

    Raises:
        UnusableInput: if it is not installed, as after a plain installation on Python 3.12 or later.
    """
    folder = pddl_folder().parent
    whole = _Package("pddlgym", folder)
    vars(whole)["rendering"] = _Package("pddlgym.rendering", folder / "rendering")
    return whole
