"""Reading a run's folder: the journal, ``result.json`` and ``model.pddl``, which may be anybody's."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import exp, log
from pathlib import Path
from typing import Any

from aam_vision.agents.encoding import MAX_NAMES, Malformed, field, read_vocabulary, typed
from aam_vision.agents.image import points
from aam_vision.agents.journal import AS_READ, NAME, OPERATORS, Journal, NothingRecorded, Row
from aam_vision.agents.journalled import Contents, memo
from aam_vision.agents.perception import Box, Point
from aam_vision.interrogation.chance.prior import MARGIN
from aam_vision.interrogation.chance.refusals import with_refusals
from aam_vision.interrogation.controls.memory import read_memory
from aam_vision.interrogation.evidence.moves import Asked, Entry, Walked
from aam_vision.interrogation.evidence.transcript import AttemptedStep, Transcript, attempted
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.memory.delayed import delayed, read_delays
from aam_vision.interrogation.memory.divided import divided, read_divisions
from aam_vision.interrogation.memory.facts import read_fact
from aam_vision.interrogation.memory.refused import read_refused, without
from aam_vision.interrogation.memory.remembering import with_fact
from aam_vision.interrogation.statistics.counts import ErrorRates, Misreading
from aam_vision.interrogation.task.forgotten_constants import extended
from aam_vision.interrogation.task.repeated_looks import as_read
from aam_vision.model.query import CLIP_IMAGES, Access, Situation
from aam_vision.model.remembered import Remembered
from aam_vision.model.strips import ActionHeader, LiftedAtom, Location, Mode, Model, PalTuple, Vocabulary
from aam_vision.report.ending import (
    MAX_BYTES,
    RecordedEnding,
    printable,
    read_ending,
    read_figures,
    undamaged,
)
from aam_vision.support.errors import UnusableInput
from aam_vision.support.files import read_limited


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
    clips: Mapping[Hashable, tuple[str, ...]]
    """By the handles of the situations in which pursuits of a policy ended the images of these, where they were kept."""
    lasted: Mapping[Hashable, int]
    """By the same handles how many steps of the environment a pursuit took."""
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
    memory: Remembered | None = None
    """Of such a run: what the agent remembers of the controls that it was given before."""
    within: float | None = None
    """Of a run that learned how often: the half width of its intervals."""
    looked: bool = False
    """Whether every situation was looked at until it was certain, and the transcript is what was read."""
    chance_seed: int | None = None
    """Of such a run: the seed from which its agent drew its chance; None if that was of the agent's own."""
    seed: int | None = None
    """Of such a run: its seed, whatever was drawn from it."""
    refusals: tuple[str, ...] = ()
    """Of such a run: the actions of which a refusal is an outcome; in the transcript it is a step that changes nothing."""


def read_run(folder: Path) -> Recorded:
    """Read a run's folder. Raises UnusableInput: there is no run, or its files are damaged."""
    with opened(folder) as journal:
        return read_journal(folder, journal)


@contextmanager
def opened(folder: Path) -> Iterator[Journal]:
    """The journal of a run's folder. Raises UnusableInput: there is no run, or its files are damaged."""
    if not folder.is_dir():
        raise UnusableInput(f"{folder}: no such folder; give the folder of a run")
    try:
        with Journal.open(folder) as journal:
            yield journal
    except NothingRecorded:
        raise UnusableInput(f"{folder}: no run is recorded there; give the folder of a run") from None


