"""The right answer of every classifier about a board: labels made from a symbolic state.

The symbolic state comes from the simulator, for training, checks and evaluation only. A label is given per
classifier and place; whatever the image cannot show (an answer covered by a thing, a room without
cells) gets none, so that nothing is learned about it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from aam_vision.perception import NO_LABEL, Perceived, Reading, Scene, VisualVocabulary
from aam_vision.strips import Atom, State

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
