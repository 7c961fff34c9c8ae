"""The user's own labelled pictures, a second source of what is learned from; see ``training.folder``.

``true`` lists all atoms that are true in a picture. If it has atoms of the predicate that says which things are found, all
others do not show there; without any, all things of the scene show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from aam_vision.classifiers.camera.atoms import SceneAtoms
from aam_vision.classifiers.camera.legality import SceneLegality
from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.camera.plan import CameraPlan
from aam_vision.constraints import Constraint, Number
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.errors import UnusableInput
from aam_vision.perception import VisualVocabulary
from aam_vision.training.camera.labels import answers
from aam_vision.training.folder import LABELS, Line, read_lines
from aam_vision.training.label_checks import check_images
from aam_vision.training.label_doubts import shortened


def read_pictures(domain: ImageDomain, plan: CameraPlan, folder: Path) -> list[Line]:
    """The labelled pictures of a folder, in the order of its lines.

    Raises:
        UnusableInput: see ``folder.read_lines``; or a label breaks a constraint of the vocabulary, or contradicts another one.
    """
    known: dict[str, SceneAtoms] = {}

    def checked(line: Line) -> Line:
        if line.said is not None:
            raise UnusableInput(
                "pictures without cells have no places to answer about: give all true atoms as true"
            )
        if line.problem not in known:
            known[line.problem] = SceneAtoms(domain.visual, plan, line.scene)
        _check_legal(domain.visual, known[line.problem], line)
        return line

    lines = read_lines(domain, folder, checked)
    try:
        check_images(lines)
    except UnusableInput as error:
        raise UnusableInput(f"{folder / LABELS}: {error}") from None
    return lines


def pictures_of(line: Line) -> Pictures:
    """A labelled picture as a source of lessons."""
    return Pictures(line.scene, (line.state,), lambda _: line.frame, complete=False, checked=False)


def doubts(perception: CameraPerception, plan: CameraPlan, lines: Sequence[Line]) -> list[str]:
    """A line for every label of which the trained classifiers are sure that it is wrong; the first of them."""
    thresholds: Mapping[str, tuple[float, float]] = perception.card.thresholds
    heads = perception.vocabulary.cell_heads()
    found = []
    for line in lines:
        atoms = SceneAtoms(perception.vocabulary, plan, line.scene)
        labels = answers(perception.vocabulary, atoms, line.scene, line.state)
        (probabilities,) = perception.probabilities([line.frame], line.scene)
        low, high = np.array([thresholds[heads[number]] for number in atoms.heads]).T
        wrong = ((labels == 0) & (probabilities > high)) | ((labels == 1) & (probabilities < low))
        for number in np.flatnonzero(wrong & atoms.askable):
            said, seen = ("yes", "no") if labels[number] == 1 else ("no", "yes")
            found.append(
                f"line {line.line} of the labels ({line.image}) says {said} to {atoms.atoms[number]}, and the "
                f"classifiers say {seen}: an atom may be forgotten or wrong"
            )
    return shortened(found)


def _check_legal(vocabulary: VisualVocabulary, atoms: SceneAtoms, line: Line) -> None:
    """Refuse labels that break a constraint, which is named."""
    labels = answers(vocabulary, atoms, line.scene, line.state)
    half, blind = np.full(len(labels), 0.5), labels < 0
    for item in vocabulary.constraints:
        legality = SceneLegality([item], tuple(line.scene.objects), atoms.atoms)
        _, doubtful = legality.settle(labels.astype(np.float32), half, half, blind)
        broken = np.flatnonzero(doubtful & ~blind)
        if len(broken):
            true = [str(atoms.atoms[number]) for number in broken if labels[number] == 1]
            raise UnusableInput(
                f"no legal scene: {_said(item)}, and the label has {', '.join(true) or 'none of them'}; correct it, or "
                f"the vocabulary"
            )


def _said(item: Constraint) -> str:
    """A constraint, in words."""
    if isinstance(item, Number):
        least, most = item.least, item.most
        number = str(least) if least == most else f"{least} to {most}"
        return f"of {', '.join(item.atoms)} {number} must be true"
    return f"{item} must hold"
