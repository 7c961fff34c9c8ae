"""The pages about arms and cameras do what they say, where MuJoCo can draw."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from tests.documentation import ROOT, blocks
from tests.processes import fresh
from tests.test_docs import Reader

PAGES = {
    "how-to/tabletop.md": None,
    "tutorials/arm-and-camera.md": None,
    "tutorials/own-scene.md": "cabinet",
    "tutorials/others-arm.md": "panda",
}
"""Pages, and the module that is a file on each."""
FOREIGN = {"panda": "panda_gym"}
"""Packages of others that the modules need, and the toolkit does not."""


@pytest.mark.usefixtures("drawable")
@pytest.mark.parametrize("page", PAGES)
def test_the_page_does_what_it_says(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = PAGES[page]
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    for block in blocks(ROOT / "docs" / page):
        if "pip install panda-gym" in block.body:
            continue  # it is here, or it is not
        if module is None or block.language != "python" or block.title is not None:
            reader.follow(block)
        elif module in FOREIGN and importlib.util.find_spec(FOREIGN[module]) is None:
            pytest.skip(f"{FOREIGN[module]} is not installed: its file was compiled, and not run")
        else:
            _run(block.body, tmp_path)


def _run(code: str, folder: Path) -> None:
    """Run code beside a page's file: in a process of its own, where MuJoCo chooses anew what it draws with."""
    done = fresh(code, cwd=folder, PYTHONPATH=os.pathsep.join([str(folder), str(ROOT)]), OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    assert "(define (domain" in done.stdout
