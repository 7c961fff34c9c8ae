"""The images of a plan that is carried out, as an animated GIF: each step with its control, and whether it was as predicted."""

from __future__ import annotations

from collections.abc import Sequence

from aam_vision.execution.watching import Step
from aam_vision.perception import Frame
from aam_vision.pictures import encode
from aam_vision.report.album import Picture
from aam_vision.report.video import MAX_FRAMES, Shot, animated


class Film:
    """Keeps the images that an agent shows, in order: the first situation, then one after every step."""

    def __init__(self) -> None:
        self._pictures: dict[str, Picture] = {}

    def keep(self, frame: Frame) -> str:
        """Keep an image, uint8, (H, W, 3), and return its name."""
        name = str(len(self._pictures))
        height, width = frame.shape[:2]
        self._pictures[name] = Picture(name, width, height, encode(frame))
        return name

    def gif(self, steps: Sequence[Step]) -> bytes:
        """The film of these steps, as far as it may be long; the agent has shown its images."""
        shots = [Shot("0", "The beginning", "", "before")]
        for step in steps[: MAX_FRAMES - 1]:
            kind = "refused" if not step.as_predicted else "last" if step is steps[-1] else "done"
            verdict = "as predicted" if step.as_predicted else "NOT AS PREDICTED"
            title = f"Step {step.number}, {step.control}: {verdict}"
            shots.append(Shot(str(step.number), title, str(step.operator), kind))
        return animated(shots, self._pictures)[0]
