"""The pages of the reference can be read as files: each begins with the names that it describes, a line for each.

``python -m tests.test_reference`` writes these lists anew.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
DESCRIBED = re.compile(r"^::: (\S+)((?:\n    .*)*)", re.MULTILINE)
MEMBERS = re.compile(r"members: \[(.*)\]")


def _resolved(name: str) -> Any:
    """What a dotted name means: a module, or something in one."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, own = name.rpartition(".")
        return getattr(_resolved(module), own)


def _described(page: str) -> Iterator[tuple[str, Any]]:
    """The names that a page describes, and what they mean; those of a module one by one."""
    for name, options in DESCRIBED.findall(page):
        found, members = _resolved(name), MEMBERS.search(options)
        if not inspect.ismodule(found):
            yield name.rpartition(".")[2], found
            continue
        own = [one for one, value in vars(found).items() if getattr(value, "__module__", "") == name]
        for one in members[1].split(", ") if members else own:
            if not one.startswith("_") and inspect.getdoc(getattr(found, one)):
                yield one, getattr(found, one)


def contents(page: str) -> str:
    """The list of the names that a page describes, with the first line of each."""
    lines = {name: (inspect.getdoc(value) or "").partition("\n")[0] for name, value in _described(page)}
    lines = {name: line.replace("``", "`").replace("<", r"\<") for name, line in lines.items()}
    return "\n".join(f"- `{name}`: {line}" for name, line in lines.items())


@pytest.mark.parametrize(
    "page", sorted(path.name for path in FOLDER.glob("*.md") if ":::" in path.read_text("utf-8"))
)
def test_a_page_begins_with_what_is_on_it(page: str) -> None:
    text = (FOLDER / page).read_text("utf-8")
    wanted = contents(text)
    assert wanted
    assert wanted in text.partition("\n::: ")[0]


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.md")):
        described = path.read_text("utf-8")
        listed = contents(described)
        path.write_text(
            re.sub(r"(?<=On this page:\n\n)(- .*\n)+", lambda _, listed=listed: f"{listed}\n", described),
            "utf-8",
        )
