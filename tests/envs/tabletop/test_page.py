"""The page docs/how-to/tabletop.md does what it says, where MuJoCo can draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documentation import ROOT, blocks
from tests.test_docs import Reader


@pytest.mark.usefixtures("drawable")
def test_the_page_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    for block in blocks(ROOT / "docs" / "how-to" / "tabletop.md"):
        reader.follow(block)
