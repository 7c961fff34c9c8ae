"""The scene as MuJoCo reads it: a table, a jointed arm with a two-finger gripper, things, lights and a camera.

The arm is of the kind called SCARA: two links turn about upright axes, a quill goes up and down, and the gripper turns with it.
Nothing is welded: what is lifted is held by the friction of two fingers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin
from typing import Final

from aam_vision.envs.tabletop.layouts import BALL, BLOCK, CRATE, STEEL

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

_COLOURS: Final = {
    "red": "0.80 0.10 0.08",
    "green": "0.10 0.55 0.15",
    "blue": "0.10 0.25 0.80",
    "yellow": "0.92 0.78 0.08",
    "purple": "0.50 0.12 0.60",
    "white": "0.92 0.92 0.90",
}
_SHAPES: Final = {BLOCK: "box", BALL: "sphere", STEEL: "box", CRATE: "box"}


def material(look: str) -> str:
    """The name of the material of a look."""
    return f"look-{look}"


def body(number: int) -> str:
    """The name of the body, the joint and the geometry of a thing."""
    return f"thing-{number}"


def scene_xml(kinds: Sequence[str]) -> str:
    """The scene with things of these kinds, all at the origin; every look is one of its materials."""
    things = "\n".join(_thing(number, kind) for number, kind in enumerate(kinds))
    return f"""
<mujoco model="tabletop">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.003" integrator="implicitfast" cone="elliptic" impratio="8" iterations="20" tolerance="1e-7"/>
  <statistic center="0 0.05 0.15" extent="0.5"/>
  <visual>
    <global offwidth="640" offheight="640"/>
    <quality shadowsize="512" offsamples="0"/>
    <map znear="0.1" zfar="12" shadowclip="1.1"/>
    <headlight ambient="0.32 0.32 0.32" diffuse="0.25 0.25 0.25" specular="0 0 0"/>
  </visual>
  <default>
    <default class="arm">
      <geom contype="0" conaffinity="0" group="1" material="arm"/>
      <joint armature="0.02"/>
    </default>
    <default class="hand">
      <geom contype="2" conaffinity="1" friction="1.2 0.01 0.0002" condim="4" priority="1" solref="0.006 1" solimp="0.98 0.995 0.001" group="1" material="hand"/>
    </default>
    <default class="thing">
      <geom contype="1" conaffinity="3" friction="0.8 0.005 0.0005" condim="4" solref="0.006 1" solimp="0.95 0.99 0.001"/>
    </default>
  </default>
  <asset>
    {_ASSETS}
  </asset>
  <worldbody>
    <light name="lamp" directional="true" pos="-0.36 -0.25 1.0" dir="0.36 0.30 -0.88" diffuse="0.75 0.75 0.72" castshadow="true"/>
    <camera name="{CAMERA}" {_view()} fovy="{FIELD}"/>
    <camera name="{OVERVIEW}" pos="0.75 -1.15 0.75" xyaxes="0.838 0.546 0 -0.235 0.36 0.90" fovy="36"/>
    <geom name="floor" type="plane" size="3 3 0.1" pos="0 0 -0.4" material="floor" contype="0" conaffinity="0"/>
    <geom name="{TABLE}" type="box" size="0.34 0.26 0.02" pos="0 0.04 -0.02" material="table" contype="1" conaffinity="3" friction="0.8 0.005 0.0005" solref="0.006 1" solimp="0.95 0.99 0.001"/>
    {_ARM}
    {things}
  </worldbody>
  <equality>
    <joint joint1="left" joint2="right" polycoef="0 1 0 0 0" solref="0.006 1" solimp="0.95 0.99 0.001"/>
  </equality>
  <actuator>
    <position name="shoulder" joint="shoulder" kp="2500" dampratio="0.7"/>
    <position name="elbow" joint="elbow" kp="1500" dampratio="0.7"/>
    <position name="quill" joint="quill" kp="6000" dampratio="1" forcerange="-60 60"/>
    <position name="roll" joint="roll" kp="60" dampratio="1"/>
    <position name="left" joint="left" kp="1000" dampratio="1" forcerange="-{GRIP} {GRIP}"/>
    <position name="right" joint="right" kp="1000" dampratio="1" forcerange="-{GRIP} {GRIP}"/>
  </actuator>