def read_journal(folder: Path, journal: Journal) -> Recorded:
    """Read a run's folder whose journal is open already. Raises UnusableInput: a file is damaged."""
    with undamaged(journal.path):
        arguments = journal.options()
        figures = read_figures(folder / "result.json", chance=bool(arguments.get("chance")))
        found = _Reader(journal).recorded(folder, figures)
        further, about = journal.went_on(), (found.transcript.vocabulary, found.transcript.headers)
        if further is not None and further.explained and further.looked and found.figures is not None:
            read = _further(folder / AS_READ)
            if read is None:
                raise UnusableInput(
                    f"{folder}: lacks {AS_READ}/{NAME}, which a run writes at its end; run it anew"
                )
            transcript = replace(read, vocabulary=about[0])
            found = replace(found, transcript=transcript, looked=True, examined=frozenset())
        if further is not None and further.fact is not None:
            found = replace(found, transcript=with_fact(found.transcript, read_fact(further.fact, *about)))
        if further is not None and further.divisions is not None:
            divisions = read_divisions(further.divisions, *about)
            found = replace(found, transcript=divided(found.transcript, divisions))
        if further is not None and further.delays is not None:
            found = replace(found, transcript=delayed(found.transcript, read_delays(further.delays, *about)))
        if further is not None and further.refused is not None:
            names = read_refused(further.refused, found.transcript)
            found = replace(found, transcript=without(found.transcript, names))
        of_controls = bool(arguments.get("controls") or arguments.get("bare"))
        if not found.looked and arguments.get("confirm") and (of_controls or arguments.get("chance")):
            confidence = field(arguments, "confidence", float)
            transcript = as_read(found.transcript, confidence, whole=not of_controls)
            found = replace(found, transcript=transcript, looked=True)
        if arguments.get("chance"):
            seed = field(arguments, "seed", int)
            of_agent = None if arguments.get("agent") is not None else seed
            within = min(max(field(arguments, "within", float), 0.002), 0.4)
            within *= 1 if arguments.get("prior") is None else MARGIN  # so wide they were made
            names = journal.refusals([one.name for one in found.transcript.headers])
            transcript = with_refusals(found.transcript, names)
            chance = {"within": within, "chance_seed": of_agent, "seed": seed, "refusals": names}
            return replace(found, transcript=transcript, **chance)
        if not of_controls:
            return found
        if found.figures is None:
            raise UnusableInput(
                f"{folder}: the run was stopped before its operators were known; go on with --resume"
            )
        _check_figures_of_controls(folder, found)
        operators, memory = _further(folder / OPERATORS), None
        if operators is None:  # none were interrogated
            operators = replace(found.transcript, headers=(), entries=())
        if (told := found.figures.get("memory")) is not None:
            with undamaged(folder / "result.json"):
                memory = read_memory(told, [one.name for one in found.transcript.headers])
            operators = replace(operators, vocabulary=replace(operators.vocabulary, memory=memory))
        return replace(found, transcript=operators, controls=found.transcript, memory=memory)


def _check_figures_of_controls(folder: Path, run: Recorded) -> None:
    """Refuse a ``result.json`` that lacks what a run that knew only controls writes."""
    with undamaged(folder / "result.json"):
        for name in ("unexplained", "native_steps", "watched_steps", "discoveries"):
            field(run.figures, name, int)
        share = (run.figures or {}).get("native_equivalent")
        if share is not None and not (isinstance(share, int | float) and 0 <= share <= 1):
            raise Malformed("'native_equivalent' is no share")
        if run.ending is None or run.ending.certain is None:
            raise Malformed("it does not say what is certain")


def _further(place: Path) -> Transcript | None:
    """The transcript in a further journal of a run; None if there is none."""
    try:
        with Journal.open(place) as journal:
            return _Reader(journal).recorded(place, None).transcript
    except NothingRecorded:
        return None


def images(journal: Journal) -> dict[Hashable, str]:
    """The names of the images that a run has kept, by the handles of the situations. Raises UnusableInput: the journal is damaged."""
    with undamaged(journal.path):
        sights = _Reader(journal).sights()
    return {handle: sight.image for handle, sight in sights.items()}


