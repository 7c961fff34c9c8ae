"""A session of labelling: pictures of walks, answers of a simulator or of a person at a page, and the files that come of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from aam_vision.agents.encoding import loads
from aam_vision.agents.perception import NO_LABEL, VisualVocabulary
from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.store import untaught
from aam_vision.envs.board import BoardDomain
from aam_vision.envs.board_env import Snapshot
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.envs.labelled import Labelled, label
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.shown import Shown
from aam_vision.model.strips import Atom, State
from aam_vision.support.commandline import Progress, write_atomically
from aam_vision.support.errors import UnusableInput, reason
from aam_vision.support.files import read_limited
from aam_vision.support.wording import counted
from aam_vision.training import described
from aam_vision.training.folder import LABELS, Labellable
from aam_vision.training.labelling.boards import AtomLearner, BoardLearner
from aam_vision.training.labelling.desk import Corrected, Desk
from aam_vision.training.labelling.pool import (
    SCENE_STEPS,
    STEPS,
    AskedAtom,
    LabelQuestion,
    Pool,
    Walked,
    walked,
)
from aam_vision.training.labelling.record import LabelRecord, write_answers
from aam_vision.training.labelling.rounds import (
    LabellingResult,
    LabellingRounds,
    Learner,
    PictureTest,
    pictures_needed,
)
from aam_vision.training.labelling.scenes import SceneLearner, set_aside
from aam_vision.training.labelling.server import Front, served
from aam_vision.training.labelling.settings import ATOMS, PAGE, PICTURES, SIMULATOR, Session, Way
from aam_vision.training.labelling.sheets import AtomSheets, PictureSheets, Sheets
from aam_vision.training.labelling.things import ThingSheets
from aam_vision.training.settings import write_files

LINGER: Final = 5.0
"""Seconds in which the page can learn that all is done, before its server ends."""


def label_walks(domain: ImageDomain, folder: Path, session: Session, progress: Progress) -> dict[str, Any]:
    """Label pictures of walks, train on them, and write labels, weights and a summary.

    Returns:
        The summary: ``labelled_pictures``, ``labelled_atoms`` and more.

    Raises:
        UnusableInput: the environment cannot be labelled, or the folder holds something else.
    """
    session.check()
    cellless, simulated = domain.visual.cellless, session.labels == SIMULATOR
    check_askable(domain.name, domain.visual, session)
    steps, way = session.steps or (SCENE_STEPS if cellless else STEPS), session.way(cellless=cellless)
    if simulated:
        SimulatorLabels(domain)  # whether it tells anything is told before anything is written
    keep(folder, session.settings(env=domain.name, steps=steps))
    progress.stage(f"{domain.name}: walking")
    pictures = walked(domain, session.seed, steps)
    if not simulated:
        with opened(session, folder, progress) as front:
            return at_page(domain, pictures, folder, session, progress, front)
    _, found = learned(domain, pictures, session.ask, way, progress)
    write_answers(domain, pictures, found.told, folder)
    return written(domain, found, len(pictures), way.most, folder, progress)


def check_askable(name: str, visual: VisualVocabulary, session: Session) -> None:
    """Refuse single questions about pictures without cells, which have no places: UnusableInput."""
    if visual.cellless and session.ask == ATOMS:
        raise UnusableInput(
            f"{name}: its pictures have no cells to ask about one by one; leave out --ask {ATOMS}"
        )


def learning(
    domain: Labellable, pictures: Sequence[Walked], ask: str, way: Way
) -> tuple[Callable[[], Learner[Any]], Pool | None]:
    """What makes a learner from no label, and the pool of boards that it asks about; None of pictures without cells."""
    if domain.visual.cellless:
        return partial(SceneLearner, domain, pictures, way), None
    pool = Pool(domain.visual, pictures, CELL_PIXELS)
    return partial(AtomLearner if ask == ATOMS else BoardLearner, domain, pool, way), pool


def learned(
    domain: ImageDomain, pictures: Sequence[Walked], ask: str, way: Way, progress: Progress
) -> tuple[Any, LabellingResult]:
    """Classifiers that learned from what the simulator tells of pictures, and what came of the rounds."""
    learner, _ = learning(domain, pictures, ask, way)
    return LabellingRounds[Any](learner(), SimulatorLabels(domain, pictures), progress).run()


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
    cellless, atoms = domain.visual.cellless, session.ask == ATOMS
    way = session.way(cellless=cellless)
    if cellless and not set_aside(len(pictures), way):
        needed = pictures_needed(1)
        progress.stage(
            f"warning: too few pictures for a test, and without one no run is complete: it takes {needed} beside the {way.most} "
            f"that are labelled; give {way.most + needed} at least, or label fewer (--pictures)"
        )
    sheets: Sheets[Any]
    learner, pool = learning(domain, pictures, session.ask, way)
    record = LabelRecord(domain, folder, pictures, atoms=atoms)
    try:
        if pool is None:
            sheets = ThingSheets(domain.visual, pictures)
        elif atoms:
            sheets = AtomSheets(domain.visual, pool, record)
        else:
            sheets = PictureSheets(domain.visual, pool)
        front.shown = desk = Desk[Any](pictures, record, sheets, way.most)
        if len(record):
            done = counted(len(record), "answer" if atoms else "labelled picture")
            progress.stage(f"{domain.name}: going on after {done}")
        while True:
            try:
                _, found = LabellingRounds[Any](learner(), desk, progress).run()
                desk.settle()
                break
            except Corrected:
                continue
            except UnusableInput as error:
                desk.end(f"The command has ended: {error}", LINGER)
                raise
        summary = written(domain, found, len(pictures), way.most, folder, progress)
        what, done = ("answer", "given") if atoms else ("picture", "labelled")
        told = f"{counted(found.answered, what)} {done}"
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
    """Write weights and summary, and tell what came of it; so many ``pictures`` could be labelled, ``most`` be asked about."""
    assert found.network is not None
    assert found.card is not None
    test, last, card = found.examination, found.test or PictureTest(), found.card
    if tested := last.scores.states:
        card = replace(card, figures={**card.figures, "unseen": last.scores.summary()})
    files = write_files(found.network, card, folder, found.looks)
    summary: dict[str, Any] = {
        "ask": ATOMS if found.answers else PICTURES,
        "labelled_pictures": len(found.pictures) - tested,
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
    if domain.visual.cellless:
        read = {"pictures": tested, "misread": last.scores.wrong, "left_open": last.scores.refused}
        passing = {"missing": last.missing, "attempt": last.attempt, "bound": round(last.bound, 4)}
        summary["test"] = {**read, **passing}
    else:  # layouts are compared by the looks of their cells
        bound = round(found.elsewhere.bound, 4)
        summary["other_layouts"] = {**asdict(found.elsewhere), "bound": bound}
    write_atomically(folder / SUMMARY, json.dumps(summary, indent=2) + "\n")
    what = (
        f"{counted(found.atoms, 'answer')} about {len(found.pictures)} of {pictures} pictures"
        if found.answers
        else f"{len(found.pictures) - tested} of {pictures} pictures labelled"
    )
    progress.stage(f"{domain.name}: {what}, {ended(found, most)}; written to {files.weights}")
    return summary


def ended(found: LabellingResult, most: int) -> str:
    """Why labelling ended, and how it can go on; see ``written``."""
    if (test := found.test) is not None:
        of = f"{test.scores.states - test.scores.wrong} of {counted(test.scores.states, 'picture')} of the test read without a mistake"
        if test.passed:
            return f"{of}: it is passed"
        if test.scores.wrong:
            return f"{of}: it is not passed; a larger --pictures goes on"
        return f"{of}, and {test.missing} more are needed: it is not passed"
    if found.sure:
        return "stopped by its test"
    option = "--answers" if found.answers else "--pictures"
    if found.answered < most:
        return "nothing is left to be labelled, and the test is not passed"
    return f"stopped at {counted(most, option[2:-1])} without passing its test: a larger {option} goes on"


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
        UnusableInput: it holds other labels, or what is noted cannot be read.
    """
    labels, known = folder / LABELS, None
    if (labels.is_file() and labels.stat().st_size > 0) or (folder / described.FILE).exists():
        try:
            known = loads(read_limited(folder / FILE, MOST_BYTES))
            if not isinstance(known, dict):
                raise ValueError("no object")
        except FileNotFoundError:
            if settings.get("labels") == SIMULATOR:
                raise UnusableInput(
                    f"{folder}: holds labels already, which would be lost; give another --out"
                ) from None
        except (OSError, ValueError) as error:
            raise UnusableInput(f"cannot read {folder / FILE} ({error}): give another --out") from None
    if known is None:
        write_atomically(folder / FILE, json.dumps(settings, indent=2) + "\n")
    elif known != settings:
        raise UnusableInput(f"{folder}: {_difference(known, settings)}, or another --out")


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
    theirs, ours = {**_USUAL, **known}, {**_USUAL, **settings}
    names = [name for name in ("steps", "ask", "labels", "seed") if theirs.get(name) != ours.get(name)]
    options = " ".join(f"--{name} {theirs.get(name)}" for name in names)
    return f"its labels belong to {options or 'other options'}; give the same"


