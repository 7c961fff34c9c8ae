"""The options that experiments share are checked before any job runs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from aam_vision.support.errors import UnusableInput
from experiments.jobs import Scale, chosen


@pytest.mark.parametrize(
    ("scale", "told"),
    [
        (Scale(backend="abacus"), "backend abacus: unknown"),
        (Scale(processes=0), "processes 0"),
        (Scale(address="head:6379"), "address head:6379: only with"),
    ],
)
def test_a_scale_that_cannot_be_used_is_refused_in_words(scale: Scale, told: str, tmp_path: Path) -> None:
    with pytest.raises(UnusableInput, match=told):
        replace(scale, out=tmp_path / "out").check()
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableInput, match="cannot write to"):
        Scale(out=tmp_path / "file").check()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited on Linux only")
def test_a_scale_that_can_be_used_makes_its_folder(tmp_path: Path) -> None:
    Scale(job_seconds=1.0, job_memory=0.5, out=tmp_path / "out").check()
    assert (tmp_path / "out").is_dir()


def test_domains_are_those_named_or_the_default_or_all() -> None:
    known = ("a", "b", "c")
    assert chosen("domain", None, known) == ["a", "b", "c"]
    assert chosen("domain", None, known, ("b",)) == ["b"]
    assert chosen("domain", ["c", "a"], known, ("b",)) == ["c", "a"]
    with pytest.raises(UnusableInput, match="domain d: unknown; use one of a, b, c"):
        chosen("domain", ["a", "d"], known)
