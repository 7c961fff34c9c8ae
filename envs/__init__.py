"""Image environments over PDDLGym's simulator: Sokoban and Doors.

Importing this package registers ``aam_vision/Sokoban-v0`` and ``aam_vision/Doors-v0`` with Gymnasium
and loads neither PDDLGym nor matplotlib. Everything else is asked of `aam_vision.envs.registry`.
"""

from __future__ import annotations

import gymnasium

for _id, _class in (
    ("aam_vision/Sokoban-v0", "aam_vision.envs.sokoban:SokobanEnv"),
    ("aam_vision/Doors-v0", "aam_vision.envs.doors:DoorsEnv"),
):
    if _id not in gymnasium.registry:
        gymnasium.register(_id, _class)
