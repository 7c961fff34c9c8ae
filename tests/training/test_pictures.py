"""Labelled pictures of a camera and nothing else: no environment is made, and most of the pictures teach while the others test."""

import io
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from aam_vision.envs.own import OwnEnvironment
from aam_vision.model.strips import Atom
from aam_vision.support.commandline import Progress
from aam_vision.support.errors import UnusableInput
from aam_vision.support.pictures import encode
from aam_vision.training import assessment, pictures
from aam_vision.training.evaluate import Evaluation, evaluate
from aam_vision.training.labels import outline_facts
from aam_vision.training.pictures import domain_of
from aam_vision.training.session import train_domain
from aam_vision.training.settings import TrainingSettings
from tests.refusals import told_by
from tests.training.labelling.table import SIZE, VOCABULARY, labelled

NAMED = "tests.classifiers.camera.piles:VOCABULARY"


def _atom(atom, names):
    return f"{atom.predicate}({', '.join(names[one] for one in atom.objects)})"


def write(folder, number, *, outlined=True, **changes):
    """A folder of labelled pictures of the problem ``pictures``: things are called like their looks."""
    (folder / "images").mkdir(parents=True)
    rng, lines = np.random.default_rng(5), []
    for one in range(number):
        looks = rng.permutation(["red", "green", "blue", "ball"])[: rng.integers(2, 5)].tolist()
        picture = labelled(rng, looks)
        names = dict(picture.scene.looks)
        facts = {"image": f"{one}.png", "true": sorted(_atom(atom, names) for atom in picture.true)}
        if outlined:
            facts["outlines"] = {
                names[thing]: outline_facts(mask) for thing, mask in picture.masks.items() if mask.any()
            }
        (folder / "images" / f"{one}.png").write_bytes(encode(picture.frame))
        lines.append({**facts, **changes})
    (folder / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "labels", 20)


def _never(*_):
    raise AssertionError("no environment is needed")


def test_an_environment_without_pictures_is_never_made(folder, monkeypatch):
    bare = OwnEnvironment("piles", VOCABULARY, (), _never, _never)
    monkeypatch.setitem(sys.modules, "own_hand", SimpleNamespace(BARE=bare))
    domain = domain_of("own_hand:BARE", folder)
    assert domain.name == "piles"
    assert len(list(domain.examinations(9, 0)["unseen"])) == 20 // pictures.HELD
    assert domain_of(NAMED, folder).visual is VOCABULARY


def test_pictures_are_made_of_those_that_teach_alone(folder, tmp_path):
    domain = domain_of(NAMED, folder)
    found = list(domain.lessons(np.random.default_rng(0), 50))
    held = [one.draw(one.states[0]) for one in domain.examinations(1, 0)["unseen"]]
    drawn = [one.draw(one.states[0]).tobytes() for one in found]
    assert len(found) == pictures.MADE // 50 + 16 * pictures.REPEATED
    assert not {one.tobytes() for one in held}.intersection(drawn)
    assert {len(one.masks(one.states[0])) for one in found} <= {1, 2, 3, 4}
    bare = domain_of(NAMED, write(tmp_path / "bare", 10, outlined=False))
    assert len(list(bare.lessons(np.random.default_rng(0)))) == 8 * pictures.REPEATED


def test_training_and_evaluation_need_a_folder_and_a_vocabulary(folder, tmp_path, capsys, monkeypatch):
    for module, name, value in ((pictures, "MADE", 200), (assessment, "ROUNDS", 1), (assessment, "TIMED", 4)):
        monkeypatch.setattr(module, name, value)
    told = io.StringIO()
    settings = TrainingSettings(fast=True, images=folder)
    train_domain(domain_of(NAMED, folder), tmp_path / "eyes", settings, Progress(told))
    assert "of 4 unseen pictures" in told.getvalue()
    card = json.loads((tmp_path / "eyes" / "piles.json").read_text())
    assert card["picture"] == list(SIZE)
    assert card["figures"]["unseen"]["states"] == 4
    evaluate(NAMED, Evaluation(classifiers=tmp_path / "eyes", images=folder))
    assert "of 20 states exact" in capsys.readouterr().out


def test_what_is_not_pointed_at_does_not_show_and_a_thing_of_each_look_is_in_the_scene(folder):
    lines = domain_of(NAMED, folder).lines
    for line in lines:
        one = pictures.labelled(line)
        seen = {atom.objects[0] for atom in one.true if atom.predicate == "seen"}
        assert seen <= {thing for thing, mask in one.masks.items() if mask.any()}
        assert dict(line.scene.looks) == {look: look for look in one.masks}
        assert set(one.masks) == {"red", "green", "blue", "ball"}
    assert any(Atom("seen", (look,)) in lines[0].atoms for look in lines[0].scene.looks)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"outlines": {"mug": [[1, 1, 3, 1, 3, 3]]}}, "outline of 'mug': no such thing: use one of red"),
        ({"outlines": {"red": [[1, 1, 300, 1, 3, 3]]}}, "outline of 'red': the point 300, 1 is outside"),
        ({"outlines": [[1, 1]]}, "outlines: write"),
        ({"true": ["held(mug)"]}, "no thing 'mug'"),
        ({"true": ["lit(red)"]}, "no perceived predicate 'lit'"),
        ({"problem": "seed/0"}, "problem 'seed/0': leave it out"),
    ],
)
def test_bad_labels_are_refused_in_one_line(tmp_path, changes, told):
    folder = write(tmp_path / "labels", 10, **changes)
    assert "labels.jsonl line 1: " in told_by(lambda: domain_of(NAMED, folder).lines, told)


def test_too_few_and_none_are_refused(tmp_path):
    few = domain_of(NAMED, write(tmp_path / "few", pictures.LEAST - 1))
    told = "labels 9 pictures, and nothing else is learned from; label 10 at least"
    with pytest.raises(UnusableInput, match=told):
        list(few.lessons(np.random.default_rng(0)))
    with pytest.raises(UnusableInput, match="give a folder of them, --images DIR"):
        domain_of(NAMED, None)
    with pytest.raises(UnusableInput, match="name a folder"):
        few.classifiers(None)
