"""The data set of a domain of pictures: what the network sees of each, with a label for every answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor
from torch.nn.functional import affine_grid, grid_sample, interpolate

from aam_vision.classifiers.camera.network import SHRUNK, resized
from aam_vision.classifiers.camera.plan import CameraPlan, SceneAtoms, Size, seen_size
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.envs.labelled import Labelled
from aam_vision.errors import UnusableInput
from aam_vision.perception import Mask, Perceived, Reading, Scene, VisualVocabulary
from aam_vision.strips import State
from aam_vision.training.augmentation import blurred
from aam_vision.training.labels import NO_LABEL, Labels

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
        """Some of the pictures."""
        chosen = torch.tensor(list(numbers), dtype=torch.long)
        return Lessons(self.pictures[chosen], self.labels[chosen], self.taken, self.where[chosen])

    def fingerprint(self) -> str:
        """The sha256 of all pictures and labels, in order."""
        digest = hashlib.sha256(repr(tuple(self.pictures.shape)).encode())
        for tensor in (self.pictures, self.labels, self.where):
            digest.update(tensor.contiguous().numpy().data)
        return digest.hexdigest()


def lessons(
    domain: ImageDomain,
    plan: CameraPlan,
    rng: np.random.Generator,
    fewer: int = 1,
    more: Sequence[Pictures] = (),
) -> Lessons:
    """The labelled pictures of a domain, and more of them, in random order.

    Raises:
        UnusableInput: there are none, or not all of them have the same size.
    """
    pictures: list[Tensor] = []
    labels: list[Tensor] = []
    where: list[Tensor] = []
    taken: Size | None = None
    for one in chain(domain.lessons(rng, fewer), more):
        atoms = SceneAtoms(domain.visual, plan, one.scene)
        for state in one.states:
            frame = one.draw(state)
            size = (frame.shape[0], frame.shape[1])
            if taken is not None and size != taken:
                raise UnusableInput(
                    f"environment {domain.name}: pictures of {taken[1]}x{taken[0]} and of {size[1]}x{size[0]} "
                    f"pixels to learn from; let all have one size"
                )
            taken = size
            seen = resized(torch.from_numpy(frame).permute(2, 0, 1)[None], seen_size(*size))
            pictures.append((seen[0] * 255).round().to(torch.uint8))
            labels.append(torch.from_numpy(row(domain.visual, plan, atoms, one.scene, state)))
            where.append(places(plan, one.scene, one.masks(state), size))
    if taken is None:
        raise UnusableInput(f"environment {domain.name} gives no pictures to learn from")
    order = torch.from_numpy(rng.permutation(len(pictures)))
    return Lessons(
        torch.stack(pictures)[order].contiguous(),
        torch.stack(labels)[order],
        taken,
        torch.stack(where)[order].contiguous(),
    )


def lessons_of(vocabulary: VisualVocabulary, plan: CameraPlan, pictures: Sequence[Labelled]) -> Lessons:
    """Some labelled pictures of one size, at least one, in their order."""
    seen, labels, where = [], [], []
    for one in pictures:
        size = one.frame.shape[0], one.frame.shape[1]
        atoms, state = (
            SceneAtoms(vocabulary, plan, one.scene),
            State(one.true, one.scene.objects, one.unknown),
        )
        small = resized(torch.from_numpy(one.frame).permute(2, 0, 1)[None], seen_size(*size))
        seen.append((small[0] * 255).round().to(torch.uint8))
        labels.append(torch.from_numpy(row(vocabulary, plan, atoms, one.scene, state)))
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
    for number, look in enumerate(plan.looks):
        if look in shows:
            known = torch.from_numpy(shows[look])[None, None]
            shares = interpolate(known.float(), (height, width), mode="bilinear", antialias=True)
            found[number] = (shares[0, 0] * (UNKNOWN - 1)).round().to(torch.uint8)
    return found


# Worse pictures from good ones, so that the classifiers do not depend on the renderer's exact pixels.
#
# What happens to a camera: it is moved, turned and zoomed a little; the light is stronger, weaker, of another colour, falls off
# to one side, or leaves a part in shadow; something small is before the lens; the picture is blurred and noisy. Every strength is
# drawn from a range, per picture, from the generator passed in.


TURN: Final = 0.05
"""Largest turn either way, in radians."""
ZOOM: Final = 0.05
"""Largest relative change of size."""
MOVE: Final = 0.05
"""Largest move either way, as a share of half the picture."""
FALL: Final = 0.35
"""Largest relative change of the light from the middle to the edge."""
SHADE: Final = 0.55
"""Largest share of light that a shadow takes."""
GAIN: Final = 0.35
"""Largest relative change of all values."""
SHIFT: Final = 0.12
"""Largest shift of all colours together, and of each on top of it."""
FADE: Final = 0.2
"""Largest share of grey mixed in."""
BLUR: Final = 1.2
"""Largest standard deviation of the blur, in pixels as the network sees them."""
NOISE: Final = 0.13
"""Largest standard deviation of the noise; values are between 0 and 1."""
COVER: Final = 0.08
"""Largest side of what is before the lens, as a share of the picture."""


class _Chance:
    """Draws for a batch, one of each per picture."""

    def __init__(self, number: int, generator: Generator) -> None:
        self._number = number
        self._generator = generator

    def uniform(self, low: float, high: float, *shape: int) -> Tensor:
        shape = shape or (1, 1, 1)
        return torch.rand(self._number, *shape, generator=self._generator) * (high - low) + low

    def often(self, share: float) -> Tensor:
        return (torch.rand(self._number, 1, 1, 1, generator=self._generator) < share).float()


def augment(pictures: Tensor, generator: Generator) -> Tensor:
    """Pictures as another camera would have taken them, at another time.

    Args:
        pictures: float32, (N, 3, height, width), between 0 and 1.
        generator: the source of all chance.

    Returns:
        The same shape.
    """
    return augmented(pictures, pictures[:, :0], generator)[0]


def augmented(pictures: Tensor, where: Tensor, generator: Generator) -> tuple[Tensor, Tensor]:
    """Pictures as ``augment`` makes them, and where things are in them.

    Args:
        pictures: float32, (N, 3, height, width), between 0 and 1.
        where: float32, (N, looks, h, w): how much of every place shows a thing.
        generator: the source of all chance.

    Returns:
        The same shapes. What comes into the picture from beyond its edge shows no thing.
    """
    chance = _Chance(len(pictures), generator)
    motion = _motion(chance)
    pictures = _covered(_moved(pictures, motion, "border"), chance)
    return _lit(pictures, chance, generator), _moved(where, motion, "zeros")


def _lit(pictures: Tensor, chance: _Chance, generator: Generator) -> Tensor:
    """Under another light, blurred and noisy."""
    gain = 1 + chance.uniform(-GAIN, GAIN) * chance.often(0.6)
    shift = chance.uniform(-SHIFT, SHIFT) + chance.uniform(-SHIFT, SHIFT, 3, 1, 1)
    changed = pictures * (_light(pictures, chance) * gain) + shift * chance.often(0.7)
    changed = changed.clamp_(0, 1)
    changed = torch.lerp(changed, torch.full_like(changed, 0.5), chance.uniform(0, FADE) * chance.often(0.4))
    sigma, some = chance.uniform(0, BLUR), chance.often(0.5).flatten() > 0
    if some.any():
        changed[some] = blurred(changed[some], sigma[some])
    noise = torch.randn(pictures.shape, generator=generator)
    return (changed + chance.uniform(0, NOISE) * chance.often(0.6) * noise).clamp_(0, 1)


def _motion(chance: _Chance) -> Tensor:
    """How each picture is turned, zoomed and moved: (N, 2, 3)."""
    turn = chance.uniform(-TURN, TURN, 1)[:, 0]
    zoom = 1 + chance.uniform(-ZOOM, ZOOM, 1)[:, 0]
    move = chance.uniform(-MOVE, MOVE, 2)
    cosine, sine = zoom * turn.cos(), zoom * turn.sin()
    return torch.stack(
        [torch.stack([cosine, -sine, move[:, 0]], 1), torch.stack([sine, cosine, move[:, 1]], 1)], 1
    )


def _moved(pictures: Tensor, motion: Tensor, beyond: str) -> Tensor:
    """Each picture turned, zoomed and moved in its own way; ``beyond``: how its edges are continued."""
    if not pictures.shape[1]:
        return pictures
    grid = affine_grid(motion, list(pictures.shape), align_corners=False)
    return grid_sample(pictures, grid, padding_mode=beyond, align_corners=False)


def _covered(pictures: Tensor, chance: _Chance) -> Tensor:
    """Some with a small rectangle of one colour before the lens."""
    down, across = _coordinates(pictures)
    middle, half = chance.uniform(-1, 1, 2, 1, 1), chance.uniform(0, COVER, 2, 1, 1)
    inside = ((across - middle[:, :1]).abs() < half[:, :1]) & ((down - middle[:, 1:]).abs() < half[:, 1:])
    return torch.lerp(pictures, chance.uniform(0, 1, 3, 1, 1), inside.float() * chance.often(0.5))


def _light(pictures: Tensor, chance: _Chance) -> Tensor:
    """What all values are multiplied by: a light from one side, and a shadow with a straight edge."""
    down, across = _coordinates(pictures)
    side = chance.uniform(0, 2 * torch.pi)
    light = 1 + (across * side.cos() + down * side.sin()) * chance.uniform(0, FALL) * chance.often(0.5)
    side = chance.uniform(0, 2 * torch.pi)
    behind = across * side.cos() + down * side.sin() - chance.uniform(-0.8, 0.8)
    shade = torch.sigmoid(4 * behind / chance.uniform(0.02, 0.2))
    return light * (1 - chance.uniform(0.1, SHADE) * chance.often(0.4) * shade)


def _coordinates(pictures: Tensor) -> tuple[Tensor, Tensor]:
    """Down and across of every pixel, from -1 to 1."""
    height, width = pictures.shape[2:]
    return torch.linspace(-1, 1, height)[:, None], torch.linspace(-1, 1, width)[None]


# The right answer of every classifier about a picture: labels made from a symbolic state.
#
# A state may say which things the picture shows, by the auxiliary atoms of the predicate read as ``Reading.FOUND``: true where a
# thing shows, unknown where so little of it shows that either answer is right. A state without any such atom says that all
# things show. What speaks of a thing that does not show has no label; of one that may be taken to show or not, it has: if it is
# taken to show, the rest must be right, too.


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
