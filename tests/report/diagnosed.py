"""A finished run whose agent is made out not to be as was assumed, for the page that tells about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aam_vision.agents.journal import Journal
from aam_vision.report.recorded import images
from tests.finished import copied

STEP = "moveto(loc-0-0, loc-0-1, room-0)"
WHY = "moveto: refused in one situation, and executed in another that looks alike"


def diagnosed(run: Path, folder: Path, **changed: Any) -> Path:
    """A copy of a run with a diagnosis: two situations that look alike and went differently."""
    with Journal.open(run) as journal:
        names = [*dict.fromkeys(images(journal).values()), None, None, None]
    diagnosis = {
        "family": "hidden",
        "culprit": "moveto",
        "why": WHY,
        "literal": None,
        "seen": 2,
        "tried": 5,
        "pixels_differ": False,
        "steps": 14,
        "examples": [
            {"step": STEP, "outcome": "executed", "image": names[0], "image_after": names[2]},
            {"step": STEP, "outcome": "refused", "image": names[1], "image_after": None},
        ],
    }
    return copied(run, folder, status="not-strips", why=WHY, doubt=WHY, diagnosis=diagnosis | changed)
