"""The pages about arms and cameras do what they say, where MuJoCo can draw."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.documentation import ROOT, blocks
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
    monkeypatch.syspath_prepend(str(tmp_path))
    reader = Reader(tmp_path)
    missing = module in FOREIGN and importlib.util.find_spec(FOREIGN[module]) is None
    try:
        for block in blocks(ROOT / "docs" / page):
            if "pip install panda-gym" in block.body:
                continue  # it is here, or it is not
            if missing and block.language == "python" and block.title is None:
                continue
            reader.follow(block)
    finally:
        sys.modules.pop(str(module), None)
    if missing:
        pytest.skip(f"{FOREIGN[str(module)]} is not installed: its file was compiled, and not run")
