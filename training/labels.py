"""The right answer of every classifier about a board: labels made from a symbolic state.

The symbolic state comes from the simulator, for training and evaluation only. A label is given per
classifier and place; whatever the image cannot show (an answer covered by a thing, a room without
cells) gets none, so that nothing is learned about it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.looks import NO_LABEL as NO_LABEL
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.errors import UnusableInput
from aam_vision.perception import Exactly, Never, Perceived, Reading, Scene, VisualVocabulary
from aam_vision.strips import Atom, State
from aam_vision.wording import counted

Labels = NDArray[np.int8]
"""(heads, places): 1, 0 or ``NO_LABEL``."""


def label(vocabulary: VisualVocabulary, scene: Scene, places: tuple[str, ...], state: State) -> Labels:
    """The labels of one image of ``scene`` in ``state``, over the places that have cells.

    Returns:
        int8, (heads, places): 1 where the classifier should say yes, 0 for no, ``NO_LABEL`` elsewhere.
    """
    rows = {head: index for index, head in enumerate(vocabulary.cell_heads())}
    columns = {place: index for index, place in enumerate(places)}
    labels: Labels = np.full((len(rows), len(places)), NO_LABEL, dtype=np.int8)
    where = things_at(vocabulary, scene, state)
    true = vocabulary.sighted(scene, state.true)
    for entry in vocabulary.entries:
        if not isinstance(entry, Perceived):
            continue
        kinds, name, objects = entry.predicate.types, entry.predicate.name, scene.objects_of(entry)
        hiding = {place for thing, place in where.items() if scene.looks[thing] == entry.hidden_by}
        if entry.reading is Reading.WHERE:
            candidates = [columns[place] for place in objects.of_type(kinds[1]) if place in columns]
            for look, head in entry.heads.items():
                labels[rows[head], candidates] = 0
                for thing, place in where.items():
                    if scene.looks[thing] == look and Atom(name, (thing, place)) in true:
                        labels[rows[head], columns[place]] = 1
        elif entry.reading is Reading.THERE:
            for place in objects.of_type(kinds[0]):
                if place in columns and place not in hiding:
                    labels[rows[entry.heads[""]], columns[place]] = Atom(name, (place,)) in true
        else:
            for thing in objects.of_type(kinds[0]):
                place_of = where.get(thing)
                if place_of is not None and place_of not in hiding:
                    labels[rows[entry.heads[""]], columns[place_of]] = Atom(name, (thing,)) in true
    return labels


def things_at(vocabulary: VisualVocabulary, scene: Scene, state: State) -> Mapping[str, str]:
    """Where every thing with a look is, by the atoms of the WHERE predicates."""
    names = {
        entry.predicate.name
        for entry in vocabulary.entries
        if isinstance(entry, Perceived) and entry.reading is Reading.WHERE
    }
    return {
        atom.objects[0]: atom.objects[1]
        for atom in vocabulary.sighted(scene, state.true)
        if atom.predicate in names and atom.objects[0] in scene.looks
    }


def check_legal(vocabulary: VisualVocabulary, index: SceneIndex, state: State) -> None:
    """Labels must be such that perfect classifiers would be believed.

    Raises:
        UnusableInput: they describe no legal board.
    """
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
    """The first constraint of a vocabulary that labels break, in words; None if it is none of the declared ones.

    Args:
        vocabulary: declares the constraints.
        index: of the labelled scene.
        yes: (heads, places), where a label says yes.
    """
    rows = {head: row for row, head in enumerate(vocabulary.cell_heads())}
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
