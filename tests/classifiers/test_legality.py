"""What is believed of the classifiers' answers: legal, certain, or unknown."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.perception import Never
from aam_vision.classifiers.legality import Legality
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from tests.profiles import thorough

LOW, HIGH = np.full((5, 1), 0.1, np.float32), np.full((5, 1), 0.9, np.float32)
HEADS = board_domain("sokoban").visual.cell_heads()
CLEAR, PLAYER, STONE, ON_GOAL, GOAL = range(5)


def _board(number=0):
    domain = board_domain("sokoban")
    layout = domain.load("train", 0)
    index = SceneIndex(domain.visual, domain.scene(layout))
    state = next(islice(board_domain(layout.domain).states(layout, np.random.default_rng(5)), number, None))
    return index, (label(domain.visual, index.scene, index.places, state) == 1).astype(np.float32)


def _settle(index, probabilities):
    return index.legality.settle(probabilities, LOW, HIGH)


@pytest.mark.parametrize("name", ["sokoban", "doors"])
def test_true_answers_are_believed(name):
    domain = board_domain(name)
    heads = len(domain.visual.cell_heads())
    for problem in domain.held_out:
        layout = domain.load(*problem)
        index = SceneIndex(domain.visual, domain.scene(layout))
        for state in islice(board_domain(layout.domain).states(layout, np.random.default_rng(1)), 10):
            yes = label(domain.visual, index.scene, index.places, state) == 1
            sure, doubtful = index.legality.settle(yes.astype(np.float32), LOW[:heads], HIGH[:heads])
            assert (sure == yes).all()
            assert not doubtful.any()


@given(st.data())
@thorough(60)
def test_nothing_illegal_is_ever_believed(data):
    index, probabilities = _board()
    levels = st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.7, 0.95, 1.0, float("nan")])
    for _ in range(data.draw(st.integers(0, 8))):
        place = data.draw(st.integers(0, probabilities.shape[1] - 1))
        probabilities[data.draw(st.integers(0, 4)), place] = data.draw(levels)
    sure, doubtful = _settle(index, probabilities)
    assert not (sure & doubtful).any()
    rules = [rule for rule in board_domain("sokoban").visual.constraints if isinstance(rule, Never)]
    for place in range(sure.shape[1]):
        if doubtful[:, place].any() or sure[PLAYER, place]:  # the player hides the goal
            continue
        shown = {head for head, yes in zip(HEADS, sure[:, place], strict=True) if yes}
        if not shown & {"player", "stone"}:
            shown -= {"stone-on-goal"}  # asked of things only
        assert not any(set(rule.shows) <= shown and not set(rule.without) & shown for rule in rules)
    for head, number in ((PLAYER, 1), (STONE, 2)):
        assert sure[head].sum() <= number <= (sure | doubtful)[head].sum()


def test_a_doubtful_stone_is_certain_when_one_is_missing():
    index, probabilities = _board()
    (stone, *_) = np.flatnonzero(probabilities[STONE])
    probabilities[STONE, stone] = 0.4
    sure, doubtful = _settle(index, probabilities)
    assert sure[STONE, stone]
    assert not doubtful.any()


def test_of_two_places_that_are_as_likely_neither_is_chosen():
    index, probabilities = _board()
    stones, floor = np.flatnonzero(probabilities[STONE]), np.flatnonzero(probabilities[CLEAR])
    for place in (stones[0], floor[0]):
        probabilities[[CLEAR, STONE], place] = 0.5
        probabilities[[GOAL, ON_GOAL], place] = 0.0
    sure, doubtful = _settle(index, probabilities)
    assert doubtful[STONE, stones[0]]
    assert doubtful[STONE, floor[0]]
    assert not sure[STONE, [stones[0], floor[0]]].any()


def test_a_contradiction_is_unknown_and_nothing_is_inferred_beside_it():
    index, probabilities = _board()
    stone, other = np.flatnonzero(probabilities[STONE])
    floor = np.flatnonzero(probabilities[CLEAR])[0]
    probabilities[STONE, other] = 0.4
    probabilities[PLAYER, floor] = 1.0  # clear, and the player's
    sure, doubtful = _settle(index, probabilities)
    assert doubtful[:, floor].all()
    assert doubtful[STONE, other]
    assert not sure[:, floor].any()
    assert sure[STONE, stone]


def test_two_players_are_none():
    index, probabilities = _board()
    floor = np.flatnonzero(probabilities[CLEAR])[0]
    probabilities[:, floor] = np.eye(5)[PLAYER]
    sure, doubtful = _settle(index, probabilities)
    assert not sure[[CLEAR, PLAYER, STONE]].any()
    assert doubtful[[CLEAR, PLAYER, STONE]].all()


def test_places_that_are_asked_other_things_are_kept_apart():
    domain = board_domain("doors")
    layout = domain.load("test", 5)
    scene = domain.scene(layout)
    places = tuple(place for place, cells in scene.cells.items() if cells)
    rooms = np.array([place in layout.objects.of_type("room") for place in places])
    legality = Legality(domain.visual, scene, places)
    probabilities = np.zeros((3, len(places)), np.float32)
    probabilities[0, rooms] = 1.0  # nobody asks a room for the player
    sure, doubtful = legality.settle(probabilities, LOW[:3], HIGH[:3])
    assert doubtful[0, ~rooms].all()
    probabilities[0, np.flatnonzero(~rooms)[0]] = 1.0
    sure, doubtful = legality.settle(probabilities, LOW[:3], HIGH[:3])
    assert sure[0, ~rooms].sum() == 1
    assert not doubtful.any()
