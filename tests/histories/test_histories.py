"""What a control does may depend on what was given before: then nothing is called complete that new histories refute."""

from __future__ import annotations

import pytest

from .measure import measure
from .worlds import HIDDEN, all_worlds, world


def test_there_are_twenty_worlds_of_either_kind() -> None:
    hidden = [name for name, is_hidden, _ in all_worlds() if is_hidden]
    assert len(hidden) == len(HIDDEN) == 20
    assert len(list(all_worlds())) == 40


@pytest.mark.parametrize(
    "name", ["mirror", "twice", "three knocks", "one knock", "late by two", "just knocked"]
)
def test_hidden_history_is_never_called_complete_beyond_its_bound(name: str) -> None:
    assert not measure(world(name, shown=False), 0).false
