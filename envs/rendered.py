"""The image that a Gymnasium environment shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from aam_vision.envs.restoring import Env
from aam_vision.errors import UnusableInput, reason
from aam_vision.perception import Frame


def rendered(env: Env) -> Frame:
    """The present image, uint8 (H, W, 3).

    Raises:
        UnusableInput: the environment gives no such image.
    """
    try:
        image: Any = env.render()
    except Exception as error:  # whatever a user's environment raises
        raise UnusableInput(
            f"{env.unwrapped}: render() raised {reason(error)}; correct the environment"
        ) from error
    if not isinstance(image, np.ndarray) or image.ndim != 3 or image.shape[2] != 3:
        raise UnusableInput(
            f"{env.unwrapped}: render() gave no RGB image ({type(image).__name__}); make it with "
            "render_mode='rgb_array'"
        )
    return image.astype(np.uint8, copy=True)
