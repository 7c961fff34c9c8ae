"""Reading a run's folder: the journal, ``result.json`` and ``model.pddl``, which may be anybody's."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aam_vision.agents.encoding import MAX_NAMES, Malformed, field, read_vocabulary
from aam_vision.agents.image import points
from aam_vision.agents.journal import OPERATORS, Journal, NothingRecorded, Row
from aam_vision.agents.journalled import Contents, memo
from aam_vision.chance.looking import as_read
from aam_vision.chance.prior import MARGIN
from aam_vision.errors import UnusableInput
from aam_vision.files import read_limited
from aam_vision.interrogation.evidence.entries import Asked, Entry, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.perception import Box, Point
from aam_vision.query import Access, Situation
from aam_vision.report.ending import RecordedEnding, printable, read_ending
from aam_vision.report.result_file import MAX_BYTES, read_figures
from aam_vision.strips import ActionHeader, Model, Vocabulary


@dataclass(frozen=True)
class Sight:
    """The image of a situation, and what was seen in it."""

    image: str
    problem: int
    places: Mapping[str, str | None]
    passed: tuple[str, ...] = ()
    """The images between the first of the query and this one."""
    positions: Mapping[str, Point] | None = None


@dataclass(frozen=True)
class Source:
    """Where the truth of a predicate comes from, and what it means, in the user's words."""

    kind: str
    meaning: str


@dataclass(frozen=True)
class Recorded:
    """The contents of a run's folder."""

    folder: Path
    transcript: Transcript
    sights: Mapping[Hashable, Sight]
    """By the handles of situations; empty for symbolic agents."""
    boxes: Sequence[Mapping[str, Box]]
    """For each problem where its places are in the image; empty where that is not known."""
    sources: Mapping[str, Source]
    figures: Mapping[str, Any] | None
    """``result.json``; None if the run did not come to its end."""
    ending: RecordedEnding | None
    """How it ended; None if it did not."""
    examined: frozenset[int] = frozenset()
    """The entries of the transcript, from 0, that only examine what was learned."""
    controls: Transcript | None = None
    """Of a run that knew only controls: what was asked of these; ``transcript`` then is about the operators found in it."""
    within: float | None = None
    """Of a run that learned how often: the half width of its intervals."""
    looked: bool = False
    """Of such a run: whether every situation was looked at until it was certain."""
    chance_seed: int | None = None
    """Of such a run: the seed from which its agent drew its chance; None if that was of the agent's own."""
    seed: int | None = None
    """Of such a run: its seed, whatever was drawn from it."""


def read_run(folder: Path) -> Recorded:
    """Read a run's folder.

    Raises:
        UnusableInput: there is no run, or its files are damaged.
    """
    if not folder.is_dir():
        raise UnusableInput(f"{folder}: no such folder; give the folder of a run")
    try:
        with Journal.open(folder) as journal:
            return read_journal(folder, journal)
    except NothingRecorded:
        raise UnusableInput(f"{folder}: no run is recorded there; give the folder of a run") from None


