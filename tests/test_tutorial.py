"""The tutorial on environments of one's own, done as it is written: files, commands and code, in order."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from aam_vision.interrogation.task.verdict import UNEXAMINED

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "tutorials" / "own-environment.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', PAGE, re.DOTALL | re.MULTILINE)
"""Language, title and text of every block. A title is the file that a block belongs to."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page."""
    folder = tmp_path_factory.mktemp("doorkey")
    for title in {title for _, title, _ in BLOCKS if "." in title}:
        parts = [text for _, own, text in BLOCKS if own == title]
        (folder / title).write_text("\n\n".join(parts), encoding="utf-8")
    return folder


def _install(folder: Path) -> None:
    """The effect of ``pip install --editable .`` without an index: the metadata, beside the module."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
    )
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (info / "entry_points.txt").write_text(points, encoding="utf-8")


def _done(folder: Path, *command: str) -> str:
    path = os.pathsep.join([str(folder), str(ROOT)])
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"},
        check=False,
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _commands(text: str) -> list[list[str]]:
    return [shlex.split(line.removeprefix("$ ")) for line in text.splitlines() if line.startswith("$ ")]


def test_the_tutorial_works_as_it_is_written(folder: Path) -> None:
    commands, code, told = [], [], ""
    for language, title, text in BLOCKS:
        if language == "console":
            commands += _commands(text)
        elif language == "python" and not title:
            code.append(text)
    _install(folder)
    for command in commands:
        if command[0] == "pip":
            continue  # the package is there, and so is MiniGrid
        assert command[:2] == ["python", "-m"], command
        if command[2] == "aam_vision.run":  # what the page does in Python comes before it, in one process
            told = _done(folder, "-c", "\n".join(code))
        explained = _done(folder, *command[1:])
    (learned,) = (text for _, title, text in BLOCKS if title == "learned")
    assert learned.strip() in told, "the page shows what the code prints"
    assert re.search(r"^\d+ queries; complete$", told, re.MULTILINE)
    result = json.loads((folder / "runs" / "doorkey" / "result.json").read_text(encoding="utf-8"))
    assert (result["status"], result["exact"], result["doubt"]) == (UNEXAMINED, True, None)
    assert result["queries"] <= 60
    assert "holding" in explained
    assert (folder / "runs" / "doorkey" / "report.html").is_file()
