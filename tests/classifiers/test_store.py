"""Weights on disk are checked before they are used, each failure in one clear line."""

import hashlib
import json
import os
from dataclasses import replace

import numpy as np
import pytest
import safetensors.torch
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
from tests.refusals import told_by

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
    message = told_by(lambda: load(vocabulary, "toy", folder))
    assert "aam_vision.training.train --env toy" in message
    return message


def test_what_was_saved_is_loaded(folder):
    network, card = load(VOCABULARY, "toy", folder)
    again = save(network, replace(card, name="again"), folder)
    assert again.weights.read_bytes() == paths("toy", folder).weights.read_bytes()
    assert card.seed == 7


def _cut(files):
    files.weights.write_bytes(files.weights.read_bytes()[:1000])


def _one_byte_changed(files):
    content = bytearray(files.weights.read_bytes())
    content[-1] ^= 1
    files.weights.write_bytes(bytes(content))


def _stamped(content):
    """Weights of this content, with a card that agrees."""

    def damage(files):
        files.weights.write_bytes(content)
        _change(files, weights_sha256=hashlib.sha256(content).hexdigest())

    return damage


def _change(files, **facts):
    files.card.write_text(json.dumps({**json.loads(files.card.read_text()), **facts}))


def _carded(**facts):
    return lambda files: _change(files, **facts)


def _vocabulary(**facts):
    return lambda files: _change(
        files, vocabulary={**json.loads(files.card.read_text())["vocabulary"], **facts}
    )


def _unending(which):
    def damage(files):
        getattr(files, which).unlink()
        os.mkfifo(getattr(files, which))

    return damage


def _of_another_shape():
    state = make_network(SHARED, VOCABULARY.cell_heads()).state_dict()
    state["head.weight"] = torch.zeros(5, CHANNELS[-1], 1, 1)
    return safetensors.torch.save(state)


def _not_all_numbers(value):
    state = make_network(SHARED, VOCABULARY.cell_heads()).state_dict()
    name = next(name for name, tensor in state.items() if tensor.is_floating_point())
    return safetensors.torch.save({**state, name: torch.full_like(state[name], value)})


def _header(text):
    return len(text).to_bytes(8, "little") + text.encode()


DAMAGED = {
    "no weights": (lambda files: files.weights.unlink(), "no classifiers at"),
    "no card": (lambda files: files.card.unlink(), "no classifiers at"),
    "weights that never end": (_unending("weights"), "no regular file"),
    "a card that never ends": (_unending("card"), "no regular file"),
    "weights cut short": (_cut, "sha256"),
    "one byte changed": (_one_byte_changed, "sha256"),
    **{f"no tensors {n}": (_stamped(one), "no safetensors file") for n, one in enumerate([b"", b"no tensors at all", b"\xff" * 100])},
    "another shape": (
        _stamped(_of_another_shape()),
        f"head.weight: (5, {CHANNELS[-1]}, 1, 1) there, (2, {CHANNELS[-1]}, 1, 1) here",
    ),
    "not a number": (_stamped(_not_all_numbers(float("nan"))), "no number"),
    "infinite": (_stamped(_not_all_numbers(float("inf"))), "no number"),
    **{
        f"a header that promises too much {n}": (_stamped(one), "")
        for n, one in enumerate(
            [
                _header('{"a":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,0]}}'),
                _header('{"a":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}}'),
                _header('{"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}'),
                _header('{"a":{"dtype":"F32","shape":[0,4611686018427387904],"data_offsets":[0,0]}}'),
                (2**63).to_bytes(8, "little") + b"{}",
                _header("[" * 100_000),
                _header("{" + ",".join(f'"{i}":7' for i in range(100_000)) + "}"),
            ]
        )
    },
    **{
        f"a card that is none {n}": (lambda files, text=text: files.card.write_text(text), "damaged")
        for n, text in enumerate(["", "{", "[]", '{"name": "toy"}', "[" * 1_000_000])
    },
    "a temperature of 0": (_carded(temperatures={"ball": 0, "wet": 1}), "is damaged"),
    "a huge temperature": (_carded(temperatures={"ball": 10**400, "wet": 1}), "is damaged"),
    "thresholds the wrong way round": (_carded(thresholds={"ball": [0.9, 0.1]}), "is damaged"),
    "a huge threshold": (_carded(thresholds={"ball": [0.1, 10**400]}), "is damaged"),
    "no predicates": (_vocabulary(predicates=[]), "damaged"),
    "predicates that are none": (_vocabulary(predicates="at"), "damaged"),
    "no heads": (_vocabulary(heads=[]), "damaged"),
    "too many heads": (_vocabulary(heads=[f"h{i}" for i in range(2000)]), "damaged"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_files_are_refused_in_one_line(folder, damage):
    harm, told = DAMAGED[damage]
    harm(paths("toy", folder))
    assert told in _refused(folder)


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
    told_by(lambda: check_alone(card, "export"), r"^export: the weights of toy learned from few labels")


def test_shipped_weights_have_no_looks():
    for card in SHIPPED.glob("*.json"):
        assert "looks_sha256" not in json.loads(card.read_text())
