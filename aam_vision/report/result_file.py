"""``result.json`` as a report reads it; the file may be anybody's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aam_vision.agents.encoding import Malformed, field, loads
from aam_vision.errors import UnusableInput
from aam_vision.files import read_limited
from aam_vision.report.ending import in_todays_words, printable, read_ending

MAX_BYTES = 50_000_000
"""Bytes of ``result.json`` at most."""
_COUNTS = ("queries", "steps", "failed_steps", "walk_steps", "resets", "seed")


def read_figures(path: Path, *, chance: bool) -> Mapping[str, Any] | None:
    """The contents of ``result.json``; None if there is none. ``chance``: of a run that learned how often.

    Raises:
        UnusableInput: it is damaged, or lacks what such a run writes.
    """
    if path.is_symlink() or not path.is_file():
        return None
    try:
        found = loads(read_limited(path, MAX_BYTES))
        for name in (*_COUNTS, *(() if chance else ("lower_bound",))):
            field(found, name, int)
        for name in ("env", "status", "access", "why" if chance else "policy"):
            found[name] = printable(field(found, name, str))
        in_todays_words(found)
        if not chance:
            field(found, "curve", list)
            read_ending(found)
    except (Malformed, OSError, UnicodeDecodeError) as error:
        raise UnusableInput(f"{path}: damaged, or of another version ({error})") from None
    assert isinstance(found, dict)
    return found
