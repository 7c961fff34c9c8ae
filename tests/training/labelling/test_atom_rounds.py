"""From no label to classifiers by single answers."""

import io

import numpy as np
import pytest

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.commandline import Progress
from aam_vision.envs.registry import board_domain
from aam_vision.training.labelling import atom_rounds, rounds
from aam_vision.training.labelling.answers import SimulatorAtoms
from aam_vision.training.labelling.atom_rounds import AtomRounds
from aam_vision.training.labelling.pool import Pool, Sites, walk
from aam_vision.training.labelling.rounds import Way
from aam_vision.training.labels import label

DOMAIN = board_domain("sokoban")


@pytest.fixture(scope="module")
def pool():
    return Pool(DOMAIN.visual, walk(DOMAIN, DOMAIN.walked[:2], np.random.default_rng(3), 40), CELL_PIXELS)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(rounds, "STEPS", 10)
    monkeypatch.setattr(rounds, "MOST_STEPS", 10)
    monkeypatch.setattr(rounds, "WATCHED", 10)
    monkeypatch.setattr(rounds, "FREE", 6)


class _Told(SimulatorAtoms):
    """Notes what is asked, and cannot tell some of it."""

    def __init__(self, pool, skip=()):
        super().__init__(DOMAIN, pool)
        self.asked, self.skip = [], skip

    def atom(self, atom, *, tested=False):
        self.asked.append(atom)
        return None if len(self.asked) in self.skip else super().atom(atom, tested=tested)


@pytest.mark.parametrize("skip", [(), (2, 5, 6)])
def test_no_more_is_asked_than_allowed_and_nothing_twice(pool, skip):
    sites, told = Sites(pool), _Told(pool, skip)
    made = AtomRounds(DOMAIN, pool, told, Way(most=30), Progress(io.StringIO()), sites)
    _, found = made.run()
    assert found.atoms == 30 == len(told.asked) - len(skip)
    assert len({(sites.of[one.number][one.place], one.head) for one in told.asked}) == len(told.asked)
    assert set(found.pictures) <= {one.number for one in told.asked}
    left_out = {int(sites.of[told.asked[one - 1].number][told.asked[one - 1].place]) for one in skip}
    later = [int(sites.of[one.number][one.place]) for one in told.asked[max(skip, default=0) :]]
    assert left_out.isdisjoint(later)  # what could not be told is not asked again
    references = made._references()
    for number, labels in references.items():
        one = pool.pictures[number]
        truth = label(DOMAIN.visual, one.picture.scene, one.index.places, told.label(one.picture))
        known = (labels == truth) | (labels == -1)
        assert known.all()
        assert ((labels == truth).all(0) | (labels == -1).all(0)).all()  # all of a place, or nothing


def test_the_test_asks_all_about_places_at_random(pool, monkeypatch):
    monkeypatch.setattr(atom_rounds, "COVERED", np.inf)
    told = _Told(pool)
    made = AtomRounds(DOMAIN, pool, told, Way(most=40), Progress(io.StringIO()), Sites(pool))
    made._begin()
    perception = made._train()
    made._open.looks[:] = False
    asked = len(told.asked)
    made._round(perception)
    test = made.found.examination
    assert len(test.history) == len(told.asked) - asked == atom_rounds.EACH
    assert all(sum(one) == 1 for one in test.history)
