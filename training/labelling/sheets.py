"""Sheets: a question while a person works on its answer, and what a page shows of it; those of whole boards, and of single atoms of them.

A person says one thing about a place: it shows a stone. What follows is filled in: the place takes the nearest combination of
answers that the constraints of the vocabulary allow, and places of the same picture that look alike and were not spoken of
take it, too. Before anybody has spoken, all is filled in that can be guessed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Frame, Never, Reading, VisualVocabulary, cell_boxes
from aam_vision.classifiers.legality import Truth
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.labelled import Labels
from aam_vision.model.strips import Atom, State
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted
from aam_vision.training.labelling.pool import NO_LOOK, AskedAtom, LabelQuestion, Pool, SiteAnswers
from aam_vision.training.labelling.record import LabelRecord
from aam_vision.training.labelling.rounds import Answer

KEYS: Final = "123456789abcdefghijklmopqrtvwxyz"
"""By which answers are toggled: neither n, s, u nor 0, which mean something else."""

ALIKE: Final = 4.0
"""Largest distance of looks that are taken for the same while a person watches: a larger one fills in more, and more wrongly."""


@dataclass(frozen=True)
class Guess:
    """What a picture probably shows, (heads, places), and where somebody has to look, (places,)."""

    yes: Truth
    unsure: NDArray[np.bool_]


@dataclass(frozen=True)
class Problem:
    """Answers that cannot all be right: those about these places (numbers), and why; or there is only too many of something."""

    places: Sequence[int]
    why: str
    number: bool = False


Said = TypeVar("Said")
Seen = TypeVar("Seen")
Label = TypeVar("Label")


class Sheet(ABC):
    """A question as a page shows it, while a person works on its answer."""

    @abstractmethod
    def view(self, frame: Frame) -> dict[str, Any]:
        """What the page shows of it, as JSON."""

    def change(self, what: str, facts: dict[str, Any]) -> None:
        """Do what the page asks for; ValueError if a page never asks for that."""
        raise ValueError(what)

    def take_back(self) -> bool:
        """Undo the last change; False if there is none."""
        return False

    @abstractmethod
    def answer(self, what: str) -> Answer:
        """The answer; UnusableInput if it cannot be right."""

    @abstractmethod
    def told(self, what: str, number: int) -> tuple[str, str]:
        """What the page says after so many answers, while it waits, and about this one."""


class Sheets(ABC, Generic[Seen]):
    """Makes the sheets of one kind of question, and keeps what helps to answer.

    Attributes:
        name: what an answer is called.
        endings: what ends a question.
    """

    name = "label"
    endings: tuple[str, ...] = ("next", "skip")

    @abstractmethod
    def sheet(self, question: LabelQuestion, former: Answer | None) -> Sheet:
        """A question; ``former``: what was answered before that was withdrawn."""

    def learned(self, perception: Seen) -> None:
        """Take note of classifiers that were trained on the answers so far."""

    @abstractmethod
    def note(self, question: LabelQuestion, answer: Any) -> None:
        """Keep an answer."""

    @abstractmethod
    def forget(self, question: LabelQuestion | None) -> None:
        """Forget an answer, or all."""


class PictureSheet(Sheet, Generic[Said]):
    """What is said about one picture; whatever a person changes can be undone.

    Attributes:
        places: of which something can be said: their names.
        heads: what can be said of places: name, key and description of each, as the page has them.
    """

    def __init__(self, places: Sequence[str], heads: Sequence[Mapping[str, str]], said: Said) -> None:
        self.places, self.heads, self._said = places, heads, said
        self._before: list[Said] = []

    @abstractmethod
    def asked(self, place: int) -> list[int]:
        """The numbers of the heads that are asked of a place, and that nothing hides there."""

    @abstractmethod
    def says(self, head: int, place: int) -> bool:
        """Whether something is said of a place."""

    @abstractmethod
    def toggle(self, head: int, places: Sequence[int]) -> None:
        """Say that places show something; or that they do not, if all of them did."""

    @abstractmethod
    def clear(self, places: Sequence[int]) -> None:
        """Say that places show nothing."""

    @abstractmethod
    def problems(self) -> list[Problem]:
        """What cannot be right."""

    @abstractmethod
    def shown(self, place: int, frame: Frame) -> dict[str, Any]:
        """What the page shows of a place besides what is said of it, as JSON."""

    def view(self, frame: Frame) -> dict[str, Any]:
        """The picture's places, and what is said about them, as JSON."""
        problems = self.problems()
        wrong = {place for problem in problems for place in problem.places}
        places = []
        for number, name in enumerate(self.places):
            asked = self.asked(number)
            said = {"asked": asked, "yes": [head for head in asked if self.says(head, number)]}
            places.append({"name": name, **said, "wrong": number in wrong, **self.shown(number, frame)})
        return {"kind": "ask", "heads": self.heads, "places": places, "problems": [*map(asdict, problems)]}

    def change(self, what: str, facts: dict[str, Any]) -> None:
        """Say something about places (numbers): ``toggle`` a head (its number), or ``clear``; ValueError if it is none of that."""
        if what not in ("toggle", "clear"):
            raise ValueError(what)
        head, places = facts.get("head"), places_in(facts, len(self.places))
        if what == "clear":
            self.clear(places)
        elif type(head) is int and head in range(len(self.heads)):
            self.toggle(head, places)
        else:
            raise ValueError("head")

    def take_back(self) -> bool:
        if not self._before:
            return False
        self._said = self._before.pop()
        return True

    def told(self, what: str, number: int) -> tuple[str, str]:
        if what == "skip":
            return "Looking for another picture ...", "The picture is skipped: it is left out."
        return f"Learning from {counted(number, 'labelled picture')} ...", f"Picture {number} is labelled."

    def _say(self, said: Said) -> None:
        self._before.append(self._said)
        self._said = said