def read_journal(folder: Path, journal: Journal) -> Recorded:
    """Read a run's folder whose journal is open already.

    Raises:
        UnusableInput: a file is damaged.
    """
    try:
        arguments = journal.about("arguments")
        figures = read_figures(folder / "result.json", chance=bool(arguments.get("chance")))
        found = _Reader(journal).recorded(folder, figures)
        if arguments.get("chance"):
            seed = field(arguments, "seed", int)
            of_agent = None if arguments.get("agent") is not None else seed
            within = min(max(field(arguments, "within", float), 0.002), 0.4)
            if arguments.get("confirm"):
                confidence = field(arguments, "confidence", float)
                found = replace(found, transcript=as_read(found.transcript, confidence), looked=True)
            within *= 1 if arguments.get("prior") is None else MARGIN  # so wide they were made
            return replace(found, within=within, chance_seed=of_agent, seed=seed)
        if not (arguments.get("controls") or arguments.get("bare")):
            return found
        if found.figures is None:
            raise UnusableInput(
                f"{folder}: the run was stopped before its operators were known; go on with --resume"
            )
        _check_figures_of_controls(folder, found)
        return replace(found, transcript=_of_operators(folder, found.transcript), controls=found.transcript)
    except (Malformed, ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise UnusableInput(f"{journal.path}: damaged, or of another version ({error})") from None


def _check_figures_of_controls(folder: Path, run: Recorded) -> None:
    """Refuse a ``result.json`` that lacks what a run that knew only controls writes.

    Raises:
        UnusableInput: a figure is missing, or of another kind.
    """
    try:
        for name in ("unexplained", "native_steps", "watched_steps", "discoveries"):
            field(run.figures, name, int)
        share = (run.figures or {}).get("native_equivalent")
        if share is not None and not (isinstance(share, int | float) and 0 <= share <= 1):
            raise Malformed("'native_equivalent' is no share")
        if run.ending is None or run.ending.certain is None:
            raise Malformed("it does not say what is certain")
    except Malformed as error:
        raise UnusableInput(f"{folder / 'result.json'}: damaged, or of another version ({error})") from None


def _of_operators(folder: Path, controls: Transcript) -> Transcript:
    """What was asked of the operators that were found in what controls do; nothing if none were interrogated.

    Raises:
        UnusableInput: their journal is damaged.
    """
    try:
        with Journal.open(folder / OPERATORS) as journal:
            return _Reader(journal).recorded(folder, None).transcript
    except NothingRecorded:
        return replace(controls, headers=(), entries=())


def images(journal: Journal) -> dict[Hashable, str]:
    """The names of the images that a run has kept, by the handles of the situations.

    Raises:
        UnusableInput: the journal is damaged.
    """
    try:
        sights = _Reader(journal).sights()
    except (Malformed, ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise UnusableInput(f"{journal.path}: damaged, or of another version ({error})") from None
    return {handle: sight.image for handle, sight in sights.items()}


def read_model(folder: Path, name: str, wanted: Model) -> Model | None:
    """A PDDL file of the folder, if it is there and about the same actions as another model.

    Raises:
        UnusableInput: it cannot be read, or is about other actions.
    """
    from aam_vision.pddl import domain_text, read_domain

    path = folder / name
    if path.is_symlink() or not path.is_file():
        return None
    if path.stat().st_size < MAX_BYTES and read_limited(path, MAX_BYTES) == domain_text(wanted).encode():
        return wanted  # mostly they are equal, and reading PDDL takes a second
    found = read_domain(path)
    if shape(found) != shape(wanted):
        raise UnusableInput(f"{path}: is about other actions or predicates than the transcript beside it")
    return found


def shape(model: Model) -> object:
    """The actions and predicates that a model is about, whatever their order and parameters' names."""
    return (
        sorted((header.name, header.types) for header in model.headers),
        sorted(model.vocabulary.predicates, key=lambda predicate: predicate.name),
    )


class _SeenContents(Contents):
    """The contents of a journal, with what is kept of how situations looked."""

    def __init__(self, journal: Journal, vocabulary: Vocabulary, headers: Sequence[ActionHeader]) -> None:
        super().__init__(journal, vocabulary, headers)
        self.sights: dict[Hashable, Sight] = {}

    def situation(self, reference: Any) -> Situation:
        """The situation of a reference; its sight is noted."""
        situation = super().situation(reference)
        kept = memo(reference)
        if isinstance(kept, dict) and isinstance(kept.get("image"), str) and reference[0] is not None:
            places, passed = kept.get("places"), kept.get("passed")
            self.sights[situation.handle] = Sight(
                kept["image"],
                kept["problem"] if isinstance(kept.get("problem"), int) else 0,
                {k: v for k, v in places.items() if isinstance(v, str)} if isinstance(places, dict) else {},
                tuple(map(str, passed)) if isinstance(passed, list) else (),
                points(kept, "positions"),
            )
        return situation


class _Reader:
    """Decodes a journal. Malformed contents raise ``Malformed``, or a standard error of Python."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._rows = journal.rows()
        about = journal.about("agent")
        if journal.about("finished") is None and (about is None or not self._rows):
            raise UnusableInput(
                f"{journal.path}: the run was stopped before its first answer was recorded; go on with --resume"
            )
        self._vocabulary, self._headers = read_vocabulary(about)
        self._access = Access(field(about, "access", str))
        self._contents = _SeenContents(journal, self._vocabulary, self._headers)

    def sights(self) -> Mapping[Hashable, Sight]:
        """The images of all situations, by their handles."""
        self._exchanges()
        return self._contents.sights

    def recorded(self, folder: Path, figures: Mapping[str, Any] | None) -> Recorded:
        initial, entries = self._exchanges()
        repeated = field(self._journal.about("arguments"), "repeated_arguments", bool)
        transcript = Transcript(
            self._vocabulary, self._headers, self._access, initial, entries, repeated=repeated
        )
        ending = None if figures is None or "curve" not in figures else read_ending(figures)
        examined = self._examined(len(entries))
        sights = self._contents.sights
        return Recorded(folder, transcript, sights, self._boxes(), self._sources(), figures, ending, examined)

    def _exchanges(self) -> tuple[tuple[Situation, ...], tuple[Entry, ...]]:
        """The initial situations, and everything that was asked and shown."""
        rows = self._rows
        if not rows or rows[0].kind != "initial":
            raise Malformed("it does not say where the interrogation began")
        initial = tuple(self._contents.situation(item) for item in rows[0].answer)
        return initial, tuple(self._entry(row) for row in rows[1:])

    def _entry(self, row: Row) -> Entry:
        if row.kind == "walk":
            return Walked(tuple(self._contents.walk(row.answer)))
        if row.kind != "query":
            raise Malformed(f"an entry is of kind {row.kind[:20]!r}")
        query = self._contents.query(row.question)
        return Asked(query, self._contents.response(query, row.answer))

    def _examined(self, entries: int) -> frozenset[int]:
        """The entries that only examine, as far as every move of the policy led to one entry."""
        moves = [move for (move,) in self._journal.contents("moves")]
        moves = [
            move for move in moves if isinstance(move, dict) and "stop" not in move and not move.get("early")
        ]
        if len(moves) != entries:  # where answers are weighed a move leads to many
            return frozenset()
        return frozenset(
            n
            for n, move in enumerate(moves)
            if move.get("examines") or ("walk" in move and move.get("stopped"))
        )

    def _boxes(self) -> list[dict[str, Box]]:
        found = []
        for scene in self._journal.about("scenes") or []:
            if len(scene) > MAX_NAMES:
                raise Malformed("a scene has too many places")
            boxes = {name: tuple(float(edge) for edge in edges) for name, edges in scene.items()}
            if any(len(box) != 4 or not all(-1 <= edge <= 2 for edge in box) for box in boxes.values()):
                raise Malformed("a place is not a box")
            found.append(boxes)
        return found  # type: ignore[return-value]

    def _sources(self) -> dict[str, Source]:
        stated = self._journal.about("sources") or {}
        return {
            printable(name): Source(
                printable(field(told, "kind", str)), printable(field(told, "meaning", str))
            )
            for name, told in stated.items()
        }
