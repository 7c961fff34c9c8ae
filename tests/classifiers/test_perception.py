"""The shipped classifiers on PDDLGym's images: the states that come out are the simulator's."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from aam_vision.agents.perception import Perceived, Percept
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.store import paths, read
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import Atom, GroundAction, State
from aam_vision.support.errors import UnusableInput
from tests.envs.ground_truth import ground_truth_model
from tests.processes import fresh
from tests.profiles import first

from .problems import ALL, places, seen, shipped


def _layout(name, split, index):
    domain = board_domain(name)
    layout = domain.load(split, index)
    return layout, domain.scene(layout), domain.drawing(layout)


@pytest.mark.parametrize(("name", "split", "index"), first(8, sorted(ALL, key=lambda one: one[2])))
def test_every_problem_is_read_as_it_is(name, split, index):
    layout, scene, picture = _layout(name, split, index)
    perception = shipped(name)
    initial = State(layout.initial, layout.objects)
    percept = perception.look(picture.frame(layout.initial), scene)
    assert percept.state == seen(scene, initial)
    assert percept.places == places(scene, initial)
    states = list(islice(board_domain(layout.domain).states(layout, np.random.default_rng(11)), 12))
    where = [places(scene, state) for state in states]
    frames = [picture.frame(state.true) for state in states]
    told = perception.probabilities(frames, scene)
    for state, past, one in zip(states, where, told, strict=True):
        percept = perception.read(one, scene, past)
        assert percept.state == seen(scene, state)
        assert percept.places == past


@pytest.mark.parametrize(
    ("name", "split", "index", "steps"), [("sokoban", "train", 0, 40), ("doors", "test", 8, 25)]
)
def test_things_are_followed_along_what_the_agent_does(name, split, index, steps):
    simulator = board_domain(name).simulator((split, index))
    simulator.start()
    layout, scene, _ = _layout(name, split, index)
    model = ground_truth_model(name)
    truth = State(layout.initial, layout.objects)
    perception = shipped(name)
    percept = perception.look(simulator.frame(), simulator.scene)
    rng = np.random.default_rng(5)
    moved = set()
    for _ in range(steps):
        instruction = _to_a_key(simulator, truth) or simulator.choose(rng)
        if not simulator.instruct(*instruction):
            instruction = simulator.choose(rng)
            assert simulator.instruct(*instruction)
        executed, truth = model.run(truth, [GroundAction(*instruction)])
        assert executed == 1
        before, percept = percept, perception.follow(percept, simulator.frame(), simulator.scene)
        assert percept.state == seen(scene, truth)
        assert percept.places == places(scene, truth)
        moved |= {thing for thing, place in percept.places.items() if place != before.places[thing]}
    looks = {scene.looks[thing] for thing in moved}
    assert looks == ({"player", "stone"} if name == "sokoban" else {"key"})


def _to_a_key(simulator, truth):
    """Pick the first key that is left, or go to it if its room is open; None where there are no keys."""
    keys = sorted(atom.objects for atom in truth.true if atom.predicate == "keyat")
    facts = {(atom.predicate, atom.objects[0]): atom.objects[1] for atom in simulator.scene.facts}
    here = next((atom.objects[0] for atom in truth.true if atom.predicate == "at"), None)
    for key, place in keys:
        if place == here:
            return "pick", (here, key, facts["keyforroom", key])
        if Atom("unlocked", (room := facts["locinroom", place],)) in truth.true:
            return "moveto", (here, place, room)
    return None


def test_a_middling_probability_is_unknown():
    layout, scene, picture = _layout("sokoban", "train", 0)
    vocabulary = board_domain("sokoban").visual
    weights, card = read(vocabulary, "sokoban")
    unsure = replace(card, temperatures=dict.fromkeys(card.temperatures, 1e4))
    percept = BoardPerception(vocabulary, weights, unsure).look(picture.frame(layout.initial), scene)
    assert percept.places == {}
    perceived = {entry.predicate.name for entry in vocabulary.entries if isinstance(entry, Perceived)}
    assert perceived.isdisjoint(atom.predicate for atom in percept.state.true)
    assert perceived <= {atom.predicate for atom in percept.state.unknown}


def test_noise_makes_unsure_rather_than_wrong():
    layout, scene, picture = _layout("sokoban", "test", 3)
    perception, rng = shipped("sokoban"), np.random.default_rng(0)
    right = 0
    for state in islice(board_domain(layout.domain).states(layout, rng), 20):
        noise = 255 * 0.1 * rng.standard_normal(picture.shape)
        frame = (picture.frame(state.true) + noise).clip(0, 255).astype(np.uint8)
        percept = perception.follow(Percept(state, places(scene, state)), frame, scene)
        assert not (percept.state.true ^ state.true) - percept.state.unknown
        right += percept.state == seen(scene, state)
    assert right >= 19


def test_a_remembered_image_gives_the_same_percept_and_an_anchor_outside_of_the_scene_is_refused():
    layout, scene, picture = _layout("doors", "test", 5)
    perception = BoardPerception.load(board_domain("doors").visual, "doors", remembered=2)
    states = islice(board_domain("doors").states(layout, np.random.default_rng(0)), 4)
    frames = [picture.frame(state.true) for state in states]
    once = [perception.look(frame, scene).state for frame in frames]
    again = [perception.look(frame, replace(scene)).state for frame in reversed(frames)]
    assert again == once[::-1]
    with pytest.raises(UnusableInput, match="nowhere is no place"):
        perception.look(frames[0], replace(scene, anchors={"key-0": "nowhere"}))


def test_shipped_weights_are_small_and_reading_images_needs_neither_torch_nor_what_belongs_to_it():
    for files in map(paths, ("sokoban", "doors")):
        assert files.weights.stat().st_size + files.card.stat().st_size < 250_000
    needed = ("torch", "torchvision", "lightning", "torchmetrics", "gymnasium")
    code = f"import sys, aam_vision.classifiers.perception\nprint([m for m in {needed} if m in sys.modules])"
    assert fresh(code).stdout.strip() == "[]"


def test_a_classifier_that_never_saw_a_positive_example_answers_unknown():
    """What nobody ever showed it is unknown, except where a constraint leaves one answer; all else is read as before."""
    domain = board_domain("sokoban")
    weights, card = read(domain.visual, "sokoban")
    layout, scene, picture = _layout("sokoban", "train", 0)
    initial = State(layout.initial, layout.objects)
    poor = replace(card, figures={**card.figures, "positives": {"goal": 0, "stone": 7}})
    wanted, found = (
        BoardPerception(domain.visual, weights, own).look(picture.frame(initial.true), scene)
        for own in (card, poor)
    )
    goals = {atom for atom in wanted.state.true if atom.predicate == "is-goal"}
    assert goals
    assert goals <= found.state.unknown
    assert {atom.predicate for atom in found.state.unknown} >= {"is-goal", "is-nongoal"}
    for atom in wanted.state.true - found.state.unknown:
        assert found.state.value(atom)
    assert found.places == wanted.places
