"""A user's own labelled images: read as they are, or refused in one line that says where; what classifiers doubt is named."""

import json
import os
import re

import numpy as np
import pytest
import torch
from PIL import Image

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs import DOMAINS
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import State
from aam_vision.support.errors import UnusableInput
from aam_vision.training.boards import examples
from aam_vision.training.folder import MOST, doubts, labelled_images, perceived_atoms, read_labels
from aam_vision.training.folder import told as told_of
from tests.refusals import told_by
from tests.support.test_pictures import BAD

DOMAIN = board_domain("sokoban")
LAYOUT = DOMAIN.load("train", 0)
FRAME = DOMAIN.drawing(LAYOUT).frame(LAYOUT.initial)
TRUE = perceived_atoms(DOMAIN, DOMAIN.scene(LAYOUT), State(LAYOUT.initial, LAYOUT.objects))
GOAL = next(atom for atom in TRUE if atom.startswith("is-goal"))


def _line(**changes):
    return {"image": "1.png", "problem": "train/0", "true": TRUE, **changes}


def _written(folder, *lines, **images):
    """Labels in a folder, beside images by their names."""
    (folder / "images").mkdir(exist_ok=True)
    for name, frame in images.items():
        Image.fromarray(frame).save(folder / "images" / f"{name[1:]}.png")
    (folder / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def folder(tmp_path):
    _written(tmp_path, _line(), _1=FRAME)
    return tmp_path


def _refused(folder, match=None, domain=DOMAIN):
    return told_by(lambda: labelled_images(domain, folder), match)


@pytest.mark.parametrize("name", DOMAINS)
def test_a_label_file_can_say_what_the_simulator_says(name, tmp_path):
    """In every domain, also where predicates are defined over what is seen in the cells."""
    domain = board_domain(name)
    problem = domain.walked[0]
    layout = domain.load(*problem)
    scene, state = domain.scene(layout), State(layout.initial, layout.objects)
    frame = domain.drawing(layout).frame(layout.initial)
    true = perceived_atoms(domain, scene, state)
    _written(tmp_path, _line(problem="{}/{}".format(*problem), true=true), _1=frame)
    (found,) = labelled_images(domain, tmp_path)
    (wanted,) = examples(domain.visual, scene, [(state, frame)], CELL_PIXELS)
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
        (
            {"true": [*TRUE, "clear(pos-{stone})"]},
            "a constraint excludes clear with stone, as at pos-{stone}",
        ),
        ({"problem": "test/0"}, "not one for training"),
        ({"problem": "train/77"}, "not one for training"),
        ({"image": "2.png"}, "no image"),
        ({"true": 3}, "write {"),
        ({"image": "../labels.jsonl"}, "name of a file"),
        ({"image": "/etc/passwd"}, "name of a file"),
        ({"true": None, "yes": ["ghost at pos-1-1"]}, "no classifier 'ghost'"),
        ({"true": None, "yes": ["stone at moon"]}, "no such place"),
        ({"true": None, "yes": ["stone"]}, "CLASSIFIER at PLACE"),
        ({"true": None, "yes": "stone at pos-1-1"}, "write"),
        ({"true": None, "yes": ["stone at pos-1-1"], "no": ["stone at pos-1-1"]}, "both yes and no"),
        ({"true": None, "yes": ["stone at pos-1-1", "player at pos-1-1"]}, "constraints exclude"),
        ({"true": None, "yes": ["player at pos-1-1", "player at pos-1-2"]}, "player is in 2 places"),
        ({"true": [], "yes": []}, "give true if"),
        ({"true": None, "skipped": True, "yes": []}, "whole image is skipped"),
        ({"true": None, "skipped": True}, "all are skipped"),
        ({"true": None, "withdrawn": ["stone at pos-1-1"]}, "no line above labels it"),
    ],
)
def test_labels_that_cannot_be(folder, changes, told):
    place = next(atom for atom in TRUE if atom.startswith("at(stone")).split("pos-")[1].rstrip(")")
    line = {name: value for name, value in _line(**changes).items() if value is not None}
    (folder / "labels.jsonl").write_text("\n" + json.dumps(line).replace("{stone}", place))
    message = _refused(folder)
    assert told.replace("{stone}", place) in message
    assert re.search("lines? 2", message) or "skipped" in told


def test_a_number_that_a_constraint_excludes_is_told(folder):
    _written(folder, _line(true=[]))
    _refused(folder, "a constraint says that player holds in 1 place, the label has 0", board_domain("doors"))