# Simulators that tell what the pictures of walks show, where they know (experiments and demonstrations only).


class SimulatorLabels:
    """What the simulator of a domain tells of its pictures; a ``Labeller``.

    Raises:
        UnusableInput: it tells nothing.
    """

    def __init__(self, domain: ImageDomain, pictures: Sequence[Walked] = ()) -> None:
        self._domain, self._pictures = domain, pictures
        self._simulators: dict[str, Any] = {}
        self._static: dict[str, frozenset[Atom]] = {}
        self._shown: Shown | None = None
        self._labelled: Callable[[Any], Labelled] | None = None
        own = domain if isinstance(domain, OwnEnvironment) else None
        if own is not None and own.visual.cellless:
            self._labelled = own.labelled
            if self._labelled is None:
                raise UnusableInput(
                    f"the simulator of {domain.name} does not tell what its pictures show: give the environment a "
                    f"function `labelled`, or learn with python -m aam_vision.training.train"
                )
        elif own is not None and own.shown is not None:
            self._shown = Shown(domain.name, domain.visual, own.shown)
        elif not isinstance(domain, BoardDomain):
            raise UnusableInput(f"the simulator of {domain.name} tells no states: label its pictures by hand")

    def learned(self, perception: object) -> None:
        """Nothing: a simulator needs no help to answer."""

    def _present(self, picture: Walked) -> Any:
        """The environment as it was when a picture was taken."""
        if picture.problem not in self._simulators:
            split, number = picture.problem.rsplit("/", 1)
            self._simulators[picture.problem] = self._domain.simulator((split, int(number)))
        self._simulators[picture.problem].restore(picture.token)
        return self._simulators[picture.problem].present

    def label(self, picture: Walked) -> State:
        """The state in which a picture was taken: of perceived predicates at least."""
        if self._shown is not None:
            true = self._shown.atoms(self._present(picture), picture.scene)
            return State(true, picture.scene.objects)
        assert isinstance(picture.token, Snapshot)
        assert isinstance(self._domain, BoardDomain)
        if picture.problem not in self._static:
            split, number = picture.problem.rsplit("/", 1)
            world = self._domain.world(self._domain.load(split, int(number)))
            self._static[picture.problem] = world.static
        return State(self._static[picture.problem] | picture.token.dynamic, picture.scene.objects)

    def answer(
        self, question: LabelQuestion, *, tested: bool = False, missing: int = 0
    ) -> State | Labelled | bool | None:
        """What a picture shows, of one without cells also where; or whether an atom is true in it, None if that is hidden."""
        picture = self._pictures[question.number]
        if self._labelled is not None:
            present = self._present(picture)
            try:
                return Labelled(*self._labelled(present))
            except Exception as error:  # the function is the user's: anything may go wrong
                raise UnusableInput(
                    f"environment {self._domain.name}: labelled raised {reason(error)}; correct it"
                ) from error
        state = self.label(picture)
        if not isinstance(question, AskedAtom):
            return state
        places = tuple(place for place, cells in picture.scene.cells.items() if cells)
        value = int(label(self._domain.visual, picture.scene, places, state)[question.head, question.place])
        return None if value == NO_LABEL else value == 1
