"""The display of a running interrogation."""

from aam_vision.report.display.following import Display, Sights

__all__ = ["Display", "Sights"]
