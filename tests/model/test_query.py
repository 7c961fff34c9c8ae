"""What each access allows."""

from __future__ import annotations

import pytest

from aam_vision.model.query import Access


@pytest.mark.parametrize(
    ("access", "allowed"),
    [
        (Access.TRAJECTORY, set()),
        (Access.RESET, {"restarts", "episodic"}),
        (Access.SNAPSHOT, {"restarts", "returns", "snapshots"}),
        (Access.SETTABLE, {"restarts", "returns", "constructs"}),
    ],
)
def test_what_each_access_allows(access: Access, allowed: set[str]) -> None:
    names = ("restarts", "episodic", "returns", "snapshots", "constructs")
    assert {name for name in names if getattr(access, name)} == allowed
