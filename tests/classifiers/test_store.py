"""Weights on disk are checked before they are used, each failure in one clear line."""

import hashlib
import json
import os
from dataclasses import replace

import numpy as np
import pytest
import torch

from aam_vision.agents.perception import Defined, Given, Perceived, Reading, VisualVocabulary
from aam_vision.classifiers.looks import LabelledLooks
from aam_vision.classifiers.networks import CHANNELS, SHARED, make_network
from aam_vision.classifiers.store import (
    SHIPPED,
    SURE,
    Card,
    check_alone,
    describe,
    load,
    paths,
    read_looks,
    save,
    to_bytes,
)
from aam_vision.model.strips import Predicate, Types
from aam_vision.support.errors import UnusableInput

VOCABULARY = VisualVocabulary(
    "toy",
    (
        Perceived(Predicate("at", ("thing", "place")), Reading.WHERE, {"ball": "ball"}, "seen there"),
        Perceived(Predicate("wet", ("place",)), Reading.THERE, {"": "wet"}, "blue", hidden_by="ball"),
    ),
    Types(),
)


@pytest.fixture
def folder(tmp_path):
    heads = VOCABULARY.cell_heads()
    card = Card(
        name="toy",
        vocabulary=describe(VOCABULARY),
        weights_sha256="",
        data_sha256="",
        seed=7,
        temperatures=dict.fromkeys(heads, 1.0),
        thresholds=dict.fromkeys(heads, SURE),
    )
    save(make_network(SHARED, heads), card, tmp_path)
    return tmp_path


def _refused(folder, vocabulary=VOCABULARY):
    with pytest.raises(UnusableInput) as caught:
        load(vocabulary, "toy", folder)
    message = str(caught.value)
    assert "\n" not in message
    assert "aam_vision.training.train --env toy" in message
    return message


def test_what_was_saved_is_loaded(folder):
    network, card = load(VOCABULARY, "toy", folder)
    again = save(network, replace(card, name="again"), folder)
    assert again.weights.read_bytes() == paths("toy", folder).weights.read_bytes()
    assert card.seed == 7


@pytest.mark.parametrize("which", ["weights", "card"])
def test_a_missing_file(folder, which):
    path = getattr(paths("toy", folder), which)
    path.unlink()
    assert f"no classifiers at {path}" in _refused(folder)


def test_truncated_weights(folder):
    path = paths("toy", folder).weights
    path.write_bytes(path.read_bytes()[:1000])
    assert "sha256" in _refused(folder)


@pytest.mark.parametrize("content", [b"", b"no tensors at all", b"\xff" * 100])
def test_weights_that_are_no_safetensors_though_the_card_agrees(folder, content):
    files = paths("toy", folder)
    files.weights.write_bytes(content)
    _stamp(files)
    assert "no safetensors file" in _refused(folder)


def test_one_changed_byte(folder):
    path = paths("toy", folder).weights
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    assert "sha256" in _refused(folder)


def test_tensors_of_another_shape(folder):
    from safetensors.torch import save_file

    files = paths("toy", folder)
    state = make_network(SHARED, VOCABULARY.cell_heads()).state_dict()
    state["head.weight"] = torch.zeros(5, CHANNELS[-1], 1, 1)
    save_file(state, files.weights)
    _stamp(files)
    told = f"head.weight: (5, {CHANNELS[-1]}, 1, 1) there, (2, {CHANNELS[-1]}, 1, 1) here"
    assert told in _refused(folder)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"name": "toy"}'])
def test_a_damaged_card(folder, content):
    paths("toy", folder).card.write_text(content)
    assert "is damaged" in _refused(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"temperatures": {"ball": 0, "wet": 1}},
        {"temperatures": {"ball": 10**400, "wet": 1}},
        {"thresholds": {"ball": [0.9, 0.1]}},
        {"thresholds": {"ball": [0.1, 10**400]}},
    ],
)
def test_a_card_with_senseless_thresholds(folder, change):
    path = paths("toy", folder).card
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert "is damaged" in _refused(folder)


def test_another_vocabulary(folder):
    at, wet = VOCABULARY.entries
    other = replace(VOCABULARY, entries=(at, replace(wet, hidden_by=None)))
    assert "predicate wet" in _refused(folder, other)
    extra = Perceived(Predicate("dry", ("place",)), Reading.THERE, {"": "dry"}, "brown")
    assert "predicate dry is absent there" in _refused(folder, replace(VOCABULARY, entries=(at, wet, extra)))
    assert "name is toy there, tow here" in _refused(folder, replace(VOCABULARY, name="tow"))


def test_what_no_classifier_is_asked_about_may_change(folder):
    """Defined and stated predicates are added, changed and removed, and the weights are of the same use."""
    dry = Defined(Predicate("dry", ("place",)), lambda scene, seen: ((), ()), "not wet")
    named = Given(Predicate("named", ("thing",)), "what the user calls it")
    network, card = load(VOCABULARY, "toy", folder)
    richer = replace(VOCABULARY, entries=(named, *VOCABULARY.entries, dry))
    again, _ = load(richer, "toy", folder)
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name])
    save(network, replace(card, vocabulary=describe(richer)), folder)
    assert load(VOCABULARY, "toy", folder)[0].heads == network.heads