class _Answers(NamedTuple):
    """All that is said about a board at a time: what places show, (heads, places), where somebody has to look, and of which one spoke."""

    yes: Truth
    unsure: Truth
    told: Truth


class Draft(PictureSheet[_Answers]):
    """The answers about one board.

    Args:
        vocabulary: of the picture.
        index: of its scene.
        guess: what is filled in before anybody has spoken.
        alike: (places, places), which places look alike.
    """

    def __init__(self, vocabulary: VisualVocabulary, index: SceneIndex, guess: Guess, alike: Truth) -> None:
        self._vocabulary, self.index, self._alike = vocabulary, index, alike
        self._names = vocabulary.cell_heads()
        covered = (one for one in vocabulary.perceived if one.hidden_by)
        self._can_be_hidden = {vocabulary.rows[head] for one in covered for head in one.heads.values()}
        self._most = {count.head: count.number for count in index.legality.counts}
        self._kinds = [index.legality.kind(place) for place in range(len(index.places))]
        self._first = {own: number for number, own in reversed([*enumerate(index.cells)])}
        yes: Truth = np.zeros((len(self._names), len(index.places)), bool)
        unsure = guess.unsure.copy()
        for place, kind in enumerate(self._kinds):
            if kind is None:
                unsure[place] = False
            else:
                answers = guess.yes[kind.heads, place]
                yes[kind.heads, place] = answers & kind.meaningful[int(answers @ kind.weights)]
        meaning: dict[str, str] = {}
        for entry in vocabulary.perceived:
            for head in entry.heads.values():
                meaning.setdefault(head, f"{entry.predicate.name}: {entry.description}")
        heads = [
            {"name": head, "key": KEYS[number % len(KEYS)], "description": meaning[head]}
            for number, head in enumerate(self._names)
        ]
        super().__init__(index.places, heads, _Answers(yes, unsure, np.zeros_like(unsure)))

    @property
    def yes(self) -> Truth:
        """What places show, (heads, places)."""
        return self._said.yes

    @property
    def unsure(self) -> Truth:
        """Where somebody has to look, (places,)."""
        return self._said.unsure

    def asked(self, place: int) -> list[int]:
        kind = self._kinds[place]
        if kind is None:
            return []
        means = kind.meaningful[int(self.yes[kind.heads, place] @ kind.weights)]
        hidden = self._can_be_hidden.intersection(kind.heads[~means].tolist())
        return [head for head in kind.heads.tolist() if head not in hidden]

    def says(self, head: int, place: int) -> bool:
        return bool(self.yes[head, place])

    def toggle(self, head: int, places: Sequence[int]) -> None:
        """Say that places show something; or that they do not, if all of them did.

        Each takes the nearest legal combination in which the answer is this one.
        """
        kinds = ((place, self._kinds[place]) for place in places)
        spoken = {place: kind for place, kind in kinds if kind is not None and head in kind.heads}
        if not spoken:
            return
        yes = self.yes.copy()
        value = not yes[head, list(spoken)].all()
        for place, kind in spoken.items():
            own, now = kind.heads == head, yes[kind.heads, place].copy()
            fitting = kind.patterns[(kind.patterns[:, own] == value).all(1)]
            if len(fitting):
                changed, kept = (fitting != now).sum(1), (fitting & now).sum(1)
                now = fitting[np.lexsort((-kept, changed))[0]]
            else:
                now[own] = value
            yes[kind.heads, place] = now
        self._tell(list(spoken), yes)

    def clear(self, places: Sequence[int]) -> None:
        yes = self.yes.copy()
        yes[:, list(places)] = False
        self._tell(places, yes)

    def problems(self) -> list[Problem]:
        """What the constraints of the vocabulary exclude, and what there is too often or too seldom."""
        found = []
        for place, kind in enumerate(self._kinds):
            if kind is None or kind.legal[int(self.yes[kind.heads, place] @ kind.weights)]:
                continue
            why = "what a constraint excludes"
            yes = {self._names[head] for head in np.flatnonzero(self.yes[:, place])}
            for item in reversed(self._vocabulary.constraints):
                if isinstance(item, Never) and yes.issuperset(item.shows) and yes.isdisjoint(item.without):
                    without = f" without {' or '.join(item.without)}" if item.without else ""
                    why = f"{' with '.join(item.shows)}{without}, which a constraint excludes"
            found.append(Problem((place,), f"{self.index.places[place]} shows {why}"))
        for count in self.index.legality.counts:
            shown = np.flatnonzero(self.yes[count.head])
            if len(shown) > count.number or (count.exact and len(shown) < count.number):
                most = "" if count.exact else " at most"
                number = f"{counted(len(shown), 'place')} instead of {count.number}{most}"
                why = f"{self._names[count.head]} is in {number}"
                found.append(Problem(tuple(shown.tolist()), why, number=True))
        return found

    def state(self) -> State:
        """The perceived atoms that are true; look-alikes stay where they were first, or follow in order.

        Raises:
            UnusableInput: more places show something than there are things that look like that.
        """
        scene, rows = self.index.scene, self._vocabulary.rows
        columns = {place: column for column, place in enumerate(self.index.places)}
        where: dict[str, Atom] = {}
        for entry in self._vocabulary.read_as(Reading.WHERE):
            objects, (kind, place_kind) = scene.objects_of(entry), entry.predicate.types
            allowed = objects.members(place_kind)
            for look, head in entry.heads.items():
                shown = [self.index.places[one] for one in np.flatnonzero(self.yes[rows[head]])]
                places = [place for place in shown if place in allowed]
                alike = [one for one in objects.of_type(kind) if scene.looks.get(one) == look]
                if len(places) > len(alike):
                    raise UnusableInput(
                        f"{head} is in {counted(len(places), 'place')} instead of {len(alike)} at most"
                    )
                same = {one: scene.anchors[one] for one in alike if scene.anchors.get(one) in places}
                others = [one for one in places if one not in same.values()]
                same.update(zip([one for one in alike if one not in same], others, strict=False))
                where.update({one[0]: Atom(entry.predicate.name, one) for one in same.items()})
        true = set(where.values())
        for entry in (one for one in self._vocabulary.perceived if one.reading is not Reading.WHERE):
            row, name = rows[entry.heads[""]], entry.predicate.name
            for item in scene.objects_of(entry).of_type(entry.predicate.types[0]):
                seen = where.get(item) if entry.reading is Reading.ON else None
                place = item if entry.reading is Reading.THERE else seen.objects[1] if seen else ""
                if place in columns and self.yes[row, columns[place]]:
                    true.add(Atom(name, (item,)))
        return State(frozenset(true), scene.objects)

    def shown(self, place: int, frame: Frame) -> dict[str, Any]:
        own = self.index.cells[place]
        large = len(own) > 1 or self._first[own] < place
        unsure = bool(self.unsure[place])
        return {"boxes": boxes_of(self.index, place, frame), "large": large, "unsure": unsure}

    def answer(self, what: str) -> State:
        """What is said, once the person says that it is all; UnusableInput if it cannot all be right."""
        for problem in self.problems():
            raise UnusableInput(problem.why)
        return self.state()

    def _tell(self, places: Sequence[int], yes: Truth) -> None:
        """Say what places show, and fill in those that look alike."""
        unsure, told = self.unsure.copy(), self._said.told.copy()
        told[list(places)] = True
        unsure[list(places)] = False
        for place in places:
            same = self._alike[place] & ~told
            after = yes.copy()
            after[:, same] = yes[:, [place]]
            said = np.flatnonzero(yes[:, place]).tolist()
            if all(after[head].sum() <= self._most[head] for head in said if head in self._most):
                yes, unsure = after, unsure & ~same
        self._say(_Answers(yes, unsure, told))


