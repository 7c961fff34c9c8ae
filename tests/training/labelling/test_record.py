"""Labels on disk: none is lost, none is half there, each is one that training would read, and others are not mixed with them."""

import json

import numpy as np
import pytest

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import Atom, State
from aam_vision.support.errors import UnusableInput
from aam_vision.training.folder import read_labels
from aam_vision.training.labelling.pool import LabelQuestion, Pool, walk
from aam_vision.training.labelling.record import LabelRecord
from aam_vision.training.labelling.session import FILE, SimulatorLabels, keep

DOMAIN = board_domain("sokoban")


@pytest.fixture(scope="module")
def pool():
    return Pool(DOMAIN.visual, walk(DOMAIN, [("train", 0)], np.random.default_rng(3), 12), CELL_PIXELS)


def _seen(pool, number):
    """The perceived atoms of a picture."""
    picture = pool.walked[number]
    true = SimulatorLabels(DOMAIN).label(picture).true
    names = {"at", "clear", "at-goal", "is-goal"}
    return State(frozenset(atom for atom in true if atom.predicate in names), picture.scene.objects)


def _filled(folder, pool, number):
    record = LabelRecord(DOMAIN, folder, pool.walked)
    for one in range(number):
        record.add(LabelQuestion(one), _seen(pool, one))
    return record


def _lines(folder):
    return (folder / "labels.jsonl").read_bytes().splitlines(keepends=True)


def test_what_was_added_is_there_again_in_order(tmp_path, pool):
    _filled(tmp_path, pool, 3).close()
    again = LabelRecord(DOMAIN, tmp_path, pool.walked)
    assert len(again) == 3
    assert [again[LabelQuestion(one)] for one in range(3)] == [_seen(pool, one) for one in range(3)]
    assert LabelQuestion(3) not in again
    assert [one.image for one in read_labels(DOMAIN, tmp_path)] == ["0001.png", "0002.png", "0003.png"]
    again.close()


def test_a_withdrawal_is_recorded_and_the_picture_keeps_its_name(tmp_path, pool):
    record = _filled(tmp_path, pool, 2)
    before = _lines(tmp_path)
    assert record.withdraw() == (LabelQuestion(1), _seen(pool, 1))
    assert _lines(tmp_path)[:2] == before
    assert len(read_labels(DOMAIN, tmp_path)) == 1
    assert LabelQuestion(1) not in record
    record.add(LabelQuestion(1), _seen(pool, 1))
    assert json.loads(_lines(tmp_path)[-1])["image"] == "0002.png"
    assert len(list((tmp_path / "images").iterdir())) == 2
    while record.withdraw():
        pass
    assert len(record) == 0
    record.close()
    with pytest.raises(UnusableInput, match="labels no image"):
        read_labels(DOMAIN, tmp_path)
    LabelRecord(DOMAIN, tmp_path, pool.walked).close()


def test_two_commands_do_not_write_to_one_file(tmp_path, pool):
    pytest.importorskip("fcntl")
    record = _filled(tmp_path, pool, 1)
    with pytest.raises(UnusableInput, match="another command is labelling there"):
        LabelRecord(DOMAIN, tmp_path, pool.walked)
    record.close()
    LabelRecord(DOMAIN, tmp_path, pool.walked).close()


@pytest.mark.parametrize(("share", "kept"), [(0.1, 1), (0.5, 1), (0.99, 1), (1, 2)])
def test_what_was_half_written_is_cut_off_and_a_line_that_lacks_only_its_end_is_kept(
    tmp_path, pool, share, kept
):
    _filled(tmp_path, pool, 2).close()
    whole = (tmp_path / "labels.jsonl").read_bytes()
    last = len(_lines(tmp_path)[-1])
    (tmp_path / "labels.jsonl").write_bytes(whole[: len(whole) - last + int(share * (last - 1))])
    again = LabelRecord(DOMAIN, tmp_path, pool.walked)
    assert len(again) == kept
    again.add(LabelQuestion(kept), _seen(pool, kept))
    again.close()
    assert len(read_labels(DOMAIN, tmp_path)) == kept + 1