def test_a_folder_that_cannot_be_written(folder):
    network, card = load(VOCABULARY, "toy", folder)
    (folder / "file").touch()
    with pytest.raises(UnusableInput, match="cannot write"):
        save(network, card, folder / "file" / "inside")


def _stamp(files):
    """Make the card agree with whatever the weights file holds."""
    import hashlib

    card = json.loads(files.card.read_text())
    card["weights_sha256"] = hashlib.sha256(files.weights.read_bytes()).hexdigest()
    files.card.write_text(json.dumps(card))


def _forged(folder, **changes):
    """Weights and a card that agree with each other."""
    network, card = load(VOCABULARY, "toy", folder)
    for name, value in changes.pop("tensors", {}).items():
        network.state_dict()[name].fill_(value)
    save(network, replace(card, **changes), folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(folder, value):
    network, _ = load(VOCABULARY, "toy", folder)
    name = next(name for name, tensor in network.state_dict().items() if tensor.is_floating_point())
    _forged(folder, tensors={name: value})
    assert "no number" in _refused(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"predicates": []},
        {"predicates": "at"},
        {"heads": []},
        {"heads": [f"h{i}" for i in range(2000)]},
    ],
)
def test_a_card_with_a_senseless_vocabulary(folder, change):
    file = paths("toy", folder).card
    facts = json.loads(file.read_text())
    facts["vocabulary"] |= change
    file.write_text(json.dumps(facts))
    assert "damaged" in _refused(folder)


def _header(text):
    return len(text).to_bytes(8, "little") + text.encode()


@pytest.mark.parametrize(
    "content",
    [
        _header(
            '{"a":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,0]}}'
        ),
        _header('{"a":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}}'),
        _header('{"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}'),
        _header('{"a":{"dtype":"F32","shape":[0,4611686018427387904],"data_offsets":[0,0]}}'),
        (2**63).to_bytes(8, "little") + b"{}",
        _header("[" * 100_000),
        _header("{" + ",".join(f'"{i}":7' for i in range(100_000)) + "}"),
    ],
)
def test_headers_that_promise_too_much(folder, content):
    files = paths("toy", folder)
    files.weights.write_bytes(content)
    facts = json.loads(files.card.read_text())
    facts["weights_sha256"] = hashlib.sha256(content).hexdigest()
    files.card.write_text(json.dumps(facts))
    assert _refused(folder)


@pytest.mark.parametrize("which", ["weights", "card"])
def test_files_that_never_end(folder, which):
    file = getattr(paths("toy", folder), which)
    file.unlink()
    os.mkfifo(file)
    assert "no regular file" in _refused(folder)


def test_a_card_that_is_nested_too_deeply(folder):
    paths("toy", folder).card.write_text("[" * 1_000_000)
    assert "damaged" in _refused(folder)


def _with_looks(folder):
    """The weights with two labelled looks."""
    network, card = load(VOCABULARY, "toy", folder)
    looks = LabelledLooks(
        np.arange(2 * 3 * 18 * 18, dtype=np.uint32).astype(np.uint8).reshape(2, 3, 18, 18),
        np.arange(2, dtype=np.int32),
        np.arange(2, dtype=np.int32),
        np.ones((2, 2), bool),
        np.array([[0, 1], [1, -1]], np.int8),
        np.full(2, 5, np.float32),
    )
    return looks, save(network, card, folder, looks)


def test_labelled_looks_are_saved_beside_weights_and_named_by_the_card(folder):
    before = paths("toy", folder)
    assert not before.looks.exists()
    assert "looks" not in before.card.read_text()
    looks, files = _with_looks(folder)
    _, card = load(VOCABULARY, "toy", folder)
    assert card.looks_sha256 == hashlib.sha256(files.looks.read_bytes()).hexdigest()
    found = read_looks(card, folder)
    assert np.array_equal(found.looks, looks.looks)
    assert np.array_equal(found.labels, looks.labels)


def test_looks_that_are_missing_changed_or_of_another_network_are_refused(folder):
    _, files = _with_looks(folder)
    _, card = load(VOCABULARY, "toy", folder)
    content = files.looks.read_bytes()
    other = to_bytes(read_looks(card, folder).of_heads([0]))
    for written in (None, content[:-1] + b"x", other):
        files.looks.unlink()
        if written is not None:
            files.looks.write_bytes(written)
        with pytest.raises(UnusableInput) as caught:
            read_looks(card, folder)
        assert "aam_vision.training.train --env toy" in str(caught.value)
        files.looks.write_bytes(content)
    files.looks.write_bytes(other)
    named = replace(card, looks_sha256=hashlib.sha256(other).hexdigest())
    with pytest.raises(UnusableInput, match="has asked of shape"):
        read_looks(named, folder)


def test_weights_are_not_taken_away_from_their_looks(folder):
    _, card = load(VOCABULARY, "toy", folder)
    check_alone(card, "export")
    _with_looks(folder)
    _, card = load(VOCABULARY, "toy", folder)
    with pytest.raises(UnusableInput, match=r"^export: the weights of toy learned from few labels") as caught:
        check_alone(card, "export")
    assert "\n" not in str(caught.value)


def test_shipped_weights_have_no_looks():
    for card in SHIPPED.glob("*.json"):
        assert "looks_sha256" not in json.loads(card.read_text())
