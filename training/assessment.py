"""How good perception is: perceived states against the simulator's, atom by atom and state by state.

Every perceived state is one of three:

- *exact*: every atom that perception decides is as in the simulator, only what the image cannot show is
  left undecided, and every thing was followed to its place;
- *wrong accepted*: some atom that perception decides is not as in the simulator, whatever else is refused;
- *refused*: no atom is wrong, but some are unknown beyond those that the image hides by nature.

Of pictures without cells, an atom about a thing that does not show may be decided, if rightly: what else is seen may leave only one
possibility. Where so little of a thing shows that either answer is right, nothing that speaks of it counts as refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import prod
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import NO_LABEL, Completion, Frame, Percept, Scene, VisualVocabulary
from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.camera.plan import SceneAtoms, plan_of
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.classifiers.store import describe
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.envs.labelled import Labels, label, things_at
from aam_vision.model.strips import State
from aam_vision.training.boards import check
from aam_vision.training.corruptions import CLEAN, Corruption
from aam_vision.training.pictures import answers, showing

Reader = BoardPerception | CameraPerception

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
        """The answers about one image."""
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
    unlike: list[str] = field(default_factory=list)
    """Of every image that looks unlike everything learned from, what does first."""
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
                name: {**asdict(tally), "accuracy": tally.accuracy} for name, tally in self.predicates.items()
            },
            "classifiers": {head: asdict(counts) for head, counts in self.classifiers.items()},
        }


@dataclass(frozen=True)
class Sample:
    """A state of a scene, and all that its image should tell.

    Attributes:
        frame: the image.
        true: the state.
        visible: the same as perfect classifiers would read it: less what is hidden.
        labels: the right answer of every classifier to every question.
        heads: the number of the classifier of each of them.
        before: of boards, where every thing was before.
        places: of boards, where perfect classifiers would find every thing.
    """

    frame: Frame
    true: State
    visible: State
    labels: Labels
    heads: NDArray[np.intp]
    before: Mapping[str, str | None] = field(default_factory=dict)
    places: Mapping[str, str | None] = field(default_factory=dict)


def samples(vocabulary: VisualVocabulary, pictures: Pictures, states: Sequence[State]) -> list[Sample]:
    """The images of some states of a scene, with what perfect classifiers would make of them."""
    if vocabulary.cellless:
        return _of_pictures(vocabulary, pictures, states)
    scene, index, found = pictures.scene, SceneIndex(vocabulary, pictures.scene), []
    for state in states:
        wanted = expected(vocabulary, index, state)
        whole = state if pictures.complete else State(state.true | wanted.state.true, scene.objects)
        labels = label(vocabulary, scene, index.places, whole)
        heads = np.indices(labels.shape)[0]
        before = places_of(vocabulary, scene, state)
        frame = pictures.draw(state)
        found.append(Sample(frame, whole, wanted.state, labels, heads, before, wanted.places))
    return found


def _of_pictures(vocabulary: VisualVocabulary, pictures: Pictures, states: Sequence[State]) -> list[Sample]:
    scene, found = pictures.scene, []
    atoms = SceneAtoms(vocabulary, plan_of(describe(vocabulary)), scene)
    completion = Completion(vocabulary, scene)
    for state in states:
        perceived = vocabulary.sighted(scene, state.true).intersection(atoms.atoms)
        shows, either = showing(atoms, state)
        dark = {atoms.atoms[number] for number in np.flatnonzero(atoms.blind(shows & ~either))}
        visible = completion.state(perceived - dark, dark)
        labels, whole = answers(atoms, state), completion.state(perceived, ())
        found.append(Sample(pictures.draw(state), whole, visible, labels, atoms.heads))
    return found


def expected(vocabulary: VisualVocabulary, index: SceneIndex, state: State) -> Percept:
    """The reading of an image of ``state`` by perfect classifiers: the truth, less what is hidden."""
    yes = label(vocabulary, index.scene, index.places, state) == 1
    return index.read(yes, np.zeros_like(yes), places_of(vocabulary, index.scene, state))


def places_of(vocabulary: VisualVocabulary, scene: Scene, state: State) -> dict[str, str | None]:
    """Where every thing is in a state, None for those that are nowhere."""
    return dict.fromkeys(scene.looks) | dict(things_at(vocabulary, scene, state))


def assess(
    perception: Reader,
    scene: Scene,
    known: Sequence[Sample],
    frames: Sequence[Frame],
    scores: PerceptionScores,
) -> None:
    """Add images of one scene to the scores."""
    vocabulary = perception.vocabulary
    stated = {entry.predicate.name for entry in vocabulary.stated}
    readings: list[tuple[NDArray[np.float32], Percept]]
    if isinstance(perception, BoardPerception):
        each = zip(known, perception.probabilities(frames, scene), strict=True)
        readings = [(found, perception.read(found, scene, sample.before)) for sample, found in each]
    else:
        answered = perception.answers(frames, scene)
        readings = [(said[0], perception.read(said, scene)) for said in answered]
    for sample, (probabilities, percept) in zip(known, readings, strict=True):
        found, visible = percept.state, sample.visible
        different = (found.true ^ sample.true.true) - found.unknown
        wrong = frozenset([atom for atom in different if atom.predicate in stated])
        undecided = found.unknown - visible.unknown
        misled = any(sample.places[thing] != place for thing, place in percept.places.items())
        seen = not undecided if vocabulary.cellless else found.unknown == visible.unknown
        exact = seen and percept.places == sample.places
        scores.states += 1
        scores.wrong += bool(wrong) or misled
        scores.exact += exact and not wrong
        scores.refused += not (exact or wrong or misled)
        scores.unlike += list(percept.unlike[:1])
        kinds = (Counter(atom.predicate for atom in some) for some in (wrong, undecided, visible.unknown))
        misread, left_open, hidden = kinds
        for entry in vocabulary.stated:
            name = entry.predicate.name
            tally = scores.predicates.setdefault(name, AtomCounts())
            tally.atoms += prod(len(scene.objects.of_type(kind)) for kind in entry.predicate.types)
            tally.wrong += misread[name]
            tally.undecided += left_open[name]
            tally.hidden += hidden[name]
        scores.reliability.add(probabilities, sample.labels)
        _count_classifiers(scores, vocabulary, probabilities, sample)


def _count_classifiers(
    scores: PerceptionScores, vocabulary: VisualVocabulary, probabilities: NDArray[np.float32], sample: Sample
) -> None:
    for head, number in vocabulary.rows.items():
        own = sample.heads == number
        if not own.any():
            continue
        wanted, yes = sample.labels[own], probabilities[own] > 0.5
        tally = scores.classifiers.setdefault(head, ClassifierCounts())
        missed, invented = int(((wanted == 1) & ~yes).sum()), int(((wanted == 0) & yes).sum())
        tally.pictures += bool((wanted != NO_LABEL).any())
        tally.wrong += bool(missed or invented)
        tally.missed += missed
        tally.invented += invented


# Evaluation of one domain's perception, layout by layout, under every condition.


STATES: Final = 1000
"""Distinct states per group of layouts: more of them find rarer mistakes, and take longer."""

SPEED_SHAPE: Final = (7, 7)
"""Rows and columns of the board that speed is measured on; a user's own environment gives one itself."""

