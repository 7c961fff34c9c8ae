"""Parts of the site that are made from the code, so that they cannot be out of date. MkDocs calls these functions.

``{{ help MODULE }}`` becomes the help of a command, ``{{ layers PACKAGE }}`` the layers of a package as pyproject.toml
has them, and the pictures of Sokoban are drawn by its simulator.
"""

from __future__ import annotations

import io
import os
import re
import runpy
import sys
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any
from unittest import mock

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
SCHEMA = "aam_vision/agents/protocol.schema.json"
"""Linked by its place in the repository."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in what the page asks for."""
    markdown = re.sub(r"^\{\{ help (\S+) \}\}$", lambda asked: _help(asked[1]), markdown, flags=re.MULTILINE)
    markdown = re.sub(
        r"^\{\{ layers (\S+) \}\}$", lambda asked: _layers(asked[1]), markdown, flags=re.MULTILINE
    )
    return markdown.replace(f"../{SCHEMA}", Path(SCHEMA).name)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pictures, and the schema that a page links to."""
    files.append(File.generated(config, Path(SCHEMA).name, abs_src_path=str(ROOT / SCHEMA)))
    for name, content in _pictures():
        files.append(File.generated(config, f"figures/{name}.png", content=content))
    return files


def on_page_content(html: str, **_: Any) -> str:
    """Let the keyboard reach every table: on a phone a wide one is moved to be read."""
    return html.replace("<table>", '<table tabindex="0">')


def on_post_page(output: str, **_: Any) -> str:
    """Name the theme's search for those who do not see it."""
    dialog = 'data-md-component="search" role="dialog"'
    return output.replace(dialog, f'{dialog} aria-label="Search"')


def _help(module: str) -> str:
    """The help of a command, which is run in this process: to start one for each takes longer than all the rest."""
    with (
        redirect_stdout(io.StringIO()) as printed,
        mock.patch.dict(os.environ, {"COLUMNS": "80"}),
        mock.patch.object(sys, "argv", [module, "--help"]),
        mock.patch.object(sys, "path", [str(ROOT), *sys.path]),
        warnings.catch_warnings(
            action="ignore", category=RuntimeWarning
        ),  # modules that were imported before
        suppress(SystemExit),
    ):
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    return f"```text\n{printed.getvalue()}```"


def _layers(package: str) -> str:
    """The contract on the layers of a package as a list, the highest first."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (layers,) = [
        contract["layers"] for contract in linter["contracts"] if contract.get("containers") == [package]
    ]
    return "\n".join(f"1. {', '.join(f'`{name}`' for name in layer.split(' | '))}" for layer in layers)


def _pictures() -> Iterator[tuple[str, bytes]]:
    """A stone that another one blocks; a stone before and after it is pushed; and where a question begins and ends."""
    from PIL import Image

    from aam_vision.envs.registry import board_domain

    simulator = board_domain("sokoban").simulator(("train", 0))
    simulator.start()

    def picture() -> bytes:
        png = io.BytesIO()
        Image.fromarray(simulator.frame()).save(png, "PNG")
        return png.getvalue()

    def do(*steps: tuple[str, str]) -> None:
        for name, arguments in steps:
            assert simulator.instruct(name, ("player-01", *arguments.split())), name

    yield "sokoban-blocked", picture()
    do(
        ("move", "pos-6-3 pos-6-2 dir-up"),
        ("move", "pos-6-2 pos-5-2 dir-left"),
        ("move", "pos-5-2 pos-4-2 dir-left"),
    )
    yield "sokoban-before", picture()
    do(("push-to-nongoal", "stone-01 pos-4-2 pos-4-3 pos-4-4 dir-down"))
    yield "sokoban-after", picture()
    do(("push-to-nongoal", "stone-01 pos-4-3 pos-4-4 pos-4-5 dir-down"))
    yield "sokoban-question", picture()
    do(
        ("push-to-nongoal", "stone-01 pos-4-4 pos-4-5 pos-4-6 dir-down"),
        ("move", "pos-4-5 pos-3-5 dir-left"),
        ("move", "pos-3-5 pos-3-6 dir-down"),
    )
    yield "sokoban-answer", picture()