@pytest.mark.parametrize("text", ["{", "[]", "7", '{"image": "1.png"}', "[" * 1_000_000, "9" * 5000])
def test_lines_that_are_no_labels(folder, text):
    (folder / "labels.jsonl").write_text(text)
    assert "line 1" in _refused(folder)


def test_a_folder_without_labels(tmp_path):
    _refused(tmp_path, "cannot read")
    (tmp_path / "labels.jsonl").write_text("\n")
    _refused(tmp_path, "labels no image")
    (tmp_path / "labels.jsonl").write_bytes(b"\xff\xfe\x00")
    _refused(tmp_path, "cannot read")
    (tmp_path / "labels.jsonl").unlink()
    os.mkfifo(tmp_path / "labels.jsonl")  # labels that never end
    _refused(tmp_path, "no regular file")


@pytest.mark.parametrize("name", BAD)
def test_images_that_cannot_be_used(folder, name):
    png, told = BAD[name]
    (folder / "images" / "1.png").write_bytes(png)
    message = _refused(folder)
    assert "1.png" in message
    assert re.search(told, message)


def _two(folder, second, frame=FRAME):
    """Another line, of the same picture or of another one."""
    _written(folder, _line(), _line(image="2.png", **second), _2=frame)


@pytest.mark.parametrize(
    ("second", "frame", "told"),
    [
        (
            {"true": [atom for atom in TRUE if atom != GOAL]},
            FRAME,
            "line 2 (2.png) contradicts line 1 (1.png)",
        ),
        ({"true": [atom for atom in TRUE if atom != GOAL]}, FRAME, f"{GOAL} is false here, true there"),
        (
            {"true": [*TRUE, "at(player-01, pos-1-1)"]},
            FRAME,
            "contradict each other: a thing is in one place",
        ),
        ({"problem": "train/2"}, FRAME, "the problem is train/2 here, train/0 there"),  # of one shape
        ({}, FRAME[:200, :200], "2.png has 200x200 pixels"),
        ({}, FRAME[:200, :200], "1.png (line 1) of the same problem train/0 337x337"),
        ({}, FRAME[:3, :3], "render larger images"),
    ],
)
def test_pictures_that_contradict_each_other(folder, second, frame, told):
    _two(folder, {})
    assert len(labelled_images(DOMAIN, folder)) == 2
    if "problem" in second:
        other = DOMAIN.load("train", 2)
        second["true"] = perceived_atoms(DOMAIN, DOMAIN.scene(other), State(other.initial, other.objects))
    _two(folder, second, frame)
    assert told in _refused(folder)


def _message(folder):
    """Why labels are refused; None if they are not."""
    try:
        labelled_images(DOMAIN, folder)
    except UnusableInput as error:
        return str(error)
    return None


def test_a_forgotten_atom_shows_by_its_look(folder):
    """Each atom that one label leaves out, where another picture of the problem shows the same cell."""
    simulator = DOMAIN.simulator(("train", 0))
    simulator.start()
    simulator.instruct(*simulator.choose(np.random.default_rng(0)))
    later = [f"{a.predicate}({', '.join(a.objects)})" for a in sorted(simulator.snapshot().dynamic)]
    whole = [atom for atom in later if atom.split("(")[0] in ("at", "at-goal", "clear")]
    whole += [atom for atom in TRUE if atom.startswith("is-goal")]
    _two(folder, {"true": whole}, simulator.frame())
    assert len(labelled_images(DOMAIN, folder)) == 2
    assert len(set(whole) & set(TRUE)) > 20
    missed = []
    for atom in whole:
        _two(folder, {"true": [other for other in whole if other != atom]}, simulator.frame())
        message = _message(folder)
        if message is None:
            missed.append(atom)
        else:
            both = ": line 1 (1.png) says " in message and "line 2 (2.png)" in message
            assert both or "no legal board" in message
    assert len(set(missed) & set(TRUE)) <= 4  # beside a cell that changed, where a pixel of it shows


def test_labels_that_the_classifiers_contradict_are_named_and_only_these(folder):
    perception = BoardPerception.load(DOMAIN.visual, "sokoban")

    def told(true):
        _written(folder, _line(true=true))
        heads = DOMAIN.visual.cell_heads()
        return doubts(perception, [told_of(heads, one) for one in read_labels(DOMAIN, folder)])

    assert told(TRUE) == []
    (message,) = told([atom for atom in TRUE if atom != GOAL])
    place = GOAL.split("(")[1].rstrip(")")
    assert message.startswith(f"line 1 of the labels (1.png) says no to goal at {place}")
    lines = told([atom for atom in TRUE if not atom.startswith(("clear", "is-goal"))])
    assert len(lines) == MOST + 1
    assert "further labels are contradicted" in lines[-1]
