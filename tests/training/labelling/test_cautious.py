"""What is unlike all that was labelled is unknown, however sure the network is; all else is read as before."""

import numpy as np
import pytest

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.board import board_box
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.store import read
from aam_vision.envs.registry import board_domain
from aam_vision.training.labelling.answers import SimulatorLabels
from aam_vision.training.labelling.cautious import CautiousPerception, LabelledLooks
from aam_vision.training.labelling.pool import KnownLooks, Pool
from aam_vision.training.labelling.rounds import ALIKE, MARGIN
from aam_vision.training.labelling.walks import walk
from aam_vision.training.labels import label

DOMAIN = board_domain("sokoban")


@pytest.fixture(scope="module")
def labelled():
    """A pool, the labels of its looks after every third picture was answered, and these looks."""
    pool = Pool(
        DOMAIN.visual,
        walk(DOMAIN, [DOMAIN.walked[0], DOMAIN.walked[2]], np.random.default_rng(1), 40),
        CELL_PIXELS,
    )
    oracle, known = SimulatorLabels(DOMAIN), KnownLooks(pool, len(DOMAIN.visual.cell_heads()))
    for number in range(0, len(pool.pictures), 3):
        one = pool.pictures[number]
        state = oracle.label(one.picture)
        known.answer(number, label(DOMAIN.visual, one.picture.scene, one.index.places, state))
    labels = known.labels(ALIKE, MARGIN)
    return pool, labels, LabelledLooks(pool, labels)


def _perceptions(looks):
    weights, card = read(DOMAIN.visual, "sokoban")
    return (
        BoardPerception(DOMAIN.visual, weights, card, remembered=0),
        CautiousPerception(DOMAIN.visual, weights, card, looks),
    )


def test_known_looks_are_recognised_by_their_labels_and_others_are_strange(labelled):
    pool, labels, looks = labelled
    told = np.flatnonzero((labels >= 0).any(1))
    asked = [pool.asked[one] for one in told]
    for wanted, found in zip(labels[told], looks.recognise(asked, pool.looks[told]), strict=True):
        assert found is not None
        assert np.array_equal(found, wanted)
    assert looks.recognise(asked, 255 - pool.looks[told]) == [None] * len(told)
    assert 0 < looks.limit < np.inf


def test_nothing_is_strange_where_only_one_board_is_known():
    pool = Pool(DOMAIN.visual, walk(DOMAIN, DOMAIN.walked[:1], np.random.default_rng(1), 5), CELL_PIXELS)
    labels = np.zeros((len(pool.looks), len(DOMAIN.visual.cell_heads())), np.int8)
    assert LabelledLooks(pool, labels).limit == np.inf


def test_what_looks_like_labelled_things_is_read_as_by_the_network(labelled):
    pool, _, looks = labelled
    plain, cautious = _perceptions(looks)
    scene = pool.pictures[0].picture.scene
    frames = [
        one.picture.frame for one in pool.pictures if one.picture.problem == pool.pictures[0].picture.problem
    ]
    for one, other in zip(plain.read_many(frames, scene), cautious.read_many(frames, scene), strict=True):
        assert one == other


def test_a_strange_cell_is_unknown(labelled):
    """A cell of noise, for which the network has an answer, too."""
    pool, _, looks = labelled
    plain, cautious = _perceptions(looks)
    picture = pool.pictures[0].picture
    scene, frame = picture.scene, picture.frame.copy()
    place = next(atom.objects[0] for atom in _clear(plain, frame, scene))
    row, column = scene.cells[place][0]
    top, bottom, left, _ = board_box(*frame.shape[:2], scene.rows, scene.columns)
    side = (bottom - top) // scene.rows
    part = np.s_[top + row * side : top + (row + 1) * side, left + column * side : left + (column + 1) * side]
    frame[part] = np.random.default_rng(0).integers(0, 256, frame[part].shape, np.uint8)
    (probabilities,) = cautious.probabilities([frame], scene)
    number = list(scene.cells).index(place)
    assert (probabilities[:, number] == 0.5).all()
    assert (plain.probabilities([frame], scene)[0][:, number] != 0.5).all()


def _clear(perception, frame, scene):
    return sorted(atom for atom in perception.look(frame, scene).state.true if atom.predicate == "clear")
