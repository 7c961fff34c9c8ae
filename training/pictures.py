"""The data set of pictures without cells: what the network sees of each, with a label for every answer; a domain's own, and the user's.

Pictures that the user labels are a second source of what is learned, or the only one. ``true`` lists all atoms that are true in a
picture, see ``folder``. If it has atoms of the predicate that says which things are found, all others do not show there; without any,
all things of the scene show.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import interpolate

from aam_vision.agents.perception import NO_LABEL, Frame, Mask, Reading, Scene, VisualVocabulary
from aam_vision.classifiers.camera.backdrop import LIGHTS, MARGIN, RARE, Backdrop, cells_of, learned
from aam_vision.classifiers.camera.legality import SceneLegality
from aam_vision.classifiers.camera.network import SHRUNK, CameraNetwork, resized
from aam_vision.classifiers.camera.plan import CameraPlan, SceneAtoms, Size, plan_of, seen_size
from aam_vision.classifiers.store import describe
from aam_vision.envs import registry
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.envs.labelled import Labelled, Labels
from aam_vision.envs.own import OwnEnvironment
from aam_vision.model.constraints import Number
from aam_vision.model.strips import State
from aam_vision.support.errors import UnusableInput
from aam_vision.training.cutouts import backdrop_of, fixed_looks, taken_apart
from aam_vision.training.folder import LABELS, Labellable, Line, Told, check_images, located, read_lines
from aam_vision.training.montage import Montage

LEARNED_FROM: Final = 300
"""Pictures that tell what a camera sees apart from the things, at most: more of them show more shadows, and take time."""

FOLDS: Final = 5
"""Parts of the pictures where none are held back: more of them are nearer to what all teach, and take time."""

UNKNOWN: Final = 255
"""Of a look: where its things are in a picture is not known."""


@dataclass(frozen=True)
class Lessons:
    """Labelled pictures.

    Attributes:
        pictures: uint8, (N, 3, height, width), in the size in which the network sees them.
        labels: int8, (N, plan.size): 1, 0 or ``NO_LABEL``.
        taken: height and width of the pictures as they were taken.
        where: uint8, (N, looks, h, w): how much of every place of the network's maps shows things of each look, of 254;
            ``UNKNOWN`` throughout where that is not known.
    """

    pictures: Tensor
    labels: Tensor
    taken: Size
    where: Tensor

    def __len__(self) -> int:
        return len(self.pictures)

    def part(self, numbers: Sequence[int]) -> Lessons:
        chosen = torch.tensor(list(numbers), dtype=torch.long)
        return Lessons(self.pictures[chosen], self.labels[chosen], self.taken, self.where[chosen])

    def fingerprint(self) -> str:
        digest = hashlib.sha256(repr(tuple(self.pictures.shape)).encode())
        for tensor in (self.pictures, self.labels, self.where):
            digest.update(tensor.contiguous().numpy().data)
        return digest.hexdigest()


def lessons(
    domain: ImageDomain,
    plan: CameraPlan,
    rng: np.random.Generator,
    fewer: int = 1,
    more: Iterable[Labelled] = (),
) -> Lessons:
    """The labelled pictures of a domain, and more of them, in random order.

    Raises:
        UnusableInput: there are none, or not all of them have the same size.
    """

    def checked() -> Iterator[Labelled]:
        own = (
            Labelled(one.scene, state.true, one.draw(state), one.masks(state), state.unknown)
            for one in domain.lessons(rng, fewer)
            for state in one.states
        )
        taken = None
        for labelled in chain(own, more):
            high, wide = labelled.frame.shape[:2]
            if taken is not None and (high, wide) != taken:
                raise UnusableInput(
                    f"environment {domain.name}: pictures of {taken[1]}x{taken[0]} and of {wide}x{high} pixels to "
                    f"learn from; let all have one size"
                )
            taken = high, wide
            yield labelled
        if taken is None:
            raise UnusableInput(f"environment {domain.name} gives no pictures to learn from")

    data = lessons_of(domain.visual, plan, checked())
    return data.part(rng.permutation(len(data)).tolist())


def lessons_of(vocabulary: VisualVocabulary, plan: CameraPlan, pictures: Iterable[Labelled]) -> Lessons:
    """Some labelled pictures of one size, at least one, in their order."""
    seen, labels, where, known = [], [], [], None
    for one in pictures:
        if known is None or one.scene is not known[0]:  # pictures of one scene come one after the other
            known = one.scene, SceneAtoms(vocabulary, plan, one.scene)
        height, width = size = one.frame.shape[0], one.frame.shape[1]
        small = resized(torch.from_numpy(one.frame).permute(2, 0, 1)[None], seen_size(height, width))
        seen.append((small[0] * 255).round().to(torch.uint8))
        labels.append(torch.from_numpy(row(known[1], one.state)))
        where.append(places(plan, one.scene, one.masks, size))
    return Lessons(torch.stack(seen).contiguous(), torch.stack(labels), size, torch.stack(where).contiguous())


def places(plan: CameraPlan, scene: Scene, masks: Mapping[str, Mask], size: Size) -> Tensor:
    """Where things of every look are, as the network's maps have places; see ``Lessons.where``.

    Args:
        plan: with the looks.
        scene: its things, of which those without a look do not count.
        masks: which pixels show each thing, for those of which it is known.
        size: height and width of the picture.

    Raises:
        UnusableInput: a mask has another size.
    """
    height, width = (side // SHRUNK for side in seen_size(*size))
    found = torch.full((len(plan.looks), height, width), UNKNOWN, dtype=torch.uint8)
    shows: dict[str, Mask] = {look: np.zeros(size, bool) for look in plan.looks} if masks else {}
    for thing, look in scene.looks.items():
        if thing not in masks:
            shows.pop(look, None)
        elif look in shows:
            if masks[thing].shape != size:
                raise UnusableInput(
                    f"mask of {thing} has shape {masks[thing].shape}, and its picture {size}: give one value per pixel"
                )
            shows[look] = shows[look] | masks[thing]
    known = [number for number, look in enumerate(plan.looks) if look in shows]
    if known:
        shown = torch.from_numpy(np.stack([shows[plan.looks[number]] for number in known], dtype=np.float32))
        shares = interpolate(shown[None], (height, width), mode="bilinear", antialias=True)
        found[known] = (shares[0] * (UNKNOWN - 1)).round().to(torch.uint8)
    return found


def backdrop_facts(network: CameraNetwork, taught: Lessons, held: Lessons | None = None) -> dict[str, Any]:
    """What the camera of labelled pictures sees apart from the things, for the card of a network, see ``classifiers.camera.backdrop``.

    How strange something may be is set by pictures that were held back, under several lights; without these, each of ``FOLDS`` parts is
    compared with what the others teach.
    """
    found = _learned(taught)
    if held is not None:
        strange = _strange(found, network, held)
    else:
        parts = [[*range(first, len(taught), FOLDS)] for first in range(min(FOLDS, len(taught)))]
        strange = []
        for own in parts:
            others = [number for number in range(len(taught)) if number not in own] or own
            strange += _strange(_learned(taught.part(others)), network, taught.part(own))
    return replace(found, most=MARGIN * float(np.quantile(strange, 1 - RARE))).facts()


def _learned(taught: Lessons) -> Backdrop:
    """What some pictures have in common; those with outlines, if there are any."""
    outlined = torch.nonzero((taught.where != UNKNOWN).all(3).all(2).all(1)).flatten().tolist()
    numbers = outlined or range(len(taught))
    chosen = np.linspace(0, len(numbers) - 1, min(len(numbers), LEARNED_FROM)).round().astype(int)
    some = taught.part([numbers[one] for one in chosen])
    cells = cells_of(some.pictures / 255)
    where = some.where.float() / (UNKNOWN - 1) if outlined else torch.full(some.where.shape, torch.nan)
    return learned(cells, interpolate(where, cells.shape[2:], mode="bilinear").numpy())


def _strange(known: Backdrop, network: CameraNetwork, pictures: Lessons) -> list[float]:
    """The strangest of every picture, under every light."""
    found, looks = [], len(network.plan.looks)
    with torch.inference_mode():
        for some, light in product(torch.split(pictures.pictures / 255, 16), LIGHTS):
            lit = (some * light).clamp(max=1)
            answers = network(lit)
            there, positions = answers.logits[:, :looks] > 0, (answers.positions + 1) / 2
            for own, one, places in zip(cells_of(lit), there, positions.tolist(), strict=True):
                sights = [(int(look), (places[look][0], places[look][1])) for look in torch.nonzero(one)]
                found.append(float(known.strangeness(own, sights).max()))
    return found


# The right answer of every classifier about a picture: labels made from a symbolic state.
#
# A state may say which things the picture shows, by the auxiliary atoms of the predicate read as ``Reading.FOUND``: true where a
# thing shows, unknown where so little of it shows that either answer is right. A state without any such atom says that all
# things show. What speaks of a thing that does not show has no label; of one that may be taken to show or not, it has: if it is
# taken to show, the rest must be right, too.


def showing(atoms: SceneAtoms, state: State) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Per thing that is to be found, whether it shows, and whether either answer to that is right."""
    (name,) = (entry.predicate.name for entry in atoms.vocabulary.read_as(Reading.FOUND))
    sighted = atoms.vocabulary.sighted(atoms.scene, state.true)
    true, either = (
        {atom.objects[0] for atom in some if atom.predicate == name} for some in (sighted, state.unknown)
    )
    told = bool(true or either)
    shows = np.array([not told or thing in true for thing in atoms.things])
    return shows, np.array([thing in either for thing in atoms.things])


