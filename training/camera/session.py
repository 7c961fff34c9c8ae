"""A training session for pictures without cells: data, training, calibration, evaluation, and the files that come of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np
import torch

from aam_vision.classifiers.architecture import CAMERA, SHARED
from aam_vision.classifiers.camera.legality import SceneLegality
from aam_vision.classifiers.camera.network import CameraNetwork, network_of, weights_of
from aam_vision.classifiers.camera.perception import CameraPerception, picture_of
from aam_vision.classifiers.camera.plan import CameraPlan, SceneAtoms, plan_of
from aam_vision.classifiers.camera.typical import typical
from aam_vision.classifiers.store import Card, WeightFiles, describe, read, weaknesses
from aam_vision.commandline import Progress
from aam_vision.constraints import Constraint, Number
from aam_vision.envs.image_domain import ImageDomain, Pictures
from aam_vision.errors import UnusableInput
from aam_vision.perception import VisualVocabulary
from aam_vision.training.camera.calibration import calibrate, places_of
from aam_vision.training.camera.data import Lessons, answers, lessons
from aam_vision.training.camera.lesson import PictureStart, teach
from aam_vision.training.folder import LABELS, Line, check_images, read_lines, shortened
from aam_vision.training.rounds import Rounds
from aam_vision.training.settings import TrainingSettings, figures_of, heads_of, limited_threads, write_files
from aam_vision.training.trainer import TrainingOptions
from aam_vision.wording import counted

CALIBRATION_SHARE: Final = 10
"""One picture in so many is kept from training to calibrate on."""

STATES: Final = 400
"""Pictures in the evaluation that ends a session."""


def train_pictures(
    domain: ImageDomain,
    folder: Path,
    settings: TrainingSettings,
    progress: Progress,
    options: TrainingOptions | None = None,
) -> WeightFiles:
    """Train, calibrate and evaluate the classifiers of a domain of pictures; see ``session.train_domain``.

    Raises:
        UnusableInput: the settings ask for what only boards have, or the domain's pictures cannot be used.
    """
    if settings.network != SHARED:
        raise UnusableInput(
            "--trunk and --backbone are for boards, and these are pictures without cells: leave them out"
        )
    started, name = process_time(), domain.name
    described = describe(domain.visual)
    plan = plan_of(described)
    with limited_threads(settings.threads):
        progress.stage(f"{name}: taking pictures")
        start, kept = _start(domain, plan, settings)
        by_hand = [] if settings.images is None else read_pictures(domain, plan, settings.images)
        rng = np.random.default_rng(settings.seed)
        data = lessons(domain, plan, rng, settings.fewer, [pictures_of(line) for line in by_hand])
        if kept is not None:
            _check_size(data, kept)
        cpu = {"imports": started, "data": process_time() - started}
        numbers = range(len(data))
        held = data.part(numbers[::CALIBRATION_SHARE])
        taught = data.part([number for number in numbers if number % CALIBRATION_SHARE])
        sha256 = data.fingerprint()

        def finish(network: CameraNetwork) -> tuple[Card, CameraPerception]:
            network.requires_grad_(True)
            if start is not None:
                start.keep(network)  # weight decay has changed the classifiers that were not trained
            calibration = calibrate(network, held, torch.Generator().manual_seed(settings.seed))
            if start is not None and kept is not None:
                calibration = calibration.only(start.only, kept)
            network.shift(calibration.offsets)
            card = calibration.card(domain, settings.seed, sha256, CAMERA, picture=data.taken)
            return card, CameraPerception(domain.visual, weights_of(network), card, remembered=0)

        rounds = Rounds(domain, settings, STATES // settings.fewer, finish, progress)
        progress.stage(
            f"{name}: {counted(len(taught), 'picture')}, {counted(rounds.steps, 'step')}, {rounds.limit} at most"
        )
        teach(
            plan,
            taught,
            steps=rounds.limit,
            seed=settings.seed,
            progress=rounds.step,
            held=held if options is not None and options.folder is not None else None,
            options=options,
            start=start,
            examined=rounds.examined,
        )
        cpu["training"] = process_time() - sum(cpu.values()) - rounds.cpu_s
        cpu |= {"evaluation": rounds.cpu_s, "all": process_time()}
        best = rounds.best
        figures = figures_of(best.scores, len(taught), best.steps, cpu)
        more = {"positives": _positives(best.network, taught), "typical": typical(taught.pictures)}
        card = replace(best.card, figures={**figures, **more})
        files = write_files(best.network, card, folder)
        for line in (*doubts(best.perception, plan, by_hand), *weaknesses(card)):
            progress.stage(f"warning: {line}")
        rounds.tell()
        progress.stage(f"{name}: {process_time():.1f} CPU seconds, written to {files.weights}")
    return files


def _positives(network: CameraNetwork, data: Lessons) -> Mapping[str, Any]:
    """For every classifier the answers of all pictures where yes is right."""
    yes = (data.labels == 1).sum(0)
    return {head: int(yes[places].sum()) for head, places in places_of(network.plan).items()}


def _start(
    domain: ImageDomain, plan: CameraPlan, settings: TrainingSettings
) -> tuple[PictureStart, Card] | tuple[None, None]:
    """The network to begin with and its card, if only some classifiers are trained.

    Raises:
        UnusableInput: there is no such network, or not all that is needed of it can be kept.
    """
    if settings.only is None:
        return None, None
    heads = heads_of(domain, settings.only)
    if set(heads) & set(plan.found):
        raise UnusableInput(
            f"--only {settings.only}: all other classifiers build on which things are found; train all of them"
        )
    weights, card = read(domain.visual, domain.name, settings.base, without=settings.only)
    known = plan_of(card.vocabulary)
    if known.looks != plan.looks:
        raise UnusableInput(
            f"--only {settings.only}: the weights are for the looks {', '.join(known.looks)}, and the environment has "
            f"{', '.join(plan.looks)}; train all classifiers"
        )
    return PictureStart(network_of(known, weights), heads), card


def _check_size(data: Lessons, card: Card) -> None:
    """Refuse pictures of another size than those that a network learned from which is kept."""
    if card.picture != data.taken:
        (height, width), (high, wide) = data.taken, picture_of(card)
        raise UnusableInput(
            f"pictures of {width}x{height} pixels: the weights to go on from were trained on pictures of {wide}x{high}; "
            f"train all classifiers"
        )


# The user's own labelled pictures, a second source of what is learned from; see ``training.folder``.
#
# ``true`` lists all atoms that are true in a picture. If it has atoms of the predicate that says which things are found, all
# others do not show there; without any, all things of the scene show.


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
