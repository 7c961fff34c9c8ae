"""Weights on disk are checked before they are used, each failure in one clear line; poor ones are named by their own card."""

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
    weaknesses,
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


def _card(name, vocabulary, heads, **more):
    sure = dict.fromkeys(heads, 1.0), dict.fromkeys(heads, SURE)
    return Card(name, vocabulary, "", "", 7, *sure, **more)


@pytest.fixture
def folder(tmp_path):
    heads = VOCABULARY.cell_heads()
    save(make_network(SHARED, heads), _card("toy", describe(VOCABULARY), heads), tmp_path)
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


def _weights(change):
    """Other weights, with the card as it was."""
    return lambda files: files.weights.write_bytes(change(files.weights.read_bytes()))


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


def _filled(name, tensor):
    """Weights with another tensor in one place."""
    state = make_network(SHARED, VOCABULARY.cell_heads()).state_dict()
    return safetensors.torch.save({**state, name: tensor})


def _header(text):
    return len(text).to_bytes(8, "little") + text.encode()


def _promising(shape, offsets):
    return _header(f'{{"a":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}')


BROKEN = {
    "no tensors": [b"", b"no tensors at all", b"\xff" * 100],
    "a header that promises too much": [
        _promising("[4611686018427387904,4611686018427387904]", "[0,0]"),
        _promising("[1000000000000]", "[0,4000000000000]"),
        _promising("[1]", "[-4,0]"),
        _promising("[0,4611686018427387904]", "[0,0]"),
        (2**63).to_bytes(8, "little") + b"{}",
        _header("[" * 100_000),
        _header("{" + ",".join(f'"{i}":7' for i in range(100_000)) + "}"),
    ],
}
HEAD = f"head.weight: (5, {CHANNELS[-1]}, 1, 1) there, (2, {CHANNELS[-1]}, 1, 1) here"
NO_CARDS = ["", "{", "[]", '{"name": "toy"}', "[" * 1_000_000]
DAMAGED = {
    "no weights": (lambda files: files.weights.unlink(), "no classifiers at"),
    "no card": (lambda files: files.card.unlink(), "no classifiers at"),
    "weights that never end": (_unending("weights"), "no regular file"),
    "a card that never ends": (_unending("card"), "no regular file"),
    "weights cut short": (_weights(lambda content: content[:1000]), "sha256"),
    "one byte changed": (_weights(lambda content: content[:-1] + bytes([content[-1] ^ 1])), "sha256"),
    "another shape": (_stamped(_filled("head.weight", torch.zeros(5, CHANNELS[-1], 1, 1))), HEAD),
    "not a number": (_stamped(_filled("head.bias", torch.full((2,), float("nan")))), "no number"),
    "infinite": (_stamped(_filled("head.bias", torch.full((2,), float("inf")))), "no number"),
    "a temperature of 0": (_carded(temperatures={"ball": 0, "wet": 1}), "is damaged"),
    "a huge temperature": (_carded(temperatures={"ball": 10**400, "wet": 1}), "is damaged"),
    "thresholds the wrong way round": (_carded(thresholds={"ball": [0.9, 0.1], "wet": [0, 1]}), "is damaged"),
    "a huge threshold": (_carded(thresholds={"ball": [0.1, 10**400], "wet": [0, 1]}), "is damaged"),
    "no predicates": (_vocabulary(predicates=[]), "damaged"),
    "predicates that are none": (_vocabulary(predicates="at"), "damaged"),
    "no heads": (_vocabulary(heads=[]), "damaged"),
    "too many heads": (_vocabulary(heads=[f"h{i}" for i in range(2000)]), "damaged"),
}
for _name, _contents in BROKEN.items():
    for _number, _content in enumerate(_contents):
        _told = "no safetensors file" if _name == "no tensors" else ""
        DAMAGED[f"{_name} {_number}"] = (_stamped(_content), _told)
