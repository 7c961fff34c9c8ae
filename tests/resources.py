"""Resources that are spent after a number of looks at them, whatever the time: the same on every machine."""

from __future__ import annotations

from aam_vision.support.resources import Resources

WHY = "so much was taken"


class Looked(Resources):
    """Spent at the look after so many."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.left = looks

    @property
    def spent(self) -> str:
        """Counts down."""
        self.left -= 1
        return WHY if self.left < 0 else ""