def read_model(folder: Path, name: str, wanted: Model, *, strips: bool = True) -> Model | None:
    """A PDDL file of the folder; None if it is not there. Raises UnusableInput: it cannot be read, or is about other actions than ``wanted``.

    ``strips``: whether it may have no chance and no conditional effects.
    """
    from aam_vision.model.pddl import domain_text, read_any_domain, read_domain

    path = folder / name
    if path.is_symlink() or not path.is_file():
        return None
    if path.stat().st_size < MAX_BYTES and read_limited(path, MAX_BYTES) == domain_text(wanted).encode():
        return wanted  # mostly they are equal, and reading PDDL takes a second
    found = read_domain(path) if strips else read_any_domain(path)
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
        self.clips: dict[Hashable, tuple[str, ...]] = {}
        self.lasted: dict[Hashable, int] = {}

    def situation(self, reference: Any) -> Situation:
        """The situation of a reference; its sight is noted."""
        situation = super().situation(reference)
        kept = memo(reference)
        if isinstance(kept, dict) and isinstance(clip := kept.get("clip"), list):
            self.clips[situation.handle] = tuple(map(str, clip[:CLIP_IMAGES]))
        if isinstance(kept, dict) and isinstance(lasted := kept.get("steps"), int):
            self.lasted[situation.handle] = lasted
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
        self._before: list[Row] = []
        """What was exchanged before the agent changed, and counts no more."""
        further = journal.went_on()
        if further is not None and not further.explained:
            self._rows = self._rows[: further.after]
        elif further is not None and further.anew:
            self._before = self._rows[1 : further.after]
            self._rows = [*self._rows[:1], *self._rows[further.after :]]
        about = journal.about("agent")
        if journal.about("finished") is None and (about is None or not self._rows):
            raise UnusableInput(
                f"{journal.path}: the run was stopped before its first answer was recorded; go on with --resume"
            )
        self._vocabulary, self._headers = read_vocabulary(about)
        if further is not None and further.explained and further.constants:
            self._vocabulary = extended(self._vocabulary, typed(further.constants, self._vocabulary.types))
        self._access = Access(field(about, "access", str))
        self._contents = _SeenContents(journal, self._vocabulary, self._headers)

    def sights(self) -> Mapping[Hashable, Sight]:
        """The images of all situations, by their handles."""
        self._exchanges()
        return self._contents.sights

    def recorded(self, folder: Path, figures: Mapping[str, Any] | None) -> Recorded:
        initial, entries = self._exchanges()
        further = self._journal.went_on()
        repeated = field(self._journal.about("arguments"), "repeated_arguments", bool)
        repeated |= further is not None and further.repeated
        about = self._vocabulary, self._headers, self._access
        lines = tuple(map(printable, self._journal.about("lines") or ()))
        if lines and len(lines) < sum(len(entry.actions) for entry in entries):
            raise Malformed("it does not say of each step in which line of a trace it stands")
        transcript = Transcript(*about, initial, entries, repeated, lines)
        ending = None if figures is None or "curve" not in figures else read_ending(figures)
        examined = self._examined(len(entries))
        seen = self._contents.sights, self._contents.clips, self._contents.lasted
        return Recorded(folder, transcript, *seen, self._boxes(), self._sources(), figures, ending, examined)

    def _exchanges(self) -> tuple[tuple[Situation, ...], tuple[Entry, ...]]:
        """The initial situations, and everything that was asked and shown."""
        rows = self._rows
        if not rows or rows[0].kind != "initial":
            raise Malformed("it does not say where the interrogation began")
        initial = tuple(self._contents.situation(item) for item in rows[0].answer)
        if self._before and not self._access.restarts:  # it goes on from where it stood
            before = tuple(map(self._entry, self._before))
            here = Transcript(self._vocabulary, self._headers, self._access, initial, before).end
            initial = initial if here is None else (here,)
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
        moves = [
            move
            for (move,) in self._journal.contents("moves")
            if isinstance(move, dict) and "stop" not in move and not move.get("early")
        ]
        if len(moves) != entries:  # where answers are weighed a move leads to many
            return frozenset()
        examines = (move.get("examines") or ("walk" in move and move.get("stopped")) for move in moves)
        return frozenset(n for n, one in enumerate(examines) if one)

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
            printable(name): Source(*(printable(field(told, part, str)) for part in ("kind", "meaning")))
            for name, told in stated.items()
        }


