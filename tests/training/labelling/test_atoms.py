"""From no label to classifiers by single answers."""

import io

import numpy as np
import pytest

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from aam_vision.support.commandline import Progress
from aam_vision.training.labelling import atoms, boards
from aam_vision.training.labelling.answers import SimulatorLabels
from aam_vision.training.labelling.atoms import AtomLearner
from aam_vision.training.labelling.pool import Pool, walk
from aam_vision.training.labelling.rounds import LabellingRounds
from aam_vision.training.labelling.settings import Way

DOMAIN = board_domain("sokoban")


@pytest.fixture(scope="module")
def pool():
    return Pool(DOMAIN.visual, walk(DOMAIN, DOMAIN.walked[:2], np.random.default_rng(3), 40), CELL_PIXELS)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(boards, "STEPS", 10)
    monkeypatch.setattr(boards, "MOST_STEPS", 10)
    monkeypatch.setattr(AtomLearner, "WATCHED", 10)
    monkeypatch.setattr(boards, "FREE", 6)


class _Told(SimulatorLabels):
    """Notes what is asked, and cannot tell some of it."""

    def __init__(self, pool, skip=()):
        super().__init__(DOMAIN, pool.walked)
        self.asked, self.skip = [], skip

    def answer(self, question, *, tested=False):
        self.asked.append(question)
        return None if len(self.asked) in self.skip else super().answer(question, tested=tested)


@pytest.mark.parametrize("skip", [(), (2, 5, 6)])
def test_no_more_is_asked_than_allowed_and_nothing_twice(pool, skip):
    sites, told = pool.sites, _Told(pool, skip)
    made = AtomLearner(DOMAIN, pool, Way(most=30))
    _, found = LabellingRounds(made, told, Progress(io.StringIO())).run()
    assert found.atoms == 30 == len(told.asked) - len(skip)
    assert len({(sites.of[one.number][one.place], one.head) for one in told.asked}) == len(told.asked)
    assert set(found.pictures) <= {one.number for one in told.asked}
    left_out = {int(sites.of[told.asked[one - 1].number][told.asked[one - 1].place]) for one in skip}
    later = [int(sites.of[one.number][one.place]) for one in told.asked[max(skip, default=0) :]]
    assert left_out.isdisjoint(later)  # what could not be told is not asked again
    references = made.references()
    for number, labels in references.items():
        one = pool.pictures[number]
        truth = label(DOMAIN.visual, one.picture.scene, one.index.places, told.label(one.picture))
        known = (labels == truth) | (labels == -1)
        assert known.all()
        assert ((labels == truth).all(0) | (labels == -1).all(0)).all()  # all of a place, or nothing


def test_the_test_asks_all_about_places_at_random(pool, monkeypatch):
    monkeypatch.setattr(atoms, "COVERED", np.inf)
    told = _Told(pool)
    made = AtomLearner(DOMAIN, pool, Way(most=40))
    rounds = LabellingRounds(made, told, Progress(io.StringIO()))
    rounds.ask(made.FIRST)
    perception = made.train()
    made._open.looks[:] = False
    asked = len(told.asked)
    rounds.ask(made.EACH, perception)
    test = made.found.examination
    assert len(test.history) == len(told.asked) - asked == AtomLearner.EACH
    assert all(sum(one) == 1 for one in test.history)
