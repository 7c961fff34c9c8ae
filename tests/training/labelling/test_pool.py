"""Pictures of walks, their looks and sites, and what follows from labels or single answers: as the simulator knows it."""

import numpy as np
import pytest

from aam_vision.agents.perception import NO_LABEL
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.looks import distances
from aam_vision.classifiers.recognition import Recognition
from aam_vision.support.errors import UnusableInput
from aam_vision.training.labelling.boards import (
    Open,
    at_random,
    most_telling,
    most_telling_head,
    strangest_look,
)
from aam_vision.training.labelling.pool import (
    NO_LOOK,
    AskedAtom,
    KnownLooks,
    SiteAnswers,
    labelled_looks,
    rarest,
    walk,
)
from aam_vision.training.labelling.rounds import least_labelled
from aam_vision.training.labelling.session import SimulatorLabels
from tests.training.labelling import truths

CLEAR, PLAYER, STONE, STONE_ON_GOAL, GOAL = range(5)


@pytest.fixture(scope="module", params=["sokoban", "doors"])
def walked(request):
    """A domain, its pool and the truth about every picture."""
    return truths.walked(request.param, 30, 0, 1)


@pytest.fixture(scope="module")
def sokoban():
    return truths.walked("sokoban", 30, 0, 1)


def test_walks_give_different_pictures_and_the_same_again(walked):
    domain, pool, _ = walked
    again = walk(domain, domain.walked[:2], np.random.default_rng(0), 30)
    assert len(again) == len(pool.pictures) > 10
    assert all(np.array_equal(one.frame, other.frame) for one, other in zip(again, pool.walked, strict=True))
    assert len({(one.problem, one.frame.tobytes()) for one in again}) == len(again)
    assert {one.problem for one in again} == {"{}/{}".format(*problem) for problem in domain.walked[:2]}


def test_labels_of_the_simulator_are_those_of_legal_boards(walked):
    _, pool, truth = walked
    for pooled, labels in zip(pool.pictures, truth, strict=True):
        half = np.full((len(labels), 1), 0.5, np.float32)
        assert not pooled.index.legality.settle((labels == 1).astype(np.float32), half, half)[1].any()


def test_labels_for_free_are_right(walked):
    """After any few answers, whatever follows from them is what the simulator says, or is hidden."""
    _, pool, truth = walked
    known, followed = KnownLooks(pool, len(truth[0])), 0
    for number in np.random.default_rng(1).permutation(len(pool.pictures))[:4].tolist():
        known.answer(number, truth[number])
        _, pictures = known.follow(Recognition(labelled_looks(pool, known.answers)))
        for other, (labels, wanted) in enumerate(zip(pictures, truth, strict=True)):
            told = (labels != NO_LABEL) & (wanted != NO_LABEL)
            assert (labels[told] == wanted[told]).all()
            followed += int(told.sum()) * (other != number)
        assert np.array_equal(pictures[number], truth[number])
    assert followed > 10_000


def test_distances_forgive_a_shift_by_one_pixel_and_nothing_else(sokoban):
    _, pool, _ = sokoban
    here, beside, far = (pool.pictures[0].pixels[None, :, 8:26, start : start + 18] for start in (8, 9, 16))
    assert distances(here, here)[0, 0] < 0.2
    assert distances(here, beside)[0, 0] < 0.2
    assert distances(here, far)[0, 0] > 2
    looks = pool.looks[:40]
    assert (np.diag(distances(looks, 255 - looks)) > 2).all()
    assert distances(looks, looks[:7]).shape == (40, 7)


def _left(pool, numbers):
    """How far all looks are from those of some pictures, together."""
    own = np.unique(np.concatenate([pool.pictures[number].looks for number in numbers]))
    return float((np.minimum(pool.distances[:, own[own != NO_LOOK]].min(1), 30) ** 2).sum())


