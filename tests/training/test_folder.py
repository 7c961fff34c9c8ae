"""A user's own labelled images: read as they are, or refused in one line that says where."""

import json
import os
import re

import numpy as np
import pytest
import torch
from PIL import Image

from aam_vision.agents.perception import Perceived
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.envs import DOMAINS
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import State
from aam_vision.support.errors import UnusableInput
from aam_vision.training.boards import examples
from aam_vision.training.folder import labelled_images, perceived_atoms
from tests.refusals import told_by
from tests.support.test_pictures import BAD

DOMAIN = board_domain("sokoban")


def _line(layout, **changes):
    perceived = {e.predicate.name for e in DOMAIN.visual.entries if isinstance(e, Perceived)}
    true = [
        f"{a.predicate}({', '.join(a.objects)})" for a in sorted(layout.initial) if a.predicate in perceived
    ]
    return {"image": "1.png", "problem": "train/0", "true": true, **changes}


@pytest.fixture
def layout():
    return DOMAIN.load("train", 0)


@pytest.fixture
def folder(tmp_path, layout):
    (tmp_path / "images").mkdir()
    Image.fromarray(DOMAIN.drawing(layout).frame(layout.initial)).save(tmp_path / "images" / "1.png")
    (tmp_path / "labels.jsonl").write_text(json.dumps(_line(layout)) + "\n\n")
    return tmp_path


def _refused(folder):
    return told_by(lambda: labelled_images(DOMAIN, folder))


def test_labelled_images_are_what_the_simulator_would_have_given(folder, layout):
    (found,) = labelled_images(DOMAIN, folder)
    picture = DOMAIN.drawing(layout)
    state = State(layout.initial, layout.objects)
    (wanted,) = examples(
        DOMAIN.visual, DOMAIN.scene(layout), [(state, picture.frame(layout.initial))], CELL_PIXELS
    )
    assert torch.equal(found.pixels, wanted.pixels)
    assert torch.equal(found.labels, wanted.labels)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"true": ["flies(player-01)"]}, "no perceived predicate 'flies'"),
        ({"true": ["at(player-01, pos-99-99)"]}, "no location 'pos-99-99'"),
        ({"true": ["at(player-01)"]}, "takes 2 objects, not 1"),
        ({"true": ["at player-01"]}, "is no atom"),
        ({"true": []}, "no legal board"),
        ({"problem": "test/0"}, "not one for training"),
        ({"problem": "train/77"}, "not one for training"),
        ({"image": "2.png"}, "no image"),
        ({"true": 3}, "write {"),
        ({"image": "../labels.jsonl"}, "name of a file"),
        ({"image": "/etc/passwd"}, "name of a file"),
    ],
)
def test_labels_that_cannot_be(folder, layout, changes, told):
    (folder / "labels.jsonl").write_text("\n" + json.dumps(_line(layout, **changes)))
    message = _refused(folder)
    assert told in message
    assert "line 2" in message


@pytest.mark.parametrize("text", ["{", "[]", "7", '{"image": "1.png"}', "[" * 1_000_000, "9" * 5000])
def test_lines_that_are_no_labels(folder, text):
    (folder / "labels.jsonl").write_text(text)
    assert "line 1" in _refused(folder)


def test_a_folder_without_labels(tmp_path):
    assert "cannot read" in _refused(tmp_path)
    (tmp_path / "labels.jsonl").write_text("\n")
    assert "labels no image" in _refused(tmp_path)
    (tmp_path / "labels.jsonl").write_bytes(b"\xff\xfe\x00")
    assert "cannot read" in _refused(tmp_path)


def test_labels_that_never_end(folder):
    (folder / "labels.jsonl").unlink()
    os.mkfifo(folder / "labels.jsonl")
    assert "no regular file" in _refused(folder)


@pytest.mark.parametrize("name", BAD)
def test_images_that_cannot_be_used(folder, name):
    png, told = BAD[name]
    (folder / "images" / "1.png").write_bytes(png)
    message = _refused(folder)
    assert "1.png" in message
    assert re.search(told, message)


def test_images_that_are_too_small(folder):
    Image.fromarray(np.zeros((3, 3, 3), np.uint8)).save(folder / "images" / "1.png")
    assert "render larger images" in _refused(folder)