# Answers that may be wrong, as evidence: which speak for a palm tuple, which against it, and how strongly.
#
# Where answers proved unreliable none proves anything, and the engine gave every palm tuple a probability
# (``interrogation.statistics``). Here the same answers are sorted by what they say of one palm tuple. All of one kind
# weigh the same: how much more probable such an answer is if the palm tuple is right than if the likeliest other mode
# is, under the rates of error that the run has estimated.


LEAST_RATE = 1e-6
"""The least value of a rate; ``result.json`` rounds them."""


@dataclass(frozen=True)
class Answers:
    """All answers of one kind: the same value before, the same outcome."""

    before: bool
    """The atom's value before the step."""
    outcome: bool
    """For an effect, the value that was seen after it; for a precondition, whether the step was done."""
    steps: tuple[AttemptedStep, ...]
    of: int
    """How many answers there are with the same value before."""
    odds: float
    """How many times more probable such an answer is if the palm tuple is right; below 1 it speaks against it."""

    @property
    def weight(self) -> float:
        """The sum that all of them add to the logarithm of the odds."""
        return len(self.steps) * log(self.odds)


class Weighing:
    """The palm tuples of a run whose answers proved unreliable, and the answers (walks in single steps) on which each rests.

    ``firsts`` are the entries whose first step started from a state that is known for certain. Raises UnusableInput: ``result.json`` is damaged.
    """

    def __init__(
        self, transcript: Transcript, firsts: Sequence[int], model: Model, figures: Mapping[str, Any]
    ) -> None:
        self._model = model
        self._indices = {
            header.name: AtomIndex(transcript.vocabulary, header) for header in transcript.headers
        }
        try:
            self.rates = _rates(figures["noise"], [p.name for p in transcript.vocabulary.predicates])
            self.probabilities = self._read(figures["palm_tuples"])
            self.threshold = _probability(figures["confidence"])
        except (Malformed, KeyError, TypeError, AttributeError, ValueError) as error:
            raise UnusableInput(f"result.json: damaged, or of another run ({error})") from None
        certain = set(firsts)
        self._trials: dict[str, list[AttemptedStep]] = {name: [] for name in self._indices}
        for step in attempted(transcript):
            index = self._indices[step.action.name]
            if step.entry in certain and not step.position and not index.coinciding(step.action.objects):
                self._trials[step.action.name].append(step)

    def probability(self, pal: PalTuple) -> float:
        """How probable the mode is that the palm tuple has in the model."""
        return self.probabilities[pal]

    def certain(self, pal: PalTuple) -> bool:
        """Whether it is as probable as the user wanted."""
        return self.probabilities[pal] >= self.threshold

    def answers(self, pal: PalTuple) -> list[Answers]:
        """The answers for and against a palm tuple, the weightiest first; for a precondition, only where all else that is required held."""
        found = self._of_precondition(pal) if pal.location is Location.PRE else self._of_effect(pal)
        return sorted(found, key=lambda answers: -abs(answers.weight))

    def _of_precondition(self, pal: PalTuple) -> Iterator[Answers]:
        index, schema = self._indices[pal.action], self._model.schema(pal.action)
        mode = schema.mode(pal.atom, Location.PRE)
        required = [
            (atom, wanted is Mode.POSITIVE)
            for atom in index.atoms
            if atom != pal.atom and (wanted := schema.mode(atom, Location.PRE)) is not Mode.ABSENT
        ]
        kinds = _kinds(
            (step, _value(step, pal.atom), step.executed)
            for step in self._trials[pal.action]
            if all(_value(step, atom) is wanted for atom, wanted in required)
        )
        done = (1 - self.rates.refusals) / self.rates.executions
        refused = (1 - self.rates.executions) / self.rates.refusals
        for before, outcome, steps, of in kinds:
            odds = done if outcome else 1 / refused  # that nothing was violated
            if mode is not Mode.ABSENT:
                # where it holds, both modes predict the same
                odds = 1.0 if before is (mode is Mode.POSITIVE) else 1 / odds
            yield Answers(before, outcome, steps, of, odds)

    def _of_effect(self, pal: PalTuple) -> Iterator[Answers]:
        schema, predicate = self._model.schema(pal.action), pal.atom.predicate
        mode, needed = schema.mode(pal.atom, Location.EFF), schema.mode(pal.atom, Location.PRE)
        kinds = _kinds(
            (step, _value(step, pal.atom), step.after.state.value(pal.atom.ground(step.action.objects)))
            for step in self._trials[pal.action]
            if step.executed and step.after is not None
        )

        def likelihood(of: Mode, before: bool, seen: bool) -> float:
            value = before if of is Mode.ABSENT else of is Mode.POSITIVE
            return _seen(self.rates.misreadings[predicate], value, seen)

        def score(of: Mode) -> float:
            return sum(len(steps) * log(likelihood(of, b, s)) for b, s, steps, _ in kinds)

        # adding a precondition changes nothing, so that it is not another mode
        others = [m for m in Mode if m is not mode and (m is Mode.ABSENT or m is not needed)]
        rival = max(others, key=score)
        for before, seen, steps, of in kinds:
            odds = likelihood(mode, before, seen) / likelihood(rival, before, seen)
            yield Answers(before, seen, steps, of, odds)

    def _read(self, told: Any) -> dict[PalTuple, float]:
        """The probabilities in ``result.json``."""
        known = {
            (entry["action"], entry["location"], entry["atom"]): _probability(entry["confidence"])
            for entry in told
        }
        found = {}
        for name, index in self._indices.items():
            for location in Location:
                for atom in index.atoms:
                    text = atom.text(index.header.parameters)
                    if (probability := known.get((name, location.value, text))) is None:
                        raise Malformed(f"no probability of {text} in {location.value} of {name}")
                    found[PalTuple(atom, name, location)] = probability
        return found