def test_wrong_labels_are_not_written(tmp_path, pool):
    record = _filled(tmp_path, pool, 1)
    before = _lines(tmp_path)
    seen = _seen(pool, 1)
    clear = min(atom for atom in seen.true if atom.predicate == "clear")
    player = next(atom for atom in seen.true if atom.objects[0] == "player-01")
    for wrong, told in (
        (seen.true - {player}, "a constraint|no legal board"),
        (seen.true | {Atom("at", ("player-01", clear.objects[0]))}, "a thing is in one place"),
        (seen.true - {clear}, "look the same to the pixel"),
    ):
        with pytest.raises(UnusableInput, match=told):
            record.add(LabelQuestion(1), State(wrong, seen.objects))
    assert _lines(tmp_path) == before
    record.close()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"image": "../0001.png", "problem": "train/0", "true": []}\n', "line 1"),
        ('{"image": "7.png", "withdrawn": true}\n', "no line above"),
    ],
)
def test_labels_of_strangers_are_checked(tmp_path, pool, line, told):
    (tmp_path / "labels.jsonl").write_text(line)
    with pytest.raises(UnusableInput, match=told):
        LabelRecord(DOMAIN, tmp_path, pool.walked)


# --- the options that they belong to --------------------------------------------------------------

USUAL = {"env": "sokoban", "steps": 800, "seed": 0}
OWN = {"env": "lamps", "pictures": "abc", "seed": 0}


def _labelled(folder, settings):
    keep(folder, settings)
    (folder / "labels.jsonl").write_text('{"image": "0001.png"}\n')


def test_the_same_options_go_on_and_others_do_as_long_as_nothing_is_labelled(tmp_path):
    keep(tmp_path, USUAL)
    (tmp_path / "labels.jsonl").write_text("")
    keep(tmp_path, {**USUAL, "steps": 20})
    _labelled(tmp_path, {**USUAL, "seed": 1})
    keep(tmp_path, {**USUAL, "seed": 1})
    assert json.loads((tmp_path / FILE).read_text())["seed"] == 1


@pytest.mark.parametrize(
    ("known", "given", "told"),
    [
        (USUAL, {**USUAL, "steps": 20}, "its labels belong to --steps 800; give the same, or another --out"),
        (USUAL, {**USUAL, "env": "doors"}, "its labels are for sokoban, not for doors"),
        (USUAL, {**USUAL, "ask": "atoms", "seed": 3}, "belong to --ask pictures --seed 0"),
        (USUAL, {**USUAL, "labels": "simulator"}, "belong to --labels page"),
        ({**USUAL, "labels": "simulator"}, USUAL, "belong to --labels simulator"),
        (OWN, {**OWN, "pictures": "xyz"}, "the pictures of --images are not those that it was begun with"),
        (USUAL, {**OWN, "env": "sokoban"}, "its labels are of pictures of walks"),
    ],
)
def test_labels_that_depend_on_something_else_are_not_mixed_with_these(tmp_path, known, given, told):
    _labelled(tmp_path, known)
    before = (tmp_path / FILE).read_text()
    with pytest.raises(UnusableInput, match=told):
        keep(tmp_path, given)
    assert (tmp_path / FILE).read_text() == before


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xed\xa0\x80"])
def test_a_damaged_note_is_told_where_there_are_labels(tmp_path, content):
    _labelled(tmp_path, USUAL)
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(UnusableInput, match=r"cannot read .*session\.json"):
        keep(tmp_path, USUAL)


def test_a_simulator_does_not_write_over_labels_of_ones_own(tmp_path):
    (tmp_path / "labels.jsonl").write_text('{"image": "0001.png"}\n')
    with pytest.raises(UnusableInput, match="holds labels already, which would be lost"):
        keep(tmp_path, {**USUAL, "labels": "simulator"})
    keep(tmp_path, USUAL)  # somebody may go on with them at the page