def _two(folder, layout, first=None, second=None, image=None):
    """Two lines; the second is of a picture of the same state, or of another one."""
    picture = image if image is not None else np.asarray(Image.open(folder / "images" / "1.png"))
    Image.fromarray(picture).save(folder / "images" / "2.png")
    lines = [_line(layout, **(first or {})), _line(layout, image="2.png", **(second or {}))]
    (folder / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def _message(folder):
    """Why the labels of a folder are refused; None if they are not."""
    try:
        labelled_images(DOMAIN, folder)
    except UnusableInput as error:
        return str(error)
    return None


def test_a_forgotten_atom_shows_by_its_look(folder, layout):
    """Each atom that one label leaves out, where another picture of the problem shows the same cell."""
    simulator = DOMAIN.simulator(("train", 0))
    simulator.start()
    simulator.instruct(*simulator.choose(np.random.default_rng(0)))
    later = [f"{a.predicate}({', '.join(a.objects)})" for a in sorted(simulator.board.snapshot().dynamic)]
    goals = [atom for atom in _line(layout)["true"] if atom.startswith("is-goal")]
    whole = [a for a in later if a.split("(")[0] in ("at", "at-goal", "clear")] + goals
    same = [atom for atom in whole if atom in _line(layout)["true"]]
    assert len(same) > 20
    missed = []
    for atom in whole:
        _two(folder, layout, second={"true": [a for a in whole if a != atom]}, image=simulator.frame())
        message = _message(folder)
        if message is None:
            missed.append(atom)
        else:
            assert "no legal board" in message or (
                ": line 1 (1.png) says " in message and "line 2 (2.png)" in message
            )
    assert len(set(missed) & set(same)) <= 4  # beside a cell that changed, where a pixel of it shows
    _two(folder, layout, second={"true": whole}, image=simulator.frame())
    assert len(labelled_images(DOMAIN, folder)) == 2


def test_two_labels_of_one_picture_that_contradict_each_other(folder, layout):
    whole = _line(layout)["true"]
    goal = next(a for a in whole if a.startswith("is-goal"))
    _two(folder, layout)
    assert len(labelled_images(DOMAIN, folder)) == 2
    _two(folder, layout, second={"true": [a for a in whole if a != goal]})
    message = _refused(folder)
    assert "line 2 (2.png) contradicts line 1 (1.png)" in message
    assert f"{goal} is false here, true there" in message
    _two(folder, layout, second={"true": [*whole, "at(player-01, pos-1-1)"]})
    assert "contradict each other: a thing is in one place" in _refused(folder)


def test_one_picture_of_two_problems(folder, layout):
    """Two problems of one shape."""
    other = DOMAIN.load("train", 2)
    _two(folder, layout, second={"problem": "train/2", "true": _line(other)["true"]})
    assert "the problem is train/2 here, train/0 there" in _refused(folder)


def test_pictures_of_different_sizes(folder, layout):
    small = Image.open(folder / "images" / "1.png").resize((200, 200))
    _two(folder, layout, image=np.asarray(small))
    message = _refused(folder)
    assert "2.png has 200x200 pixels" in message
    assert "1.png (line 1) of the same problem train/0 337x337" in message


def test_a_constraint_that_excludes_a_label_is_told(folder, layout):
    whole = _line(layout)["true"]
    stone = next(a for a in whole if a.startswith("at(stone"))
    place = stone.split(", ")[1].rstrip(")")
    (folder / "labels.jsonl").write_text(json.dumps(_line(layout, true=[*whole, f"clear({place})"])))
    assert f"a constraint excludes clear with stone, as at {place}" in _refused(folder)
    doors = board_domain("doors")
    (folder / "labels.jsonl").write_text(json.dumps({"image": "1.png", "problem": "train/0", "true": []}))
    with pytest.raises(
        UnusableInput, match="a constraint says that player holds in 1 place, the label has 0"
    ):
        labelled_images(doors, folder)


@pytest.mark.parametrize("name", DOMAINS)
def test_a_label_file_can_say_what_the_simulator_says(name, tmp_path):
    """In every domain, also where predicates are defined over what is seen in the cells."""
    domain = board_domain(name)
    problem = domain.walked[0]
    layout = domain.load(*problem)
    scene, state = domain.scene(layout), State(layout.initial, layout.objects)
    (tmp_path / "images").mkdir()
    frame = domain.drawing(layout).frame(layout.initial)
    Image.fromarray(frame).save(tmp_path / "images" / "1.png")
    line = {
        "image": "1.png",
        "problem": "{}/{}".format(*problem),
        "true": perceived_atoms(domain, scene, state),
    }
    (tmp_path / "labels.jsonl").write_text(json.dumps(line))
    (found,) = labelled_images(domain, tmp_path)
    (wanted,) = examples(domain.visual, scene, [(state, frame)], CELL_PIXELS)
    assert torch.equal(found.labels, wanted.labels)
