"""The reference agent as a program, with something changed in it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from aam_vision.agents import reference_agent

DOES = "    return (state - before) | after if before <= state else None\n"
"""What it does in a state."""


def changed_program(folder: Path, changes: Mapping[str, str]) -> str:
    """The command that starts the reference agent with these pieces of its source replaced."""
    source = Path(reference_agent.__file__).read_text(encoding="utf-8")
    for before, after in changes.items():
        assert source.count(before) == 1, before
        source = source.replace(before, after)
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    return f"{sys.executable} {path}"
