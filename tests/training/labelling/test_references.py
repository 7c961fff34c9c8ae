"""What is unlike all that was labelled is unknown, however sure the network is; all else is read as labelled."""

import numpy as np
import pytest

from aam_vision.agents.perception import NO_LABEL, board_box
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.recognition import Recognition
from aam_vision.classifiers.store import read
from aam_vision.envs.registry import board_domain
from aam_vision.training.labelling.boards import read_elsewhere
from aam_vision.training.labelling.pool import LEAST, labelled_looks
from tests.training.labelling.truths import walked

DOMAIN = board_domain("sokoban")


@pytest.fixture(scope="module")
def labelled():
    """A pool, answers about some pictures of two boards, and the labelled looks."""
    _, pool, truth = walked("sokoban", 40, 0, 3, seed=1)
    answers = {number: truth[number] for number in range(0, len(truth), 3)}
    return pool, answers, labelled_looks(pool, answers)


@pytest.mark.parametrize("name", ["sokoban", "doors"])
def test_answered_places_are_recognised_by_their_labels_and_others_are_strange(name):
    """Rooms of several cells, too."""
    _, pool, truth = walked(name, 30, 0, 1)
    answers = {number: truth[number] for number in range(0, len(truth), 4)}
    recognition = Recognition(labelled_looks(pool, answers))
    told = refused = 0
    for number, labels in answers.items():
        index = pool.pictures[number].index
        places = [pool.cells_at(number, place) for place in range(len(index.places))]
        for found, wanted in zip(recognition.labels(places, index.legality.asked), labels.T, strict=True):
            known = wanted != NO_LABEL
            assert found is None or np.array_equal(found[known], wanted[known])
            told += found is not None
            refused += found is None and known.any()
        strange = [255 - cells for cells in places]
        assert not any(found is not None for found in recognition.labels(strange, index.legality.asked))
    assert refused < 0.03 * told


def test_limits_tell_how_far_equal_things_are_apart_on_different_boards(labelled):
    pool, answers, looks = labelled
    assert (looks.limits >= LEAST).all()
    assert len(set(looks.limits.tolist())) > 1
    first = next(iter(answers))
    alone = labelled_looks(pool, {first: answers[first]})
    assert set(alone.limits.tolist()) == {LEAST}  # one shape tells nothing of others


def test_layouts_are_read_by_the_others(labelled):
    pool, answers, _ = labelled
    found = read_elsewhere(pool, answers)
    assert found.wrong == 0
    assert found.right > 500
    assert found.bound < 0.01
    first = pool.walked[0].problem
    nothing = read_elsewhere(
        pool, {n: labels for n, labels in answers.items() if pool.walked[n].problem == first}
    )
    assert (nothing.right, nothing.wrong, nothing.bound) == (0, 0, 1.0)


def test_what_was_never_labelled_is_not_taken_for_what_looks_most_like_it():
    """Answers about pictures without a stone on a goal: no such stone is read as an ordinary one."""
    _, pool, truth = walked("sokoban", 40, 0, 1, 2, seed=1)
    on_goal = DOMAIN.visual.cell_heads().index("stone-on-goal")
    without = {number: labels for number, labels in enumerate(truth) if not (labels[on_goal] == 1).any()}
    recognition = Recognition(labelled_looks(pool, without))
    seen = [
        (number, int(place))
        for number, labels in enumerate(truth)
        for place in np.flatnonzero(labels[on_goal] == 1)
    ]
    assert len(seen) > 3
    for number, place in seen:
        asked = pool.pictures[number].index.legality.asked[:, [place]]
        assert recognition.labels([pool.cells_at(number, place)], asked) == [None]


def test_what_looks_like_labelled_things_is_read_as_by_the_network_and_a_strange_cell_is_unknown(labelled):
    """A cell of noise, for which the network has an answer, too."""
    pool, _, looks = labelled
    weights, card = read(DOMAIN.visual, "sokoban")
    plain, cautious = (
        BoardPerception(DOMAIN.visual, weights, card, looks=own, remembered=0) for own in (None, looks)
    )
    scene, frame = pool.walked[0].scene, pool.walked[0].frame.copy()
    frames = [one.frame for one in pool.walked if one.problem == pool.walked[0].problem]
    assert plain.read_many(frames, scene) == cautious.read_many(frames, scene)
    true = plain.look(frame, scene).state.true
    place = min(atom for atom in true if atom.predicate == "clear").objects[0]
    row, column = scene.cells[place][0]
    top, bottom, left, _ = board_box(*frame.shape[:2], scene.rows, scene.columns)
    side = (bottom - top) // scene.rows
    part = np.s_[top + row * side : top + (row + 1) * side, left + column * side : left + (column + 1) * side]
    frame[part] = np.random.default_rng(0).integers(0, 256, frame[part].shape, np.uint8)
    number = list(scene.cells).index(place)
    doubted, sure = (one.probabilities([frame], scene)[0][:, number] for one in (cautious, plain))
    assert (doubted == 0.5).all()
    assert (sure != 0.5).all()
