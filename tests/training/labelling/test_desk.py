"""Questions that wait for a person: answers, corrections, and what the rounds get to know of them."""

import numpy as np
import pytest

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from aam_vision.support.errors import UnusableInput
from aam_vision.training.folder import labelled_images, read_labels
from aam_vision.training.labelling.answers import SimulatorLabels
from aam_vision.training.labelling.desk import Desk, Stale
from aam_vision.training.labelling.draft import PictureSheets
from aam_vision.training.labelling.pool import LabelQuestion, Pool, walk
from aam_vision.training.labelling.record import LabelRecord
from tests.training.labelling.asker import Asker

DOMAIN = board_domain("sokoban")
CLEAR, PLAYER, STONE, STONE_ON_GOAL, GOAL = range(5)


@pytest.fixture(scope="module")
def pictures():
    return walk(DOMAIN, [("train", 0)], np.random.default_rng(3), 12)[:5]


@pytest.fixture(scope="module")
def pool(pictures):
    return Pool(DOMAIN.visual, pictures, CELL_PIXELS)


class _Asking(Asker):
    """Rounds that ask about all pictures."""

    def __init__(self, pool, folder):
        self.record = LabelRecord(DOMAIN, folder, pool)
        desk = Desk(pool.walked, self.record, PictureSheets(DOMAIN.visual, pool), 10)
        asked = [LabelQuestion(number) for number in range(len(pool.pictures))]
        super().__init__(desk, lambda: [desk.answer(one) for one in asked], "ask")

    def say(self, right, what="next"):
        """Answer the present question as the truth says."""
        view = self.question()
        question = view["question"]
        for place in range(right.shape[1]):
            self.desk.act("clear", {"question": question, "places": [place]})
            for head in np.flatnonzero(right[:, place]).tolist():
                if head not in self.desk.view()["places"][place]["yes"]:
                    self.desk.act("toggle", {"question": question, "places": [place], "head": head})
        return self.desk.act(what, {"question": question})

    def undo(self):
        """Undo all that was said about the present question, and then the last answer."""
        view = self.question()
        while self.desk.act("undo", {"question": view["question"]}) == "Undone.":
            pass
        return self.question()


@pytest.fixture
def asking(pool, tmp_path):
    made = _Asking(pool, tmp_path)
    yield made
    made.record.close()


@pytest.fixture(scope="module")
def truth(pictures):
    oracle = SimulatorLabels(DOMAIN)
    return [
        label(DOMAIN.visual, one.scene, tuple(one.scene.cells), oracle.label(one)) == 1 for one in pictures
    ]


def _mistaken(right):
    """A stone on a goal for one that is not: nothing contradicts it while its look is the only one."""
    wrong = right.copy()
    place = int(np.flatnonzero(wrong[STONE])[0])
    wrong[[STONE_ON_GOAL, GOAL], place] ^= True
    return wrong


def test_the_rounds_get_what_was_said(asking, truth, pictures, tmp_path):
    for right in truth[:-1]:
        assert "is labelled" in asking.say(right)
        assert asking.desk.view()["kind"] == "ask"  # a page need not wait for what is asked at once
    asking.say(truth[-1])
    assert asking.ended.wait(10)
    assert asking.begun == 1
    for state, right, one in zip(asking.found, truth, pictures, strict=True):
        assert ((label(DOMAIN.visual, one.scene, tuple(one.scene.cells), state) == 1) == right).all()
    assert len(read_labels(DOMAIN, tmp_path)) == len(truth)


def test_a_corrected_answer_counts_as_if_it_had_never_been_wrong(asking, truth, pictures):
    asking.say(_mistaken(truth[0]))
    shown = asking.undo()
    assert shown["corrected"]
    assert len(asking.record) == 0
    for right in truth:
        asking.say(right)
    assert asking.ended.wait(10)
    assert asking.begun == 2
    for state, right, one in zip(asking.found, truth, pictures, strict=True):
        assert ((label(DOMAIN.visual, one.scene, tuple(one.scene.cells), state) == 1) == right).all()


def test_an_answer_that_is_confirmed_changes_nothing(asking, truth):
    for right in truth[:2]:
        asking.say(right)
    asking.undo()
    view = asking.question()
    assert not any(place["unsure"] for place in view["places"])
    asking.desk.act("next", {"question": view["question"]})
    for right in truth[2:]:
        asking.say(right)
    assert asking.ended.wait(10)
    assert asking.begun == 1


def test_undo_leads_back_to_the_first_picture_and_the_others_come_as_they_were_labelled(asking, truth):
    for right in truth[:3]:
        asking.say(right)
    for left in (2, 1, 0):
        asking.undo()
        assert len(asking.record) == left
    assert "nothing to undo" in asking.desk.act("undo", {"question": asking.question()["question"]})
    for _ in range(3):
        view = asking.question()
        assert not any(place["unsure"] for place in view["places"])
        asking.desk.act("next", {"question": view["question"]})
    for right in truth[3:]:
        asking.say(right)
    assert asking.ended.wait(10)
    assert asking.begun == 2


def test_what_contradicts_is_not_taken(asking, truth):
    asking.say(truth[0])
    with pytest.raises(UnusableInput, match="look the same to the pixel"):
        asking.say(_mistaken(truth[1]))
    wrong = truth[1].copy()
    wrong[PLAYER] = False
    with pytest.raises(UnusableInput, match="player is in 0 places"):
        asking.say(wrong)
    assert len(asking.record) == 1
    asking.say(truth[1])
    assert len(asking.record) == 2


def test_pages_that_are_late_or_wrong_change_nothing(asking, truth):
    view = asking.question()
    asking.say(truth[0])
    asking.question()
    with pytest.raises(Stale):
        asking.desk.act("next", {"question": view["question"]})
    with pytest.raises(Stale):
        asking.desk.picture(view["question"])
    now = asking.question()["question"]
    for facts in ({}, {"places": []}, {"places": [999]}, {"places": [True]}, {"places": 1}):
        with pytest.raises(ValueError, match="places"):
            asking.desk.act("clear", {"question": now, **facts})
    for head in (-1, 5, "0", None):
        with pytest.raises(ValueError, match="head"):
            asking.desk.act("toggle", {"question": now, "places": [0], "head": head})
    with pytest.raises(ValueError, match="dance"):
        asking.desk.act("dance", {"question": now})
    assert len(asking.record) == 1


def test_a_picture_that_nobody_can_judge_is_left_out_and_comes_back_when_that_is_undone(
    asking, pool, truth, tmp_path
):
    view = asking.question()
    assert "left out" in asking.desk.act("skip", {"question": view["question"]})
    asking.say(truth[1])
    asking.undo()
    assert asking.question()["corrected"]
    again = asking.undo()  # the skip, too
    assert again["problem"] == view["problem"]
    assert len(asking.record) == 0
    asking.desk.act("skip", {"question": again["question"]})
    for right in truth[1:]:
        asking.say(right)
    assert asking.ended.wait(10)
    assert asking.found[0] is None
    assert all(state is not None for state in asking.found[1:])
    assert len(asking.record) == len(truth) - 1
    assert len(labelled_images(DOMAIN, tmp_path)) == len(truth) - 1
    asking.record.close()
    record = LabelRecord(DOMAIN, tmp_path, pool)
    assert record[LabelQuestion(0)] is None
    record.close()