</mujoco>
"""


def _view() -> str:
    """Place and axes of the camera."""
    right, away, up = LOOKED_AT
    place = f"{right} {away - AWAY * cos(STEEP):.4f} {up + AWAY * sin(STEEP):.4f}"
    return f'pos="{place}" xyaxes="1 0 0 0 {sin(STEEP):.4f} {cos(STEEP):.4f}"'


def _thing(number: int, kind: str) -> str:
    half = HALF[kind]
    size = f"{half}" if kind == BALL else f"{half} {half} {half}"
    rolling = 'condim="6" friction="0.8 0.005 0.01"' if kind == BALL else ""
    return f"""<body name="{body(number)}"><freejoint name="{body(number)}"/>
      <geom name="{body(number)}" class="thing" type="{_SHAPES[kind]}" size="{size}" mass="{MASS[kind]}" {rolling}/></body>"""


def _assets() -> str:
    plain = [
        f'<material name="{material(look)}" rgba="{rgb} 1" specular="0.2" shininess="0.3"/>'
        for look, rgb in _COLOURS.items()
    ]
    return "\n    ".join(
        [
            '<texture name="sky" type="skybox" builtin="gradient" rgb1="0.75 0.80 0.85" rgb2="0.45 0.50 0.55" width="64" height="64"/>',
            '<texture name="table" type="2d" builtin="flat" mark="random" random="0.25" rgb1="0.66 0.55 0.42" markrgb="0.60 0.49 0.37" width="128" height="128"/>',
            '<texture name="floor" type="2d" builtin="checker" rgb1="0.42 0.44 0.46" rgb2="0.38 0.40 0.42" width="64" height="64"/>',
            '<texture name="striped" type="cube" builtin="gradient" rgb1="0.95 0.45 0.65" rgb2="0.10 0.60 0.60" width="32" height="32"/>',
            '<texture name="checkered" type="cube" builtin="checker" rgb1="0.12 0.12 0.12" rgb2="0.90 0.90 0.88" width="32" height="32"/>',
            '<texture name="steel" type="cube" builtin="flat" mark="edge" rgb1="0.30 0.32 0.35" markrgb="0.12 0.12 0.13" width="32" height="32"/>',
            '<texture name="crate" type="cube" builtin="flat" mark="cross" rgb1="0.72 0.55 0.32" markrgb="0.40 0.28 0.14" width="32" height="32"/>',
            *plain,
            '<material name="look-striped" texture="striped"/>',
            '<material name="look-checkered" texture="checkered"/>',
            '<material name="look-ball" rgba="0.95 0.45 0.05 1" specular="0.6" shininess="0.6"/>',
            '<material name="look-steel" texture="steel" specular="0.8" shininess="0.7"/>',
            '<material name="look-crate" texture="crate"/>',
            '<material name="table" texture="table" texrepeat="2 2"/>',
            '<material name="floor" texture="floor" texrepeat="6 6" texuniform="true"/>',
            '<material name="arm" rgba="0.36 0.40 0.46 1" specular="0.4" shininess="0.5"/>',
            '<material name="dark" rgba="0.20 0.21 0.23 1"/>',
            '<material name="hand" rgba="0.25 0.26 0.29 1"/>',
        ]
    )


def _arm() -> str:
    first, second = LINKS
    thick, wide, long = FINGER
    fingers = "".join(
        f"""<body name="{name}" pos="{side * (WIDEST + thick)} 0 {-REACH + long}">
            <joint name="{joint}" type="slide" axis="{-side} 0 0" range="0 {WIDEST}" armature="0.01"/>
            <geom name="{name}" class="hand" type="box" size="{thick} {wide} {long}" mass="0.03"/></body>"""
        for name, joint, side in zip(FINGERS, ("left", "right"), (-1, 1), strict=True)
    )
    return f"""
    <body name="column" pos="{BASE[0]} {BASE[1]} 0" childclass="arm" gravcomp="1">
      <geom type="cylinder" size="0.055 0.01" pos="0 0 0.01" material="dark"/>
      <geom type="cylinder" size="0.035 {PLANE / 2}" pos="0 0 {PLANE / 2}"/>
      <body name="upper" pos="0 0 {PLANE}" gravcomp="1">
        <joint name="shoulder" type="hinge" axis="0 0 1" range="-3.1 3.1"/>
        <geom type="cylinder" size="0.045 0.03" pos="0 0 0.01" material="dark" mass="0.5"/>
        <geom type="box" size="0.03 {first / 2} 0.02" pos="0 {-first / 2} 0" mass="1"/>
        <body name="fore" pos="0 {-first} 0" gravcomp="1">
          <joint name="elbow" type="hinge" axis="0 0 1" range="-3.1 3.1"/>
          <geom type="cylinder" size="0.036 0.03" pos="0 0 0" material="dark" mass="0.4"/>
          <geom type="box" size="0.024 {second / 2} 0.016" pos="0 {-second / 2} 0" mass="0.6"/>
          <body name="quill" pos="0 {-second} 0" gravcomp="1">
            <joint name="quill" type="slide" axis="0 0 1" range="-{PLANE - REACH + 0.01} 0" armature="0.2"/>
            <geom type="cylinder" size="0.010 0.25" pos="0 0 0.24" material="arm" mass="0.2"/>
            <body name="hand" gravcomp="1">
              <joint name="roll" type="hinge" axis="0 0 1" range="-6.3 6.3" armature="0.005"/>
              <geom type="cylinder" size="0.016 0.02" pos="0 0 {-REACH + PALM + 0.044}" material="dark" mass="0.1"/>
              <geom name="{PALM_GEOM}" class="hand" type="box" size="0.040 0.015 0.012" pos="0 0 {-REACH + PALM + 0.012}" mass="0.1"/>
              {fingers}
            </body>
          </body>
        </body>
      </body>
    </body>"""


_ASSETS: Final = _assets()
_ARM: Final = _arm()
