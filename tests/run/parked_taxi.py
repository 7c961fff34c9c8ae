"""Gymnasium's Taxi with a brake that nobody sees: set when a passenger gets off, released when one gets on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aam_vision.classifiers
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.restoring import attributes
from aam_vision.envs.worlds import taxi

WEIGHTS = Path(aam_vision.classifiers.__path__[0]) / "weights"


class Parked(taxi.Turning):
    """It does not drive while the brake is set."""

    parked = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._drawn: dict[tuple[Any, ...], Any] = {}

    def render(self) -> Any:
        """Draw each situation once: drawing is half of a run."""
        here = (self.s, self.lastaction, self.taxi_orientation)
        if here not in self._drawn:
            self._drawn[here] = super().render()
        return self._drawn[here].copy()

    def reset(self, **options: Any) -> Any:
        """Begin with the brake released."""
        self.parked = False
        return super().reset(**options)

    def step(self, action: int) -> Any:
        """Drive, unless the brake is set; pick up or drop off."""
        if self.parked and action < len(taxi.DIRECTIONS):
            return self.s, 0, False, False, {}
        before = self.s
        found = super().step(action)
        if action in (taxi.PICK_UP, taxi.DROP_OFF) and self.s != before:
            self.parked = action == taxi.DROP_OFF
        return found


ENVIRONMENT = OwnEnvironment(
    "taxi",
    taxi.VOCABULARY,
    taxi.INSTRUCTIONS,
    lambda: Parked(render_mode="rgb_array"),
    taxi.scene,
    seeds=(3, 5),
    weights=WEIGHTS,
    restore=attributes("s", "lastaction", "taxi_orientation", "parked"),
    stops=False,
)