def answers(atoms: SceneAtoms, state: State) -> Labels:
    """The labels of a scene's atoms: int8, (atoms,), 1, 0 or ``NO_LABEL``."""
    shows, either = showing(atoms, state)
    true = atoms.vocabulary.sighted(atoms.scene, state.true)
    labels: Labels = np.array([atom in true for atom in atoms.atoms], np.int8)
    labels[[atom in state.unknown for atom in atoms.atoms]] = NO_LABEL
    labels[atoms.found] = np.where(either, NO_LABEL, shows)
    labels[atoms.blind(shows | either)] = NO_LABEL
    return labels


def row(atoms: SceneAtoms, state: State) -> Labels:
    """The labels of all that a network says about a picture: int8, (plan.size,), in the order of ``CameraPlan``.

    A look that nothing in the scene has is not found; about such a look nothing else is asked.
    """
    shown, looks = Counter(atoms.scene.looks.values()), atoms.plan.looks
    labels: Labels = np.full(atoms.plan.size, NO_LABEL, np.int8)
    labels[: len(looks)] = [look in shown for look in looks]
    for look, there, open_ in zip(atoms.looks, *showing(atoms, state), strict=True):
        if look >= 0 and (open_ or not there):  # of several things with a look, another may show
            labels[look] = NO_LABEL if open_ or shown[looks[look]] > 1 else 0
    about = atoms.askable.copy()
    about[atoms.found] = False
    labels[atoms.answers[about]] = answers(atoms, state)[about]
    return labels


