"""Steps are spread over the problems that look alike at first, and it stays known to which of them a situation belongs."""

from __future__ import annotations

import pytest

from aam_vision.interrogation.evidence.problems import EVEN, FEW, Problems
from aam_vision.model.query import Situation
from tests import small

MANY = FEW + EVEN


def _seen(handle: object) -> Situation:
    return Situation(handle, small.state(""))


LATER, ANOTHER, STRANGE = map(_seen, ("later", "another", "strange"))


def _begun(looks: str, *steps: int) -> Problems[str]:
    """Problems whose first situations look like these letters, and how many steps were tried where each begins."""
    problems = Problems[str]()
    for number, look in enumerate(looks):
        problems.begin(_seen(number), look)
    for one, count in zip(problems.initial, steps, strict=False):
        for _ in range(count):
            problems.tried(one, one)
    return problems


@pytest.mark.parametrize(
    ("looks", "alike"),
    [("", ""), ("ab", ""), ("aa", "01"), ("abab", "0123"), ("baca", "13"), ("aaba", "013")],
)
def test_problems_look_alike_whose_first_situations_do(looks: str, alike: str) -> None:
    problems = _begun(looks)
    for number, (one, look) in enumerate(zip(problems.initial, looks, strict=True)):
        like_another = str(number) in alike
        assert problems.looks_alike(one) == (number if like_another else None)
        assert list(problems.kept(number)) == [(look, one)] * like_another


def test_a_problem_that_begins_in_the_very_same_situation_is_no_other_one() -> None:
    problems = _begun("a", FEW)
    first = problems.initial[0]
    problems.begin(first, "a")
    problems.begin(ANOTHER, "b")
    assert problems.initial == [first, first, ANOTHER]
    assert problems.looks_alike(first) is None
    assert problems.least_tried("a") is None
    assert problems.hardly_tried(first) == ANOTHER


def test_where_a_step_ends_belongs_to_the_problem_in_which_it_was_tried_last() -> None:
    """The first such situation of each place is kept; a problem that looks like no other one takes none from another."""
    problems = _begun("aab")
    first, second, unlike = problems.initial
    for before, owner in ((STRANGE, None), (unlike, None), (second, 1), (first, 0), (unlike, 0)):
        problems.tried(before, LATER)
        assert problems.looks_alike(LATER) == owner
        problems.keep_apart(LATER, "c")
    problems.tried(first, ANOTHER)
    problems.keep_apart(ANOTHER, "c")
    kept = [[("a", first), ("c", LATER)], [("a", second), ("c", LATER)], []]
    assert [list(problems.kept(number)) for number in range(3)] == kept
    problems.tried(LATER, second)
    assert problems.looks_alike(second) == 1, "a problem keeps the situation in which it begins"


@pytest.mark.parametrize(
    ("looks", "steps", "least", "neglected"),
    [
        ("ab", (MANY, 0), None, None),
        ("aa", (0, 0), 0, None),
        ("aa", (0, EVEN), 0, None),
        ("aa", (0, EVEN + 1), 0, 0),
        ("aa", (2 * 3 + EVEN, 3), 1, None),
        ("aa", (2 * 3 + EVEN + 1, 3), 1, 1),
        ("aaa", (2, 1, 1), 1, None),
        ("baa", (0, MANY, 1), 2, 2),
    ],
)
def test_a_problem_is_neglected_if_far_less_was_tried_than_in_one_that_looks_like_it(
    looks: str, steps: tuple[int, ...], least: int | None, neglected: int | None
) -> None:
    problems = _begun(looks, *steps)
    assert problems.neglected == neglected
    assert problems.least_tried("a") == (None if least is None else problems.initial[least])


@pytest.mark.parametrize(
    ("steps", "here", "there"),
    [
        ((1, 1), "here", "here"),
        ((0, FEW - 2), "here", "here"),  # one step led there
        ((0, FEW - 1), "here", 0),
        ((FEW, FEW), "here", None),
        ((FEW, FEW - 1), "nowhere", None),
        ((3, 2), "nowhere", 0),
        ((3, 1), "nowhere", 1),
    ],
)
def test_where_few_steps_were_tried_more_are_tried_first_of_all_where_the_agent_stands(
    steps: tuple[int, ...], here: str, there: object
) -> None:
    problems = _begun("ab", *steps)
    problems.tried(problems.initial[1], _seen("here"))
    assert problems.hardly_tried(_seen(here)) == (None if there is None else _seen(there))


def test_where_a_problem_begins_no_other_one_takes_its_place() -> None:
    problems = _begun("aab")
    problems.tried(problems.initial[0], LATER)
    problems.keep_apart(LATER, "b")
    assert problems.least_tried("b") is None  # under reset access nothing else there can be gone back to
    problems.keep_apart(LATER, "c")
    assert problems.least_tried("c") == LATER
