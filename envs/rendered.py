"""The image that a Gymnasium environment shows, found to be one."""

from __future__ import annotations

import numpy as np

from aam_vision.envs.restoring import Env
from aam_vision.errors import UnusableInput, reason
from aam_vision.perception import Frame
from aam_vision.pictures import fault


def rendered(env: Env, size: tuple[int, ...] | None = None) -> Frame:
    """The present image, uint8 (H, W, 3): a copy, as environments may draw into one array again and again.

    Args:
        env: draws it.
        size: shape of the images that it gave before, in this problem.

    Raises:
        UnusableInput: it gives no such image, or one of another size.
    """
    try:
        image: object = env.render()
    except Exception as error:  # whatever a user's environment raises
        raise UnusableInput(
            f"{env.unwrapped}: render() raised {reason(error)}; correct the environment"
        ) from error
    frame = copied(image, f"{env.unwrapped}: render() gave a picture that is")
    if size is not None:
        check_size(frame, size, f"{env.unwrapped}: render() gave")
    return frame


def copied(image: object, whose: str) -> Frame:
    """A copy of an image.

    Raises:
        UnusableInput: it is none; the message begins with ``whose``.
    """
    if (why := fault(image)) is not None:
        raise UnusableInput(f"{whose} {why}")
    return np.array(image, np.uint8)


def check_size(frame: Frame, size: tuple[int, ...], whose: str) -> None:
    """Refuse an image that has another shape than those before it; the message begins with ``whose``."""
    if frame.shape != size:
        raise UnusableInput(
            f"{whose} {size_text(frame)} after {size[1]}x{size[0]} in the same problem; draw all pictures of a problem in one size"
        )


def size_text(frame: Frame) -> str:
    """Width and height of an image, in words."""
    return f"{frame.shape[1]}x{frame.shape[0]} pixels"
