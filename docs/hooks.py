"""What the site tells of the toolkit and would be wrong if it were written down: MkDocs calls these functions.

``{{ help MODULE }}`` becomes the help of a command, ``{{ layers }}`` the layers of pyproject.toml, and the pictures of
Sokoban are drawn by its simulator.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
SCHEMA = "aam_vision/agents/protocol.schema.json"
"""Linked by its place in the repository."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in what the page asks for."""
    markdown = re.sub(r"^\{\{ help (\S+) \}\}$", lambda asked: _help(asked[1]), markdown, flags=re.MULTILINE)
    markdown = markdown.replace(f"../{SCHEMA}", Path(SCHEMA).name)
    return markdown.replace("{{ layers }}", _layers()) if "{{ layers }}" in markdown else markdown


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pictures, and the schema that a page links to."""
    files.append(File.generated(config, Path(SCHEMA).name, abs_src_path=str(ROOT / SCHEMA)))
    for name, content in _pictures():
        files.append(File.generated(config, f"figures/{name}.png", content=content))
    return files


def on_post_page(output: str, **_: Any) -> str:
    """Name the theme's search for those who do not see it."""
    dialog = 'data-md-component="search" role="dialog"'
    return output.replace(dialog, f'{dialog} aria-label="Search"')


def _help(module: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, "--help"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80"},
        check=True,
    )
    return f"```text\n{done.stdout}```"


def _layers() -> str:
    """The package's contract on layers as a list, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = [one["layers"] for one in contracts if one.get("containers") == ["aam_vision"]]
    return "\n".join(f"1. {', '.join(f'`{name}`' for name in layer.split(' | '))}" for layer in layers)


def _pictures() -> Iterator[tuple[str, bytes]]:
    """A stone that another one blocks; and a stone before and after it is pushed."""
    from PIL import Image

    from aam_vision.envs.registry import make_simulator

    simulator = make_simulator("sokoban", "train", 0)
    simulator.start()

    def picture() -> bytes:
        png = io.BytesIO()
        Image.fromarray(simulator.frame()).save(png, "PNG")
        return png.getvalue()

    yield "sokoban-blocked", picture()
    for origin, goal, way in (("6-3", "6-2", "up"), ("6-2", "5-2", "left"), ("5-2", "4-2", "left")):
        simulator.instruct("move", ("player-01", f"pos-{origin}", f"pos-{goal}", f"dir-{way}"))
    yield "sokoban-before", picture()
    push = ("player-01", "stone-01", "pos-4-2", "pos-4-3", "pos-4-4", "dir-down")
    assert simulator.instruct("push-to-nongoal", push)
    yield "sokoban-after", picture()
