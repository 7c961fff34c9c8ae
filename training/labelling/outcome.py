"""What labelling leaves behind: the weights, and a summary of what they took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from aam_vision.classifiers.weak import untaught
from aam_vision.commandline import Progress, write_atomically
from aam_vision.training.folder import Labellable
from aam_vision.training.labelling.rounds import Labelled
from aam_vision.training.labelling.session_file import ATOMS, PICTURES
from aam_vision.training.settings import write_files
from aam_vision.wording import counted

SUMMARY: Final = "labelling.json"


def written(
    domain: Labellable, found: Labelled, pictures: int, most: int, folder: Path, progress: Progress
) -> dict[str, Any]:
    """Write weights and summary, and tell what came of it.

    Args:
        domain: names the weights.
        found: what came of the rounds.
        pictures: that could be labelled.
        most: pictures, or answers about single atoms, that could be asked for.
        folder: receives the files.
        progress: is told.
    """
    assert found.network is not None
    assert found.card is not None
    files = write_files(found.network, found.card, folder, found.looks)
    test = found.examination
    summary: dict[str, Any] = {
        "ask": ATOMS if found.answers else PICTURES,
        "labelled_pictures": len(found.pictures),
        "labelled_atoms": found.atoms,
        "sure": found.sure,
        "examined_pictures": len(test.history),
        "mistakes": test.mistakes,
        "answers_since": test.answers,
        "bound": round(test.bound, 4),
        "refused": round(found.refused, 4),
        "untaught": [head for head in found.card.vocabulary["heads"] if untaught(found.card, head)],
        "cpu_s": [round(seconds, 1) for seconds in found.seconds],
    }
    if not domain.visual.cellless:  # layouts are compared by the looks of their cells
        summary["other_layouts"] = {
            "right": found.elsewhere.right,
            "wrong": found.elsewhere.wrong,
            "refused_places": found.elsewhere.refused,
            "bound": round(found.elsewhere.bound, 4),
        }
    write_atomically(folder / SUMMARY, json.dumps(summary, indent=2) + "\n")
    what = (
        f"{counted(found.atoms, 'answer')} about {len(found.pictures)} of {pictures} pictures"
        if found.answers
        else f"{len(found.pictures)} of {pictures} pictures labelled"
    )
    progress.stage(f"{domain.name}: {what}, {ended(found, most)}; written to {files.weights}")
    return summary


def ended(found: Labelled, most: int) -> str:
    """Why labelling ended, and how it can go on; see ``written``."""
    if found.sure:
        return "stopped by its test"
    asked, option = (found.atoms, "--answers") if found.answers else (len(found.pictures), "--pictures")
    if asked < most:
        return "nothing is left to be labelled, and the test is not passed"
    return f"stopped at {counted(most, option[2:-1])} without passing its test: a larger {option} goes on"
