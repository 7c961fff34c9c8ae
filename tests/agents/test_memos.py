"""Positions that a transcript holds are read back, and what is something else is refused."""

from __future__ import annotations

import pytest

from aam_vision.agents.encoding import Malformed
from aam_vision.agents.image import points


def test_positions_come_back() -> None:
    assert points({"positions": {"red-1": [0.25, 1]}}, "positions") == {"red-1": (0.25, 1.0)}
    assert points({"places": {}}, "positions") == {}


@pytest.mark.parametrize("wrong", [[], {"red-1": 3}, {"red-1": [1]}, {"red-1": ["a", 0.5]}, None])
def test_what_is_something_else_is_refused(wrong: object) -> None:
    with pytest.raises(Malformed):
        points({"positions": wrong}, "positions")
