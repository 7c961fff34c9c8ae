"""How good perception is: perceived states against the simulator's, atom by atom and state by state.

Every perceived state is one of three:

- *exact*: every atom that perception decides is as in the simulator, only what the image cannot show is
  left undecided, and every thing was followed to its place;
- *wrong accepted*: some atom that perception decides is not as in the simulator, whatever else is refused;
- *refused*: no atom is wrong, but some are unknown beyond those that the image hides by nature.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.image_domain import Pictures
from aam_vision.perception import Frame, Percept, Scene, VisualVocabulary
from aam_vision.strips import State
from aam_vision.training.labels import NO_LABEL, Labels, label, things_at

# Whether probabilities can be believed: calibration error, cross entropy, and risk against coverage.
#
# Calibration error (ECE) and cross entropy (NLL) are over the single answers that have a label. Risk and
# coverage are over whole images: sorted by confidence (that of the least sure answer), the *risk* at a
# *coverage* c is the share of images with any answer on the wrong side of one half among the most confident
# share c (El-Yaniv and Wiener, "On the Foundations of Noise-free Selective Classification", 2010).


COVERAGES: Final = (1.0, 0.99, 0.95)
BINS: Final = 15

_LEAST = 1e-12  # of a probability, so that its logarithm is finite


@dataclass
class Reliability:
    """Probabilities and labels, gathered image by image."""

    _found: list[NDArray[np.float32]] = field(default_factory=list)
    _truth: list[NDArray[np.bool_]] = field(default_factory=list)

    def add(self, probabilities: NDArray[np.float32], labels: Labels) -> None:
        """One image: (heads, places) each."""
        known = labels != NO_LABEL
        self._found.append(probabilities[known])
        self._truth.append(labels[known] == 1)

    @property
    def ece(self) -> float:
        """Expected calibration error: mean distance between probability and frequency, over ``BINS`` bins."""
        from aam_vision.classifiers.torchvision_cure import cure_torchvision

        cure_torchvision()
        import torch
        from torchmetrics.functional.classification import binary_calibration_error

        found, truth = np.concatenate(self._found), np.concatenate(self._truth)
        return float(binary_calibration_error(torch.from_numpy(found), torch.from_numpy(truth).int(), BINS))

    @property
    def nll(self) -> float:
        """Mean negative log likelihood of an answer, in nats."""
        found, truth = np.concatenate(self._found).astype(float), np.concatenate(self._truth)
        return float(-np.log(np.where(truth, found, 1 - found).clip(min=_LEAST)).mean())

    def risk(self, coverage: float) -> float:
        """Share of misread images among the most confident share ``coverage`` of all."""
        confidence = np.array([np.maximum(p, 1 - p).min(initial=1.0) for p in self._found])
        wrong = np.array([((p > 0.5) != yes).any() for p, yes in zip(self._found, self._truth, strict=True)])
        kept = np.argsort(-confidence, kind="stable")[: max(1, round(coverage * len(wrong)))]
        return float(wrong[kept].mean())

    def summary(self) -> dict[str, Any]:
        """The figures as they are written to JSON; empty where nothing was added."""
        if not self._found:
            return {}
        return {
            "ece": self.ece,
            "nll": self.nll,
            "risk": {f"{coverage:g}": self.risk(coverage) for coverage in COVERAGES},
        }


@dataclass
class AtomCounts:
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
class ClassifierCounts:
    """Pictures on which one classifier was asked, and those on which its own answer was wrong about some place.

    An answer is its probability above or below one half, before ``legality`` looks at all answers together.
    """

    pictures: int = 0
    wrong: int = 0
    missed: int = 0
    """Places where it said no, and yes was right."""
    invented: int = 0
    """Places where it said yes, and no was right."""


@dataclass
class PerceptionScores:
    """Figures over many images."""

    states: int = 0
    exact: int = 0
    refused: int = 0
    wrong: int = 0
    predicates: dict[str, AtomCounts] = field(default_factory=dict)
    classifiers: dict[str, ClassifierCounts] = field(default_factory=dict)
    reliability: Reliability = field(default_factory=Reliability)

    @property
    def exact_match(self) -> float:
        """Share of states perceived exactly."""
        return self.exact / self.states if self.states else 0.0

    def summary(self) -> dict[str, Any]:
        """The figures as they are written to JSON."""
        return {
            "states": self.states,
            "exact": self.exact,
            "refused": self.refused,
            "wrong": self.wrong,
            "exact_match": self.exact_match,
            **self.reliability.summary(),
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
            "classifiers": {head: asdict(counts) for head, counts in self.classifiers.items()},
        }


@dataclass(frozen=True)
class Sample:
    """A state of a scene with all that its image should tell."""

    state: State
    frame: Frame
    expected: Percept
    before: Percept


def samples(vocabulary: VisualVocabulary, pictures: Pictures, states: Sequence[State]) -> list[Sample]:
    """The images of some states of a scene, with what perfect classifiers would make of them."""
    scene, found = pictures.scene, []
    index, nowhere = SceneIndex(vocabulary, scene), State(frozenset(), scene.objects)
    for state in states:
        wanted = expected(vocabulary, index, state)
        whole = state if pictures.complete else State(state.true | wanted.state.true, scene.objects)
        before = Percept(nowhere, places_of(vocabulary, scene, state))
        found.append(Sample(whole, pictures.draw(state), wanted, before))
    return found


def expected(vocabulary: VisualVocabulary, index: SceneIndex, state: State) -> Percept:
    """The reading of an image of ``state`` by perfect classifiers: the truth, less what is hidden."""
    yes = label(vocabulary, index.scene, index.places, state) == 1
    return index.read(yes, np.zeros_like(yes), places_of(vocabulary, index.scene, state))


def assess(
    perception: BoardPerception,
    scene: Scene,
    known: Sequence[Sample],
    frames: Sequence[Frame],
    scores: PerceptionScores,
) -> None:
    """Add images of one scene to the scores.

    Args:
        perception: reads them.
        scene: their scene.
        known: what they should tell.
        frames: the images, in the same order; those of ``known``, or worse ones.
        scores: are added to.
    """
    vocabulary = perception.vocabulary
    stated = {entry.predicate.name for entry in vocabulary.stated}
    probabilities = perception.probabilities(frames, scene)
    places = tuple(place for place, cells in scene.cells.items() if cells)
    for sample, probability in zip(known, probabilities, strict=True):
        wanted, found = sample.expected, perception.read(probability, scene, sample.before.places)
        different = (found.state.true ^ sample.state.true) - found.state.unknown
        wrong = frozenset([atom for atom in different if atom.predicate in stated])
        undecided = found.state.unknown - wanted.state.unknown
        misled = any(wanted.places[thing] != place for thing, place in found.places.items())
        exact = found.state.unknown == wanted.state.unknown and found.places == wanted.places
        scores.states += 1
        scores.wrong += bool(wrong) or misled
        scores.exact += exact and not wrong
        scores.refused += not (exact or wrong or misled)
        count_atoms(scores, vocabulary, scene, (wrong, undecided, wanted.state.unknown))
        labels = label(vocabulary, scene, places, sample.state)
        scores.reliability.add(probability, labels)
        _count_classifiers(scores, vocabulary, probability, labels)


def count_atoms(
    scores: PerceptionScores, vocabulary: VisualVocabulary, scene: Scene, kinds: tuple[frozenset[Any], ...]
) -> None:
    """Add the atoms of one image to the scores: those that are wrong, undecided, and hidden."""
    wrong, undecided, hidden = (Counter(atom.predicate for atom in atoms) for atoms in kinds)
    for entry in vocabulary.stated:
        name = entry.predicate.name
        tally = scores.predicates.setdefault(name, AtomCounts())
        tally.atoms += prod(len(scene.objects.of_type(kind)) for kind in entry.predicate.types)
        tally.wrong += wrong[name]
        tally.undecided += undecided[name]
        tally.hidden += hidden[name]


def _count_classifiers(
    scores: PerceptionScores, vocabulary: VisualVocabulary, probability: NDArray[np.float32], labels: Labels
) -> None:
    for head, own, wanted in zip(vocabulary.cell_heads(), probability, labels, strict=True):
        tally = scores.classifiers.setdefault(head, ClassifierCounts())
        missed = int(((wanted == 1) & (own <= 0.5)).sum())
        invented = int(((wanted == 0) & (own > 0.5)).sum())
        tally.pictures += bool((wanted != NO_LABEL).any())
        tally.wrong += bool(missed or invented)
        tally.missed += missed
        tally.invented += invented


def places_of(vocabulary: VisualVocabulary, scene: Scene, state: State) -> dict[str, str | None]:
    """Where every thing is in a state, None for those that are nowhere."""
    return dict.fromkeys(scene.looks) | dict(things_at(vocabulary, scene, state))


# Evaluation of one domain's perception, layout by layout, under every condition.
