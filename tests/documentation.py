"""The documentation as something that can be run: its pages, their fenced blocks, and the commands in them.

Every block of a page belongs to one of these kinds, told by its language:

=========== ==================================================================================
``console`` commands after ``$``, with what they print if that is shown (``...`` for some of it)
``python``  run, all blocks of a page in one namespace; examples after ``>>>`` as doctests
``pddl``    a domain, or a problem of the domain before it, read by the toolkit
``json``    parsed, ``jsonl`` and ``toml`` likewise
``bash``    a script, whose syntax is checked
``text``    no code: a drawing of the way that data takes
=========== ==================================================================================

A block with a title is a file of that name, which the commands after it can use.
"""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from aam_vision.agents import reference_agent
from aam_vision.model.domains import load
from aam_vision.model.pddl import domain_text

ROOT = Path(__file__).parent.parent
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[\w+-]*)(?P<attributes>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)
_TITLE = re.compile(r"""title="([^"]+)\"""")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    title: str | None
    body: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class Command:
    """A line after ``$``, and what the page shows of what it prints."""

    words: tuple[str, ...]
    shown: tuple[str, ...]


def pages() -> list[Path]:
    """Every page that a person reads: those of the site, and those at the top of the repository."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for fence in _FENCE.finditer(text):
        indent = fence["indent"]
        body = "".join(line.removeprefix(indent) for line in fence["body"].splitlines(keepends=True))
        title = _TITLE.search(fence["attributes"])
        line = text.count("\n", 0, fence.start()) + 1
        found.append(Block(page, line, fence["language"], title and title[1], body))
    return found


def commands(block: Block) -> list[Command]:
    """The commands of a console block; comments after ``#`` are none of them.

    Raises:
        ValueError: something stands before the first command.
    """
    found: list[tuple[str, list[str]]] = []
    for line in block.body.replace("\\\n", "").splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        elif not found:
            raise ValueError(f"{block}: {line!r} comes before any command; those begin with '$ '")
        else:
            found[-1][1].append(line)
    return [Command(tuple(shlex.split(typed, comments=True)), tuple(shown)) for typed, shown in found]


def is_shown(shown: tuple[str, ...], printed: str) -> bool:
    """Whether lines stand in a text in this order, one after the other, save where ``...`` stands for others."""
    lines = [line.rstrip() for line in printed.splitlines()]
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line.rstrip()) + "\n" for line in shown)
    return re.search(f"^{pattern}", "\n".join(lines) + "\n", re.MULTILINE) is not None


def provide(folder: Path) -> None:
    """Put into a folder what pages name for any file of that kind: domains, problems, a plan, an agent."""
    model = domain_text(load("gripper"))
    problem = (
        "(define (problem two-balls) (:domain gripper-typed) (:objects a b - room x y - ball left right - gripper)"
        " (:init (at_robby a) (at x a) (at y b) (free left) (free right)) (:goal (at x b)))"
    )
    changed = model.replace("(free ?gripper)", "", 1)
    for name, text in {
        **dict.fromkeys(["D.pddl", "A.pddl", "old.pddl", "model.pddl"], model),
        **dict.fromkeys(["P.pddl", "P1.pddl", "P2.pddl"], problem),
        "B.pddl": changed,
        "plan.txt": "(pick x a left)\n(move a b)\n(drop x b left)\n",
        "my_agent.py": Path(reference_agent.__file__).read_text(encoding="utf-8"),
        "my-agent": f"#!/bin/sh\nexec {shlex.quote(sys.executable)} my_agent.py\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "my-agent").chmod(0o755)
