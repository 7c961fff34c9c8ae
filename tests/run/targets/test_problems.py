"""Problems are given by number or by name, whether they are usually interrogated or not."""

from __future__ import annotations

import pytest

from aam_vision.model.query import Access
from aam_vision.run.targets.target import problems_of
from aam_vision.support.errors import UnusableInput

BOARDS = (("train", 0), ("train", 3))
SEEDS = (("seed", 5), ("seed", 6))


@pytest.mark.parametrize(
    ("given", "usual", "found"),
    [
        ((), BOARDS, [*BOARDS]),
        (("1", "0", "1"), BOARDS, [BOARDS[1], BOARDS[0]]),
        (("test/7",), BOARDS, [("test", 7)]),
        (("1", "7"), SEEDS, [("seed", 6), ("seed", 7)]),
        (("seed/1",), SEEDS, [("seed", 1)]),
    ],
)
def test_problems_are_found(
    given: tuple[str, ...], usual: tuple[tuple[str, int], ...], found: list[tuple[str, int]]
) -> None:
    assert problems_of("somewhere", given, usual, Access.SNAPSHOT) == found


@pytest.mark.parametrize("text", ["2", "x", "test/", "test/x", "-1", "test/9999999999"])
def test_what_is_no_problem_is_named(text: str) -> None:
    with pytest.raises(UnusableInput, match="has problems 0 to 1, or give a name such as train/0"):
        problems_of("somewhere", [text], BOARDS, Access.SNAPSHOT)


def test_a_trajectory_leads_through_one_problem() -> None:
    assert problems_of("somewhere", [], SEEDS, Access.TRAJECTORY) == [SEEDS[0]]
    with pytest.raises(UnusableInput, match="leads through one problem only"):
        problems_of("somewhere", ["0", "1"], SEEDS, Access.TRAJECTORY)
