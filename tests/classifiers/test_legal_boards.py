"""The answers that are believed, against a walk through every legal board."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.perception import Exactly, Perceived, Reading, Scene, VisualVocabulary
from aam_vision.classifiers.legality import CERTAIN, MOST_WAYS, PLAUSIBLE, Legality
from aam_vision.model.strips import Objects, Predicate, Types
from tests.profiles import thorough

from .toy import FREE, HEADS, TYPES, Shown, legal_boards, legal_cells, means, scene, vocabulary

LOW, HIGH = 0.1, 0.9
LOOKS = {"pawn-1": "pawn", "rock-1": "rock"}
LEVELS = [0.0, 0.02, 0.3, 0.5, 0.7, 0.98, 1.0, float("nan")]


def _settle(visual: VisualVocabulary, stage, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    legality = Legality(visual, stage, list(stage.cells))
    limits = (np.full((len(probabilities), 1), limit, np.float32) for limit in (LOW, HIGH))
    return legality.settle(probabilities.astype(np.float32), *limits)


def _columns(answers: np.ndarray) -> list[Shown]:
    return [frozenset(h for h, yes in zip(HEADS, column, strict=True) if yes) for column in answers.T]


@pytest.mark.parametrize("vanishing", [False, True])
def test_what_is_inferred_is_what_nearly_all_legal_boards_show(vanishing: bool) -> None:
    visual = vocabulary(Exactly("free", 1), may_vanish={"rock": vanishing})
    stage = scene(3, LOOKS)
    numbers = {"free": (1, 1), "pawn": (1, 1), "rock": (0 if vanishing else 1, 1)}
    boards = list(legal_boards(3, numbers))

    @thorough(400)
    @given(
        st.sampled_from(boards), st.lists(st.tuples(st.integers(0, 14), st.sampled_from(LEVELS)), max_size=7)
    )
    def holds(board: tuple[Shown, ...], changes: list[tuple[int, float]]) -> None:
        probabilities = np.array([[float(head in shown) for shown in board] for head in HEADS], np.float32)
        for place, level in changes:
            probabilities.flat[place] = level
        sure, doubtful = _settle(visual, stage, probabilities)
        assert not (sure & doubtful).any()
        wanted_sure, wanted_doubtful = _by_enumeration(probabilities, boards, numbers)
        assert (doubtful == wanted_doubtful).all()
        assert (sure == wanted_sure).all()

    holds()


def _by_enumeration(
    probabilities: np.ndarray, boards: list[tuple[Shown, ...]], numbers: dict[str, tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray]:
    """What is certainly so and what is doubtful, by the rules in the words of the module."""
    sure = probabilities > HIGH
    doubtful = ~sure & ~(probabilities < LOW)
    given, asked = _columns(sure), _columns(doubtful)
    legal = legal_cells()
    unsettled = [cell for cell, heads in enumerate(asked) if any(means(head, given[cell]) for head in heads)]
    broken = [
        cell
        for cell, shown in enumerate(given)
        if cell not in unsettled and frozenset(h for h in shown if means(h, shown)) not in legal
    ]
    doubtful[:, broken] = True
    if unsettled and not broken:
        weights = {}
        for board in boards:
            weight = 1.0
            for cell, shown in enumerate(board):
                if cell not in unsettled:
                    meant = frozenset(head for head in given[cell] if means(head, given[cell]))
                    weight *= shown == meant
                    continue
                for row, head in enumerate(HEADS):
                    if not means(head, shown):
                        continue
                    yes = float(probabilities[row, cell])
                    if head in asked[cell]:
                        likely = 0.5 if isnan(yes) else yes
                        weight *= likely if head in shown else 1 - likely
                    else:
                        weight *= (head in shown) is (head in given[cell])
            weights[board] = weight
        whole = sum(weights.values())
        if whole >= PLAUSIBLE:
            for cell in unsettled:
                for row, head in enumerate(HEADS):
                    share = sum(w for board, w in weights.items() if head in board[cell]) / whole
                    if share >= CERTAIN or share <= 1 - CERTAIN:
                        sure[row, cell], doubtful[row, cell] = share >= CERTAIN, False
    sure &= ~doubtful
    exclusive = {"free", "pawn", "rock"}
    linked = {"free": exclusive, "pawn": exclusive, "rock": exclusive | {"mark", "glow"}}
    for head in numbers:
        row = HEADS.index(head)
        least, most = numbers[head]
        if sure[row].sum() > most or (sure | doubtful)[row].sum() < least:
            doubtful[[HEADS.index(other) for other in linked[head]]] = True
    return sure & ~doubtful, doubtful


# --- how sure is sure -----------------------------------------------------------------------------

MARK = Perceived(Predicate("marked", ("cell",)), Reading.THERE, {"": "mark"}, "a mark")


def _limited(
    entries: tuple[Perceived, ...], low: float, high: float, rows: list[list[float]]
) -> list[list[bool]]:
    """What is sure of two cells of which one has the mark; all else is doubtful where it was not sure before."""
    visual = VisualVocabulary("marks", entries, TYPES, constraints=(Exactly("mark", 1),))
    limits = (np.full((len(rows), 1), limit, np.float32) for limit in (low, high))
    sure, doubtful = Legality(visual, scene(2, {}), ["c0", "c1"]).settle(np.array(rows, np.float32), *limits)
    assert not (sure & doubtful).any()
    return [*sure.tolist(), *doubtful.tolist()]


@pytest.mark.parametrize(("odds", "decided"), [(9, False), (100, False), (990, False), (1010, True)])
def test_an_inferred_answer_is_a_thousand_times_as_likely_as_its_opposite(odds: float, decided: bool) -> None:
    """One of two cells has the mark."""
    likely = odds * 0.2 / (1 - 0.2)
    found = _limited((MARK,), 0.1, 0.9999, [[likely / (1 + likely), 0.2]])
    assert found == [[decided, False], [not decided, not decided]]


@pytest.mark.parametrize(("chance", "believed"), [(0.0009, False), (0.0011, True)])
def test_a_board_that_is_hardly_possible_is_not_believed_though_no_other_is_legal(
    chance: float, believed: bool
) -> None:
    found = _limited((MARK, FREE), 0.0001, 0.9, [[chance, 0.0], [1, 1]])
    assert found == [[believed, False], [True, True], [not believed, False], [False, False]]


NONE = [False] * 3


@pytest.mark.parametrize(
    ("number", "probabilities", "sure", "doubtful"),
    [
        (12, [0.8] * 12, [True] * 12, [False] * 12),
        (13, [0.8] * 13, [False] * 13, [True] * 13),  # more ways than can be gone through decide nothing
        # a number that cannot be right makes its classifier unknown everywhere
        (1, [1, 1, 0], NONE, [True] * 3),
        (1, [1, 0, 0], [True, False, False], NONE),
        (1, [0, 0, 0], NONE, [True] * 3),
        (None, [LOW, HIGH, LOW - 0.01, HIGH + 0.01], [False, False, False, True], [True, True, False, False]),
    ],
)
def test_so_many_marks_are_believed(
    number: int | None, probabilities: list[float], sure: list[bool], doubtful: list[bool]
) -> None:
    assert MOST_WAYS == 2**12
    rules = () if number is None else (Exactly("mark", number),)
    visual = VisualVocabulary("marks", (MARK,), TYPES, constraints=rules)
    found = _settle(visual, scene(len(probabilities), {}), np.array([probabilities], np.float32))
    assert [one[0].tolist() for one in found] == [sure, doubtful]


def test_nothing_is_inferred_from_a_board_with_a_contradiction() -> None:
    """A marked rock glows; here it does not. Else it would be certain that the pawn is where it may be."""
    board = np.zeros((5, 3), np.float32)
    board[HEADS.index("rock"), 0] = board[HEADS.index("mark"), 0] = board[HEADS.index("free"), 2] = 1
    board[HEADS.index("pawn"), 1] = 0.5
    sure, doubtful = _settle(vocabulary(), scene(3, LOOKS), board)
    assert doubtful[:, 0].all()
    assert doubtful[HEADS.index("pawn"), 1]
    board[HEADS.index("glow"), 0] = 1
    sure, doubtful = _settle(vocabulary(), scene(3, LOOKS), board)
    assert sure[HEADS.index("pawn"), 1]
    assert not doubtful.any()


def test_places_of_all_kinds_are_inferred_together() -> None:
    """Cells and rooms, of which other things are asked."""
    types = Types({**TYPES.parents, "room": "object"})
    lamp = Perceived(Predicate("lit", ("room",)), Reading.THERE, {"": "lamp"}, "a lamp")
    visual = VisualVocabulary(
        "rooms", (MARK, lamp), types, constraints=(Exactly("mark", 1), Exactly("lamp", 1))
    )
    stage = Scene(Objects({"c": "cell", "r": "room"}, types), 1, 2, {"c": ((0, 0),), "r": ((0, 1),)})
    sure, doubtful = _settle(visual, stage, np.full((2, 2), 0.5))
    assert sure.tolist() == [[True, False], [False, True]]
    assert not doubtful.any()


def test_nothing_is_counted_where_a_thing_s_look_was_not_stated() -> None:
    """It may be another rock."""
    board = np.zeros((5, 3), np.float32)
    board[HEADS.index("rock"), :2] = 1
    board[HEADS.index("free"), 2] = 1
    one = {"rock-1": "rock"}
    _, doubtful = _settle(vocabulary(), scene(3, one), board)
    assert doubtful[HEADS.index("rock")].all()
    unsaid = scene(3, {**one, "other": "?"})
    unsaid.looks.pop("other")  # type: ignore[attr-defined]
    sure, doubtful = _settle(vocabulary(), unsaid, board)
    assert not doubtful.any()
    assert (sure == board.astype(bool)).all()