class LabelSheets(Sheets[Seen], Generic[Seen, Label]):
    """Makes the sheets of whole pictures, with guesses filled in: keeps labels, and the latest classifiers."""

    def __init__(self) -> None:
        self._labels: dict[int, Label] = {}
        self._perception: Seen | None = None

    def learned(self, perception: Seen) -> None:
        self._perception = perception

    def note(self, question: LabelQuestion, answer: Any) -> None:
        self._labels[question.number] = answer

    def forget(self, question: LabelQuestion | None) -> None:
        if question is None:
            self._labels.clear()
        else:
            self._labels.pop(question.number, None)


class PictureSheets(LabelSheets[BoardPerception, State]):
    """Boards as a page shows them."""

    def __init__(self, visual: VisualVocabulary, pool: Pool) -> None:
        super().__init__()
        self._visual, self._pool = visual, pool

    def sheet(self, question: LabelQuestion, former: Answer | None) -> Draft:
        """A picture with the best guess, or with what it was labelled before that was withdrawn."""
        pooled = self._pool.pictures[question.number]
        guess = self._guess(question.number)
        if isinstance(former, State):
            guess = Guess(pooled.labels(former) == 1, np.zeros_like(guess.unsure))
        looks = pooled.looks
        alike: Truth = self._pool.distances[np.ix_(looks, looks)] <= ALIKE
        alike &= (looks != NO_LOOK)[:, None] & (looks != NO_LOOK)[None]
        return Draft(self._visual, pooled.index, guess, alike)

    def _guess(self, number: int) -> Guess:
        """What a picture probably shows: what places that look the same were labelled, else what the classifiers say.

        A place with several cells shows what it showed last in the same problem.
        """
        pooled, trained = self._pool.pictures[number], self._perception is not None
        yes: Truth = np.zeros((len(self._visual.rows), len(pooled.looks)), bool)
        unsure: NDArray[np.bool_] = np.ones(len(pooled.looks), bool)
        if self._perception is not None:
            probabilities, sure, doubtful = pooled.read(self._perception)
            yes, unsure = np.where(doubtful, probabilities > 0.5, sure), np.asarray(doubtful.any(0))
        columns: dict[int, Labels] = {}
        before: Labels | None = None
        for other, state in self._labels.items():
            one = self._pool.pictures[other]
            labels = one.labels(state)
            columns.update(
                {int(look): labels[:, place] for place, look in enumerate(one.looks) if look != NO_LOOK}
            )
            before = labels if one.picture.problem == pooled.picture.problem else before
        for place, look in enumerate(pooled.looks):
            if look == NO_LOOK:
                if before is not None and (unsure[place] or not trained):
                    yes[:, place] = before[:, place] == 1
            elif columns:
                known = list(columns)
                nearest = int(self._pool.distances[look, known].argmin())
                near = self._pool.distances[look, known[nearest]] <= ALIKE
                if near or (unsure[place] and not trained):
                    yes[:, place] = columns[known[nearest]] == 1
                    unsure[place] = not near
        return Guess(yes, unsure)