_Kind = tuple[bool, bool, tuple[AttemptedStep, ...], int]


def _kinds(trials: Iterable[tuple[AttemptedStep, bool | None, bool | None]]) -> list[_Kind]:
    """Steps by an atom's value before them and by their outcome, and how many have that value; those with an unknown one are left out."""
    found: dict[tuple[bool, bool], list[AttemptedStep]] = {}
    for step, before, outcome in trials:
        if before is not None and outcome is not None:
            found.setdefault((before, outcome), []).append(step)
    of = {value: sum(len(some) for (held, _), some in found.items() if held is value) for value, _ in found}
    return [(before, outcome, tuple(some), of[before]) for (before, outcome), some in sorted(found.items())]


def certain_starts(transcript: Transcript) -> list[int]:
    """The entries, walks in single steps, that begin in a state known for certain: settable, queries and first steps of walks; else, as all are seen, all."""
    found, number = list[int](), 0
    for entry in transcript.entries:
        length = 1 if isinstance(entry, Asked) else len(entry.steps)
        known = length if not transcript.access.constructs else min(1, length)
        found += range(number, number + known)
        number += length
    return found


def chances(odds: float) -> str:
    """Odds in words, e.g. ``7.5 times``; more than a thousand are not told apart."""
    size = exp(abs(log(odds)))
    return "over 1000 times" if size > 1000 else f"{size:.0f} times" if size >= 10 else f"{size:.1f} times"


def _value(step: AttemptedStep, atom: LiftedAtom) -> bool | None:
    assert step.before is not None, "a trial starts from a known state"
    return step.before.state.value(atom.ground(step.action.objects))


def _probability(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Malformed("a probability is none")
    return float(value)


def _rates(told: Any, predicates: Sequence[str]) -> ErrorRates:
    def rate(value: Any) -> float:
        return min(max(_probability(value), LEAST_RATE), 1 - LEAST_RATE)

    read = {
        name: Misreading(rate(told["false_positives"][name]), rate(told["false_negatives"][name]))
        for name in predicates
    }
    surely = told["refusals"] is None
    refusals = LEAST_RATE if surely else rate(told["refusals"])
    return ErrorRates(read, refusals, rate(told["executions"]), surely)


def _seen(misreading: Misreading, value: bool, as_value: bool) -> float:
    """The probability that an atom is seen with a value."""
    wrong = misreading.false_negative if value else misreading.false_positive
    return 1 - wrong if value == as_value else wrong
