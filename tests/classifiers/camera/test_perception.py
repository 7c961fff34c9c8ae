"""Pictures in, states out: what is not seen is unknown, what cannot be read is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aam_vision.agents.perception import Perceived, Reading, VisualVocabulary
from aam_vision.classifiers.camera.network import Raw, new_network
from aam_vision.classifiers.camera.perception import Answers, CameraPerception
from aam_vision.classifiers.camera.plan import SceneAtoms, plan_of, seen_size
from aam_vision.classifiers.loading import load_perception
from aam_vision.classifiers.networks import weights_of
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.store import SURE, Card, describe, save
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import Atom, Predicate
from aam_vision.support.errors import AamWarning, UnusableInput

from .piles import LOOKS, TYPES, VOCABULARY, random_state, scene

PLAN = plan_of(describe(VOCABULARY))
USUAL = dict.fromkeys(PLAN.heads, 1.0), dict.fromkeys(PLAN.heads, SURE)
ONCE = np.zeros(len(LOOKS), bool)
CARD = Card("piles", describe(VOCABULARY), "", "", 0, *USUAL, network="camera", picture=(90, 120))


def reader(**more):
    """Untrained classifiers."""
    return CameraPerception(VOCABULARY, weights_of(new_network(PLAN, 0)), CARD, **more)


@pytest.fixture(scope="module")
def perception():
    return reader()


def _answers(atoms, state, *, hidden=(), unsure=()):
    """Perfect answers about a state; nothing is found of ``hidden`` things, and ``unsure`` atoms are in the middle."""
    shows = {Atom("seen", (thing,)) for thing in state.objects if thing not in hidden}
    values = np.array([atom in state.true | shows for atom in atoms.atoms], np.float32)
    values[[atom in unsure for atom in atoms.atoms]] = 0.5
    return Answers(values, np.full((len(LOOKS), 2), 0.25, np.float32))


def test_perfect_answers_give_the_state(perception) -> None:
    rng = np.random.default_rng(0)
    for number in (1, 2, 3, 4):
        one = scene(*rng.permutation(LOOKS)[:number].tolist())
        atoms = SceneAtoms(VOCABULARY, PLAN, one)
        for _ in range(20):
            state = random_state(one, rng)
            percept = perception.read(_answers(atoms, state), one)
            assert percept.state == state
            assert not percept.refused
            assert percept.positions == dict.fromkeys(one.objects, (0.25, 0.25))


def test_a_hidden_thing_is_unknown_unless_all_else_leaves_one_possibility(perception) -> None:
    rng = np.random.default_rng(1)
    one = scene("red", "green", "ball")
    atoms = SceneAtoms(VOCABULARY, PLAN, one)
    left_open = 0
    for _ in range(100):
        state = random_state(one, rng)
        percept = perception.read(_answers(atoms, state, hidden=("thing-1",)), one)
        assert not (percept.state.true ^ state.true) - percept.state.unknown
        assert not percept.refused  # another picture of the same situation would show no more
        assert "thing-1" not in percept.positions
        left_open += bool(percept.state.unknown)
    assert left_open > 20


def test_a_thing_is_found_where_it_surely_is_even_if_its_classifier_asks_for_less() -> None:
    card = replace(CARD, thresholds={**CARD.thresholds, **dict.fromkeys(PLAN.found, (0.1, 0.5))})
    perception = CameraPerception(VOCABULARY, weights_of(new_network(PLAN, 0)), card)
    one = scene("red", "green")
    atoms = SceneAtoms(VOCABULARY, PLAN, one)
    state = random_state(one, np.random.default_rng(0))
    answers = _answers(atoms, state)
    seen = atoms.atoms.index(Atom("seen", ("thing-0",)))
    answers.probabilities[seen] = 0.85
    assert perception.read(answers, one).positions.keys() == {"thing-1"}
    answers.probabilities[seen] = 0.95
    assert perception.read(answers, one).positions.keys() == {"thing-0", "thing-1"}


def test_a_doubtful_answer_is_refused_unless_all_else_decides_it(perception) -> None:
    one = scene("red", "green")
    atoms = SceneAtoms(VOCABULARY, PLAN, one)
    state = replace(random_state(one, np.random.default_rng(0)), true=frozenset())
    on, down = Atom("on", ("thing-0", "thing-1")), Atom("on-table", ("thing-0",))
    true = {on, Atom("on-table", ("thing-1",)), Atom("clear", ("thing-0",)), Atom("free", ())}
    state = replace(state, true=frozenset(true))
    assert perception.read(_answers(atoms, state, unsure=(on,)), one).state == state
    two_ways = {on, down, Atom("clear", ("thing-1",))}
    percept = perception.read(_answers(atoms, state, unsure=two_ways), one)
    assert percept.refused
    assert percept.state.unknown == two_ways


def test_a_thing_of_no_known_look_is_unknown(perception) -> None:
    one = scene("red", "striped", "dotted")
    atoms = SceneAtoms(VOCABULARY, PLAN, one)
    state = random_state(one, np.random.default_rng(3))
    percept = perception.read(_answers(atoms, state), one)
    assert not (percept.state.true ^ state.true) - percept.state.unknown
    assert set(percept.positions) == {"thing-0"}
    assert Atom("on", ("thing-1", "thing-2")) in percept.state.unknown


def _seeing(monkeypatch, perception, found):
    """Let the network find each look with this logit, whatever the picture shows."""
    logits = np.zeros(PLAN.size, np.float32)
    logits[: len(LOOKS)] = found
    answer = Raw(logits, np.full((len(LOOKS), 2), 0.5, np.float32), np.zeros((3, 56, 72), np.uint8), ONCE)
    monkeypatch.setattr(perception, "_recall", lambda frame, scene: answer)


def test_a_first_picture_that_does_not_show_a_thing_is_refused(monkeypatch, perception) -> None:
    frame = np.zeros((90, 120, 3), np.uint8)
    _seeing(monkeypatch, perception, [9, -9, 0, 9])
    assert perception.look(frame, scene("red", "blue", "ball")).positions.keys() == {"thing-0", "thing-2"}
    with pytest.raises(UnusableInput, match=r"nowhere in the first picture: thing-1 \(green\); name things"):
        perception.look(frame, scene("red", "green", "blue"))
    unknown = "its look is 'striped', which the classifiers of piles do not know"
    with pytest.raises(UnusableInput, match=unknown):
        perception.look(frame, scene("red", "striped"))
    later = perception.follow(perception.look(frame, scene("red")), frame, scene("red", "green"))
    assert Atom("clear", ("thing-1",)) in later.state.unknown  # later on it may be hidden


def test_pictures_of_another_size_are_read_and_of_other_proportions_refused(monkeypatch) -> None:
    perception, one = reader(), scene("red", "ball")
    small = np.random.default_rng(0).integers(0, 256, (90, 120, 3), dtype=np.uint8)
    large = small.repeat(2, 0).repeat(2, 1)
    first, again = (perception.read_many([small], one)[0] for _ in range(2))
    assert first == again == perception.follow(first, small, one)
    for frame in (small, large):
        assert perception.follow(first, frame, one).state.objects == one.objects
    for wrong, told in (
        (small[:, :90], "were trained on pictures of 120x90"),
        (small[::2, ::2], "were trained on pictures of 120x90"),
        (small.astype(np.float32), "float32: convert to uint8"),
    ):
        with pytest.raises(UnusableInput, match=told):
            perception.look(wrong, one)
    _seeing(monkeypatch, perception, 9)
    with pytest.warns(AamWarning, match="pictures of 240x180 pixels: .* trained on pictures of 120x90"):
        perception.look(large, one)


def test_the_network_sees_all_pictures_at_about_one_size() -> None:
    for size in ((90, 120), (480, 640), (64, 64), (1080, 1920), (40, 400)):
        high, wide = seen_size(*size)
        assert 0.8 < high * wide / 128**2 < 1.25
        assert abs(wide / high * size[0] / size[1] - 1) < 0.2


def test_weights_come_back_from_disk_and_the_vocabulary_chooses_what_reads(tmp_path) -> None:
    network = new_network(PLAN, 5)
    save(network, CARD, tmp_path)
    loaded = load_perception(VOCABULARY, "piles", tmp_path)
    assert isinstance(loaded, CameraPerception)
    frame = np.random.default_rng(0).integers(0, 256, (90, 120, 3), dtype=np.uint8)
    one = scene("red", "green", "ball")
    own = CameraPerception(VOCABULARY, weights_of(network.eval()), CARD)
    assert (loaded.probabilities([frame], one) == own.probabilities([frame], one)).all()
    assert isinstance(load_perception(board_domain("doors").visual, "doors"), BoardPerception)
    with pytest.raises(UnusableInput, match=r"train --env other"):
        load_perception(VOCABULARY, "other", tmp_path)


def test_vocabularies_that_cannot_be_read_off_pictures_are_refused() -> None:
    seen, on = VOCABULARY.entries[0], VOCABULARY.entries[5]
    board = Perceived(Predicate("at", ("thing", "thing")), Reading.WHERE, {"red": "red"}, "where it is")
    three = Perceived(Predicate("row", ("thing",) * 3), Reading.SHOWN, {"": "row"}, "three in a row")
    for entries, message in (
        ((on,), "no entry says by which looks"),
        ((seen, three), "give it two things at most"),
        ((replace(seen, auxiliary=False),), "auxiliary and of one thing"),
        ((seen, on, replace(on, predicate=Predicate("upon", ("thing", "thing")))), "give each its own"),
    ):
        with pytest.raises(UnusableInput, match=message):
            plan_of(describe(VisualVocabulary("odd", entries, TYPES)))
    with pytest.raises(UnusableInput, match="read all in one way"):
        _ = VisualVocabulary("odd", (seen, board), TYPES).cellless


def test_onnx_says_what_torch_says(perception) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    frames = list(np.random.default_rng(0).integers(0, 256, (3, 90, 120, 3), dtype=np.uint8))
    read = [one.answers(frames, scene(*LOOKS)) for one in (perception, reader(backend="onnx"))]
    for one, another in zip(*read, strict=True):
        assert np.allclose(one.probabilities, another.probabilities, atol=1e-4)
        assert np.allclose(one.positions, another.positions, atol=1e-4)
    with pytest.raises(UnusableInput, match="use one of numpy, torch, onnx"):
        reader(backend="abacus")
