"""Questions that wait for a person, about pictures or single atoms: answers, corrections, and what is kept on disk of them."""

import json
from threading import Event, Thread
from time import monotonic, sleep

import numpy as np
import pytest

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.envs.registry import board_domain
from aam_vision.support.errors import UnusableInput
from aam_vision.training.folder import labelled_images, read_labels
from aam_vision.training.labelling.desk import Corrected, Desk, Stale
from aam_vision.training.labelling.pool import AskedAtom, LabelQuestion, Pool, walk
from aam_vision.training.labelling.record import LabelRecord
from aam_vision.training.labelling.sheets import AtomSheets, PictureSheets
from tests.training.labelling.truths import truth_of

DOMAIN = board_domain("sokoban")
CLEAR, PLAYER, STONE, STONE_ON_GOAL, GOAL = range(5)


@pytest.fixture(scope="module")
def pool():
    return Pool(DOMAIN.visual, walk(DOMAIN, [("train", 0)], np.random.default_rng(3), 12)[:5], CELL_PIXELS)


@pytest.fixture(scope="module")
def truth(pool):
    return [labels == 1 for labels in truth_of(DOMAIN, pool)]


@pytest.fixture(scope="module")
def atoms(truth):
    """Some atoms that do not follow from each other: one is true, another one, and the last one is false."""
    stone, clear = (int(np.flatnonzero(truth[0][head])[0]) for head in (STONE, CLEAR))
    wall = int(np.flatnonzero(~truth[1][CLEAR])[0])
    return [AskedAtom(0, stone, STONE), AskedAtom(0, clear, CLEAR), AskedAtom(1, wall, CLEAR)]


class _Asking:
    """Rounds that ask a desk about all pictures, or some atoms, in a thread, and begin again where they are told to."""

    def __init__(self, pool, folder, atoms=None):
        self.record = LabelRecord(DOMAIN, folder, pool.walked, atoms=atoms is not None)
        if atoms is None:
            sheets, self._kind = PictureSheets(DOMAIN.visual, pool), "ask"
            self._asked = [LabelQuestion(number) for number in range(len(pool.pictures))]
        else:
            sheets, self._kind = AtomSheets(DOMAIN.visual, pool, self.record), "atom"
            self._asked = atoms
        self.desk = Desk(pool.walked, self.record, sheets, 10)
        self.begun, self.found, self.ended = 0, None, Event()
        Thread(target=self._run, daemon=True).start()

    def _run(self):
        while not self.ended.is_set():
            self.begun += 1
            try:
                found = [self.desk.answer(one) for one in self._asked]
                self.desk.settle()
            except Corrected:
                continue
            self.found = found
            self.ended.set()

    def question(self):
        """What the page shows, once something is asked."""
        until = monotonic() + 10
        while (view := self.desk.view())["kind"] != self._kind:
            assert monotonic() < until
            sleep(0.002)
        return view

    def act(self, *what):
        """Press buttons, each about what is asked then; what the last one says."""
        for one in what:
            said = self.desk.act(one, {"question": self.question()["question"]})
        return said

    def say(self, right):
        """Answer the present question about a picture as the truth says."""
        question = self.question()["question"]
        for place in range(right.shape[1]):
            self.desk.act("clear", {"question": question, "places": [place]})
            for head in np.flatnonzero(right[:, place]).tolist():
                if head not in self.desk.view()["places"][place]["yes"]:
                    self.desk.act("toggle", {"question": question, "places": [place], "head": head})
        return self.act("next")

    def undo(self):
        """Undo all that was said about the present question, and then the last answer."""
        while self.act("undo") == "Undone.":
            pass
        return self.question()

    def confirm(self):
        """Take what is shown, all of which was said before."""
        assert not any(place["unsure"] for place in self.question()["places"])
        self.act("next")


@pytest.fixture
def asking(pool, tmp_path):
    made = _Asking(pool, tmp_path)
    yield made
    made.record.close()


@pytest.fixture
def asking_atoms(pool, atoms, tmp_path):
    made = _Asking(pool, tmp_path, atoms)
    yield made
    made.record.close()


def _mistaken(right):
    """A stone on a goal for one that is not: nothing contradicts it while its look is the only one."""
    wrong = right.copy()
    wrong[[STONE_ON_GOAL, GOAL], int(np.flatnonzero(wrong[STONE])[0])] ^= True
    return wrong


def _ended(asking, pool, truth, begun):
    """Rounds have ended that began so often, and got what is true."""
    assert asking.ended.wait(10)
    assert asking.begun == begun
    for one, state, right in zip(pool.pictures, asking.found, truth, strict=True):
        assert ((one.labels(state) == 1) == right).all()


def test_the_rounds_get_what_was_said_and_an_answer_that_is_confirmed_changes_nothing(
    asking, pool, truth, tmp_path
):
    for right in truth[:2]:
        assert "is labelled" in asking.say(right)
        assert asking.desk.view()["kind"] == "ask"  # a page need not wait for what is asked at once
    asking.undo()
    asking.confirm()
    for right in truth[2:]:
        asking.say(right)
    _ended(asking, pool, truth, 1)
    assert len(read_labels(DOMAIN, tmp_path)) == len(truth)


