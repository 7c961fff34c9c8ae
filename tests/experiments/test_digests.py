"""Digests tell whether a change of the code changed what is asked, answered or learned."""

from __future__ import annotations

import pytest

from experiments import digests


def test_another_seed_gives_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "MAX_STEPS", 60)
    (name, first), (again, second), (_, other) = (digests.chance("river", seed) for seed in (0, 0, 1))
    assert name == again == "river chance 0"
    assert first["digest"] == second["digest"] != other["digest"]
    assert first["steps"] == second["steps"] > 0


def test_controls_are_digested_with_their_questions_and_weights_too() -> None:
    _, found = digests.controls("maze")
    assert found["status"] == "complete"
    assert min(found["queries"], found["steps"]) > 0
    # that weights are the same each time is told by the sessions of training
    name, found = digests.trained("hanoi")
    assert (name, len(found["digest"])) == ("hanoi trained", 16)
