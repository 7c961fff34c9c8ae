"""How good perception of pictures is, state by state.

Exact, refused and wrong accepted are as in ``training.assessment``, except that an atom about a thing that does not show may
be decided, if rightly: what else is seen may leave only one possibility. Where so little of a thing shows that either answer
is right, nothing that speaks of it counts as refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.camera.plan import SceneAtoms, plan_of
from aam_vision.classifiers.completion import Completion
from aam_vision.classifiers.store import describe
from aam_vision.envs.image_domain import Pictures
from aam_vision.perception import Frame, Scene, VisualVocabulary
from aam_vision.strips import State
from aam_vision.training.assessment import ClassifierCounts, PerceptionScores, count_atoms
from aam_vision.training.camera.data import answers, showing
from aam_vision.training.labels import NO_LABEL, Labels


@dataclass(frozen=True)
class Sample:
    """A state of a scene, its picture, the state that the picture can show, and the labels of the scene's atoms."""

    frame: Frame
    true: State
    visible: State
    labels: Labels
    heads: NDArray[np.intp]


def samples(vocabulary: VisualVocabulary, pictures: Pictures, states: Sequence[State]) -> list[Sample]:
    """The pictures of some states of a scene, with what perfect classifiers would make of them."""
    scene = pictures.scene
    atoms = SceneAtoms(vocabulary, plan_of(describe(vocabulary)), scene)
    completion = Completion(vocabulary, scene)
    found = []
    for state in states:
        perceived = vocabulary.sighted(scene, state.true).intersection(atoms.atoms)
        shows, either = showing(vocabulary, atoms, scene, state)
        hidden = atoms.blind(shows & ~either)
        visible = completion.state(
            [atom for atom, dark in zip(atoms.atoms, hidden, strict=True) if atom in perceived and not dark],
            [atom for atom, dark in zip(atoms.atoms, hidden, strict=True) if dark],
        )
        labels = answers(vocabulary, atoms, scene, state)
        whole = completion.state(perceived, ())
        found.append(Sample(pictures.draw(state), whole, visible, labels, atoms.heads))
    return found


def assess(
    perception: CameraPerception,
    scene: Scene,
    known: Sequence[Sample],
    frames: Sequence[Frame],
    scores: PerceptionScores,
) -> None:
    """Add pictures of one scene to the scores; ``frames`` are those of ``known``, or worse ones."""
    for sample, found in zip(known, perception.answers(frames, scene), strict=True):
        percept = perception.read(found, scene)
        wrong = (percept.state.true ^ sample.true.true) - percept.state.unknown
        undecided = percept.state.unknown - sample.visible.unknown
        scores.states += 1
        scores.wrong += bool(wrong)
        scores.exact += not (wrong or undecided)
        scores.refused += bool(undecided) and not wrong
        count_atoms(scores, perception.vocabulary, scene, (wrong, undecided, sample.visible.unknown))
        scores.reliability.add(found[0], sample.labels)
        # Which classifiers were wrong by themselves, in this picture.
        probabilities = found[0]
        wrong_yes = (sample.labels == 0) & (probabilities > 0.5)
        wrong_no = (sample.labels == 1) & (probabilities <= 0.5)
        for number, head in enumerate(perception.vocabulary.cell_heads()):
            own = sample.heads == number
            if not own.any():
                continue
            tally = scores.classifiers.setdefault(head, ClassifierCounts())
            missed, invented = int(wrong_no[own].sum()), int(wrong_yes[own].sum())
            tally.pictures += bool((sample.labels[own] != NO_LABEL).any())
            tally.wrong += bool(missed or invented)
            tally.missed += missed
            tally.invented += invented
