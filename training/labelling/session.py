"""A session of labelling: pictures of walks, answers of a simulator or of a person at a page, and the files that come of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aam_vision.agents.encoding import loads
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.store import untaught
from aam_vision.commandline import Progress, write_atomically
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.envs.labelled import Labelled
from aam_vision.errors import UnusableInput
from aam_vision.files import read_limited
from aam_vision.pictures import encode
from aam_vision.strips import State
from aam_vision.training import described
from aam_vision.training.folder import LABELS, Labellable, perceived_atoms
from aam_vision.training.labelling.answers import SimulatorLabels, SimulatorScenes
from aam_vision.training.labelling.atoms import AtomLearner
from aam_vision.training.labelling.boards import BoardLearner
from aam_vision.training.labelling.desk import AtomSheets, Corrected, Desk, Sheets
from aam_vision.training.labelling.draft import PictureSheets
from aam_vision.training.labelling.pool import (
    SCENE_STEPS,
    STEPS,
    AskedAtom,
    LabelQuestion,
    Pool,
    Walked,
    walked,
)
from aam_vision.training.labelling.record import LabelRecord
from aam_vision.training.labelling.rounds import (
    Answer,
    Labeller,
    LabellingResult,
    LabellingRounds,
    Learner,
    Way,
)
from aam_vision.training.labelling.scenes import SceneLearner
from aam_vision.training.labelling.server import Front, check_installed, served
from aam_vision.training.settings import write_files
from aam_vision.training.single_answers import Said
from aam_vision.wording import counted

PAGE, SIMULATOR = "page", "simulator"
"""Who can be asked."""
PICTURES, ATOMS = "pictures", "atoms"
"""What can be asked about."""

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
        steps: of the walk in every problem; None: ``pool.STEPS``, or ``pool.SCENE_STEPS``.
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

    def way(self, *, cellless: bool = False) -> Way:
        """How labels are come by; ``cellless``: of pictures without cells."""
        usual = self.pictures or (MOST_SCENES if cellless else MOST)
        return Way(most=self.answers or ANSWERS if self.ask == ATOMS else usual, seed=self.seed)

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
    cellless, simulated = domain.visual.cellless, session.labels == SIMULATOR
    if cellless and not (simulated and session.ask == PICTURES):
        raise UnusableInput(
            f"{domain.name}: its pictures have no cells, and only boards can be labelled at the page or by single "
            f"atoms; give --labels {SIMULATOR}, or learn with python -m aam_vision.training.train --env {domain.name}"
        )
    steps, way = session.steps or (SCENE_STEPS if cellless else STEPS), session.way(cellless=cellless)
    if simulated:
        simulator_of(domain, ())  # whether it tells anything is told before anything is written
    keep(folder, session.settings(env=domain.name, steps=steps))
    progress.stage(f"{domain.name}: walking")
    pictures = walked(domain, session.seed, steps)
    if not simulated:
        with opened(session, folder, progress) as front:
            return at_page(domain, pictures, folder, session, progress, front)
    _, found = learned(domain, pictures, session.ask, way, progress)
    write_answers(domain, pictures, found.told, folder)
    return written(domain, found, len(pictures), way.most, folder, progress)


def learned(
    domain: ImageDomain, pictures: Sequence[Walked], ask: str, way: Way, progress: Progress
) -> tuple[Any, LabellingResult]:
    """Classifiers that learned from what the simulator tells of pictures, and what came of the rounds."""
    learner: Learner[Any]
    if domain.visual.cellless:
        learner = SceneLearner(domain, pictures, way)
    else:
        pool = Pool(domain.visual, pictures, CELL_PIXELS)
        learner = (AtomLearner if ask == ATOMS else BoardLearner)(domain, pool, way)
    simulator = simulator_of(domain, pictures)
    return LabellingRounds[Any](learner, simulator, progress).run()


def simulator_of(domain: ImageDomain, pictures: Sequence[Walked]) -> Labeller[Any]:
    """Tells what pictures of walks show; UnusableInput if the simulator does not."""
    return (SimulatorScenes if domain.visual.cellless else SimulatorLabels)(domain, pictures)


@contextmanager
def opened(session: Session, folder: Path, progress: Progress) -> Iterator[Front]:
    """Serve the page for as long as the context lasts; say where it is, and how to go on."""
    front = Front()
    with served(front, session.port) as address:
        progress.stage(f"Label the pictures at {address}")
        progress.stage(f"Ctrl-C ends this; the same command with --out {session.out or folder} goes on")
        yield front


def at_page(
    domain: Labellable,
    pictures: Sequence[Walked],
    folder: Path,
    session: Session,
    progress: Progress,
    front: Front,
) -> dict[str, Any]:
    """Have a person label pictures at a page that is served until all is done, and correct answers until the end."""
    pool, way, atoms = Pool(domain.visual, pictures, CELL_PIXELS), session.way(), session.ask == ATOMS
    record = LabelRecord(domain, folder, pool, atoms=atoms)
    try:
        sheets: Sheets = (
            AtomSheets(domain.visual, pool, record) if atoms else PictureSheets(domain.visual, pool)
        )
        front.shown = desk = Desk(pool, record, sheets, way.most)
        if len(record):
            done = counted(len(record), "answer" if atoms else "labelled picture")
            progress.stage(f"{domain.name}: going on after {done}")
        while True:
            learner = (AtomLearner if atoms else BoardLearner)(domain, pool, way)
            try:
                _, found = LabellingRounds(learner, desk, progress).run()
                desk.settle()
                break
            except Corrected:
                continue
            except UnusableInput as error:
                desk.end(f"The command has ended: {error}", LINGER)
                raise
        summary = written(domain, found, len(pictures), way.most, folder, progress)
        told = (
            f"{counted(found.answered, 'answer' if atoms else 'picture')} {'given' if atoms else 'labelled'}"
        )
        desk.end(
            f"Done: {told}, {ended(found, way.most)}. The classifiers are in {folder}. You can close this page.",
            LINGER,
        )
    finally:
        record.close()
    return summary


# What labelling leaves behind: the weights, and a summary of what they took.


SUMMARY: Final = "labelling.json"


def written(
    domain: Labellable, found: LabellingResult, pictures: int, most: int, folder: Path, progress: Progress
) -> dict[str, Any]:
    """Write weights and summary, and tell what came of it.

    Args:
        domain: names the weights.
        found: what came of the rounds.
        pictures: that could be labelled.
        most: pictures, or answers about single atoms, that could be asked for.
        folder: receives the files.
        progress: is told.
    """
    assert found.network is not None
    assert found.card is not None
    files = write_files(found.network, found.card, folder, found.looks)
    test = found.examination
    summary: dict[str, Any] = {
        "ask": ATOMS if found.answers else PICTURES,
        "labelled_pictures": len(found.pictures),
        "labelled_atoms": found.atoms,
        "sure": found.sure,
        "examined_pictures": len(test.history),
        "mistakes": test.mistakes,
        "answers_since": test.answers,
        "bound": round(test.bound, 4),
        "refused": round(found.refused, 4),
        "untaught": [head for head in found.card.vocabulary["heads"] if untaught(found.card, head)],
        "cpu_s": [round(seconds, 1) for seconds in found.seconds],
    }
    if not domain.visual.cellless:  # layouts are compared by the looks of their cells
        summary["other_layouts"] = {
            "right": found.elsewhere.right,
            "wrong": found.elsewhere.wrong,
            "refused_places": found.elsewhere.refused,
            "bound": round(found.elsewhere.bound, 4),
        }
    write_atomically(folder / SUMMARY, json.dumps(summary, indent=2) + "\n")
    what = (
        f"{counted(found.atoms, 'answer')} about {len(found.pictures)} of {pictures} pictures"
        if found.answers
        else f"{len(found.pictures)} of {pictures} pictures labelled"
    )
    progress.stage(f"{domain.name}: {what}, {ended(found, most)}; written to {files.weights}")
    return summary


def ended(found: LabellingResult, most: int) -> str:
    """Why labelling ended, and how it can go on; see ``written``."""
    if found.sure:
        return "stopped by its test"
    option = "--answers" if found.answers else "--pictures"
    if found.answered < most:
        return "nothing is left to be labelled, and the test is not passed"
    return f"stopped at {counted(most, option[2:-1])} without passing its test: a larger {option} goes on"


# Labels as plain files, which ``train --images`` reads: ``images/*.png`` and ``labels.jsonl``.


def write_answers(
    domain: Labellable,
    pictures: Sequence[Walked],
    told: Sequence[tuple[LabelQuestion, Answer | None]],
    folder: Path,
) -> None:
    """Write pictures and answers about them, one line per picture; all are complete on disk, or none.

    Raises:
        UnusableInput: nothing can be written there.
    """
    heads = domain.visual.cell_heads()
    lines: list[str] = []
    try:
        (folder / "images").mkdir(parents=True, exist_ok=True)
        for number in dict.fromkeys(asked.number for asked, _ in told):
            picture, name = pictures[number], f"{len(lines) + 1:04d}.png"
            own = [(asked, answer) for asked, answer in told if asked.number == number]
            write_atomically(folder / "images" / name, encode(picture.frame))
            answer = own[0][1]
            if isinstance(answer, State | Labelled):
                state = State(answer.true, picture.scene.objects)
                facts: dict[str, Any] = {"true": perceived_atoms(domain, picture.scene, state)}
            else:
                places = [place for place, cells in picture.scene.cells.items() if cells]
                atoms = [(one, value) for one, value in own if isinstance(one, AskedAtom)]
                yes, no, skipped = (
                    tuple((heads[one.head], places[one.place]) for one, value in atoms if value is wanted)
                    for wanted in (True, False, None)
                )
                facts = Said(yes, no, skipped).facts()
            lines.append(json.dumps({"image": name, "problem": picture.problem, **facts}) + "\n")
        write_atomically(folder / LABELS, "".join(lines))
    except OSError as error:
        raise UnusableInput(f"cannot write labels to {folder}: {error.strerror or error}") from None


# What the labels of a folder belong to, so that the same command goes on with them and no other one does.


FILE: Final = "session.json"
MOST_BYTES: Final = 100_000

_USUAL: Final = {"ask": PICTURES, "labels": PAGE}
"""Options that are not noted where they are these."""


def keep(folder: Path, settings: Mapping[str, Any]) -> None:
    """Note what the pictures and the answers of a folder depend on, unless there are labels that depend on something else.

    Args:
        folder: with labels, or without.
        settings: ``env``, ``seed``; ``steps`` of walks, or ``pictures``, a digest of all; ``ask`` and ``labels`` where they are not
            the usual ones.

    Raises:
        UnusableInput: it holds other labels.
    """
    known = _known(folder / FILE) if _begun(folder) else None
    if known is None:
        if _begun(folder) and settings.get("labels") == SIMULATOR:
            raise UnusableInput(f"{folder}: holds labels already, which would be lost; give another --out")
        write_atomically(folder / FILE, json.dumps(settings, indent=2) + "\n")
    elif known != settings:
        raise UnusableInput(f"{folder}: {_difference(known, settings)}, or another --out")


def _begun(folder: Path) -> bool:
    """Whether a folder has labels, or a described scene."""
    labels = folder / LABELS
    return (labels.is_file() and labels.stat().st_size > 0) or (folder / described.FILE).exists()


def _known(path: Path) -> dict[str, Any] | None:
    """What is noted in a file; None if there is none.

    Raises:
        UnusableInput: it cannot be read.
    """
    try:
        found = loads(read_limited(path, MOST_BYTES))
        if not isinstance(found, dict):
            raise ValueError("no object")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UnusableInput(f"cannot read {path} ({error}): give another --out") from None
    return found


def _difference(known: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """In what labels differ from those that are asked for, and what to give instead."""
    if known.get("env") != settings.get("env"):
        return f"its labels are for {known.get('env')}, not for {settings.get('env')}; give --env or --domain of these"
    if known.get("pictures") != settings.get("pictures"):
        if "pictures" in known and "pictures" in settings:
            return (
                "the pictures of --images are not those that it was begun with: one was added, removed or changed; give "
                "the same pictures"
            )
        whose = "of a folder" if "pictures" in known else "of walks"
        return f"its labels are of pictures {whose}; give the same command as for these"
    names = [
        name
        for name in ("steps", "ask", "labels", "seed")
        if known.get(name, _USUAL.get(name)) != settings.get(name, _USUAL.get(name))
    ]
    options = " ".join(f"--{name} {known.get(name, _USUAL.get(name))}" for name in names)
    return f"its labels belong to {options or 'other options'}; give the same"