# The user's own labelled pictures. Where nothing else is learned from (``PictureFolder``), most of them are taken apart, and more are made
# of the parts; the others teach nothing, and tell how well unseen ones are read.


MADE: Final = 1200
"""Pictures that are made of labelled ones: more of them show more, and take time."""

REPEATED: Final = 4
"""So many times the labelled pictures themselves are among those learned from."""

HELD: Final = 5
"""One labelled picture in so many teaches nothing."""

LEAST: Final = 10
"""Labelled pictures at least, where nothing else is learned from: fewer leave too little to learn from, or to be tested on."""


def read_pictures(domain: Labellable, folder: Path, *, none_is_fine: bool = False) -> list[Line]:
    """The labelled pictures of a folder, in the order of its lines; ``none_is_fine``: those that were skipped, too, or none.

    Raises:
        UnusableInput: see ``folder.read_lines``; or a label breaks a constraint of the vocabulary, or contradicts another one.
    """
    known: dict[str, SceneAtoms] = {}
    plan = plan_of(describe(domain.visual))

    def checked(line: Line) -> Line:
        if line.said is not None and line.said.whole_skipped:
            return line
        if line.said is not None:
            raise UnusableInput(
                "pictures without cells have no places to answer about: give all true atoms as true"
            )
        if line.problem not in known:
            known[line.problem] = SceneAtoms(domain.visual, plan, line.scene)
        check_scene(known[line.problem], line.state)
        return line

    lines = read_lines(domain, folder, checked, none_is_fine=none_is_fine)
    with located(str(folder / LABELS)):
        check_images(lines)
    if none_is_fine:
        return lines
    lines = [line for line in lines if line.said is None]
    if not lines:
        raise UnusableInput(f"{folder / LABELS} labels no image: all are skipped")
    return lines


