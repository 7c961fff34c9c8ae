"""From no label to classifiers: the rounds, with a simulator that answers."""

import io

import numpy as np
import pytest
import torch

from aam_vision.agents.perception import NO_LABEL
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.recognition import Recognition
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from aam_vision.support.commandline import Progress
from aam_vision.training.labelling import boards
from aam_vision.training.labelling.answers import SimulatorLabels
from aam_vision.training.labelling.boards import BoardLearner, Mosaics, shown
from aam_vision.training.labelling.pool import NO_LOOK, KnownLooks, Pool, walk
from aam_vision.training.labelling.references import labelled_looks
from aam_vision.training.labelling.rounds import LabellingRounds
from aam_vision.training.labelling.settings import RANDOM, Way


@pytest.fixture(scope="module")
def pool():
    domain = board_domain("sokoban")
    return Pool(domain.visual, walk(domain, domain.walked[:2], np.random.default_rng(3), 60), CELL_PIXELS)


@pytest.fixture(scope="module", autouse=True)
def quick():
    with pytest.MonkeyPatch.context() as patch:
        for name in ("STEPS", "MOST_STEPS"):
            patch.setattr(boards, name, 10)
        patch.setattr(boards, "FREE", 6)
        yield


CHOSEN = Way(most=6)


@pytest.fixture(scope="module")
def chosen(pool):
    return _rounds(pool, CHOSEN)


def _rounds(pool, way):
    domain = board_domain("sokoban")
    simulator = SimulatorLabels(domain, pool.walked)
    learner = BoardLearner(domain, pool, way)
    return LabellingRounds(learner, simulator, Progress(io.StringIO())).run()


@pytest.mark.parametrize("way", [CHOSEN, Way(choice=RANDOM, free=False, most=5)])
def test_no_more_pictures_are_labelled_than_allowed_and_none_twice(pool, chosen, way):
    perception, found = chosen if way is CHOSEN else _rounds(pool, way)
    assert len(found.pictures) == len(set(found.pictures)) == way.most
    assert len(found.examination.history) <= min(boards.AUDITED, way.most - BoardLearner.FIRST)
    assert found.sure == (found.examination.passed and not found.refused)
    assert found.elsewhere.wrong == 0
    assert found.looks is not None
    assert (found.given[1] > 0) == way.free
    assert found.atoms > 100 * way.most
    scene, frame = pool.pictures[0].picture.scene, pool.pictures[0].picture.frame
    assert perception.look(frame, scene).state.objects == scene.objects


def test_all_pictures_may_be_labelled(pool):
    """As with a folder of few pictures: then nothing is left that labels for free could be given to."""
    few = Pool(pool.pictures[0].index.vocabulary, [one.picture for one in pool.pictures[:3]], CELL_PIXELS)
    _, found = _rounds(few, Way(most=10))
    assert sorted(found.pictures) == [0, 1, 2]
    assert found.given == (0, 0)
    assert not found.sure


def test_the_same_seed_gives_the_same_choice_and_weights(pool, chosen):
    (_, one), (_, other) = chosen, _rounds(pool, CHOSEN)
    assert one.pictures == other.pictures
    assert one.card == other.card
    for name, tensor in one.network.state_dict().items():
        assert torch.equal(tensor, other.network.state_dict()[name])


def test_mosaics_have_the_labels_of_their_cells(pool):
    """Every cell that was replaced shows a look with these labels; the others are as they were."""
    domain = board_domain("sokoban")
    oracle, heads = SimulatorLabels(domain), domain.visual.cell_heads()
    known = KnownLooks(pool, len(heads))
    for number in range(0, len(pool.pictures), 5):
        one = pool.pictures[number]
        state = oracle.label(one.picture)
        known.answer(number, label(domain.visual, one.picture.scene, one.index.places, state))
    looks, pictures = known.follow(Recognition(labelled_looks(pool, known.answers)))
    mosaics, rng = Mosaics(pool, looks), np.random.default_rng(0)
    kinds = {labels.tobytes() for labels in looks}
    changed = 0
    for number in range(10):
        follows = pictures[number]
        made = mosaics.example(number, follows, rng)
        before = pool.pictures[number].pixels
        assert made.pixels.shape == before.shape
        for place, cells in enumerate(pool.pictures[number].index.cells):
            assert pool.pictures[number].looks[place] != NO_LOOK
            row, column = (
                CELL_PIXELS * part for part in divmod(cells[0], pool.pictures[number].index.scene.columns)
            )
            part = np.s_[:, row : row + CELL_PIXELS, column : column + CELL_PIXELS]
            labels = made.labels.numpy()[:, place]
            if np.array_equal(made.pixels.numpy()[part], before[part]):
                continue
            changed += 1
            assert labels.tobytes() in kinds
            assert (labels != NO_LABEL).any()
    assert changed > 50


def test_what_is_hidden_is_not_refused():
    domain = board_domain("sokoban")
    heads = domain.visual.cell_heads()
    sure, doubtful = np.zeros((len(heads), 3), bool), np.zeros((len(heads), 3), bool)
    sure[heads.index("player"), 0] = doubtful[heads.index("goal"), :2] = True
    doubtful[heads.index("stone-on-goal"), 2] = True
    found = shown(domain.visual, sure, doubtful)
    assert np.argwhere(found).tolist() == [[heads.index("goal"), 1]]
