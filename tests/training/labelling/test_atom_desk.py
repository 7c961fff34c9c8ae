"""Questions about single atoms that wait for a person: answers, skips, corrections, and what is kept on disk."""

import json

import numpy as np
import pytest

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.envs.labelled import label
from aam_vision.envs.registry import board_domain
from aam_vision.support.errors import UnusableInput
from aam_vision.training.folder import labelled_images, read_labels
from aam_vision.training.labelling.answers import SimulatorLabels
from aam_vision.training.labelling.desk import AtomSheets, Desk
from aam_vision.training.labelling.pool import AskedAtom, Pool, walk
from aam_vision.training.labelling.record import LabelRecord
from tests.refusals import told_by
from tests.training.labelling.asker import Asker

DOMAIN = board_domain("sokoban")
CLEAR, PLAYER, STONE, STONE_ON_GOAL, GOAL = range(5)


@pytest.fixture(scope="module")
def pool():
    return Pool(DOMAIN.visual, walk(DOMAIN, [("train", 0)], np.random.default_rng(3), 12)[:4], CELL_PIXELS)


@pytest.fixture(scope="module")
def oracle(pool):
    return SimulatorLabels(DOMAIN, pool.walked)


@pytest.fixture(scope="module")
def atoms(pool, oracle):
    """Some atoms that do not follow from each other."""
    one = pool.pictures[0]
    truth = label(DOMAIN.visual, one.picture.scene, one.index.places, oracle.label(one.picture))
    place = {head: int(np.flatnonzero(truth[head] == 1)[0]) for head in (CLEAR, STONE)}
    return [
        AskedAtom(0, place[STONE], STONE),
        AskedAtom(0, place[CLEAR], CLEAR),
        AskedAtom(1, int(np.flatnonzero(truth[CLEAR] == 0)[0]), CLEAR),
    ]


class _Asking(Asker):
    """Rounds that ask about all atoms."""

    def __init__(self, pool, folder, atoms):
        self.record = LabelRecord(DOMAIN, folder, pool, atoms=True)
        desk = Desk(pool.walked, self.record, AtomSheets(DOMAIN.visual, pool, self.record), 60)
        super().__init__(desk, lambda: [desk.answer(one) for one in atoms], "atom")

    def say(self, what):
        return self.desk.act(what, {"question": self.question()["question"]})


@pytest.fixture
def asking(pool, atoms, tmp_path):
    made = _Asking(pool, tmp_path, atoms)
    yield made
    made.record.close()


def test_answers_are_kept_and_read_and_nothing_else_is_taken_for_false(asking, pool, atoms, tmp_path):
    view = asking.question()
    assert view["text"] == f"at(stone, {pool.pictures[0].index.places[atoms[0].place]})?"
    assert len(view["boxes"]) == 1
    for what in ("yes", "skip", "no"):
        asking.say(what)
    assert asking.ended.wait(10)
    assert asking.found == [True, None, False]
    assert len(asking.record) == 2
    assert len(read_labels(DOMAIN, tmp_path)) == 3
    examples = labelled_images(DOMAIN, tmp_path)
    assert [int((one.labels >= 0).sum()) for one in examples] == [1, 1]
    assert examples[0].labels[STONE, atoms[0].place] == 1
    again = LabelRecord(DOMAIN, _copy(tmp_path), pool, atoms=True)
    assert [again[one] for one in atoms] == [True, None, False]
    again.close()


def _copy(folder):
    """The same files, which nobody writes to."""
    other = folder / "copy"
    (other / "images").mkdir(parents=True)
    for path in [folder / "labels.jsonl", *(folder / "images").iterdir()]:
        (other / path.relative_to(folder)).write_bytes(path.read_bytes())
    return other


def test_a_corrected_answer_counts_as_if_it_had_never_been_wrong(asking, tmp_path):
    asking.say("no")
    asking.say("yes")
    asking.say("undo")
    assert asking.question()["corrected"]
    asking.say("undo")
    assert len(asking.record) == 0
    asking.say("yes")
    for what in ("skip", "no"):
        asking.say(what)
    assert asking.ended.wait(10)
    assert asking.begun == 2
    assert asking.found == [True, None, False]
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert sum("withdrawn" in line for line in lines) == 2
    assert len(read_labels(DOMAIN, tmp_path)) == 3


def test_what_contradicts_is_not_taken(pool, atoms, tmp_path):
    same = AskedAtom(atoms[0].number, atoms[0].place, PLAYER)
    asking = _Asking(pool, tmp_path, [atoms[0], same])
    asking.say("yes")
    with pytest.raises(UnusableInput, match="look the same"):
        asking.say("yes")
    asking.say("no")
    assert asking.ended.wait(10)
    assert asking.found == [True, False]
    asking.record.close()


def test_answers_and_whole_labels_do_not_mix(asking, pool, tmp_path):
    asking.say("yes")
    asking.record.close()
    with pytest.raises(UnusableInput, match="--ask atoms"):
        LabelRecord(DOMAIN, tmp_path, pool)


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"yes": ["ghost at pos-1-1"]}, "no classifier 'ghost'"),
        ({"yes": ["stone at moon"]}, "no such place"),
        ({"yes": ["stone"]}, "CLASSIFIER at PLACE"),
        ({"yes": "stone at pos-1-1"}, "write"),
        ({"yes": ["stone at pos-1-1"], "no": ["stone at pos-1-1"]}, "both yes and no"),
        ({"yes": ["stone at pos-1-1", "player at pos-1-1"]}, "constraints exclude"),
        ({"yes": ["player at pos-1-1", "player at pos-1-2"]}, "player is in 2 places"),
        ({"yes": [], "true": []}, "give true if"),
        ({"skipped": True, "yes": []}, "whole image is skipped"),
        ({"skipped": True}, "all are skipped"),
        ({"withdrawn": ["stone at pos-1-1"]}, "no line above labels it"),
    ],
)
def test_lines_that_cannot_be(asking, tmp_path, facts, told):
    asking.say("yes")
    other = _copy(tmp_path)
    (other / "labels.jsonl").write_text(
        json.dumps({"image": "0001.png", "problem": "train/0", **facts}) + "\n"
    )
    told_by(lambda: labelled_images(DOMAIN, other), told)
