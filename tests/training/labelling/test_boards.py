"""From no label to classifiers of boards, by whole labels or single answers: the rounds, with a simulator that answers."""

import io

import numpy as np
import pytest
import torch

from aam_vision.agents.perception import NO_LABEL
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.recognition import Recognition
from aam_vision.envs.registry import board_domain
from aam_vision.support.commandline import Progress
from aam_vision.training.labelling import boards
from aam_vision.training.labelling.boards import AtomLearner, BoardLearner, Mosaics, shown
from aam_vision.training.labelling.pool import NO_LOOK, KnownLooks, Pool, labelled_looks
from aam_vision.training.labelling.rounds import LabellingRounds
from aam_vision.training.labelling.session import SimulatorLabels
from aam_vision.training.labelling.settings import RANDOM, Way
from tests.profiles import first
from tests.training.labelling.truths import walked

DOMAIN = board_domain("sokoban")
CHOSEN = Way(most=6)


@pytest.fixture(scope="module")
def pool():
    return walked("sokoban", 40, 0, 1, seed=3)[1]


@pytest.fixture(scope="module", autouse=True)
def quick():
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("STEPS", 4), ("MOST_STEPS", 4), ("FREE", 6)):
            patch.setattr(boards, name, value)
        patch.setattr(BoardLearner, "WATCHED", 20)
        patch.setattr(AtomLearner, "WATCHED", 10)
        yield


class _Told(SimulatorLabels):
    """Notes what is asked, and cannot tell some of it."""

    def __init__(self, pool, skip=()):
        super().__init__(DOMAIN, pool.walked)
        self.asked, self.skip = [], skip

    def answer(self, question, *, tested=False):
        self.asked.append(question)
        return None if len(self.asked) in self.skip else super().answer(question, tested=tested)


def _rounds(pool, way):
    return LabellingRounds(BoardLearner(DOMAIN, pool, way), _Told(pool), Progress(io.StringIO())).run()


@pytest.fixture(scope="module")
def chosen(pool):
    return _rounds(pool, CHOSEN)


@pytest.mark.parametrize("way", first(1, [CHOSEN, Way(choice=RANDOM, free=False, most=5)]))
def test_no_more_pictures_are_labelled_than_allowed_and_none_twice(pool, chosen, way):
    perception, found = chosen if way is CHOSEN else _rounds(pool, way)
    assert len(found.pictures) == len(set(found.pictures)) == way.most
    assert len(found.examination.history) <= min(boards.AUDITED, way.most - BoardLearner.FIRST)
    assert found.sure == (found.examination.passed and not found.refused)
    assert found.elsewhere.wrong == 0
    assert found.looks is not None
    assert (found.given[1] > 0) == way.free
    assert found.atoms > 100 * way.most
    scene, frame = pool.walked[0].scene, pool.walked[0].frame
    assert perception.look(frame, scene).state.objects == scene.objects


def test_all_pictures_may_be_labelled(pool):
    """As with a folder of few pictures: then nothing is left that labels for free could be given to."""
    few = Pool(DOMAIN.visual, pool.walked[:3], CELL_PIXELS)
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
    truth = walked("sokoban", 40, 0, 1, seed=3)[2]
    known = KnownLooks(pool, len(truth[0]))
    for number in range(0, len(truth), 5):
        known.answer(number, truth[number])
    looks, pictures = known.follow(Recognition(labelled_looks(pool, known.answers)))
    mosaics, rng, changed = Mosaics(pool, looks), np.random.default_rng(0), 0
    kinds = {labels.tobytes() for labels in looks}
    for number, one in enumerate(pool.pictures[:10]):
        made = mosaics.example(number, pictures[number], rng)
        assert made.pixels.shape == one.pixels.shape
        for place, cells in enumerate(one.index.cells):
            assert one.looks[place] != NO_LOOK
            row, column = (CELL_PIXELS * part for part in divmod(cells[0], one.index.scene.columns))
            part = np.s_[:, row : row + CELL_PIXELS, column : column + CELL_PIXELS]
            if not np.array_equal(made.pixels.numpy()[part], one.pixels[part]):
                labels = made.labels.numpy()[:, place]
                changed += 1
                assert labels.tobytes() in kinds
                assert (labels != NO_LABEL).any()
    assert changed > 50


def test_what_is_hidden_is_not_refused():
    heads = DOMAIN.visual.cell_heads()
    sure, doubtful = np.zeros((len(heads), 3), bool), np.zeros((len(heads), 3), bool)
    sure[heads.index("player"), 0] = doubtful[heads.index("goal"), :2] = True
    doubtful[heads.index("stone-on-goal"), 2] = True
    assert np.argwhere(shown(DOMAIN.visual, sure, doubtful)).tolist() == [[heads.index("goal"), 1]]


# --- single answers -------------------------------------------------------------------------------


@pytest.mark.parametrize("skip", first(1, [[2, 5, 6], []]))
def test_no_more_is_asked_than_allowed_and_nothing_twice(pool, skip):
    told, made = _Told(pool, skip), AtomLearner(DOMAIN, pool, Way(most=30))
    _, found = LabellingRounds(made, told, Progress(io.StringIO())).run()
    assert found.atoms == 30 == len(told.asked) - len(skip)
    where = [int(pool.of[one.number][one.place]) for one in told.asked]
    assert len({(site, one.head) for site, one in zip(where, told.asked, strict=True)}) == len(told.asked)
    assert set(found.pictures) <= {one.number for one in told.asked}
    assert {where[one - 1] for one in skip}.isdisjoint(
        where[max(skip, default=0) :]
    )  # what could not be told
    truth = walked("sokoban", 40, 0, 1, seed=3)[2]
    for number, labels in made.references().items():
        right, unknown = labels == truth[number], labels == NO_LABEL
        assert (right | unknown).all()
        assert (right.all(0) | unknown.all(0)).all()  # all of a place, or nothing


def test_the_test_asks_all_about_places_at_random(pool, monkeypatch):
    monkeypatch.setattr(boards, "COVERED", np.inf)
    told, made = _Told(pool), AtomLearner(DOMAIN, pool, Way(most=40))
    rounds = LabellingRounds(made, told, Progress(io.StringIO()))
    rounds.ask(made.FIRST)
    perception = made.train()
    made._open.looks[:] = False
    asked = len(told.asked)
    rounds.ask(made.EACH, perception)
    test = made.found.examination
    assert len(test.history) == len(told.asked) - asked == AtomLearner.EACH
    assert all(sum(one) == 1 for one in test.history)
