"""The right answer of every classifier about a picture: labels made from a symbolic state.

A state may say which things the picture shows, by the auxiliary atoms of the predicate read as ``Reading.FOUND``: true where
a thing shows, unknown where so little of it shows that either answer is right. A state without any such atom says that all
things show. What speaks of a thing that does not show has no label; of one that may be taken to show or not, it has: if it is
taken to show, the rest must be right, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.camera.atoms import SceneAtoms
from aam_vision.classifiers.camera.plan import CameraPlan
from aam_vision.perception import Perceived, Reading, Scene, VisualVocabulary
from aam_vision.strips import State
from aam_vision.training.labels import NO_LABEL, Labels


def showing(
    vocabulary: VisualVocabulary, atoms: SceneAtoms, scene: Scene, state: State
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Per thing that is to be found, whether it shows, and whether either answer to that is right."""
    (name,) = [
        entry.predicate.name
        for entry in vocabulary.entries
        if isinstance(entry, Perceived) and entry.reading is Reading.FOUND
    ]
    true = {atom.objects[0] for atom in vocabulary.sighted(scene, state.true) if atom.predicate == name}
    either = {atom.objects[0] for atom in state.unknown if atom.predicate == name}
    told = bool(true or either)
    shows = np.array([not told or thing in true for thing in atoms.things])
    return shows, np.array([thing in either for thing in atoms.things])


def answers(vocabulary: VisualVocabulary, atoms: SceneAtoms, scene: Scene, state: State) -> Labels:
    """The labels of a scene's atoms: int8, (atoms,), 1, 0 or ``NO_LABEL``."""
    shows, either = showing(vocabulary, atoms, scene, state)
    true = vocabulary.sighted(scene, state.true)
    labels: Labels = np.array([atom in true for atom in atoms.atoms], np.int8)
    labels[[atom in state.unknown for atom in atoms.atoms]] = NO_LABEL
    labels[atoms.found] = np.where(either, NO_LABEL, shows)
    labels[atoms.blind(shows | either)] = NO_LABEL
    return labels


def row(
    vocabulary: VisualVocabulary, plan: CameraPlan, atoms: SceneAtoms, scene: Scene, state: State
) -> Labels:
    """The labels of all that a network says about a picture: int8, (plan.size,), in the order of ``CameraPlan``.

    A look that nothing in the scene has is not found; about such a look nothing else is asked.
    """
    labels: Labels = np.full(plan.size, NO_LABEL, np.int8)
    shown = set(scene.looks.values())
    for number, look in enumerate(plan.looks):
        labels[number] = 1 if look in shown else 0
    shows, either = showing(vocabulary, atoms, scene, state)
    for look, there, open_ in zip(atoms.looks, shows, either, strict=True):
        if look >= 0 and (open_ or not there):
            labels[look] = NO_LABEL if open_ or _several(plan, scene, look) else 0
    own = answers(vocabulary, atoms, scene, state)
    about = atoms.askable.copy()
    about[atoms.found] = False
    labels[atoms.answers[about]] = own[about]
    return labels


def _several(plan: CameraPlan, scene: Scene, look: int) -> bool:
    """Whether several things of a scene have a look."""
    return list(scene.looks.values()).count(plan.looks[look]) > 1
