"""Pictures that a user has labelled: learned from as they are, or refused in one line that says where."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from aam_vision.classifiers.camera.plan import SceneAtoms, plan_of
from aam_vision.classifiers.store import describe
from aam_vision.envs.labelled import Labelled
from aam_vision.model.strips import Atom
from aam_vision.support.commandline import Progress
from aam_vision.support.errors import UnusableInput
from aam_vision.training.folder import doubts
from aam_vision.training.pictures import lessons, read_pictures
from aam_vision.training.pictures import told as told_by
from aam_vision.training.session import train_domain
from tests.classifiers.camera.piles import LOOKS, VOCABULARY, random_state, scene
from tests.refusals import told_by as refusal

from .drawn import FEW_STEPS, DrawnDomain, drawn

PLAN, DOMAIN, SCENE = plan_of(describe(VOCABULARY)), DrawnDomain(), scene(*LOOKS)


def _state(number):
    return random_state(SCENE, np.random.default_rng(number))


def _line(number, **changes):
    true = sorted(str(atom) for atom in _state(number).true if atom.predicate != "free")
    return {"image": f"{number}.png", "problem": "seed/0", "true": true, **changes}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "images").mkdir()
    for number in range(3):
        picture = drawn(SCENE, _state(number), np.random.default_rng([number, 1]))
        Image.fromarray(picture).save(tmp_path / "images" / f"{number}.png")
    _write(tmp_path, *map(_line, range(3)))
    return tmp_path


def _write(folder, *lines):
    (folder / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_labelled_pictures_are_lessons_like_those_of_the_domain(folder) -> None:
    lines = read_pictures(DOMAIN, folder)
    for number, line in enumerate(lines):
        assert line.state.true == _state(number).true - {Atom("free", ())}
    more = [Labelled(line.scene, line.atoms, line.frame) for line in lines]
    assert len(lessons(DOMAIN, PLAN, np.random.default_rng(0), 10, more)) == 20 + 3 == 20 + len(lines)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"true": ["flies(thing-0)"]}, "no perceived predicate 'flies'"),
        ({"true": ["held(thing-9)"]}, "no thing 'thing-9'"),
        ({"true": ["held(thing-0)", "held(thing-1)"]}, "no legal scene"),
        ({"true": []}, "of held(x), on-table(x), on(x, _) 1 must be true, and the label has none"),
        ({"true": ["on(thing-0, thing-1)", "on(thing-1, thing-0)"]}, "no legal scene"),
        ({"image": "1.png"}, "which is the same picture"),
        ({"image": "7.png"}, "no image"),
    ],
)
def test_labels_that_cannot_be(folder, changes, told) -> None:
    _write(folder, _line(1), _line(0, **changes))
    message = refusal(lambda: read_pictures(DOMAIN, folder))
    assert told in message
    assert "line 2" in message


def test_a_session_learns_from_them_and_bad_labels_end_it_before_anything_is_drawn(
    folder, trained, tmp_path
) -> None:
    settings = replace(FEW_STEPS, images=folder)
    told = io.StringIO()
    train_domain(DOMAIN, tmp_path / "with", settings, Progress(told))
    cards = [json.loads((one / "piles.json").read_text()) for one in (tmp_path / "with", trained)]
    assert cards[0]["data_sha256"] != cards[1]["data_sha256"]
    _write(folder, _line(0, true=[]))
    with pytest.raises(UnusableInput, match=r"line 1: no legal scene"):
        train_domain(DOMAIN, tmp_path / "none", settings, Progress(told))
    assert not (tmp_path / "none").exists()


class _Sure:
    """Reads every picture as the first state."""

    vocabulary = VOCABULARY

    class card:  # noqa: N801
        thresholds = dict.fromkeys(VOCABULARY.cell_heads(), (0.1, 0.9))

    def probabilities(self, frames, one):
        true = _state(0).true
        atoms = SceneAtoms(VOCABULARY, PLAN, one).atoms
        return np.array([[atom.predicate == "seen" or atom in true for atom in atoms]], np.float32)


def test_labels_that_trained_classifiers_contradict_are_told(folder) -> None:
    lines = [told_by(VOCABULARY, line) for line in read_pictures(DOMAIN, folder)]
    assert doubts(_Sure(), lines[:1]) == []
    found = doubts(_Sure(), lines[1:2])
    assert found
    assert all("line 2 of the labels (1.png) says" in line for line in found)
