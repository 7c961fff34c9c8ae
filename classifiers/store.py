"""Weights on disk: safetensors (which cannot run code) with a JSON card beside them.

The card says what the weights are for (the vocabulary), where they come from (seed, data, versions), how
good they were (figures) and how sure is sure enough (temperatures and thresholds per head). Loading
checks all of it; anything that does not fit raises one clear ``UnusableInput``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as parse_tensors
from safetensors.numpy import save as dump_arrays

from aam_vision.agents.encoding import loads
from aam_vision.agents.perception import ImageTest, Perceived, Provenance, VisualVocabulary
from aam_vision.classifiers.architecture import CAMERA, KINDS, SHARED, Weights, check_shapes, shapes
from aam_vision.classifiers.looks import EDGE, LabelledLooks
from aam_vision.support.errors import UnusableInput
from aam_vision.support.files import read_limited

if TYPE_CHECKING:
    from torch import nn

    from aam_vision.classifiers.networks import BoardNetwork

SHIPPED = Path(__file__).parent / "weights"
"""The folder of the weights that come with the package."""

MAX_BYTES = 500_000_000
"""Of a file; larger ones are not read."""
MAX_HEADS = 1000
"""Classifiers of one network at most."""

SURE = (0.1, 0.9)
"""Default thresholds: below the first an atom is false, above the second true, between them unknown."""


@dataclass(frozen=True)
class Card:
    """The description of one set of weights.

    ``network`` is one of ``networks.KINDS``, or ``camera`` for pictures without cells; ``picture`` gives the height and
    width of those that were learned from;
    ``temperatures`` divide a head's logits before they become probabilities; ``thresholds`` hold, per
    head, the probabilities below which an atom is false and above which it is true; ``looks_sha256`` is given
    where labelled looks belong to the weights, see ``looks``.
    """

    name: str
    vocabulary: Mapping[str, Any]
    weights_sha256: str
    data_sha256: str
    seed: int
    temperatures: Mapping[str, float]
    thresholds: Mapping[str, tuple[float, float]]
    versions: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    network: str = SHARED
    picture: tuple[int, int] | None = None
    looks_sha256: str | None = None


@dataclass(frozen=True)
class WeightFiles:
    """The files of one set of weights; some have labelled looks."""

    weights: Path
    card: Path
    looks: Path


def paths(name: str, folder: Path | None = None) -> WeightFiles:
    """Where the weights called ``name`` lie: in ``folder``, or among the shipped ones."""
    base = SHIPPED if folder is None else folder
    endings = "safetensors", "json", "looks.safetensors"
    return WeightFiles(*(base / f"{name}.{ending}" for ending in endings))


def describe(vocabulary: VisualVocabulary) -> dict[str, Any]:
    """A vocabulary as the card holds it: the heads, and every predicate with the source of its truth."""
    predicates: dict[str, Any] = {}
    for entry in vocabulary.entries:
        facts: dict[str, Any] = {"types": list(entry.predicate.types), "provenance": entry.provenance.value}
        if isinstance(entry, Perceived):
            facts |= {
                "reading": entry.reading.value,
                "heads": dict(entry.heads),
                "hidden_by": entry.hidden_by,
            }
            if entry.auxiliary:
                facts["auxiliary"] = True
        predicates[entry.predicate.name] = facts
    return {"name": vocabulary.name, "heads": list(vocabulary.cell_heads()), "predicates": predicates}


def save(network: nn.Module, card: Card, folder: Path, looks: LabelledLooks | None = None) -> WeightFiles:
    """Write weights and card to ``folder``, and the labelled looks if there are any; the card gets their hashes.

    Raises:
        UnusableInput: the folder cannot be written.
    """
    from safetensors.torch import save as dump_tensors

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    content = dump_tensors(tensors)
    files, beside = paths(card.name, folder), None if looks is None else to_bytes(looks)
    facts = {
        **asdict(card),
        "weights_sha256": hashlib.sha256(content).hexdigest(),
        "looks_sha256": None if beside is None else hashlib.sha256(beside).hexdigest(),
    }
    for name in ("picture", "looks_sha256"):
        if facts[name] is None:
            del facts[name]
    text = json.dumps(facts, indent=2) + "\n"
    written = {files.looks: beside} if beside is not None else {}
    written |= {files.weights: content, files.card: text.encode()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # all are complete on disk before any takes the place of an older one
        for path, content in written.items():
            path.with_name(path.name + ".new").write_bytes(content)
        for path in written:
            path.with_name(path.name + ".new").replace(path)
    except OSError as error:
        raise UnusableInput(f"cannot write weights to {folder}: {error.strerror or error}") from None
    return files


def load(
    vocabulary: VisualVocabulary, name: str, folder: Path | None = None, *, without: str | None = None
) -> tuple[BoardNetwork, Card]:
    """``read`` as a network of torch.

    Raises:
        UnusableInput: see ``read``.
    """
    from aam_vision.classifiers.networks import network_of

    weights, card = read(vocabulary, name, folder, without=without)
    try:
        return network_of(weights), card
    except UnusableInput as error:
        raise UnusableInput(f"weights {paths(name, folder).weights} {error}: {_cure(name, folder)}") from None


def read(
    vocabulary: VisualVocabulary,
    name: str,
    folder: Path | None = None,
    *,
    without: str | None = None,
    part: bool = False,
) -> tuple[Weights, Card]:
    """The weights called ``name`` for a vocabulary, and their card; torch is not needed.

    Args:
        vocabulary: the vocabulary of the environment; the weights must be made for exactly its perceived predicates,
            whatever it defines over them or states.
        name: the name of the files, without ending.
        folder: where they lie; None for the shipped ones.
        without: a predicate that the weights may lack, or have otherwise; they may also have further ones. Their own
            classifiers, and not those of the vocabulary, are then those of the network.
        part: whether they may be made for a vocabulary of which the given one is a part; the network then has
            further classifiers.

    Raises:
        UnusableInput: a file is missing or damaged, does not belong to the other one, or was trained for
            another vocabulary.
    """
    files = paths(name, folder)
    cure = _cure(name, folder)
    card = _card(files.card, cure)
    compare(describe(vocabulary), card.vocabulary, files.card, cure, without=without, part=part)
    content = _read(files.weights, cure)
    digest = hashlib.sha256(content).hexdigest()
    if digest != card.weights_sha256:
        raise UnusableInput(
            f"weights {files.weights} have sha256 {digest[:12]}..., their card says "
            f"{card.weights_sha256[:12]}...: restore both files, or {cure}"
        )
    try:
        tensors = parse_tensors(content)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:  # the others: numpy has no such type
        raise UnusableInput(f"weights {files.weights} are no safetensors file ({error}): {cure}") from None
    weights = Weights(card.network, tuple(card.vocabulary["heads"]), tensors)
    if (expected := shapes(weights.kind, weights.heads)) is not None:
        try:
            check_shapes(expected, tensors)
        except UnusableInput as error:
            raise UnusableInput(f"weights {files.weights} {error}: {cure}") from None
    for tensor_name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise UnusableInput(f"weights {files.weights} hold what is no number ({tensor_name}): {cure}")
    return weights, card


def read_looks(card: Card, folder: Path | None = None) -> LabelledLooks | None:
    """The labelled looks that belong to weights; None if there are none.

    Raises:
        UnusableInput: the file is missing or damaged, or does not belong to the card.
    """
    if card.looks_sha256 is None:
        return None
    path, cure = paths(card.name, folder).looks, _cure(card.name, folder)
    content = _read(path, cure)
    if hashlib.sha256(content).hexdigest() != card.looks_sha256:
        raise UnusableInput(
            f"{path} is not the file that the card of {card.name} names: restore it, or {cure}"
        )
    try:
        return from_bytes(content, len(card.vocabulary["heads"]), KINDS[card.network])
    except UnusableInput as error:
        raise UnusableInput(f"{path} {error}: {cure}") from None


def alone(card: Card) -> bool:
    """Whether weights read unseen images in a test by themselves, and so are of use without looks beside them."""
    return "unseen" in card.figures


def check_alone(card: Card, what: str) -> None:
    """Refuse to do something with weights by themselves that are to be read with labelled looks only.

    Raises:
        UnusableInput: they are of no use without looks.
    """
    if card.looks_sha256 is not None and not alone(card):
        raise UnusableInput(
            f"{what}: the weights of {card.name} learned from few labels and misread what looks unlike these; without the "
            f"looks beside them they are of no use: train with python -m aam_vision.training.train --env {card.name}"
        )


def _cure(name: str, folder: Path | None) -> str:
    """How to get weights that fit."""
    cure = f"run python -m aam_vision.training.train --env {name}"
    return cure + (" --ship" if folder is None else f" --out {folder}")


def _read(path: Path, cure: str) -> bytes:
    try:
        return read_limited(path, MAX_BYTES)
    except FileNotFoundError:
        raise UnusableInput(f"no classifiers at {path}: {cure}") from None
    except OSError as error:
        raise UnusableInput(f"cannot read {path} ({error.strerror or error}): {cure}") from None


def _card(path: Path, cure: str) -> Card:
    """The card in a file, checked for completeness and sense."""
    content = _read(path, cure)
    try:
        # older cards had no choice
        facts = {"network": SHARED, "picture": None, "looks_sha256": None, **loads(content)}
        if facts["picture"] is not None:
            height, width = (int(side) for side in facts["picture"])
            facts["picture"] = (max(height, 1), max(width, 1))
        card = Card(**{item.name: facts[item.name] for item in fields(Card)})
        if card.looks_sha256 is not None and card.network not in KINDS:
            raise ValueError("labelled looks of a network without cells")
        if card.network not in (*KINDS, CAMERA):
            raise ValueError(f"no network {card.network!r}")
        for least, most in card.figures.get("cell_pixels", ()):
            if not 0 < least <= most:
                raise ValueError("the size of cells")
        heads = card.vocabulary["heads"]
        if not isinstance(card.vocabulary.get("predicates"), dict) or not 0 < len(heads) <= MAX_HEADS:
            raise ValueError("its vocabulary")
        for head in heads:
            low, high = card.thresholds[head]
            if not (0 <= low <= high <= 1 and 0 < card.temperatures[head] < 1e6):
                raise ValueError(f"thresholds or temperature of {head}")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise UnusableInput(f"card {path} is damaged ({type(error).__name__}: {reason}): {cure}") from None
    return card


# The vocabulary on a card, compared with that of an environment: weights belong to classifiers, not to vocabularies.


def compare(
    wanted: Mapping[str, Any],
    found: Mapping[str, Any],
    path: Path,
    cure: str,
    *,
    without: str | None,
    part: bool,
) -> None:
    """Whether a card speaks of the environment's vocabulary, less all that no classifier is asked about: it can change without harm.

    Args:
        wanted: the vocabulary as described.
        found: that on the card.
        path: of the card.
        cure: how to get one that fits.
        without: a predicate that does not count, nor does the order of classifiers then; None for all.
        part: whether the card may have further predicates and classifiers.

    Raises:
        UnusableInput: it does not; the message names the first difference.
    """
    ours, theirs = (
        {
            name: own
            for name, own in facts.get("predicates", {}).items()
            if isinstance(own, Mapping) and own.get("provenance") == Provenance.PERCEIVED.value
            if name != without
        }
        for facts in (wanted, found)
    )
    same = [("name", found.get("name"), wanted["name"])]
    if without is None:
        heads = [head for head in wanted["heads"] if head in found["heads"]] if part else found.get("heads")
        same.append(("heads", heads, wanted["heads"]))
    different = [
        *(
            (f"predicate {name}", theirs.get(name, "absent"), ours.get(name, "absent"))
            for name in (ours if part or without else {**ours, **theirs})
            if ours.get(name) != theirs.get(name)
        ),
        *(one for one in same if one[1] != one[2]),
    ]
    for what, there, here in different:
        raise UnusableInput(
            f"card {path} is for another vocabulary ({what} is {there} there, {here} here): {cure}"
        )


# Labelled looks as bytes: a safetensors file, which cannot run code, beside the weights.


MOST: Final = 100_000
"""Cells in a file; larger ones would take minutes to be compared with."""

_TYPES: Final = {
    "looks": np.uint8,
    "cells": np.int32,
    "places": np.int32,
    "asked": np.uint8,
    "labels": np.int8,
    "limits": np.float32,
}


def to_bytes(looks: LabelledLooks) -> bytes:
    """The content of a file."""
    parts = {name: np.ascontiguousarray(getattr(looks, name), kind) for name, kind in _TYPES.items()}
    content: bytes = dump_arrays(parts)
    return content


def from_bytes(content: bytes, heads: int, side: int) -> LabelledLooks:
    """The looks in a file, which may be anybody's.

    Args:
        content: of the file.
        heads: number of classifiers of the network.
        side: of a cell in its boards, in pixels.

    Raises:
        UnusableInput: they are none, or do not belong to such a network; the message goes after the name of the file.
    """
    try:
        parts = parse_tensors(content)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise UnusableInput(f"is no safetensors file ({error})") from None
    for name, kind in _TYPES.items():
        if name not in parts or parts[name].dtype != kind:
            raise UnusableInput(f"has no {name} of type {np.dtype(kind)}")
    number, cells = len(parts["limits"].reshape(-1)), len(parts["places"].reshape(-1))
    shapes = {
        "looks": (len(parts["looks"]) if parts["looks"].ndim else 0, 3, side + 2, side + 2),
        "cells": (cells,),
        "places": (cells,),
        "asked": (number, heads),
        "labels": (number, heads),
        "limits": (number,),
    }
    for name, shape in shapes.items():
        if parts[name].shape != shape:
            raise UnusableInput(f"has {name} of shape {parts[name].shape}, not {shape}")
    looks = parts["looks"]
    if not (
        side > 2 * EDGE
        and 0 < number <= cells <= MOST
        and len(looks) <= MOST
        and _within(parts["cells"], 0, len(looks) - 1)
        and _within(parts["asked"], 0, 1)
        and _within(parts["labels"], -1, 1)
        and np.array_equal(np.unique(parts["places"]), np.arange(number))
        and np.isfinite(parts["limits"]).all()
    ):
        raise UnusableInput("has numbers that mean nothing")
    return LabelledLooks(
        looks, parts["cells"], parts["places"], parts["asked"] > 0, parts["labels"], parts["limits"]
    )


def _within(numbers: NDArray[np.integer], least: int, most: int) -> bool:
    return bool(least <= numbers.min(initial=most) and numbers.max(initial=least) <= most)


# Which classifiers are poor by their own figures: those of the card that was written when they were trained.


BACKDROP: Final = "backdrop"
"""What the card of a camera says of what it sees apart from the things."""

POOR = 0.01
"""A classifier that is wrong in a larger share of unseen pictures is named when a run begins, and so is a set of
classifiers that reads a larger share of unseen states wrongly or not at all."""


def weaknesses(card: Card) -> list[str]:
    """What its own figures say against a set of weights, one line each; auxiliary classifiers are among them.

    Cards of older weights have figures of whole states only.
    """
    found = [
        f"classifier {head} of {card.name} never saw a positive example: it answers unknown"
        for head in card.vocabulary["heads"]
        if untaught(card, head)
    ]
    if card.network == CAMERA and not _table(card.figures, BACKDROP):
        found.append(
            f"the classifiers of {card.name} do not know what their camera sees apart from the things, so a hand or an unknown "
            "thing in a picture is not noticed; train again"
        )
    unseen = _table(card.figures, "unseen")
    for head, counts in _table(unseen, "classifiers").items():
        pictures, wrong = (_number(counts, name) for name in ("pictures", "wrong"))
        if wrong > POOR * pictures:
            share = f"{wrong} of {pictures} unseen pictures ({wrong / pictures:.1%})"
            found.append(f"classifier {head} of {card.name} is wrong in {share}")
    exact, states, _ = image_test(card)
    if states - exact > POOR * states:
        found.append(
            f"the classifiers of {card.name} read {exact} of {states} unseen states exactly ({exact / states:.1%})"
        )
    return found


def image_test(card: Card) -> ImageTest:
    """How the classifiers of a card did in their test."""
    unseen = _table(card.figures, "unseen")
    return ImageTest(*(_number(unseen, name) for name in ("exact", "states", "wrong")))


def untaught(card: Card, head: str) -> bool:
    """Whether a classifier never saw a positive example, so that it cannot know what one looks like.

    Cards of older weights do not say; theirs all saw some.
    """
    return _table(card.figures, "positives").get(head) == 0


def _table(figures: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of a card, which may be anybody's; empty if there is none of that kind."""
    found = figures.get(name) if isinstance(figures, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _number(counts: object, name: str) -> int:
    found = counts.get(name) if isinstance(counts, Mapping) else None
    return found if isinstance(found, int) and found > 0 else 0
