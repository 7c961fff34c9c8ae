"""The user's own labelled pictures without cells: a second source of what is learned, or the only one.

``true`` lists all atoms that are true in a picture, see ``folder``. If it has atoms of the predicate that says which things are found, all
others do not show there; without any, all things of the scene show. Where nothing else is learned from (``PictureFolder``), most of the
labelled pictures are taken apart, and more are made of the parts; the others teach nothing, and tell how well unseen ones are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from aam_vision.agents.perception import Frame, Scene, VisualVocabulary
from aam_vision.classifiers.camera.legality import SceneLegality
from aam_vision.classifiers.camera.plan import CameraPlan, SceneAtoms, plan_of
from aam_vision.classifiers.store import describe
from aam_vision.envs import registry
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.envs.labelled import Labelled
from aam_vision.envs.own import OwnEnvironment
from aam_vision.model.constraints import Number
from aam_vision.model.strips import State
from aam_vision.support.errors import UnusableInput
from aam_vision.training.camera import answers
from aam_vision.training.folder import LABELS, Labellable, Line, Told, check_images, located, read_lines
from aam_vision.training.montage import Montage, backdrop_of, fixed_looks, taken_apart

MADE: Final = 1200
"""Pictures that are made of labelled ones: more of them show more, and take time."""

REPEATED: Final = 4
"""So many times the labelled pictures themselves are among those learned from."""

HELD: Final = 5
"""One labelled picture in so many teaches nothing."""

LEAST: Final = 10
"""Labelled pictures at least, where nothing else is learned from: fewer leave too little to learn from, or to be tested on."""


def read_pictures(
    domain: Labellable, plan: CameraPlan, folder: Path, *, everything: bool = False
) -> list[Line]:
    """The labelled pictures of a folder, in the order of its lines; ``everything``: those that were skipped, too, or none.

    Raises:
        UnusableInput: see ``folder.read_lines``; or a label breaks a constraint of the vocabulary, or contradicts another one.
    """
    known: dict[str, SceneAtoms] = {}

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

    lines = read_lines(domain, folder, checked, none_is_fine=everything)
    with located(str(folder / LABELS)):
        check_images(lines)
    if everything:
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


def told(vocabulary: VisualVocabulary, plan: CameraPlan, line: Line) -> Told:
    """What a line says about each atom of its scene."""
    atoms, heads = SceneAtoms(vocabulary, plan, line.scene), vocabulary.cell_heads()
    labels = answers(atoms, line.state)
    return Told(line, labels, [heads[number] for number in atoms.heads], atoms.atoms)


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
        self.name, self.visual, self.classifiers = (
            words.name,
            words.visual,
            registry.Words(words.visual).classifiers,
        )
        self._folder, self._environment = folder, environment

    @cached_property
    def lines(self) -> list[Line]:
        """What the folder says; UnusableInput as for ``read_pictures``."""
        return read_pictures(self, plan_of(describe(self.visual)), self._folder)

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
        return (_pictures(one) for one in [*made, *own * REPEATED])

    def examinations(self, states: int, seed: int) -> dict[str, Iterable[Pictures]]:
        """``unseen``: the labelled pictures that are not among ``lessons``."""
        return {"unseen": [_pictures(labelled(line)) for line in self.lines[HELD - 1 :: HELD]]}

    def example(self, rng: np.random.Generator, shape: tuple[int, int], number: int) -> Pictures:
        """One picture."""
        return _pictures(labelled(self.lines[0]))


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
    lines = read_pictures(domain, plan_of(describe(domain.visual)), folder)
    return [_pictures(labelled(line)) for line in lines]


def _pictures(one: Labelled) -> Pictures:
    """A labelled picture as one to learn from, or to be examined on."""
    state = State(one.true, one.scene.objects, one.unknown)
    return Pictures(
        one.scene, (state,), lambda _: one.frame, complete=False, checked=False, masks=lambda _: one.masks
    )


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
