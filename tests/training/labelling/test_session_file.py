"""A folder of labels is gone on with by the command that it belongs to, and nothing in it is lost."""

import json

import pytest

from aam_vision.support.errors import UnusableInput
from aam_vision.training.labelling.session import FILE, keep

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


@pytest.mark.parametrize("content", ["", "[]", "{", "\ud800"])
def test_a_damaged_note_is_told_where_there_are_labels(tmp_path, content):
    _labelled(tmp_path, USUAL)
    (tmp_path / FILE).write_bytes(content.encode(errors="surrogatepass"))
    with pytest.raises(UnusableInput, match=r"cannot read .*session\.json"):
        keep(tmp_path, USUAL)


def test_a_simulator_does_not_write_over_labels_of_ones_own(tmp_path):
    (tmp_path / "labels.jsonl").write_text('{"image": "0001.png"}\n')
    with pytest.raises(UnusableInput, match="holds labels already, which would be lost"):
        keep(tmp_path, {**USUAL, "labels": "simulator"})
    keep(tmp_path, USUAL)  # somebody may go on with them at the page