def test_the_most_telling_pictures_bring_all_looks_nearer_than_others(walked):
    _, pool, truth = walked
    known, nothing, rng = KnownLooks(pool, len(truth[0])), Open(pool), np.random.default_rng(0)
    labelled = list(range(1, len(pool.pictures)))
    assert most_telling(pool, known, labelled, nothing) == at_random(pool, labelled, rng) == 0
    assert most_telling(pool, known, [0, *labelled], nothing) is at_random(pool, [0, *labelled], rng) is None
    chosen = []
    while len(chosen) < 4:
        chosen.append(most_telling(pool, known, chosen, nothing))
        known.answer(chosen[-1], truth[chosen[-1]])
    assert len(set(chosen)) == 4
    assert _left(pool, chosen[:1]) == min(_left(pool, [number]) for number in range(len(pool.pictures)))
    others = [rng.choice(len(pool.pictures), 4, replace=False) for _ in range(20)]
    assert _left(pool, chosen) < np.median([_left(pool, numbers) for numbers in others])


def test_tests_are_of_the_layouts_that_are_labelled_least(sokoban):
    _, pool, _ = sokoban
    first, other = (
        [number for number, one in enumerate(pool.walked) if one.problem == problem]
        for problem in dict.fromkeys(one.problem for one in pool.walked)
    )
    rng = np.random.default_rng(0)
    assert all(least_labelled(pool.walked, first[:2], rng) in other for _ in range(5))
    assert least_labelled(pool.walked, [*first, *other[:-1]], rng) == other[-1]
    assert least_labelled(pool.walked, [*first, *other], rng) is None


def test_the_pictures_with_the_rarest_looks_are_kept(walked):
    pictures = [one.picture for one in walked[1].pictures]
    assert rarest(pictures, CELL_PIXELS, len(pictures)) == pictures
    kept = rarest(pictures, CELL_PIXELS, 12)
    assert len(kept) == 12
    numbers = [next(n for n, one in enumerate(pictures) if one is picture) for picture in kept]
    assert numbers == sorted(numbers)
    assert {one.problem for one in kept} == {one.problem for one in pictures}


# --- single answers -------------------------------------------------------------------------------


def test_all_that_follows_from_answers_is_true_and_every_place_is_known_in_the_end(walked):
    """Ask as the toolkit chooses, of looks and of rooms, until nothing is left."""
    domain, pool, truth = walked
    looks, oracle = len(pool.looks), SimulatorLabels(domain, pool.walked)
    answers, nothing = SiteAnswers(pool, len(truth[0])), np.zeros(looks, bool)
    asked, distance = 0, np.inf
    while True:
        if (found := strangest_look(answers, nothing)) is not None:
            assert found[1] <= distance  # farthest first
            site, distance = found
        else:
            rooms = range(looks, len(pool.members))
            if (site := next((one for one in rooms if one not in answers.wholes), None)) is None:
                break
        while (head := most_telling_head(answers, site)) is not None:
            atom = AskedAtom(*pool.members[site][0], head)
            yes = oracle.answer(atom)
            assert yes is not None, "what may be hidden is not asked"
            answers.add(atom, yes=yes)
            asked += 1
        assert site in answers.wholes
    assert all((answers.labels(number) == labels).all() for number, labels in enumerate(truth))
    assert asked < sum(int((labels != NO_LABEL).sum()) for labels in truth) / 10


def test_places_of_one_site_look_the_same():
    _, pool, _ = truths.walked("doors", 30, 0, 1)
    assert any(len(own) > 1 for own in pool.members[len(pool.looks) :])
    for own in pool.members:
        first, *others = [pool.cells_at(number, place) for number, place in own]
        assert all(np.array_equal(first, other) for other in others)
    for number, one in enumerate(pool.pictures):
        assert (pool.of[number][one.index.legality.asked.any(0)] != NO_LOOK).all()


def test_who_knows_where_the_player_is_knows_where_it_is_not_and_a_contradiction_changes_nothing(sokoban):
    _, pool, (truth, *_) = sokoban
    answers = SiteAnswers(pool, 5)
    (place,) = np.flatnonzero(truth[PLAYER] == 1).tolist()
    answers.add(AskedAtom(0, place, PLAYER), yes=True)
    before = answers.labels(0)
    assert (before[PLAYER] == truth[PLAYER]).all()
    assert before[GOAL, place] == NO_LABEL  # hidden
    assert (answers.labels(0, whole=True)[:, place] == truth[:, place]).all()
    free = int(np.flatnonzero(truth[CLEAR] == 1)[0])
    for atom in (AskedAtom(0, place, STONE), AskedAtom(0, free, PLAYER)):
        with pytest.raises(UnusableInput, match="look the same"):
            answers.add(atom, yes=True)
        assert (answers.labels(0) == before).all()