def labelled(line: Line) -> Labelled:
    """What a line says about its picture, to learn from.

    Where it gives outlines, things without one do not show.
    """
    size = line.frame.shape[:2]
    hidden = {thing: np.zeros(size, bool) for thing in line.scene.looks} if line.masks else {}
    return Labelled(line.scene, line.atoms, line.frame, {**hidden, **line.masks})


def told(visual: VisualVocabulary, line: Line) -> Told:
    """What a line says about each atom of its scene."""
    atoms, heads = SceneAtoms(visual, plan_of(describe(visual)), line.scene), visual.cell_heads()
    return Told(line, answers(atoms, line.state), [heads[number] for number in atoms.heads], atoms.atoms)


def check_scene(atoms: SceneAtoms, state: State) -> None:
    """Refuse labels that break a constraint, which is named: UnusableInput."""
    for why, _ in broken(atoms, state):
        raise UnusableInput(f"no legal scene: {why}; correct it, or the vocabulary")


def broken(atoms: SceneAtoms, state: State) -> list[tuple[str, list[int]]]:
    """The constraints that a label breaks, in words, each with the numbers of the atoms in question."""
    labels, found = answers(atoms, state), []
    half, blind = np.full(len(labels), 0.5), labels < 0
    for item in atoms.vocabulary.constraints:
        legality = SceneLegality([item], tuple(atoms.scene.objects), atoms.atoms)
        _, doubtful = legality.settle(labels.astype(np.float32), half, half, blind)
        numbers = np.flatnonzero(doubtful & ~blind).tolist()
        if not numbers:
            continue
        true = [str(atoms.atoms[number]) for number in numbers if labels[number] == 1]
        said = f"{item} must hold"
        if isinstance(item, Number):
            number = str(item.least) if item.least == item.most else f"{item.least} to {item.most}"
            said = f"of {', '.join(item.atoms)} {number} must be true"
        found.append((f"{said}, and the label has {', '.join(true) or 'none of them'}", numbers))
    return found


# Nothing else to learn from: a folder of labelled pictures as a domain.


