"""What the labels of a folder belong to, so that the same command goes on with them and no other one does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from aam_vision.agents.encoding import loads
from aam_vision.commandline import write_atomically
from aam_vision.errors import UnusableInput
from aam_vision.files import read_limited
from aam_vision.training import described
from aam_vision.training.folder import LABELS

FILE: Final = "session.json"
MOST_BYTES: Final = 100_000
PAGE, SIMULATOR = "page", "simulator"
"""Who can be asked."""
PICTURES, ATOMS = "pictures", "atoms"
"""What can be asked about."""

_USUAL: Final = {"ask": PICTURES, "labels": PAGE}
"""Options that are not noted where they are these."""


def keep(folder: Path, settings: Mapping[str, Any]) -> None:
    """Note what the pictures and the answers of a folder depend on, unless there are labels that depend on something else.

    Args:
        folder: with labels, or without.
        settings: ``env``, ``seed``; ``steps`` of walks, or ``pictures``, a digest of all; ``ask`` and ``labels`` where they are not
            the usual ones.

    Raises:
        UnusableInput: it holds other labels.
    """
    known = _known(folder / FILE) if _begun(folder) else None
    if known is None:
        if _begun(folder) and settings.get("labels") == SIMULATOR:
            raise UnusableInput(f"{folder}: holds labels already, which would be lost; give another --out")
        write_atomically(folder / FILE, json.dumps(settings, indent=2) + "\n")
    elif known != settings:
        raise UnusableInput(f"{folder}: {_difference(known, settings)}, or another --out")


def _begun(folder: Path) -> bool:
    """Whether a folder has labels, or a described scene."""
    labels = folder / LABELS
    return (labels.is_file() and labels.stat().st_size > 0) or (folder / described.FILE).exists()


def _known(path: Path) -> dict[str, Any] | None:
    """What is noted in a file; None if there is none.

    Raises:
        UnusableInput: it cannot be read.
    """
    try:
        found = loads(read_limited(path, MOST_BYTES))
        if not isinstance(found, dict):
            raise ValueError("no object")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UnusableInput(f"cannot read {path} ({error}): give another --out") from None
    return found


def _difference(known: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """In what labels differ from those that are asked for, and what to give instead."""
    if known.get("env") != settings.get("env"):
        return f"its labels are for {known.get('env')}, not for {settings.get('env')}; give --env or --domain of these"
    if known.get("pictures") != settings.get("pictures"):
        if "pictures" in known and "pictures" in settings:
            return (
                "the pictures of --images are not those that it was begun with: one was added, removed or changed; give "
                "the same pictures"
            )
        whose = "of a folder" if "pictures" in known else "of walks"
        return f"its labels are of pictures {whose}; give the same command as for these"
    names = [
        name
        for name in ("steps", "ask", "labels", "seed")
        if known.get(name, _USUAL.get(name)) != settings.get(name, _USUAL.get(name))
    ]
    options = " ".join(f"--{name} {known.get(name, _USUAL.get(name))}" for name in names)
    return f"its labels belong to {options or 'other options'}; give the same"