for _number, _text in enumerate(NO_CARDS):
    DAMAGED[f"a card that is none {_number}"] = (
        lambda files, text=_text: files.card.write_text(text),
        "damaged",
    )


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
    """The weights with two labelled looks: these, the files, and the card that is read again."""
    network, card = load(VOCABULARY, "toy", folder)
    two = np.arange(2, dtype=np.int32)
    pixels = np.arange(2 * 3 * 18 * 18, dtype=np.uint32).astype(np.uint8).reshape(2, 3, 18, 18)
    labels = np.array([[0, 1], [1, -1]], np.int8)
    looks = LabelledLooks(pixels, two, two, np.ones((2, 2), bool), labels, np.full(2, 5, np.float32))
    files = save(network, card, folder, looks)
    return looks, files, load(VOCABULARY, "toy", folder)[1]


def test_labelled_looks_are_saved_beside_weights_and_named_by_the_card(folder):
    before = paths("toy", folder)
    assert not before.looks.exists()
    assert "looks" not in before.card.read_text()
    check_alone(load(VOCABULARY, "toy", folder)[1], "export")
    looks, files, card = _with_looks(folder)
    assert card.looks_sha256 == hashlib.sha256(files.looks.read_bytes()).hexdigest()
    found = read_looks(card, folder)
    assert np.array_equal(found.looks, looks.looks)
    assert np.array_equal(found.labels, looks.labels)
    # weights are not taken away from their looks
    told_by(lambda: check_alone(card, "export"), r"^export: the weights of toy learned from few labels")
    for shipped in SHIPPED.glob("*.json"):
        assert "looks_sha256" not in json.loads(shipped.read_text())


def test_looks_that_are_missing_changed_or_of_another_network_are_refused(folder):
    _, files, card = _with_looks(folder)
    content, other = files.looks.read_bytes(), to_bytes(read_looks(card, folder).of_heads([0]))
    for written in (None, content[:-1] + b"x", other):
        files.looks.unlink()
        if written is not None:
            files.looks.write_bytes(written)
        assert "aam_vision.training.train --env toy" in told_by(lambda: read_looks(card, folder))
        files.looks.write_bytes(content)
    files.looks.write_bytes(other)
    named = replace(card, looks_sha256=hashlib.sha256(other).hexdigest())
    with pytest.raises(UnusableInput, match="has asked of shape"):
        read_looks(named, folder)


# --- what the card says of unseen pictures --------------------------------------------------------


def _measured(arrow=0, exact=400, positives=(9, 1)):
    classifiers = {"arrow": {"pictures": 400, "wrong": arrow}, "lamp": {"pictures": 400, "wrong": 0}}
    unseen = {"states": 400, "exact": exact, "classifiers": classifiers}
    return {"unseen": unseen, "positives": dict(zip(("arrow", "lamp"), positives, strict=True))}


STRANGE = {"states": "400", "exact": None, "classifiers": {"arrow": 1, "lamp": {"wrong": []}}}


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        (_measured(), None),
        (_measured(arrow=4, exact=396), None),
        (_measured(arrow=5), "classifier arrow of toy is wrong in 5 of 400 unseen pictures (1.2%)"),
        (_measured(exact=390), "the classifiers of toy read 390 of 400 unseen states exactly (97.5%)"),
        (_measured(positives=(3, 0)), "classifier lamp of toy never saw a positive example"),
        ({}, None),
        ([], None),
        ({"unseen": 3, "positives": [0]}, None),
        ({"unseen": STRANGE}, None),
        ({"unseen": {"states": 400, "exact": 400}}, None),
    ],
)
def test_only_what_is_poor_is_named_and_strange_cards_have_no_such_figures(figures, told):
    card = _card("toy", {"heads": ["arrow", "lamp"], "predicates": {}}, (), figures=figures)
    found = weaknesses(card)
    assert len(found) == (told is not None)
    for line in found:
        assert line == told or ("positive" in told and line.startswith(told))