class PictureFolder:
    """Labelled pictures without cells, and nothing that could make more: an ``ImageDomain``, as far as training and evaluation need one.

    Args:
        words: their vocabulary, and the name of the weights.
        folder: with the labels.
        environment: which knows the scenes of ``seed/N``; None: all pictures are of the problem ``pictures``.
    """

    round_steps = 600

    def __init__(
        self, words: ImageDomain | registry.Words, folder: Path, environment: OwnEnvironment | None = None
    ) -> None:
        self.name, self.visual = words.name, words.visual
        self.classifiers = registry.Words(words.visual).classifiers
        self._folder, self._environment = folder, environment

    @cached_property
    def lines(self) -> list[Line]:
        """What the folder says; UnusableInput as for ``read_pictures``."""
        return read_pictures(self, self._folder)

    def scene_of(self, problem: str) -> Scene:
        """The scene of a problem of the environment, where there is one."""
        if self._environment is None:
            raise UnusableInput(f"problem {problem!r}: leave it out, there is no environment that knows it")
        return self._environment.scene_of(problem)

    def lessons(self, rng: np.random.Generator, fewer: int = 1) -> Iterator[Pictures]:
        """Four of five labelled pictures, repeatedly, and many that are made of them, as far as they have outlines.

        Raises:
            UnusableInput: too few are labelled.
        """
        if len(self.lines) < LEAST:
            raise UnusableInput(
                f"{self._folder / LABELS} labels {len(self.lines)} pictures, and nothing else is learned from; label {LEAST} at least"
            )
        own = [labelled(line) for number, line in enumerate(self.lines) if number % HELD != HELD - 1]
        backdrop = backdrop_of([line.frame for line in self.lines])
        made = made_of(self.visual, own, backdrop, fixed_looks(own), MADE // fewer, rng)
        return (as_pictures(one) for one in [*made, *own * REPEATED])

    def examinations(self, states: int, seed: int) -> dict[str, Iterable[Pictures]]:
        """``unseen``: the labelled pictures that are not among ``lessons``."""
        return {"unseen": [as_pictures(labelled(line)) for line in self.lines[HELD - 1 :: HELD]]}

    def example(self, rng: np.random.Generator, shape: tuple[int, int], number: int) -> Pictures:
        """One picture."""
        return as_pictures(labelled(self.lines[0]))


def domain_of(env: str, images: Path | None) -> ImageDomain:
    """What ``--env`` and ``--images`` name: an image domain; or where ``env`` brings a vocabulary alone, the folder.

    Raises:
        UnusableInput: there is no such thing, or ``env`` has no pictures and no folder is given.
    """
    domain, environment = registry.words_of(env), None
    if not isinstance(domain, registry.Words):
        if not isinstance(domain, OwnEnvironment) or not domain.visual.cellless or not domain.pictureless:
            return domain
        environment = domain
    if not domain.visual.cellless:
        raise UnusableInput(f"{env}: is the vocabulary of boards; give the environment that draws them")
    if images is None:
        raise UnusableInput(
            f"{env}: has no labelled pictures of its own; give a folder of them, --images DIR"
        )
    return PictureFolder(domain, images, environment)  # type: ignore[return-value]  # as far as it is needed


def labelled_pictures(domain: ImageDomain, folder: Path) -> list[Pictures]:
    """The labelled pictures of a folder, to examine classifiers on; UnusableInput where they are of boards, or not sound."""
    if not domain.visual.cellless:
        raise UnusableInput("is for pictures without cells; leave it out", "images", folder)
    return [as_pictures(labelled(line)) for line in read_pictures(domain, folder)]


def as_pictures(one: Labelled) -> Pictures:
    """A labelled picture as one to learn from, or to be examined on."""
    draw, masks = (lambda _: one.frame), (lambda _: one.masks)
    return Pictures(one.scene, (one.state,), draw, complete=False, checked=False, masks=masks)


def made_of(
    visual: VisualVocabulary,
    pictures: Sequence[Labelled],
    backdrop: Frame,
    fixed: Collection[str],
    number: int,
    rng: np.random.Generator,
) -> list[Labelled]:
    """So many pictures made of parts of labelled ones; none if that cannot be done. The other arguments: see ``taken_apart``."""
    parts = [taken_apart(visual, one, backdrop, fixed) for one in pictures]
    montage = Montage(visual, [one for one in parts if one is not None])
    return [montage.make(rng) for _ in range(number)] if montage.usable else []
