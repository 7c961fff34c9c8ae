"""What a person sees while an interrogation runs."""

from aam_vision.display.following import Display, Sights

__all__ = ["Display", "Sights"]
