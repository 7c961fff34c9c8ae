"""From no label to classifiers of pictures without cells: the rounds, with a labeller that knows."""

import io
import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.camera.plan import SceneAtoms, plan_of
from aam_vision.classifiers.store import describe
from aam_vision.envs.registry import image_domain
from aam_vision.support.commandline import Progress
from aam_vision.support.errors import UnusableInput
from aam_vision.training.labelling import pool, rounds, scenes
from aam_vision.training.labelling.pool import Walked
from aam_vision.training.labelling.rounds import LabellingRounds, pictures_needed
from aam_vision.training.labelling.scenes import SceneLearner, set_aside
from aam_vision.training.labelling.session import label_walks
from aam_vision.training.labelling.settings import RANDOM, Session, Way
from aam_vision.training.pictures import read_pictures
from tests.profiles import first
from tests.training.labelling.table import SIZE, VOCABULARY, labelled


class _Domain:
    name, visual = "piles", VOCABULARY

    def scene_of(self, problem):
        raise AssertionError("its pictures bring their scenes")


class _Knows:
    def __init__(self, pictures):
        self._pictures, self.asked = pictures, []

    def answer(self, question, *, tested=False, missing=0):
        self.asked.append(question.number)
        return self._pictures[question.number]

    def learned(self, perception):
        pass


@pytest.fixture(scope="module", autouse=True)
def quick():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scenes, "AUDITED", 2)
        patch.setattr(scenes, "USUAL", scenes.Effort(8, 4, 10, 2, 2, 6))
        yield


CHOSEN = Way(most=10)


@pytest.fixture(scope="module")
def chosen():
    """What a run with these options found, and what it asked about."""
    return _run(CHOSEN)


def _rounds(way, looks=("red", "green", "blue", "ball"), number=30):
    rng = np.random.default_rng(2)
    pictures = [labelled(rng, looks) for _ in range(number)]
    walked = [Walked(f"seed/{token % 3}", one.scene, one.frame, token) for token, one in enumerate(pictures)]
    knows = _Knows(pictures)
    return LabellingRounds(SceneLearner(_Domain(), walked, way), knows, Progress(io.StringIO())), knows


def _run(way):
    one, knows = _rounds(way)
    return *one.run(), knows


@pytest.mark.parametrize("way", first(1, [CHOSEN, Way(choice=RANDOM, free=False, most=9)]))
def test_no_more_pictures_are_labelled_than_allowed_and_none_twice(chosen, way):
    perception, found, knows = chosen if way is CHOSEN else _run(way)
    assert found.pictures == knows.asked
    assert len(found.pictures) == len(set(found.pictures)) == way.most
    assert not found.sure, "there are too few pictures for a test"
    assert found.test.missing == pictures_needed(1)
    assert found.atoms > 20 * way.most
    assert (found.given[0] > 0) == way.free
    assert isinstance(perception, CameraPerception)
    assert perception.card.picture == SIZE
    assert {head for head, yes in found.card.figures["positives"].items() if not yes} == {"dark"}


@pytest.mark.nightly  # of boards by day
def test_the_same_seed_gives_the_same_choice_and_weights(chosen):
    (_, one, _), (_, other, _) = chosen, _run(CHOSEN)
    assert one.pictures == other.pictures
    assert one.card == other.card
    for name, tensor in one.network.state_dict().items():
        assert torch.equal(tensor, other.network.state_dict()[name])


def test_the_test_ends_the_rounds(monkeypatch):
    """Were every walked picture read as it is, no more would be asked than the test needs."""
    monkeypatch.setattr(SceneLearner, "passed", lambda self: True)
    _, found, knows = _run(Way(most=20))
    assert len(knows.asked) == len(found.pictures) == 8


