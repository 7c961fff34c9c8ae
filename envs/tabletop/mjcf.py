"""The scene as MuJoCo reads it: a table, a jointed arm with a two-finger gripper, things, lights and a camera.

``templates/scene.xml.jinja`` is the scene; its numbers that others need are here. The arm is of the kind called SCARA: two links turn about upright axes, a quill goes up and down, and the gripper turns with it.
Nothing is welded: what is lifted is held by the friction of two fingers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin
from typing import Final

from aam_vision.envs.tabletop.layouts import BALL, BLOCK, CRATE, STEEL
from aam_vision.support.templates import rendered

HALF: Final = {BLOCK: 0.02, BALL: 0.02, STEEL: 0.02, CRATE: 0.036}
"""Half the width of a thing, in metres: half the edge, or the radius."""
MASS: Final = {BLOCK: 0.1, BALL: 0.05, STEEL: 1.6, CRATE: 0.2}
"""Kilograms."""

BASE: Final = (0.0, 0.34)
"""Where the arm's column stands, in metres."""
LINKS: Final = (0.27, 0.27)
"""Lengths of the two links, in metres."""
PLANE: Final = 0.48
"""Height of the links, in metres: above all that can be piled up."""
REACH: Final = 0.12
"""From the quill's flange to the finger tips, in metres."""
PALM: Final = 0.054
"""From the finger tips to the palm, in metres: more than one thing's height, less than two."""
WIDEST: Final = 0.029
"""From the middle to an open finger, in metres."""
FINGER: Final = (0.005, 0.011, PALM / 2)
"""Half the size of a finger, in metres."""
GRIP: Final = 5.0
"""Force of one finger, in newtons."""

TABLE, PALM_GEOM, FINGERS = "table", "palm", ("left-finger", "right-finger")
"""Names of geometries that are asked about."""
CAMERA, OVERVIEW = "camera", "overview"
STEEP: Final = radians(50)
"""How far the camera looks down. From lower down, what stands one row behind a thing looks as if it stood on it, and piles hide
more; from higher up, nothing ever hides anything."""
AWAY: Final = 2.2
"""How far the camera is from the point that it looks at, in metres."""
LOOKED_AT: Final = (0.0, 0.055, 0.075)
"""That point, in metres: the things and the hand at home are around it."""
FIELD: Final = 10.4
"""The camera's field of view, in degrees: all that stands on the table is in the picture, however high the pile."""

COLOURS: Final = {
    "red": "0.80 0.10 0.08",
    "green": "0.10 0.55 0.15",
    "blue": "0.10 0.25 0.80",
    "yellow": "0.92 0.78 0.08",
    "purple": "0.50 0.12 0.60",
    "white": "0.92 0.92 0.90",
}


def material(look: str) -> str:
    """The name of the material of a look."""
    return f"look-{look}"


def body(number: int) -> str:
    """The name of the body, the joint and the geometry of a thing."""
    return f"thing-{number}"


def scene_xml(kinds: Sequence[str]) -> str:
    """The scene with things of these kinds, all at the origin; every look is one of its materials."""
    right, away, up = LOOKED_AT
    return rendered(
        "aam_vision.envs.tabletop",
        "scene.xml.jinja",
        **{name: value for name, value in globals().items() if name.isupper()},
        kinds=kinds,
        body=body,
        material=material,
        place=f"{right} {away - AWAY * cos(STEEP):.4f} {up + AWAY * sin(STEEP):.4f}",
        steep=f"{sin(STEEP):.4f} {cos(STEEP):.4f}",
    )
