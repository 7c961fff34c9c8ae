"""The display of a running interrogation."""

from aam_vision.display.following import Display, Sights

__all__ = ["Display", "Sights"]
