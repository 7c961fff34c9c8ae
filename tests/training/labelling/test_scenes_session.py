"""``training.label`` for the robot arm: the files are those that other commands read."""

import io
import json

from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.camera.plan import SceneAtoms, plan_of
from aam_vision.classifiers.store import describe
from aam_vision.envs.registry import image_domain
from aam_vision.support.commandline import Progress
from aam_vision.training.labelling import pool, scenes
from aam_vision.training.labelling.session import label_walks
from aam_vision.training.labelling.settings import Session
from aam_vision.training.pictures import read_pictures


def test_the_arm_is_labelled_by_its_simulator(tmp_path, monkeypatch):
    monkeypatch.setattr(scenes, "USUAL", scenes.Effort(6, 3, 8, 2, 3))
    monkeypatch.setattr(scenes.SceneLearner, "WATCHED", 4)
    monkeypatch.setattr(pool, "SCENES", 1)
    domain = image_domain("tabletop")
    session = Session(labels="simulator", pictures=6, steps=3)
    told = label_walks(domain, tmp_path, session, Progress(io.StringIO()))
    lines = read_pictures(domain, plan_of(describe(domain.visual)), tmp_path)
    assert len(lines) == told["labelled_pictures"] == 6
    assert len({line.problem for line in lines}) == 4, "the pictures are of all scenes"
    assert not told["sure"]
    assert told["test"]["pictures"] + told["test"]["missing"] == 72
    assert "other_layouts" not in told, "the looks of cells are for boards"
    assert json.loads((tmp_path / "session.json").read_text())["steps"] == 3
    perception = CameraPerception.load(domain.visual, "tabletop", tmp_path)
    labels = sum(
        len(SceneAtoms(domain.visual, plan_of(describe(domain.visual)), line.scene).atoms) for line in lines
    )
    assert labels // 2 < told["labelled_atoms"] <= labels
    (percept,) = perception.read_many([lines[0].frame], lines[0].scene)
    assert percept.state.objects == lines[0].scene.objects
