"""What the page needs to know of pictures of any origin: a described scene, and a vocabulary, be it from a PDDL file."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.perception import Given, Perceived, Reading
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.labelled import label as labels_of
from aam_vision.envs.registry import board_domain
from aam_vision.envs.sources import found, shown, vocabulary
from aam_vision.support.errors import UnusableInput
from aam_vision.training.described import described, looks, pictured_scene, place_types, read_description
from aam_vision.training.labelling.own_pictures import pddl_vocabulary, vocabulary_named
from aam_vision.training.labelling.sheets import Draft, Guess
from tests.profiles import thorough

from .lamps import LAMPS

SOUND = {"rows": 7, "columns": 7, "box": [0.01, 0.99, 0.01, 1], "place": "location"}
SOUND["things"] = {"player": 1, "stone": 2}
FOUR = {"rows": 2, "columns": 2, "box": [0, 1, 0, 1], "place": "square", "things": {"robot": 1, "lamp": 2}}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"rows": 0}, "rows 0"),
        ({"columns": 65}, "columns 65"),
        ({"rows": True}, "rows True"),
        ({"box": [0, 1, 0]}, "box"),
        ({"box": [0, 1, 0, 2]}, "box"),
        ({"box": [0, 1, 0, float("nan")]}, "box|NaN"),
        ({"box": [0.5, 0.5, 0, 1]}, "empty"),
        ({"place": "planet"}, "no type 'planet'"),
        ({"things": {"dragon": 1}}, "player, stone"),
        ({"things": {"stone": -1}}, "stone -1"),
        ({"more": 1}, "has box, columns"),
    ],
)
def test_descriptions_that_cannot_be(changed, told, tmp_path):
    visual = board_domain("sokoban").visual
    assert described(SOUND, visual).scene(visual).rows == 7
    with pytest.raises(UnusableInput, match=told):
        described({**SOUND, **changed}, visual)
    assert read_description(tmp_path, visual) is None
    (tmp_path / "scene.json").write_text(json.dumps({**SOUND, **changed}))
    with pytest.raises(UnusableInput, match=rf"scene.json: .*({told})"):
        read_description(tmp_path, visual)


@pytest.mark.parametrize("name", ["sokoban", "doors", "maze", "slidetile", "hanoi", "blocks", "taxi"])
def test_every_boards_vocabulary_can_be_described(name):
    _, visual = vocabulary_named(name)
    facts = {**SOUND, "place": place_types(visual)[0], "things": dict.fromkeys(looks(visual), 1)}
    index = SceneIndex(visual, described(facts, visual).scene(visual))
    assert len(index.places) == 49
    assert index.legality.asked.any(0).all()


def _vocabulary(folder, text=LAMPS, cell=None):
    (folder / "lamps.pddl").write_text(text)
    return pddl_vocabulary(folder / "lamps.pddl", *([cell] if cell else []))


@pytest.fixture(scope="module")
def lamps(tmp_path_factory):
    return _vocabulary(tmp_path_factory.mktemp("lamps"))


def test_every_predicate_is_read_as_its_types_allow(lamps):
    readings = {one.predicate.name: one.reading for one in lamps.entries if isinstance(one, Perceived)}
    assert readings == {"at": Reading.WHERE, "lit": Reading.ON, "dusty": Reading.THERE}
    given = {one.predicate.name for one in lamps.entries if isinstance(one, Given)}
    assert given == {"next", "painted", "idle"}
    assert lamps.cell_heads() == ("robot", "lamp", "lit", "dusty")
    assert lamps.vocabulary().predicates == tuple(one.predicate for one in lamps.entries)
    scene = described({**FOUR, "columns": 3}, lamps).scene(lamps)
    assert SceneIndex(lamps, scene).legality.asked.all()
    assert scene.objects.of_type("thing") == ("robot-1", "lamp-1", "lamp-2")
    assert scene.objects.of_type("lamp") == ("lamp-1", "lamp-2")


@thorough(60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8))
def test_all_that_is_said_about_a_described_scene_is_kept(lamps, said):
    """Nothing that the page shows is missing from the atoms, be it about one kind of things only: which lamp is lit."""
    index = SceneIndex(lamps, described(FOUR, lamps).scene(lamps))
    draft = Draft(lamps, index, Guess(np.zeros((4, 4), bool), np.zeros(4, bool)), np.eye(4, dtype=bool))
    for head, place in said:
        draft.toggle(head, [place])
    if not draft.problems():
        labels = labels_of(lamps, index.scene, index.places, draft.state())
        assert ((labels == 1) == draft.yes).all()
    lamp, lit = lamps.cell_heads().index("lamp"), lamps.cell_heads().index("lit")
    assert not (draft.yes[lit] & ~draft.yes[lamp]).any()  # no robot is lit


def test_a_predicate_about_things_that_no_look_stands_for_is_refused(lamps, monkeypatch):
    own = (
        replace(one, heads={"bulb": "bulb", "robot": "robot"}) if one.predicate.name == "at" else one
        for one in lamps.entries
    )
    bulbs = SimpleNamespace(VISUAL=replace(lamps, entries=tuple(own), may_vanish={}), LAMPS=lamps)
    monkeypatch.setitem(sys.modules, "bulbs", bulbs)
    with pytest.raises(UnusableInput, match=r"lit is about things of type lamp, and no look is called lamp"):
        vocabulary_named("bulbs:VISUAL")
    assert vocabulary_named("bulbs:LAMPS") == ("lamps", lamps)


def test_types_are_needed_and_something_to_see(tmp_path):
    stay = "(:action stay :parameters (?x) :precondition () :effect (on ?x ?x))"
    with pytest.raises(UnusableInput, match="declares no types"):
        _vocabulary(tmp_path, f"(define (domain plain) (:predicates (on ?x ?y)) {stay})")
    pairs = LAMPS.replace("(lit ?l - lamp) (dusty ?s - square)", "").replace(
        "(painted ?c - colour) (idle)", ""
    )
    with pytest.raises(UnusableInput, match="no predicate can be seen on cells of type colour"):
        _vocabulary(tmp_path, pairs, "colour")


def test_pictures_without_cells_show_things_of_the_types_that_are_said():
    """Of things whose type no look stands for nothing could be asked, and nothing would be learned."""
    types = {"block": "thing", "drawer": "thing", "thing": "object"}

    def words(looks):
        sources = {
            "seen ?x - thing": found(looks, "it shows"),
            "in ?x - block ?d - drawer": shown("in", "inside"),
        }
        return vocabulary("drawers", types, sources)

    scene = pictured_scene(Path(), words({"red": "block", "chest": "drawer"}))
    assert scene is not None
    assert dict(scene.objects) == {"red": "block", "chest": "drawer"}
    with pytest.raises(
        UnusableInput, match=r"in is about things of type block, .* found\(\{\"red\": \"block\""
    ):
        pictured_scene(Path(), words(("red", "drawer")))
    with pytest.raises(UnusableInput, match="look red is of type blok, which is no thing"):
        pictured_scene(Path(), words({"red": "blok", "drawer": "drawer"}))
