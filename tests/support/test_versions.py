"""What says which version was assessed: the SHA-256 of files and folders, and the files that a command names."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest

from aam_vision.support.files import checkpoints, digest, files_named
from tests.refusals import told_by


def test_a_folder_is_another_version_if_a_file_in_it_is_another_or_called_otherwise(tmp_path: Path) -> None:
    def made(name: str, *files: tuple[str, str]) -> str:
        for file, text in files:
            (tmp_path / name / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / file).write_text(text)
        return digest(tmp_path / name)

    first = made("first", ("a", "1"), ("in/b", "2"))
    assert made("same", ("in/b", "2"), ("a", "1")) == first
    others = [made("text", ("a", "1"), ("in/b", "3")), made("name", ("a", "1"), ("in/c", "2"))]
    others += [made("fewer", ("a", "1")), made("moved", ("a", "1"), ("b", "2"))]
    assert len({first, *others}) == 5
    assert digest(tmp_path / "first/a") == sha256(b"1").hexdigest()


def test_what_is_no_file_or_folder_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "nowhere"):
        told_by(lambda name=name: checkpoints(tmp_path / name), f"{name}: cannot be read")  # type: ignore[misc]
    assert checkpoints(None) == {}


def test_the_files_that_a_command_names_are_those_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("policy.py", "w 1.pt"):
        (tmp_path / name).touch()
    named = files_named("python ./policy.py --weights='w 1.pt' . nowhere policy.py")
    assert named == ["./policy.py", "w 1.pt", "policy.py"]
    assert files_named("./policy.py 'unclosed") == []
    assert files_named(f"policy.py {'x' * 5000}") == ["policy.py"]
