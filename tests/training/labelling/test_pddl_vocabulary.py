"""A vocabulary from a PDDL file: what its types allow to be seen, or one line."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.perception import Given, Perceived, Reading
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.labelled import label as labels_of
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import UnusableInput
from aam_vision.training.described import described
from aam_vision.training.label import label
from aam_vision.training.labelling.draft import Draft, Guess
from aam_vision.training.labelling.own_pictures import pddl_vocabulary, vocabulary_named
from tests.profiles import thorough

LAMPS = """(define (domain lamps)
  (:requirements :strips :typing)
  (:types robot lamp - thing thing square colour - object)
  (:predicates (at ?x - thing ?s - square) (lit ?l - lamp) (dusty ?s - square) (next ?a ?b - square)
    (painted ?c - colour) (idle))
  (:action go :parameters (?r - robot ?a ?b - square) :precondition (and (at ?r ?a) (next ?a ?b))
    :effect (and (at ?r ?b) (not (at ?r ?a)))))
"""


SCENE = {
    "rows": 2,
    "columns": 2,
    "box": [0, 1, 0, 1],
    "place": "square",
    "things": {"robot": 1, "lamp": 2},
}


@pytest.fixture
def lamps(tmp_path):
    (tmp_path / "lamps.pddl").write_text(LAMPS)
    return tmp_path / "lamps.pddl"


def test_every_predicate_is_read_as_its_types_allow(lamps):
    visual = pddl_vocabulary(lamps)
    readings = {one.predicate.name: one.reading for one in visual.entries if isinstance(one, Perceived)}
    assert readings == {"at": Reading.WHERE, "lit": Reading.ON, "dusty": Reading.THERE}
    assert {one.predicate.name for one in visual.entries if isinstance(one, Given)} == {
        "next",
        "painted",
        "idle",
    }
    assert visual.cell_heads() == ("robot", "lamp", "lit", "dusty")
    assert visual.vocabulary().predicates == tuple(one.predicate for one in visual.entries)
    scene = described({**SCENE, "columns": 3}, visual).scene(visual)
    index = SceneIndex(visual, scene)
    assert index.legality.asked.all()
    assert scene.objects.of_type("thing") == ("robot-1", "lamp-1", "lamp-2")
    assert scene.objects.of_type("lamp") == ("lamp-1", "lamp-2")


@pytest.fixture(scope="module")
def described_lamps(tmp_path_factory):
    """The vocabulary, and a described scene of four cells."""
    path = tmp_path_factory.mktemp("lamps") / "lamps.pddl"
    path.write_text(LAMPS)
    visual = pddl_vocabulary(path)
    return visual, SceneIndex(visual, described(SCENE, visual).scene(visual))


@thorough(60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8))
def test_all_that_is_said_about_a_described_scene_is_kept(described_lamps, said):
    """Nothing that the page shows is missing from the atoms, be it about one kind of things only: which lamp is lit."""
    visual, index = described_lamps
    draft = Draft(visual, index, Guess(np.zeros((4, 4), bool), np.zeros(4, bool)), np.eye(4, dtype=bool))
    for head, place in said:
        draft.toggle(head, [place])
    if not draft.problems():
        labels = labels_of(visual, index.scene, index.places, draft.state())
        assert ((labels == 1) == draft.yes).all()
    lamp, lit = visual.cell_heads().index("lamp"), visual.cell_heads().index("lit")
    assert not (draft.yes[lit] & ~draft.yes[lamp]).any()  # no robot is lit


def test_a_predicate_about_things_that_no_look_stands_for_is_refused(lamps, monkeypatch):
    visual = pddl_vocabulary(lamps)
    entries = tuple(
        replace(one, heads={"bulb": "bulb", "robot": "robot"}) if one.predicate.name == "at" else one
        for one in visual.entries
    )
    lamps.with_name("bulbs.py").write_text("")
    monkeypatch.syspath_prepend(str(lamps.parent))
    import bulbs

    bulbs.VISUAL = replace(visual, entries=entries, may_vanish={})
    with pytest.raises(UnusableInput, match=r"lit is about things of type lamp, and no look is called lamp"):
        vocabulary_named("bulbs:VISUAL")
    bulbs.VISUAL = visual
    assert vocabulary_named("bulbs:VISUAL") == ("lamps", visual)


@pytest.mark.parametrize(
    ("old", "new", "arguments", "told"),
    [
        ("(:requirements", "(:requirements (", [], "lamps.pddl"),
        ("(idle)", "(idle) (on ?x - robot ?l - lamp)", [], "say it with --cell, one of"),
        ("", "", ["--cell", "moon"], "no type 'moon': use one of colour, lamp, robot, square, thing"),
        ("", "", ["--cell", "square", "--env", "sokoban"], "give --env, or --domain"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(lamps, monkeypatch, capsys, old, new, arguments, told):
    lamps.write_text(LAMPS.replace(old, new, 1) if old else LAMPS)
    monkeypatch.chdir(lamps.parent)
    monkeypatch.setattr("sys.argv", ["label", "--domain", str(lamps), "--images", "mine", *arguments])
    assert run_command(label) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "Traceback" not in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "give --env, or --domain with --images"),
        (["--domain", "D.pddl"], "give the pictures to label with --images"),
        (["--env", "sokoban", "--cell", "location"], "is of use with --domain only"),
    ],
)
def test_options_that_do_not_go_together(monkeypatch, capsys, arguments, told):
    monkeypatch.setattr("sys.argv", ["label", *arguments])
    assert run_command(label) == 2
    assert told in capsys.readouterr().err


def test_types_are_needed_and_something_to_see(tmp_path):
    plain = tmp_path / "plain.pddl"
    plain.write_text(
        "(define (domain plain) (:predicates (on ?x ?y)) (:action stay :parameters (?x) :precondition () :effect (on ?x ?x)))"
    )
    with pytest.raises(UnusableInput, match="declares no types"):
        pddl_vocabulary(plain)
    lamps = tmp_path / "lamps.pddl"
    lamps.write_text(LAMPS)
    with pytest.raises(UnusableInput, match="no predicate can be seen on cells of type colour"):
        pddl_vocabulary(_only_pairs(lamps), "colour")


def _only_pairs(path):
    """The domain with predicates about two squares alone."""
    text = LAMPS.replace("(lit ?l - lamp) (dusty ?s - square)", "").replace(
        "(painted ?c - colour) (idle)", ""
    )
    path.write_text(text)
    return path
