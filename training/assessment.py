"""How good perception is: perceived states against the simulator's, atom by atom and state by state.

A state matches exactly if every atom that perception decides is as in the simulator, only what the image
cannot show is left undecided, and every thing was followed to its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.perception import Frame, Percept, Scene, VisualVocabulary
from aam_vision.strips import State
from aam_vision.training.labels import label, things_at


@dataclass
class Tally:
    """Ground atoms of one predicate: all, wrongly decided, and undecided though the image shows them."""

    atoms: int = 0
    wrong: int = 0
    undecided: int = 0
    hidden: int = 0

    @property
    def accuracy(self) -> float:
        """Share of rightly decided atoms among those that the images show."""
        visible = self.atoms - self.hidden
        return 1 - (self.wrong + self.undecided) / visible if visible else 1.0


@dataclass
class Assessment:
    """Figures over many images."""

    states: int = 0
    exact: int = 0
    seconds: float = 0.0
    predicates: dict[str, Tally] = field(default_factory=dict)

    @property
    def exact_match(self) -> float:
        """Share of states perceived exactly."""
        return self.exact / self.states if self.states else 0.0

    @property
    def ms_per_image(self) -> float:
        """Wall time from image to state, in milliseconds."""
        return 1000 * self.seconds / self.states if self.states else 0.0

    def summary(self) -> dict[str, Any]:
        """The figures as they are written to JSON."""
        return {
            "states": self.states,
            "exact": self.exact,
            "exact_match": self.exact_match,
            "ms_per_image": round(self.ms_per_image, 3),
            "predicates": {
                name: {
                    "atoms": tally.atoms,
                    "wrong": tally.wrong,
                    "undecided": tally.undecided,
                    "hidden": tally.hidden,
                    "accuracy": tally.accuracy,
                }
                for name, tally in self.predicates.items()
            },
        }


def expected(vocabulary: VisualVocabulary, index: SceneIndex, state: State) -> Percept:
    """What perfect classifiers would make of an image of ``state``: the truth, less what is hidden."""
    yes = label(vocabulary, index.scene, index.places, state) == 1
    return index.read(yes, np.zeros_like(yes), _places(vocabulary, index.scene, state))


def assess(
    perception: BoardPerception, scene: Scene, pairs: Iterable[tuple[State, Frame]], assessment: Assessment
) -> None:
    """Add the images of one scene, with their true states, to an assessment."""
    vocabulary = perception.vocabulary
    index = SceneIndex(vocabulary, scene)
    nowhere = State(frozenset(), scene.objects)
    for state, frame in pairs:
        wanted = expected(vocabulary, index, state)
        before = Percept(nowhere, _places(vocabulary, scene, state))
        start = perf_counter()
        found = perception.follow(before, frame, scene)
        assessment.seconds += perf_counter() - start
        wrong = (found.state.true ^ state.true) - found.state.unknown
        undecided = found.state.unknown - wanted.state.unknown
        assessment.states += 1
        assessment.exact += (
            not wrong and found.state.unknown == wanted.state.unknown and found.places == wanted.places
        )
        _count(assessment, vocabulary, scene, (wrong, undecided, wanted.state.unknown))


def _count(
    assessment: Assessment, vocabulary: VisualVocabulary, scene: Scene, kinds: tuple[frozenset[Any], ...]
) -> None:
    wrong, undecided, hidden = (Counter(atom.predicate for atom in atoms) for atoms in kinds)
    for entry in vocabulary.stated:
        name = entry.predicate.name
        tally = assessment.predicates.setdefault(name, Tally())
        tally.atoms += prod(len(scene.objects.of_type(kind)) for kind in entry.predicate.types)
        tally.wrong += wrong[name]
        tally.undecided += undecided[name]
        tally.hidden += hidden[name]


def _places(vocabulary: VisualVocabulary, scene: Scene, state: State) -> dict[str, str | None]:
    """Where every thing is in a state, None for those that are nowhere."""
    return dict.fromkeys(scene.looks) | dict(things_at(vocabulary, scene, state))
