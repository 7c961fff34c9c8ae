"""What a page shows first, and what afterwards."""

from __future__ import annotations

from typing import Any

from aam_vision.training.labelling.server import Shown
from aam_vision.training.labelling.waiting import Stale


class Busy:
    """A page that says what it waits for; a ``server.Shown``."""

    def __init__(self, told: str) -> None:
        self._told = told

    def view(self) -> dict[str, Any]:
        """All that the page shows."""
        return {"kind": "busy", "labelled": 0, "most": 0, "told": self._told}

    def picture(self, serial: int) -> bytes:
        """No picture."""
        raise Stale("no picture is shown")

    def act(self, what: str, facts: dict[str, Any]) -> str:
        """Nothing can be done."""
        raise Stale("nothing is asked")


class Front:
    """Passes everything on to what is shown at present; a ``server.Shown``.

    Attributes:
        shown: that.
    """

    def __init__(self, shown: Shown) -> None:
        self.shown = shown

    def view(self) -> dict[str, Any]:
        """All that the page shows."""
        return self.shown.view()

    def picture(self, serial: int) -> bytes:
        """A picture as PNG."""
        return self.shown.picture(serial)

    def act(self, what: str, facts: dict[str, Any]) -> str:
        """Do what the page asks for."""
        return self.shown.act(what, facts)
