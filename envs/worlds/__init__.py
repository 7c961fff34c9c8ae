"""Ready-made worlds: environments of other packages with a vocabulary, a scene, instructions and controls of ours.

``minigrid:TASK`` is MiniGrid's task of that name; its classifiers are those of ``minigrid``, trained once on random boards.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from aam_vision.support.errors import UnusableInput, reason

if TYPE_CHECKING:
    from aam_vision.envs.controlled import ReadyWorld

MINIGRID: Final = "minigrid"
TOYS: Final = {"taxi": "taxi", "frozenlake": "frozen_lake"}
"""Worlds of Gymnasium's toy text, with the modules that describe them."""
TABLETOP: Final = "tabletop"
"""The robot arm of `aam_vision.envs.tabletop`."""
ALIKE: Final = f"{TABLETOP}:alike"
"""The same, with three blocks of one look in every scene."""
SLIPPERY: Final = f"{TABLETOP}:slippery"
"""The same arm; things slip out of its fingers."""
NAMES: Final = (f"{MINIGRID}:TASK", *TOYS, TABLETOP, ALIKE)
"""What ``--env`` may be, with ``TASK`` for the name of a task."""
WITH_CHANCE: Final = (SLIPPERY,)
"""The same for worlds whose instructions may have several outcomes."""
_TABLES: Final = (TABLETOP, ALIKE, SLIPPERY)

_INSTALL: Final = {
    "minigrid": 'pip install "aam-vision[minigrid]"',
    "pygame": 'pip install "gymnasium[toy-text]"',
    "mujoco": 'pip install "aam-vision[robot]"',
}


def known(name: str) -> bool:
    """Whether a name is that of a ready-made world; a task may turn out not to exist."""
    return name in (MINIGRID, *_TABLES) or name in TOYS or name.startswith(f"{MINIGRID}:")


def load(name: str) -> ReadyWorld:
    """The world of that name, one that is ``known``.

    Raises:
        UnusableInput: its package is not installed, has no such task, or a task that the vocabulary does not cover.
    """
    package, _, task = name.partition(":")
    needed = "pygame" if name in TOYS else "mujoco" if name in _TABLES else package
    if find_spec(needed) is None:
        raise UnusableInput(f"{name}: {needed} is not installed; run {_INSTALL[needed]}")
    if name in TOYS:
        found: ReadyWorld = import_module(f"{__name__}.{TOYS[name]}").world()
        return found
    if name in _TABLES:
        return _tabletop(name)
    from aam_vision.envs.worlds import minigrid_tasks

    return minigrid_tasks.task(task) if task else minigrid_tasks.training()


def _tabletop(name: str) -> ReadyWorld:
    """The robot arm on a table, some blocks of which may look alike, or whose hand may slip.

    MuJoCo already fails when it is imported if ``MUJOCO_GL`` names what does not work.
    """
    try:
        from aam_vision.envs.tabletop import environment
    except Exception as error:  # whatever a driver that is not there fails with
        drawn_by = os.environ.get("MUJOCO_GL", "")
        raise UnusableInput(
            f"tabletop: mujoco cannot be imported with MUJOCO_GL={drawn_by!r} ({reason(error)}); unset it, or install "
            "what it names (Debian: libegl1 libegl-mesa0 libgl1-mesa-dri, or libosmesa6)"
        ) from error
    return (
        environment.slippery_world()
        if name == SLIPPERY
        else environment.world(environment.ALIKE if name == ALIKE else 1)
    )
