"""A finished run whose agent is made out not to be as was assumed, for the page that tells about it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from aam_vision.agents.journal import Journal
from aam_vision.report.recorded import images
from tests.finished import result_of

STEP = "moveto(loc-0-0, loc-0-1, room-0)"
WHY = "moveto: refused in one situation, and executed in another that looks alike"


def diagnosed(run: Path, folder: Path, **changed: Any) -> Path:
    """A copy of a run with a diagnosis: two situations that look alike and went differently."""
    copy = shutil.copytree(run, folder)
    with Journal.open(copy) as journal:
        names = [*dict.fromkeys(images(journal).values()), None, None, None]
    figures = result_of(copy)
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
    figures |= {"status": "not-strips", "why": WHY, "doubt": WHY, "diagnosis": diagnosis | changed}
    (copy / "result.json").write_text(json.dumps(figures))
    return copy
