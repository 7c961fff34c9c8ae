"""Digests tell whether a change of the code changed what is asked, answered or learned."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments import digests
from tests.commands import refused


def test_the_same_seed_gives_the_same_digest_and_another_seed_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(digests, "MAX_STEPS", 60)
    (name, first), (again, second), (_, other) = (digests.chance("river", seed) for seed in (0, 0, 1))
    assert name == again == "river chance 0"
    assert first["digest"] == second["digest"] != other["digest"]
    assert first["steps"] == second["steps"] > 0


def test_what_controls_do_is_digested_with_its_questions() -> None:
    _, found = digests.controls("maze")
    assert found["status"] == "complete"
    assert found["queries"] > 0
    assert found["steps"] > 0


def test_weights_are_digested() -> None:
    """That they are the same each time is told by the sessions of training."""
    name, found = digests.trained("hanoi")
    assert "hanoi" in name
    assert found["digest"]


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    said = refused("experiments.digests", "--out", "d.json", "--kind", "magic", cwd=tmp_path, kept=tmp_path)
    assert "--kind magic: unknown; use ipc, access" in said
