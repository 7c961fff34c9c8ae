"""What labels say: whether they describe legal boards, which perfect classifiers could read; single answers; and outlines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import NO_LABEL, Exactly, Mask, Never, VisualVocabulary
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.labelled import Labels, label
from aam_vision.model.strips import State
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted


def check_legal(vocabulary: VisualVocabulary, index: SceneIndex, state: State) -> None:
    """Labels must be such that perfect classifiers would be believed; UnusableInput if they describe no legal board."""
    answers = (label(vocabulary, index.scene, index.places, state) == 1).astype(np.float32)
    heads = vocabulary.cell_heads()
    half = np.full((len(heads), 1), 0.5, np.float32)
    _, doubtful = index.legality.settle(answers, half, half)
    if doubtful.any():
        head, place = (int(numbers[0]) for numbers in np.nonzero(doubtful))
        why = _excluding(vocabulary, index, answers > 0) or f"see {heads[head]} at {index.places[place]}"
        raise UnusableInput(
            f"no legal board ({why}): give every thing its one place, and every cell what it shows, or correct the "
            f"vocabulary"
        )


def _excluding(vocabulary: VisualVocabulary, index: SceneIndex, yes: NDArray[np.bool_]) -> str | None:
    """The first constraint of a vocabulary that labels break, in words; None if it is none of the declared ones."""
    rows = vocabulary.rows
    for item in vocabulary.constraints:
        if isinstance(item, Never):
            shown = yes[[rows[head] for head in item.shows]].all(0)
            spared = yes[[rows[head] for head in item.without]].any(0)
            if (shown & ~spared).any():
                place = index.places[int(np.argmax(shown & ~spared))]
                without = f" without {' or '.join(item.without)}" if item.without else ""
                return f"a constraint excludes {' with '.join(item.shows)}{without}, as at {place}"
        elif isinstance(item, Exactly) and int(yes[rows[item.head]].sum()) != item.number:
            return (
                f"a constraint says that {item.head} holds in {counted(item.number, 'place')}, the label has "
                f"{int(yes[rows[item.head]].sum())}"
            )
    return None


# Single answers in label files: lines of images about which not everything is said.
#
# A line with ``true`` says everything about its image: an atom that is not in it is false. These lines say only what is in them::
#
#     {"image": "0001.png", "problem": "train/0", "yes": ["stone at pos-2-3"], "no": ["clear at pos-2-4"]}
#     {"image": "0001.png", "problem": "train/0", "skipped": ["goal at pos-2-5"]}
#     {"image": "0002.png", "problem": "train/0", "skipped": true}
#
# An answer is about one classifier (a look, as ``stone``, or a predicate) and one place. ``skipped`` is what somebody was asked about and
# could not tell, or the whole image; nothing is learned from it. One image may have many such lines.


KINDS: Final = ("yes", "no", "skipped")
BETWEEN: Final = " at "


@dataclass(frozen=True)
class Said:
    """What one line says about its image.

    Args:
        yes: classifier and place, of every answer.
        no: likewise.
        skipped: likewise, what could not be told.
        whole_skipped: whether nothing could be told about the image.
    """

    yes: tuple[tuple[str, str], ...] = ()
    no: tuple[tuple[str, str], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    whole_skipped: bool = False

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Said | None:
        """What a line says; None if it says everything.

        Raises:
            UnusableInput: it says both, or is no such line.
        """
        if not any(kind in facts for kind in KINDS):
            return None
        if "true" in facts:
            raise UnusableInput(
                "has true, and yes, no or skipped: give true if every other atom is false, else the others"
            )
        if facts.get("skipped") is True:
            if "yes" in facts or "no" in facts:
                raise UnusableInput("the whole image is skipped, and has answers: remove one of both")
            return cls(whole_skipped=True)
        yes, no, skipped = (tuple(_answer(text) for text in _texts(facts, kind)) for kind in KINDS)
        return cls(yes, no, skipped)

    def facts(self) -> dict[str, object]:
        """As it stands in a line."""
        if self.whole_skipped:
            return {"skipped": True}
        told = {kind: [BETWEEN.join(one) for one in getattr(self, kind)] for kind in KINDS}
        return {kind: texts for kind, texts in told.items() if texts}


def labels_of(said: Said, heads: Sequence[str], index: SceneIndex) -> Labels:
    """The labels (heads, places) that a line gives, ``NO_LABEL`` for all it does not speak of.

    Raises:
        UnusableInput: it names what there is not, or says both yes and no.
    """
    rows = {head: row for row, head in enumerate(heads)}
    columns = {place: column for column, place in enumerate(index.places)}
    labels: Labels = np.full((len(heads), len(index.places)), NO_LABEL, np.int8)
    for value, answers in ((1, said.yes), (0, said.no), (NO_LABEL, said.skipped)):
        for head, place in answers:
            text = f"{head}{BETWEEN}{place}"
            if head not in rows:
                raise UnusableInput(f"{text}: no classifier {head!r}; use one of {', '.join(heads)}")
            if place not in columns or not index.legality.asked[rows[head], columns[place]]:
                raise UnusableInput(f"{text}: the problem has no such place of which {head} is asked")
            if labels[rows[head], columns[place]] == 1 - value and value != NO_LABEL:
                raise UnusableInput(f"{text}: the answer is both yes and no; remove one of them")
            if value != NO_LABEL:
                labels[rows[head], columns[place]] = value
    return labels


def check_possible(heads: Sequence[str], index: SceneIndex, labels: Labels) -> None:
    """Single answers about one image must leave something that a board may show.

    Raises:
        UnusableInput: constraints or the number of things exclude them.
    """
    for place in np.flatnonzero((labels != NO_LABEL).any(0)).tolist():
        if not len(possible(index, place, labels[:, place])):
            told = np.flatnonzero(labels[:, place] != NO_LABEL).tolist()
            said = [f"{heads[head]} {'yes' if labels[head, place] else 'no'}" for head in told]
            raise UnusableInput(
                f"{index.places[place]}: {', '.join(said)}: the constraints exclude that; correct one of them"
            )
    for count in index.legality.counts:
        yes, asked = (labels[count.head] == 1).sum(), index.legality.asked[count.head]
        open_ = (asked & (labels[count.head] != 0)).sum()
        if yes > count.number or (count.exact and open_ < count.number):
            most, places = "" if count.exact else " at most", counted(int(yes), "place")
            is_in = f"is in {places}" if yes > count.number else f"can be in {int(open_)} at most"
            raise UnusableInput(
                f"{heads[count.head]} {is_in} instead of {count.number}{most}; correct an answer"
            )


def possible(index: SceneIndex, place: int, labels: Labels) -> Labels:
    """What a place may show, given answers about it (heads,), ``NO_LABEL`` where nothing is said.

    Returns:
        (n, heads), all labels that the constraints allow: ``NO_LABEL`` for what is not asked of it, or hidden.
    """
    kind = index.legality.kind(place)
    found: Labels = np.full((0 if kind is None else len(kind.patterns), len(labels)), NO_LABEL, np.int8)
    if kind is not None:
        given = labels[kind.heads]
        means = kind.meaningful[kind.patterns @ kind.weights]
        found[:, kind.heads] = np.where(means, kind.patterns, NO_LABEL)
        found = found[((given == NO_LABEL) | (kind.patterns == given)).all(1)]
    return found


def without(
    lines: list[tuple[int, dict[str, Any]]], facts: Mapping[str, Any]
) -> list[tuple[int, dict[str, Any]]]:
    """The lines so far, with their numbers, without what a further one withdraws: an image, or answers about one.

    Raises:
        UnusableInput: none of them says that.
    """
    image, taken = str(facts.get("image")), facts["withdrawn"]
    rest = []
    for number, line in lines:
        left = line
        if str(line.get("image")) == image:
            if taken is True:
                continue
            said = {kind: line[kind] for kind in KINDS if isinstance(line.get(kind), list)}
            left = line | {kind: [one for one in own if one not in taken] for kind, own in said.items()}
            if left != line and not any(left.get(kind) for kind in KINDS):
                continue
        rest.append((number, left))
    if rest == lines:
        what = "the labels" if taken is True else ", ".join(map(str, taken))
        raise UnusableInput(f"withdraws {what} of {image!r}, and no line above labels it; remove the line")
    return rest


def _texts(facts: Mapping[str, Any], kind: str) -> list[str]:
    texts = facts.get(kind, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise UnusableInput(f'{kind} {texts!r}: write "{kind}": ["stone at pos-2-3", ...]')
    return texts


def _answer(text: str) -> tuple[str, str]:
    head, between, place = text.rpartition(BETWEEN)
    if not between or not head or not place:
        raise UnusableInput(f"{text!r} is no answer: write CLASSIFIER at PLACE")
    return head.strip(), place.strip()


# Outlines in label files: which pixels of a picture show a thing, in the form of COCO's ``segmentation``.
#
# That is a list of polygons, each ``[x1, y1, x2, y2, ...]`` in pixels, or uncompressed run lengths, ``{"size": [height, width],
# "counts": [...]}``: column by column, how many pixels do not show it, then how many do, and so on by turns (Lin et al., "Microsoft COCO", 2014).


def read_outline(facts: object, size: tuple[int, int]) -> Mask:
    """The pixels, (height, width), of an outline as JSON has it.

    Raises:
        UnusableInput: it is none, is outside of a picture of that size, or has no pixel.
    """
    if isinstance(facts, dict):
        found = _of_runs(facts, size)
    elif isinstance(facts, list) and facts:
        found = np.zeros(size, bool)
        for polygon in facts:
            found |= _of_polygon(polygon, size)
    else:
        raise UnusableInput("write [[x1, y1, x2, y2, ...], ...] in pixels, or COCO's size and counts")
    if not found.any():
        raise UnusableInput("has no pixel; leave it out where the thing does not show")
    return found


def outline_facts(mask: Mask) -> dict[str, Any]:
    """A mask as run lengths; see ``read_outline``."""
    pixels = mask.ravel(order="F")
    changes = np.flatnonzero(np.diff(pixels, prepend=False))
    counts = np.diff(np.concatenate([[0], changes, [len(pixels)]]))
    return {"size": list(mask.shape), "counts": counts.tolist()}


def _of_runs(facts: dict[str, Any], size: tuple[int, int]) -> Mask:
    counts = facts.get("counts")
    if facts.get("size") != list(size):
        raise UnusableInput(
            f"is for a picture of size {facts.get('size')!r}, and this one is {list(size)} (height, width)"
        )
    if not isinstance(counts, list) or not all(type(one) is int and one >= 0 for one in counts):
        raise UnusableInput("counts: give whole numbers, column by column; compressed ones are not read")
    if sum(counts) != size[0] * size[1]:
        raise UnusableInput(f"counts are of {sum(counts)} pixels, and the picture has {size[0] * size[1]}")
    shows = np.arange(len(counts)) % 2 == 1
    return np.repeat(shows, counts).reshape(size, order="F")


def _of_polygon(polygon: Any, size: tuple[int, int]) -> Mask:
    from PIL import Image, ImageDraw

    height, width = size
    numbers = isinstance(polygon, list) and all(type(one) in (int, float) for one in polygon)
    if not numbers or len(polygon) < 6 or len(polygon) % 2:
        raise UnusableInput("a polygon is [x1, y1, x2, y2, x3, y3, ...] in pixels, of three points at least")
    points = np.array(polygon, float).reshape(-1, 2)
    outside = ((points < 0) | (points > (width, height)) | ~np.isfinite(points)).any(1)
    if outside.any():
        x, y = points[outside.argmax()]
        raise UnusableInput(f"the point {x:g}, {y:g} is outside of the picture of {width}x{height} pixels")
    paper = Image.new("1", (width, height))
    ImageDraw.Draw(paper).polygon([(x, y) for x, y in points.tolist()], fill=1, outline=1)
    return np.array(paper, bool)