def places_in(facts: Mapping[str, Any], number: int) -> list[int]:
    """The places (numbers) that a page speaks of, of so many, in order, each once; ValueError if it speaks of none, or of others."""
    places = facts.get("places")
    if not isinstance(places, list) or not places:
        raise ValueError("places")
    if not all(type(one) is int and one in range(number) for one in places):
        raise ValueError("places")
    return sorted(set(places))


def boxes_of(index: SceneIndex, place: int, frame: Frame) -> list[list[float]]:
    """Top, bottom, left and right edge of the cells of a place, as shares of the picture; cells that are nowhere have none."""
    height, width = frame.shape[:2]
    boxes = cell_boxes(height, width, index.scene)
    cells = [divmod(cell, index.scene.columns) for cell in index.cells[place]]
    return [[round(edge, 5) for edge in boxes[cell]] for cell in cells if cell in boxes]


# Single atoms as a page shows them: nothing is filled in, so that the answer is the person's own.


class AtomSheets(Sheets[BoardPerception]):
    """The sheets of single atoms; UnusableInput if the answers in the record contradict each other."""

    name = "answer"
    endings: tuple[str, ...] = ("yes", "no", "skip")

    def __init__(self, visual: VisualVocabulary, pool: Pool, record: LabelRecord) -> None:
        self._pool, self._record, self._heads = pool, record, visual.cell_heads()
        self._entries = {
            head: (look, entry)
            for entry in visual.perceived
            for look, head in reversed([*entry.heads.items()])
        }
        self.forget(None)

    def sheet(self, question: LabelQuestion, former: Answer | None) -> AtomSheet:
        """A question in words, and what its predicate means."""
        assert isinstance(question, AskedAtom)
        index = self._pool.pictures[question.number].index
        look, entry = self._entries[self._heads[question.head]]
        name, place = entry.predicate.name, index.places[question.place]
        where = {Reading.WHERE: f"{look}, {place}", Reading.ON: f"what is at {place}"}
        text = f"{name}({where.get(entry.reading, place)})?"
        facts = {"kind": "atom", "text": text, "description": entry.description, "place": place}
        return AtomSheet(question, index, facts, self)

    def note(self, question: LabelQuestion, answer: Any) -> None:
        """Keep what follows from an answer."""
        assert isinstance(question, AskedAtom)
        self.known.add(question, yes=bool(answer))

    def forget(self, question: LabelQuestion | None) -> None:
        """What follows from all that the record says by now."""
        self.known = SiteAnswers(self._pool, len(self._heads))
        for asked, value in self._record.answers():
            try:
                self.note(asked, value)
            except UnusableInput as error:
                text = self.sheet(asked, None).facts["text"]
                raise UnusableInput(f"the answers on disk contradict each other at {text} {error}") from None


@dataclass(frozen=True)
class AtomSheet(Sheet):
    """A single atom that is asked about."""

    atom: AskedAtom
    index: SceneIndex
    facts: dict[str, Any]
    sheets: AtomSheets

    def view(self, frame: Frame) -> dict[str, Any]:
        """The question, and where the place is."""
        return {**self.facts, "boxes": boxes_of(self.index, self.atom.place, frame)}

    def answer(self, what: str) -> bool:
        """Whether it is true; UnusableInput if that contradicts other answers."""
        self.sheets.known.check(self.atom, yes=what == "yes")
        return what == "yes"

    def told(self, what: str, number: int) -> tuple[str, str]:
        said = f"{self.facts['text']} {'skipped' if what == 'skip' else what}"
        return f"Learning from {counted(number, 'answer')} ...", said
