"""The camera: pictures of a world without a display, by EGL or, where that does not work, by OSMesa.

``MUJOCO_GL`` decides which of the two where it is set. MuJoCo's own renderer chooses when it is imported and ends the
process where there is no display; so the library is asked here for what works.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, Final, Protocol
from weakref import finalize

import mujoco
import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Frame
from aam_vision.envs.tabletop.mjcf import CAMERA
from aam_vision.support.errors import UnusableInput, reason

BACKENDS: Final = ("egl", "osmesa")
"""Modules of MuJoCo that draw without a display, in the order in which they are tried."""
_PLATFORM: Final = "PYOPENGL_PLATFORM"
_GEOMETRIES: Final = 100
"""Room for geometries in a picture."""
_BY_NUMBER: Final = [int(mujoco.mjtRndFlag.mjRND_SEGMENT), int(mujoco.mjtRndFlag.mjRND_IDCOLOR)]
_GEOMETRY: Final = int(mujoco.mjtObj.mjOBJ_GEOM)
_PLACE_VALUES: Final = np.array([1, 256, 65536], np.int32)
"""Of red, green and blue, in a picture whose colours are numbers."""


class Drawn(Protocol):
    """A model of MuJoCo's with its state. ``number``: of the thing that a geometry belongs to, or None."""

    model: Any
    data: Any

    def number(self, geometry: int, /) -> int | None: ...


class Drawing:
    """Draws one world, in pictures of a height and width in pixels; UnusableInput if neither EGL nor OSMesa works here."""

    def __init__(self, world: Drawn, size: tuple[int, int]) -> None:
        self._world = world
        height, width = size
        self._gl = gl_context(width, height)
        self._gl.make_current()
        self._view = mujoco.MjrRect(0, 0, width, height)
        self._scene = mujoco.MjvScene(world.model, _GEOMETRIES)
        self._options = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._context = mujoco.MjrContext(world.model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        mujoco.mjr_resizeOffscreen(width, height, self._context)
        self._finalizer = finalize(self, _free, self._gl, self._context)
        # MuJoCo ends EGL at exit, and finalizers may run after that: their order was fixed by whoever made the first one
        atexit.register(self._finalizer)
        self._pixels = np.empty((height, width, 3), np.uint8)

    def picture(self, camera: str = CAMERA) -> Frame:
        """The present picture, uint8 (H, W, 3)."""
        self._look(camera)
        self._draw()
        return np.ascontiguousarray(self._pixels[::-1])

    def shown(self, camera: str = CAMERA) -> NDArray[np.intp]:
        """Which thing each pixel of the present picture shows: its number, or -1; (H, W)."""
        self._look(camera)
        flags = self._scene.flags
        flags[_BY_NUMBER] = 1  # every geometry in a plain colour that is its number in the scene
        try:
            self._draw()
        finally:
            flags[_BY_NUMBER] = 0
        colours = self._pixels[::-1].astype(np.int32) @ _PLACE_VALUES
        things = np.full(_GEOMETRIES + 1, -1)
        for one in self._scene.geoms[: self._scene.ngeom]:
            if one.objtype == _GEOMETRY and (number := self._world.number(one.objid)) is not None:
                things[one.segid + 1] = number  # colour 0 is where nothing is
        found: NDArray[np.intp] = things[colours]
        return found

    def _look(self, camera: str) -> None:
        """Bring the scene that is drawn up to date with the world."""
        world = self._world
        self._camera.fixedcamid = world.model.camera(camera).id
        every = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(world.model, world.data, self._options, None, self._camera, every, self._scene)

    def _draw(self) -> None:
        """Draw the scene into ``_pixels``, its lowest row first."""
        self._gl.make_current()
        mujoco.mjr_render(self._view, self._scene, self._context)
        mujoco.mjr_readPixels(self._pixels, None, self._view, self._context)

    def close(self) -> None:
        """Give the context back; it is given back at the end of the process at the latest, while that still works."""
        atexit.unregister(self._finalizer)
        self._finalizer()


def _free(gl: Any, context: Any) -> None:
    # it may draw in another thread than the one that collects it: then all of it is given back with ``gl``
    with suppress(Exception):
        gl.make_current()
        context.free()
    gl.free()


def gl_context(width: int, height: int) -> Any:
    """A context to draw in without a display; UnusableInput if there is none."""
    wanted = os.environ.get("MUJOCO_GL", "").lower().strip()
    tried = (wanted,) if wanted in BACKENDS else BACKENDS
    failures = []
    for backend in tried:
        try:
            with _platform_kept_on_success(backend):
                # MuJoCo's class gives back on deletion what it may have failed to get
                kind = type("Context", (import_module(f"mujoco.{backend}").GLContext,), {"_context": None})
                return kind(width, height)
        except Exception as error:  # whatever a driver that is not there fails with
            failures.append(f"{backend}: {reason(error)}")
    raise UnusableInput(
        f"tabletop: cannot draw without a display ({'; '.join(failures)}); install EGL (Debian: libegl1 libegl-mesa0 "
        f"libgl1-mesa-dri) or OSMesa (libosmesa6)"
    )


@contextmanager
def _platform_kept_on_success(backend: str) -> Iterator[None]:
    """Leave no trace of an attempt that fails: PyOpenGL remembers its first platform, which rules out any other."""
    before, modules = os.environ.get(_PLATFORM), set(sys.modules)
    try:
        yield
    except Exception:
        if before is None:
            os.environ.pop(_PLATFORM, None)
        for name in [n for n in sys.modules if n not in modules]:
            if name.split(".")[0] == "OpenGL" or name == f"mujoco.{backend}":
                del sys.modules[name]
        raise
