"""A session of labelling: pictures of walks, answers of a simulator or of a person at a page, and the files that come of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.commandline import Progress
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.errors import UnusableInput
from aam_vision.perception import VisualVocabulary
from aam_vision.strips import State
from aam_vision.training.described import PROBLEM, read_description
from aam_vision.training.folder import Labellable
from aam_vision.training.labelling.answers import SimulatorAtoms, SimulatorLabels, SimulatorPictures
from aam_vision.training.labelling.atom_desk import AtomDesk
from aam_vision.training.labelling.atom_record import AtomRecord
from aam_vision.training.labelling.atom_rounds import AtomRounds
from aam_vision.training.labelling.desk import Desk
from aam_vision.training.labelling.files import write_answers, write_labels
from aam_vision.training.labelling.front import Busy, Front
from aam_vision.training.labelling.outcome import ended, written
from aam_vision.training.labelling.own_pictures import (
    DescribedPictures,
    Describer,
    chosen,
    digest_of_all,
    pictures_of,
)
from aam_vision.training.labelling.pool import Pool, rarest
from aam_vision.training.labelling.record import LabelRecord
from aam_vision.training.labelling.rounds import Labelled, Rounds, Way
from aam_vision.training.labelling.server import check_installed, served
from aam_vision.training.labelling.session_file import ATOMS, PAGE, PICTURES, SIMULATOR, keep
from aam_vision.training.labelling.sites import Sites
from aam_vision.training.labelling.waiting import Corrected
from aam_vision.training.labelling.walks import SCENE_STEPS, STEPS, Walked, walk, walk_scenes, walked_problems
from aam_vision.wording import counted

MOST: Final = 10
MOST_SCENES: Final = 60
"""Pictures to label at most, where nobody says how many: of boards, and of pictures without cells."""

ANSWERS: Final = 60
"""Likewise, answers about single atoms."""

LINGER: Final = 5.0
"""Seconds in which the page can learn that all is done, before its server ends."""


@dataclass(frozen=True)
class Session:
    """How pictures are labelled.

    Args:
        labels: who is asked, ``PAGE`` or ``SIMULATOR``.
        pictures: to label at most; None: ``MOST``, or ``MOST_SCENES`` where pictures have no cells.
        ask: about whole ``PICTURES`` or single ``ATOMS``.
        answers: about single atoms at most; None: ``ANSWERS``.
        steps: of the walk in every problem; None: ``walks.STEPS``, or ``walks.SCENE_STEPS``.
        seed: of walks, choice and weights.
        port: of the page; 0 for any free one.
        out: the folder that a command is to be given to go on, where it is another one than that of the labels.
    """

    labels: str = PAGE
    pictures: int | None = None
    ask: str = PICTURES
    answers: int | None = None
    steps: int | None = None
    seed: int = 0
    port: int = 0
    out: Path | None = None

    def check(self) -> None:
        """Say at once what cannot be used.

        Raises:
            UnusableInput: nobody of that name can be asked, options do not go together, or the page's packages are missing.
        """
        if self.labels not in (PAGE, SIMULATOR):
            raise UnusableInput(f"no --labels {self.labels}: use {PAGE} or {SIMULATOR}")
        if self.ask not in (PICTURES, ATOMS):
            raise UnusableInput(f"no --ask {self.ask}: use {PICTURES} or {ATOMS}")
        if self.answers is not None and self.ask != ATOMS:
            raise UnusableInput(f"goes with --ask {ATOMS} only; give --pictures", "answers", self.answers)
        if self.pictures is not None and self.ask == ATOMS:
            raise UnusableInput(f"does not go with --ask {ATOMS}; give --answers", "pictures", self.pictures)
        if self.labels == PAGE:
            check_installed()

    @property
    def way(self) -> Way:
        """How labels are come by."""
        most = self.answers or ANSWERS if self.ask == ATOMS else self.pictures or MOST
        return Way(most=most, seed=self.seed)

    def settings(self, **others: Any) -> dict[str, Any]:
        """What the pictures and the answers of a folder depend on."""
        others["seed"] = self.seed
        if self.ask != PICTURES:
            others["ask"] = self.ask
        if self.labels != PAGE:
            others["labels"] = self.labels
        return others


def label_walks(domain: ImageDomain, folder: Path, session: Session, progress: Progress) -> dict[str, Any]:
    """Label pictures of walks, train on them, and write labels, weights and a summary.

    Args:
        domain: the environment.
        folder: receives the files, or holds those of a session that is to go on.
        session: how.
        progress: is told what is done, and the address of the page.

    Returns:
        The summary: ``labelled_pictures``, ``labelled_atoms`` and more.

    Raises:
        UnusableInput: the environment cannot be labelled, or the folder holds something else.
    """
    session.check()
    if domain.visual.cellless:
        return _label_scenes(domain, folder, session, progress)
    steps = session.steps or STEPS
    simulator = SimulatorLabels(domain) if session.labels == SIMULATOR else None
    keep(folder, session.settings(env=domain.name, steps=steps))
    progress.stage(f"{domain.name}: walking")
    rng = np.random.default_rng([session.seed, 81])
    walked = rarest(walk(domain, walked_problems(domain), rng, steps), CELL_PIXELS)
    if simulator is None:
        front = Front(Busy("Comparing the pictures ..."))
        with served(front, session.port) as address:
            _tell(address, session.out or folder, progress)
            return _at_page(domain, walked, folder, session, progress, front)
    pool = Pool(domain.visual, walked, CELL_PIXELS)
    if session.ask == ATOMS:
        oracle = SimulatorAtoms(domain, pool)
        _, found = AtomRounds(domain, pool, oracle, session.way, progress, Sites(pool)).run()
        write_answers(domain, pool, found.answers, folder)
        return written(domain, found, len(walked), session.way.most, folder, progress)
    _, found = Rounds(domain, pool, simulator, session.way, progress).run()
    asked = [pool.pictures[number].picture for number in found.pictures]
    write_labels(domain, [(picture, simulator.label(picture)) for picture in asked], folder)
    return written(domain, found, len(walked), session.way.most, folder, progress)


def _label_scenes(domain: ImageDomain, folder: Path, session: Session, progress: Progress) -> dict[str, Any]:
    """The same for pictures without cells, which only a simulator can label so far."""
    from aam_vision.training.labelling.camera.rounds import PictureRounds

    if session.labels != SIMULATOR or session.ask != PICTURES:
        raise UnusableInput(
            f"{domain.name}: its pictures have no cells, and only boards can be labelled at the page or by single "
            f"atoms; give --labels {SIMULATOR}, or learn with python -m aam_vision.training.train --env {domain.name}"
        )
    simulator = SimulatorPictures(domain)
    steps = session.steps or SCENE_STEPS
    keep(folder, session.settings(env=domain.name, steps=steps))
    progress.stage(f"{domain.name}: walking")
    walked = walk_scenes(domain, np.random.default_rng([session.seed, 81]), steps)
    way = Way(most=session.pictures or MOST_SCENES, seed=session.seed)
    rounds = PictureRounds(domain, walked, simulator, way, progress)
    _, found = rounds.run()
    labelled = [(walked[one], rounds.labelled(one)) for one in found.pictures]
    states = [(picture, State(one.true, picture.scene.objects)) for picture, one in labelled]
    write_labels(domain, states, folder)
    return written(domain, found, len(walked), way.most, folder, progress)


def label_pictures(
    named: tuple[str, VisualVocabulary], images: Path, folder: Path, session: Session, progress: Progress
) -> dict[str, Any]:
    """Have a person describe and label pictures of any origin; see ``label_walks``.

    Args:
        named: name and vocabulary, see ``vocabulary_named`` and ``pddl_vocabulary``.
        images: the folder of the pictures.
        folder: as for ``label_walks``; this and the next two.
        session: its labels are those of a page.
        progress: is told what is done.

    Raises:
        UnusableInput: the pictures or the vocabulary cannot be used, or the folder holds something else.
    """
    if session.labels != PAGE:
        raise UnusableInput(
            f"no simulator knows what these pictures show: use --labels {PAGE}", "images", images
        )
    name, visual = named
    frames = pictures_of(images)
    keep(folder, session.settings(env=name, pictures=digest_of_all(frames)))
    front = Front(Busy("Comparing the pictures ..."))
    with served(front, session.port) as address:
        _tell(address, session.out or folder, progress)
        description = read_description(folder, visual)
        if description is None:
            front.shown = describer = Describer(visual, frames[0], len(frames))
            description = describer.wait()
            description.write(folder)
        scene = description.scene(visual)
        kept = chosen(frames, scene, np.random.default_rng([session.seed, 82]))
        if len(kept) < len(frames):
            progress.stage(
                f"{name}: {len(kept)} of {len(frames)} pictures, drawn at random, have all that fits in memory"
            )
        walked = [Walked(PROBLEM, scene, frame, None) for frame in kept]
        return _at_page(DescribedPictures(name, visual, scene), walked, folder, session, progress, front)


def _tell(address: str, out: Path, progress: Progress) -> None:
    """Say where the page is, and how to go on."""
    progress.stage(f"Label the pictures at {address}")
    progress.stage(f"Ctrl-C ends this; the same command with --out {out} goes on")


def _at_page(
    domain: Labellable,
    pictures: Sequence[Walked],
    folder: Path,
    session: Session,
    progress: Progress,
    front: Front,
) -> dict[str, Any]:
    """Have a person label pictures at a page that is served until all is done."""
    pool = Pool(domain.visual, pictures, CELL_PIXELS)
    sites = Sites(pool)
    record = AtomRecord(domain, folder, pool) if session.ask == ATOMS else LabelRecord(domain, folder)
    try:
        desk: Desk | AtomDesk
        if isinstance(record, AtomRecord):
            desk = AtomDesk(domain.visual, sites, record, session.way.most)
        else:
            desk = Desk(domain.visual, pool, record, session.way.most)
        front.shown = desk

        def made() -> Rounds:
            if isinstance(desk, AtomDesk):
                return AtomRounds(domain, pool, desk, session.way, progress, sites)
            return Rounds(domain, pool, desk, session.way, progress)

        if len(record):
            what = "answer" if session.ask == ATOMS else "labelled picture"
            progress.stage(f"{domain.name}: going on after {counted(len(record), what)}")
        try:
            found = _asked(made, desk)
        except UnusableInput as error:
            desk.end(f"The command has ended: {error}", LINGER)
            raise
        summary = written(domain, found, len(pictures), session.way.most, folder, progress)
        told = (
            f"{counted(found.atoms, 'answer')} given"
            if session.ask == ATOMS
            else f"{counted(len(found.pictures), 'picture')} labelled"
        )
        desk.end(
            f"Done: {told}, {ended(found, session.way.most)}. The classifiers are in {folder}. You can close this page.",
            LINGER,
        )
    finally:
        record.close()
    return summary


def _asked(made: Callable[[], Rounds], desk: Desk | AtomDesk) -> Labelled:
    """What the rounds find with the answers of a person, who may correct them until the end."""
    while True:
        try:
            _, found = made().run()
            desk.settle()
        except Corrected:
            continue
        return found
