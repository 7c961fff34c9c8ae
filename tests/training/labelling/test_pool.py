"""Pictures of walks, their looks, and the labels that follow from others: compared with what the simulator knows."""

import numpy as np
import pytest

from aam_vision.agents.perception import NO_LABEL
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.looks import distances
from aam_vision.classifiers.recognition import Recognition
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from aam_vision.training.labelling.answers import SimulatorLabels
from aam_vision.training.labelling.boards import Open, at_random, most_telling
from aam_vision.training.labelling.pool import NO_LOOK, KnownLooks, Pool, rarest, walk
from aam_vision.training.labelling.references import labelled_looks
from aam_vision.training.labelling.rounds import least_labelled


@pytest.fixture(scope="module", params=["sokoban", "doors"])
def walked(request):
    """A domain, its pool and the truth about every picture."""
    domain = board_domain(request.param)
    pictures = walk(domain, domain.walked[:2], np.random.default_rng(0), 30)
    pool = Pool(domain.visual, pictures, CELL_PIXELS)
    oracle = SimulatorLabels(domain)
    truth = [
        label(domain.visual, one.picture.scene, one.index.places, oracle.label(one.picture))
        for one in pool.pictures
    ]
    return domain, pool, truth


def test_walks_give_different_pictures_and_the_same_again(walked):
    domain, pool, _ = walked
    again = walk(domain, domain.walked[:2], np.random.default_rng(0), 30)
    assert len(again) == len(pool.pictures) > 10
    for one, other in zip(again, pool.pictures, strict=True):
        assert np.array_equal(one.frame, other.picture.frame)
    contents = [(one.problem, one.frame.tobytes()) for one in again]
    assert len(set(contents)) == len(contents)
    assert {one.problem for one in again} == {"{}/{}".format(*problem) for problem in domain.walked[:2]}


def test_labels_of_the_simulator_are_those_of_legal_boards(walked):
    _, pool, truth = walked
    for pooled, labels in zip(pool.pictures, truth, strict=True):
        half = np.full((len(labels), 1), 0.5, np.float32)
        answers = (labels == 1).astype(np.float32)
        _, doubtful = pooled.index.legality.settle(answers, half, half)
        assert not doubtful.any()


def test_labels_for_free_are_right(walked):
    """After any few answers, whatever follows from them is what the simulator says, or is hidden."""
    _, pool, truth = walked
    known = KnownLooks(pool, len(truth[0]))
    followed = 0
    for number in np.random.default_rng(1).permutation(len(pool.pictures))[:4]:
        known.answer(int(number), truth[number])
        _, pictures = known.follow(Recognition(labelled_looks(pool, known.answers)))
        for labels, wanted, other in zip(pictures, truth, range(len(truth)), strict=True):
            told = (labels != NO_LABEL) & (wanted != NO_LABEL)
            assert (labels[told] == wanted[told]).all()
            followed += int(told.sum()) * (other != number)
        assert np.array_equal(pictures[int(number)], truth[number])
    assert followed > 10_000


def test_distances_forgive_a_shift_by_one_pixel_and_nothing_else(walked):
    _, pool, _ = walked
    board = pool.pictures[0].pixels
    here, beside, far = (board[None, :, 8:26, start : start + 18] for start in (8, 9, 16))
    assert distances(here, here)[0, 0] < 0.2
    assert distances(here, beside)[0, 0] < 0.2
    assert distances(here, far)[0, 0] > 2
    looks = pool.looks[:40]
    assert (np.diag(distances(looks, 255 - looks)) > 2).all()
    assert distances(looks, looks[:7]).shape == (40, 7)


def test_the_most_telling_picture_brings_all_looks_nearer_than_others(walked):
    _, pool, truth = walked
    known, nothing = KnownLooks(pool, len(truth[0])), Open(pool)
    chosen = most_telling(pool, known, [], nothing)
    assert _left(pool, [chosen]) == min(_left(pool, [number]) for number in range(len(pool.pictures)))
    labelled = list(range(1, len(pool.pictures)))
    assert most_telling(pool, known, labelled, nothing) == 0
    assert most_telling(pool, known, [0, *labelled], nothing) is None
    assert at_random(pool, labelled, np.random.default_rng(0)) == 0
    assert at_random(pool, [0, *labelled], np.random.default_rng(0)) is None


def test_tests_are_of_the_layouts_that_are_labelled_least(walked):
    _, pool, _ = walked
    first, other = (
        [number for number, one in enumerate(pool.pictures) if one.picture.problem == problem]
        for problem in dict.fromkeys(one.picture.problem for one in pool.pictures)
    )
    rng = np.random.default_rng(0)
    assert all(least_labelled(pool.walked, first[:2], rng) in other for _ in range(5))
    assert least_labelled(pool.walked, [*first, *other[:-1]], rng) == other[-1]
    assert least_labelled(pool.walked, [*first, *other], rng) is None


def test_the_pictures_with_the_rarest_looks_are_kept(walked):
    _, pool, _ = walked
    pictures = [one.picture for one in pool.pictures]
    assert rarest(pictures, CELL_PIXELS, len(pictures)) == pictures
    kept = rarest(pictures, CELL_PIXELS, 12)
    assert len(kept) == 12
    numbers = [next(n for n, one in enumerate(pictures) if one is picture) for picture in kept]
    assert numbers == sorted(numbers)
    assert {one.problem for one in kept} == {one.problem for one in pictures}


def test_a_few_chosen_pictures_leave_less_unlike_anything_labelled_than_random_ones(walked):
    _, pool, truth = walked
    known, nothing = KnownLooks(pool, len(truth[0])), Open(pool)
    chosen = []
    while len(chosen) < 4:
        chosen.append(most_telling(pool, known, chosen, nothing))
        known.answer(chosen[-1], truth[chosen[-1]])
    assert len(set(chosen)) == 4
    rng = np.random.default_rng(0)
    others = [rng.choice(len(pool.pictures), 4, replace=False) for _ in range(20)]
    assert _left(pool, chosen) < np.median([_left(pool, numbers) for numbers in others])


def _left(pool, numbers):
    """How far all looks are from those of some pictures, together."""
    own = np.unique(np.concatenate([pool.pictures[number].looks for number in numbers]))
    return float((np.minimum(pool.distances[:, own[own != NO_LOOK]].min(1), 30) ** 2).sum())