def test_a_corrected_answer_counts_as_if_it_had_never_been_wrong(asking, pool, truth):
    asking.say(_mistaken(truth[0]))
    assert asking.undo()["corrected"]
    assert len(asking.record) == 0
    for right in truth:
        asking.say(right)
    _ended(asking, pool, truth, 2)


def test_undo_leads_back_to_the_first_picture_and_the_others_come_as_they_were_labelled(asking, pool, truth):
    for right in truth[:3]:
        asking.say(right)
    for left in (2, 1, 0):
        asking.undo()
        assert len(asking.record) == left
    assert "nothing to undo" in asking.act("undo")
    for _ in range(3):
        asking.confirm()
    for right in truth[3:]:
        asking.say(right)
    _ended(asking, pool, truth, 2)


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


def test_the_end_is_told_until_the_page_has_seen_it_and_no_longer(pool, tmp_path):
    record = LabelRecord(DOMAIN, tmp_path, pool.walked)
    desk = Desk(pool.walked, record, PictureSheets(DOMAIN.visual, pool), 10)
    telling = Thread(target=desk.end, args=("Done.", 600.0), daemon=True)
    telling.start()
    while (view := desk.view())["kind"] != "done":
        sleep(0.01)
    assert view["told"] == "Done."
    telling.join(10)
    assert not telling.is_alive()
    record.close()


def test_pages_that_are_late_or_wrong_change_nothing(asking, truth):
    late = asking.question()["question"]
    asking.say(truth[0])
    now = asking.question()["question"]
    with pytest.raises(Stale):
        asking.desk.act("next", {"question": late})
    with pytest.raises(Stale):
        asking.desk.picture(late)
    nowhere = {}, {"places": []}, {"places": [999]}, {"places": [True]}, {"places": 1}
    wrong = [("clear", facts, "places") for facts in nowhere]
    wrong += [("toggle", {"places": [0], "head": head}, "head") for head in (-1, 5, "0", None)]
    for what, facts, told in [*wrong, ("dance", {}, "dance")]:
        with pytest.raises(ValueError, match=told):
            asking.desk.act(what, {"question": now, **facts})
    assert len(asking.record) == 1


def test_a_picture_that_nobody_can_judge_is_left_out_and_comes_back_when_that_is_undone(
    asking, pool, truth, tmp_path
):
    view = asking.question()
    assert "left out" in asking.act("skip")
    asking.say(truth[1])
    assert asking.undo()["corrected"]
    assert asking.undo()["problem"] == view["problem"]  # the skip, too
    assert len(asking.record) == 0
    asking.act("skip")
    for right in truth[1:]:
        asking.say(right)
    assert asking.ended.wait(10)
    assert [state is None for state in asking.found] == [True, *[False] * (len(truth) - 1)]
    assert len(asking.record) == len(labelled_images(DOMAIN, tmp_path)) == len(truth) - 1
    asking.record.close()
    record = LabelRecord(DOMAIN, tmp_path, pool.walked)
    assert record[LabelQuestion(0)] is None
    record.close()


# --- single atoms ---------------------------------------------------------------------------------


def test_answers_are_kept_and_read_and_nothing_else_is_taken_for_false(asking_atoms, pool, atoms, tmp_path):
    view = asking_atoms.question()
    assert view["text"] == f"at(stone, {pool.pictures[0].index.places[atoms[0].place]})?"
    assert len(view["boxes"]) == 1
    asking_atoms.act("yes", "skip", "no")
    assert asking_atoms.ended.wait(10)
    assert asking_atoms.found == [True, None, False]
    assert len(asking_atoms.record) == 2
    assert len(read_labels(DOMAIN, tmp_path)) == 3
    examples = labelled_images(DOMAIN, tmp_path)
    assert [int((one.labels >= 0).sum()) for one in examples] == [1, 1]
    assert examples[0].labels[STONE, atoms[0].place] == 1
    asking_atoms.record.close()
    with pytest.raises(UnusableInput, match="--ask atoms"):  # answers and whole labels do not mix
        LabelRecord(DOMAIN, tmp_path, pool.walked)
    again = LabelRecord(DOMAIN, tmp_path, pool.walked, atoms=True)
    assert [again[one] for one in atoms] == [True, None, False]
    again.close()


def test_a_corrected_answer_about_an_atom_counts_as_if_it_had_never_been_wrong(asking_atoms, tmp_path):
    asking_atoms.act("no", "yes", "undo")
    assert asking_atoms.question()["corrected"]
    asking_atoms.act("undo")
    assert len(asking_atoms.record) == 0
    asking_atoms.act("yes", "skip", "no")
    assert asking_atoms.ended.wait(10)
    assert (asking_atoms.begun, asking_atoms.found) == (2, [True, None, False])
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert sum("withdrawn" in line for line in lines) == 2
    assert len(read_labels(DOMAIN, tmp_path)) == 3


def test_what_contradicts_another_atom_is_not_taken(pool, atoms, tmp_path):
    asking = _Asking(pool, tmp_path, [atoms[0], AskedAtom(0, atoms[0].place, PLAYER)])
    asking.act("yes")
    with pytest.raises(UnusableInput, match="look the same"):
        asking.act("yes")
    asking.act("no")
    assert asking.ended.wait(10)
    assert asking.found == [True, False]
    asking.record.close()
