"""Single answers, and what follows from them: never anything that the simulator would deny."""

import numpy as np
import pytest

from aam_vision.agents.perception import NO_LABEL
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from aam_vision.support.errors import UnusableInput
from aam_vision.training.labelling.answers import SimulatorLabels
from aam_vision.training.labelling.atoms import most_telling_head, strangest_look
from aam_vision.training.labelling.pool import NO_LOOK, AskedAtom, Pool, SiteAnswers, Sites, walk

CLEAR, PLAYER, STONE, STONE_ON_GOAL, GOAL = range(5)


def _sites(name, problems, steps):
    domain = board_domain(name)
    pool = Pool(domain.visual, walk(domain, problems, np.random.default_rng(1), steps), CELL_PIXELS)
    return domain, Sites(pool), SimulatorLabels(domain, pool.walked)


def _truth(domain, sites, oracle, number):
    one = sites.pool.pictures[number]
    return label(domain.visual, one.picture.scene, one.index.places, oracle.label(one.picture))


@pytest.mark.parametrize(
    ("name", "problems"), [("sokoban", [("train", 0), ("train", 2)]), ("doors", [("train", 0)])]
)
def test_all_that_follows_is_true_and_every_place_is_known_in_the_end(name, problems):
    """Ask as the toolkit chooses, of looks and of rooms, until nothing is left."""
    domain, sites, oracle = _sites(name, problems, 25)
    answers = SiteAnswers(sites, len(domain.visual.cell_heads()))
    nothing, asked = np.zeros(sites.looks, bool), 0
    rooms = list(range(sites.looks, len(sites)))
    distance = np.inf
    while True:
        found = strangest_look(answers, nothing, set())
        site = (
            found[0] if found is not None else next((one for one in rooms if one not in answers.wholes), None)
        )
        if site is None:
            break
        if found is not None:
            assert found[1] <= distance  # farthest first
            distance = found[1]
        while (head := most_telling_head(answers, site)) is not None:
            number, place = sites.members[site][0]
            yes = oracle.answer(AskedAtom(number, place, head))
            assert yes is not None, "what may be hidden is not asked"
            answers.add(AskedAtom(number, place, head), yes=yes)
            asked += 1
        assert site in answers.wholes
    for number in range(len(sites.pool.pictures)):
        assert (answers.labels(number) == _truth(domain, sites, oracle, number)).all()
    told = sum(
        int((_truth(domain, sites, oracle, n) != NO_LABEL).sum()) for n in range(len(sites.pool.pictures))
    )
    assert asked < told / 10


def test_places_of_one_site_look_the_same():
    _, sites, _ = _sites("doors", [("train", 0)], 15)
    assert any(len(own) > 1 for own in sites.members[sites.looks :])
    for own in sites.members:
        first, *others = [sites.pool.cells(number, place) for number, place in own]
        assert all(np.array_equal(first, other) for other in others)
    for number, one in enumerate(sites.pool.pictures):
        asked = one.index.legality.asked.any(0)
        assert (sites.of[number][asked] != NO_LOOK).all()


def test_who_knows_where_the_player_is_knows_where_it_is_not():
    domain, sites, oracle = _sites("sokoban", [("train", 0)], 10)
    answers = SiteAnswers(sites, 5)
    truth = _truth(domain, sites, oracle, 0)
    (place,) = np.flatnonzero(truth[PLAYER] == 1).tolist()
    answers.add(AskedAtom(0, place, PLAYER), yes=True)
    assert (answers.labels(0)[PLAYER] == truth[PLAYER]).all()
    assert answers.labels(0)[GOAL, place] == NO_LABEL  # hidden
    assert (answers.labels(0, whole=True)[:, place] == truth[:, place]).all()


def test_an_answer_that_contradicts_changes_nothing():
    domain, sites, oracle = _sites("sokoban", [("train", 0)], 10)
    answers = SiteAnswers(sites, 5)
    truth = _truth(domain, sites, oracle, 0)
    (place,) = np.flatnonzero(truth[PLAYER] == 1).tolist()
    free = int(np.flatnonzero(truth[CLEAR] == 1)[0])
    answers.add(AskedAtom(0, place, PLAYER), yes=True)
    before = answers.labels(0)
    for atom in (AskedAtom(0, place, STONE), AskedAtom(0, free, PLAYER)):
        with pytest.raises(UnusableInput, match="look the same"):
            answers.add(atom, yes=True)
        assert (answers.labels(0) == before).all()
