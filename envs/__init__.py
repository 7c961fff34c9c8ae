"""Image environments over PDDLGym's simulator: Sokoban, Doors, Maze, Slidetile, Hanoi, Blocks and Exploding Blocks.

Importing this package registers ``aam_vision/Sokoban-v0`` and its like with Gymnasium and loads neither
PDDLGym nor matplotlib. Everything else is asked of `aam_vision.envs.registry`.
"""

from __future__ import annotations

import os
import sys
from typing import Final

import gymnasium

if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"} & os.environ.keys():
    # environments draw into arrays: without this, SDL (pygame) looks for a display and a sound card, and complains
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_AUDIODRIVER", "dummy")

DOMAINS: Final = ("sokoban", "doors", "maze", "slidetile", "hanoi", "blocks")
"""Names of domains, and of their modules here, each with a `BoardDomain` of that name in capitals. A domain is one more name."""

WITH_CHANCE: Final = ("explodingblocks",)
"""The same for domains whose operators have several outcomes."""

TOLD_WITH_CHANCE: Final = ("river", "tireworld")
"""Domains of PDDLGym's with chance whose states are told as symbols."""

for _name in DOMAINS + WITH_CHANCE:
    _id = f"aam_vision/{_name.capitalize()}-v0"
    if _id not in gymnasium.registry:
        gymnasium.register(_id, "aam_vision.envs.board_env:BoardEnv", kwargs={"domain": _name})