CHUNK: Final = 64
"""Images that are read together: more of them cost memory, fewer cost time."""

TIMED: Final = 256
"""Images of a round whose speed is measured."""

TIMED_PICTURES: Final = 24
"""The same for pictures without cells, each of which takes longer than a board."""

ROUNDS: Final = 9
"""Rounds, of which the median counts: more of them are less disturbed by what else the machine does."""


def evaluate_domain(
    domain: ImageDomain,
    perception: Reader,
    *,
    states: int = STATES,
    seed: int = 0,
    conditions: Mapping[str, Corruption] | None = None,
    examined: Mapping[str, Iterable[Pictures]] | None = None,
) -> dict[str, PerceptionScores]:
    """Perceive about ``states`` distinct legal states of every group of problems.

    Args:
        domain: the environment.
        perception: with the weights to evaluate.
        states: distinct states per group.
        seed: of states and corruptions.
        conditions: what is done to the images of unseen layouts, by name; clean ones come in any case.
        examined: the states of each group, where they are drawn already.

    Returns:
        ``unseen``: problems whose layouts classifiers never train on; ``unseen, NAME``: the same states
        under a condition; ``interrogated``: the problems that the agent is asked about. Of a user's own
        environment the unseen ones only.
    """
    worse = {f"unseen, {name}": condition for name, condition in (conditions or {}).items()}
    found: dict[str, PerceptionScores] = {}
    for group, drawn in (examined or domain.examinations(states, seed)).items():
        named = {group: CLEAN, **(worse if group == "unseen" else {})}
        chance = np.random.default_rng([seed, 1])
        found |= {name: PerceptionScores() for name in named}
        for number, pictures in enumerate(drawn, start=1):
            if not domain.visual.cellless:
                check(domain, pictures, number)
            for begin in range(0, len(pictures.states), CHUNK):
                known = samples(perception.vocabulary, pictures, pictures.states[begin : begin + CHUNK])
                for name, condition in named.items():
                    frames = [condition.corrupt(sample.frame, chance) for sample in known]
                    assess(perception, pictures.scene, known, frames, found[name])
    return found


@dataclass(frozen=True)
class Speed:
    """How fast images become states; wall time depends on what else the machine does, CPU time hardly.

    Attributes:
        single_ms: median milliseconds for a single image, in wall time.
        images_per_s: images a second in batches, in wall time (median of several rounds).
        batch_cpu_ms: CPU milliseconds an image in batches, over all threads (median).
        shape: rows and columns of the board.
    """

    single_ms: float
    images_per_s: float
    batch_cpu_ms: float
    shape: tuple[int, int] = SPEED_SHAPE


def speed(domain: ImageDomain, perception: Reader, *, seed: int = 0) -> Speed:
    """How fast images of a board of ``SPEED_SHAPE`` become states."""
    timed = TIMED if isinstance(perception, BoardPerception) else TIMED_PICTURES
    board = domain.example(np.random.default_rng(seed), SPEED_SHAPE, timed)
    scene, distinct = board.scene, [board.draw(state) for state in board.states]
    frames = [distinct[number % len(distinct)] for number in range(timed)]
    # ``look`` refuses what untrained classifiers make of it
    (percept,) = perception.read_many(frames[:1], scene)
    times = []
    for frame in frames:
        start = perf_counter()
        perception.follow(percept, frame, scene)
        times.append(perf_counter() - start)
    rounds = []
    for _ in range(ROUNDS):
        begun = perf_counter(), process_time()
        perception.read_many(frames, scene)
        rounds.append((perf_counter() - begun[0], process_time() - begun[1]))
    wall, cpu = np.median(rounds, axis=0)
    return Speed(
        1000 * float(np.median(times)),
        len(frames) / float(wall),
        1000 * float(cpu) / len(frames),
        (scene.rows, scene.columns),
    )
