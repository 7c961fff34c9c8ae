"""A person at the page who knows the truth: what they say is the truth, and every click of theirs is counted."""

import re

import numpy as np
import pytest

from aam_vision.classifiers.store import SHIPPED
from aam_vision.envs.registry import image_domain
from aam_vision.training.described import PROBLEM
from aam_vision.training.labelling import scenes
from aam_vision.training.labelling.pool import LabelQuestion, Walked
from experiments.page_labels import DISTURBED, Person, ended, interrogated, page_labels, read_disturbed, taken


def test_what_the_person_says_is_the_truth():
    domain = image_domain("tabletop")
    pictures = taken(domain, 12, 0)
    person = Person(domain, [Walked(PROBLEM, one.scene, one.frame, None) for one in pictures], pictures)
    for number, true in enumerate(pictures[:3]):
        said = person.answer(LabelQuestion(number))
        shows = {atom.objects[0] for atom in true.true if atom.predicate == "seen"}
        assert said.true == {atom for atom in true.true if shows.issuperset(atom.objects)}
        assert {thing for thing, mask in said.masks.items() if mask.any()} == shows
        assert person.clicks[number] > len(shows), "a click for each thing at least, and one to go on"
        shares = [
            (said.masks[thing] & true.masks[thing]).sum() / (said.masks[thing] | true.masks[thing]).sum()
            for thing in shows
        ]
        assert np.mean(shares) > 0.7


def test_the_clicks_are_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(scenes, "WAITED_FOR", scenes.Effort(6, 3, 8, 2, 3, 2))
    monkeypatch.setattr("experiments.page_labels.interrogated", lambda *about: {"status": "not asked"})
    page_labels(tmp_path, pictures=6, number=9)
    told = re.search(r"seed 0: 6 pictures, (\d+) clicks \(([\d.]+) a picture", capsys.readouterr().out)
    assert told is not None
    assert round(int(told[1]) / 6, 1) == float(told[2])
    assert (tmp_path / "labels.jsonl").read_text().count("outlines") == 6


def test_disturbed_pictures_are_pictures_of_the_same_scene():
    (one,) = taken(image_domain("tabletop"), 1, 5)
    for name, disturbance in DISTURBED.items():
        frame, again = (disturbance.change(one, np.random.default_rng(3)) for _ in range(2))
        assert frame.shape == one.frame.shape
        assert frame.dtype == np.uint8
        assert (frame == again).all()
        assert (frame == one.frame).all() == (name == "as taken")


@pytest.mark.nightly
def test_disturbed_pictures_are_read_and_a_run_says_what_it_saw(monkeypatch):
    monkeypatch.setattr("experiments.page_labels.DISTURBED", {"noise 1.5": DISTURBED["noise 1.5"]})
    (row,) = read_disturbed("tabletop", SHIPPED, 0, 5)
    assert row["wrong"] == 0
    assert row["ended"] == "1 complete, exact"


def test_a_first_picture_that_hides_what_is_named_is_a_refusal_that_says_so():
    run = interrogated("tabletop", SHIPPED, DISTURBED["unseen thing"], 0)
    assert (run["status"], run["model"]) == ("refused", None)
    assert "none of the known things" in run["strange"]
    told = ended([run, run, {"status": "complete", "model": "exact", "strange": "", "why": ""}])
    assert told == {"ended": "2 refused, None; 1 complete, exact", "strange": 2, "why": f"2 {run['why']}"}