@given(st.integers(1, 600), st.integers(1, 200), st.integers(0, 9))
def test_what_is_set_aside_suffices_for_a_test_and_leaves_what_is_to_be_labelled(number, most, seed):
    apart = set_aside(number, Way(most=most, seed=seed))
    assert len(apart) == len(set(apart)) <= number
    assert set(apart) <= set(range(number))
    assert not apart or pictures_needed(1) <= len(apart) <= number - most
    assert bool(apart) == (number >= most + pictures_needed(1))


def test_pictures_that_were_set_aside_are_read_last_and_tell_how_many_are_misread(monkeypatch):
    monkeypatch.setattr(rounds, "MISREAD", 0.9)
    _, found, knows = _run(Way(most=12))
    apart, scores = set_aside(30, Way(most=12)), found.test.scores
    assert not set(knows.asked[:12]) & set(apart), "neither learned from nor chosen"
    assert knows.asked[12:] == apart[: len(knows.asked) - 12]
    assert scores.states == scores.exact + scores.refused + scores.wrong > 0
    assert found.sure == (scores.states == pictures_needed(found.test.attempt) and not scores.wrong)


def test_what_looks_alike_cannot_be_taken_apart():
    with pytest.raises(UnusableInput, match="label scenes where each look is there once"):
        _rounds(Way(most=9), ("red", "red", "ball"))[0].run()


def test_where_things_lie_apart_in_none_of_the_first_pictures_more_are_labelled(monkeypatch):
    made, tried = scenes.made_of, []

    def after_two_rounds(visual, own, *more):
        tried.append(len(own))
        return made(visual, own, *more) if len(tried) > 2 else []

    monkeypatch.setattr(scenes, "made_of", after_two_rounds)
    one, knows = _rounds(Way(most=20))
    _, found = one.run()
    assert len(found.seconds) >= 1
    assert tried[:3] == sorted({*tried[:3]}), "each round has more to learn from"
    monkeypatch.setattr(scenes, "made_of", lambda *_: [])
    one, knows = _rounds(Way(most=10))
    with pytest.raises(UnusableInput, match="lies in one place in most of them"):
        one.run()
    assert len(knows.asked) == 10, "as many as allowed"


def test_a_look_that_was_never_labelled_is_unknown_and_not_absent():
    one, _ = _rounds(Way(most=8), ("red", "green", "blue"))
    perception, found = one.run()
    assert found.card.figures["positives"]["sees-ball"] == 0
    strange = labelled(np.random.default_rng(9), ("red", "ball"))
    percept = perception.look(strange.frame, strange.scene)
    (ball,) = (thing for thing, look in strange.scene.looks.items() if look == "ball")
    assert not any(ball in atom.objects for atom in percept.state.true)
    assert any(ball in atom.objects for atom in percept.state.unknown)


def test_the_arm_is_labelled_by_its_simulator(tmp_path, monkeypatch):
    """``training.label`` for the robot arm: the files are those that other commands read."""
    monkeypatch.setattr(scenes, "USUAL", scenes.Effort(6, 3, 8, 2, 3, 4))
    monkeypatch.setattr(pool, "SCENES", 1)
    domain = image_domain("tabletop")
    session = Session(labels="simulator", pictures=6, steps=3)
    told = label_walks(domain, tmp_path, session, Progress(io.StringIO()))
    plan = plan_of(describe(domain.visual))
    lines = read_pictures(domain, tmp_path)
    assert len(lines) == told["labelled_pictures"] == 6
    assert len({line.problem for line in lines}) == 4, "the pictures are of all scenes"
    assert not told["sure"]
    assert told["test"]["pictures"] + told["test"]["missing"] == 72
    assert "other_layouts" not in told, "the looks of cells are for boards"
    assert json.loads((tmp_path / "session.json").read_text())["steps"] == 3
    perception = CameraPerception.load(domain.visual, "tabletop", tmp_path)
    labels = sum(len(SceneAtoms(domain.visual, plan, line.scene).atoms) for line in lines)
    assert labels // 2 < told["labelled_atoms"] <= labels
    (percept,) = perception.read_many([lines[0].frame], lines[0].scene)
    assert percept.state.objects == lines[0].scene.objects
