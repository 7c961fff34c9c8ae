"""What is unlike all that was labelled is unknown, however sure the network is; all else is read as labelled."""

import numpy as np
import pytest

from aam_vision.agents.perception import NO_LABEL, board_box
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.recognition import Recognition
from aam_vision.classifiers.store import read
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from aam_vision.training.labelling.answers import SimulatorLabels
from aam_vision.training.labelling.boards import read_elsewhere
from aam_vision.training.labelling.pool import Pool, walk
from aam_vision.training.labelling.references import LEAST, labelled_looks

DOMAIN = board_domain("sokoban")


def _answered(domain, problems, every):
    """A pool, and the truth about every so manyth picture."""
    pictures = walk(domain, problems, np.random.default_rng(1), 40)
    pool, oracle, answers = Pool(domain.visual, pictures, CELL_PIXELS), SimulatorLabels(domain), {}
    for number in range(0, len(pool.pictures), every):
        one = pool.pictures[number]
        state = oracle.label(one.picture)
        answers[number] = label(domain.visual, one.picture.scene, one.index.places, state)
    return pool, answers


@pytest.fixture(scope="module")
def labelled():
    """A pool, answers about some pictures of two boards, and the labelled looks."""
    pool, answers = _answered(DOMAIN, [DOMAIN.walked[0], DOMAIN.walked[3]], 3)
    return pool, answers, labelled_looks(pool, answers)


def _perceptions(looks):
    weights, card = read(DOMAIN.visual, "sokoban")
    return (
        BoardPerception(DOMAIN.visual, weights, card, remembered=0),
        BoardPerception(DOMAIN.visual, weights, card, looks=looks, remembered=0),
    )


@pytest.mark.parametrize("name", ["sokoban", "doors"])
def test_answered_places_are_recognised_by_their_labels_and_others_are_strange(name):
    """Rooms of several cells, too."""
    domain = board_domain(name)
    pool, answers = _answered(domain, domain.walked[:2], 4)
    recognition = Recognition(labelled_looks(pool, answers))
    told = refused = 0
    for number, labels in answers.items():
        index = pool.pictures[number].index
        places = [pool.cells(number, place) for place in range(len(index.places))]
        for found, wanted in zip(recognition.labels(places, index.legality.asked), labels.T, strict=True):
            known = wanted != NO_LABEL
            assert found is None or np.array_equal(found[known], wanted[known])
            told += found is not None
            refused += found is None and known.any()
        strange = [255 - cells for cells in places]
        assert not any(found is not None for found in recognition.labels(strange, index.legality.asked))
    assert refused < 0.03 * told


def test_limits_tell_how_far_equal_things_are_apart_on_different_boards(labelled):
    _, answers, looks = labelled
    assert (looks.limits >= LEAST).all()
    assert len(set(looks.limits.tolist())) > 1
    first = next(iter(answers))
    pool = labelled[0]
    alone = labelled_looks(pool, {first: answers[first]})
    assert set(alone.limits.tolist()) == {LEAST}  # one shape tells nothing of others


def test_layouts_are_read_by_the_others(labelled):
    pool, answers, _ = labelled
    found = read_elsewhere(pool, answers)
    assert found.wrong == 0
    assert found.right > 500
    assert found.bound < 0.01
    one_board = {
        number: labels
        for number, labels in answers.items()
        if pool.pictures[number].picture.problem == pool.pictures[0].picture.problem
    }
    nothing = read_elsewhere(pool, one_board)
    assert (nothing.right, nothing.wrong, nothing.bound) == (0, 0, 1.0)


def test_what_was_never_labelled_is_not_taken_for_what_looks_most_like_it():
    """Answers about pictures without a stone on a goal: no such stone is read as an ordinary one."""
    pool, _ = _answered(DOMAIN, DOMAIN.walked[:3], 1)
    oracle, heads = SimulatorLabels(DOMAIN), DOMAIN.visual.cell_heads()
    truth = [
        label(DOMAIN.visual, one.picture.scene, one.index.places, oracle.label(one.picture))
        for one in pool.pictures
    ]
    on_goal = heads.index("stone-on-goal")
    without = {number: labels for number, labels in enumerate(truth) if not (labels[on_goal] == 1).any()}
    recognition = Recognition(labelled_looks(pool, without))
    seen = 0
    for number, labels in enumerate(truth):
        for place in np.flatnonzero(labels[on_goal] == 1):
            asked = pool.pictures[number].index.legality.asked[:, [place]]
            assert recognition.labels([pool.cells(number, int(place))], asked) == [None]
            seen += 1
    assert seen > 3


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
