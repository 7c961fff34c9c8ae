"""An interrogation of the arm on a table tells what its physics and its pictures cost."""

from __future__ import annotations

from functools import partial

import pytest

import aam_vision
from aam_vision.envs.tabletop import environment
from experiments import tabletop


def test_physics_and_pictures_are_timed_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aam_vision, "interrogate", partial(aam_vision.interrogate, max_steps=3))
    monkeypatch.setattr(tabletop, "STATES", 10)
    for problems in ("SEEDS", "HELD_OUT"):  # each scene is tried out before it is interrogated
        monkeypatch.setattr(environment, problems, getattr(environment, problems)[:1])
    row = tabletop.interrogated(0)
    assert (row["status"], row["model"], row["skills"]) == ("budget", "differs", 3)
    assert min(row["of it physics"], row["of it pictures"]) > 0
