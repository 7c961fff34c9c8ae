"""Where questions wait for a person: the rounds of labelling ask here and wait, a page shows the picture and brings the answer.

Both run in threads of their own. Every answer is on disk before it counts. An answer that is withdrawn has the rounds begin again
with the answers that are left (``Corrected``): so all is as if the mistake had never been made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.legality import Truth
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.errors import UnusableInput
from aam_vision.perception import Box, Frame, Perceived, Reading, Scene, VisualVocabulary, board_box
from aam_vision.strips import State
from aam_vision.training.labelling.draft import Draft, Guess
from aam_vision.training.labelling.pool import (
    NO_LOOK,
    AskedAtom,
    Pool,
    PooledPicture,
    SiteAnswers,
    Sites,
    Walked,
)
from aam_vision.training.labelling.record import AtomRecord, Digest, LabelRecord, digest_of
from aam_vision.training.labelling.waiting import Waiting
from aam_vision.training.labels import Labels, label
from aam_vision.wording import counted


@dataclass
class Question:
    """A picture that is asked about."""

    serial: int
    number: int
    draft: Draft
    tested: bool


class Desk(Waiting[Question]):
    """Questions and answers of one session; a ``Labeller``.

    Args:
        visual: the vocabulary.
        pool: all pictures.
        record: where answers are kept.
        most: pictures to label at most, as the page tells it.
    """

    def __init__(self, visual: VisualVocabulary, pool: Pool, record: LabelRecord, most: int) -> None:
        super().__init__(pool, most)
        self._visual, self._record = visual, record
        self._guesser = Guesser(pool, len(visual.cell_heads()))
        self._numbers = {
            digest_of(one.picture.problem, one.picture.frame): number
            for number, one in enumerate(pool.pictures)
        }
        self._labels: dict[int, Labels] = {}
        self._former: dict[Digest, State | None] = {}

    def label(self, picture: Walked, *, tested: bool = False) -> State | None:
        """What a person says about a picture, None if they skip it; what is on disk is not asked again.

        Raises:
            Corrected: an earlier answer was corrected meanwhile.
        """
        with self._changed:
            self._begin_again()
            known = self._record.known(picture)
            if known is None and not self._record.skipped(picture):
                number = self._numbers[digest_of(picture.problem, picture.frame)]
                self._wait(self._question(number, tested=tested))
                known = self._record.known(picture)
            if known is not None:
                self._note(picture, known)
            return known

    def learned(self, perception: BoardPerception) -> None:
        """Take note of classifiers, for guesses."""
        with self._changed:
            self._guesser.perception = perception

    def _answered(self) -> int:
        return len(self._record)

    def _pictured(self, question: Question) -> PooledPicture:
        return self._pool.pictures[question.number]

    def _view(self, question: Question) -> dict[str, Any]:
        frame = self._pictured(question).picture.frame
        return {"kind": "ask", **view_of(self._visual, question.draft, frame)}

    def _act(self, what: str, facts: dict[str, Any]) -> str:
        """See ``Waiting.act``.

        Args:
            what: ``toggle``, ``clear``, ``next``, ``skip`` or ``undo``.
            facts: ``question``, and for the first two ``places`` (numbers); for the first ``head``, its number.
        """
        if what == "undo" and facts.get("question") is None:  # asked while the page waited
            return self._withdraw()
        question = self._present(facts.get("question"))
        draft = question.draft
        if what == "toggle":
            head = facts.get("head")
            if not isinstance(head, int) or not 0 <= head < len(draft.heads):
                raise ValueError("head")
            draft.toggle(head, _places(facts, draft))
        elif what == "clear":
            draft.clear(_places(facts, draft))
        elif what == "undo":
            return "Undone." if draft.take_back() else self._withdraw()
        elif what == "next":
            return self._answer(question)
        elif what == "skip":
            return self._skip(question)
        else:
            raise ValueError(what)
        return ""

    def _question(self, number: int, *, tested: bool) -> Question:
        """A picture with the best guess, or what it was labelled before that was withdrawn."""
        pooled = self._pool.pictures[number]
        former = self._former.get(digest_of(pooled.picture.problem, pooled.picture.frame))
        guess = self._guesser.guess(number, self._labels)
        if former is not None:
            yes = label(self._visual, pooled.picture.scene, pooled.index.places, former) == 1
            guess = Guess(yes, np.zeros_like(guess.unsure))
        draft = Draft(self._visual, pooled.index, guess, self._guesser.alike(number))
        return Question(self._next(), number, draft, tested)

    def _answer(self, question: Question) -> str:
        """Write an answer, and give it to whoever asked."""
        problems = question.draft.problems()
        if problems:
            raise UnusableInput(problems[0].why)
        state = question.draft.state()
        pooled = self._pictured(question)
        self._record.add(pooled.picture, pooled.index, state)
        self._taken(question, state)
        self._note(pooled.picture, state)
        self._told = f"Learning from {counted(len(self._record), 'labelled picture')} ..."
        return f"Picture {len(self._record)} is labelled."

    def _skip(self, question: Question) -> str:
        """Write that nobody can tell what a picture shows."""
        pooled = self._pictured(question)
        self._record.skip(pooled.picture, pooled.index)
        self._taken(question, None)
        self._told = "Looking for another picture ..."
        return "The picture is skipped: it is left out."

    def _taken(self, question: Question, state: State | None) -> None:
        """Give an answer that is written to whoever asked."""
        picture = self._pictured(question).picture
        digest = digest_of(picture.problem, picture.frame)
        self._given(question, changed=digest in self._former and state != self._former[digest])

    def _withdraw(self) -> str:
        """Ask again about the picture that was labelled last."""
        if self._ended:
            return "The labels are learned: start the command again to go on."
        found = self._record.withdraw()
        if found is None:
            return "There is nothing to undo."
        problem, frame, state = found
        digest = digest_of(problem, frame)
        self._former[digest] = state
        number = self._numbers.get(digest)
        if number is not None:
            self._labels.pop(number, None)
        self._ask_again(None if number is None else self._question(number, tested=False))
        return "The last label is withdrawn: correct it."

    def _forget(self) -> None:
        self._labels.clear()

    def _note(self, picture: Walked, state: State) -> None:
        """Keep an answer for guesses."""
        number = self._numbers[digest_of(picture.problem, picture.frame)]
        pooled = self._pool.pictures[number]
        self._labels[number] = label(self._visual, picture.scene, pooled.index.places, state)


def _places(facts: dict[str, Any], draft: Draft) -> list[int]:
    """The places that a page names."""
    places = facts.get("places")
    known = range(len(draft.index.places))
    if (
        not isinstance(places, list)
        or not places
        or not all(type(one) is int and one in known for one in places)
    ):
        raise ValueError("places")
    return sorted(set(places))


# What a picture probably shows, so that a person has little to correct.


ALIKE: Final = 4.0
"""Largest distance of looks that are taken for the same while a person watches: a larger one fills in more, and more wrongly."""


class Guesser:
    """Guesses what the pictures of a pool show.

    Args:
        pool: the pictures.
        heads: number of classifiers.
    """

    def __init__(self, pool: Pool, heads: int) -> None:
        self._pool, self._heads = pool, heads
        self.perception: BoardPerception | None = None
        """Classifiers that were trained on the answers so far, if there are any."""

    def guess(self, number: int, answered: Mapping[int, Labels]) -> Guess:
        """What a picture probably shows: what places that look the same were labelled, else what the classifiers say.

        Args:
            number: of the picture in the pool.
            answered: the labels (heads, places) of pictures by their numbers.
        """
        pooled = self._pool.pictures[number]
        yes: Truth = np.zeros((self._heads, len(pooled.looks)), bool)
        unsure: NDArray[np.bool_] = np.ones(len(pooled.looks), bool)
        if self.perception is not None:
            picture = pooled.picture
            (probabilities,) = self.perception.probabilities([picture.frame], picture.scene)
            sure, doubtful = pooled.index.legality.settle(probabilities, *self.perception.thresholds)
            yes, unsure = np.where(doubtful, probabilities > 0.5, sure), np.asarray(doubtful.any(0))
        columns: dict[int, Labels] = {}
        for other, labels in answered.items():
            looks = self._pool.pictures[other].looks
            columns.update(
                {int(look): labels[:, place] for place, look in enumerate(looks) if look != NO_LOOK}
            )
        for place, look in enumerate(pooled.looks):
            if look == NO_LOOK:
                self._as_before(number, place, answered, yes, unsure)
            elif columns:
                known = list(columns)
                nearest = int(self._pool.distances[look, known].argmin())
                near = self._pool.distances[look, known[nearest]] <= ALIKE
                if near or (unsure[place] and self.perception is None):
                    yes[:, place] = columns[known[nearest]] == 1
                    unsure[place] = not near
        return Guess(yes, unsure)

    def alike(self, number: int) -> Truth:
        """(places, places): which places of a picture look the same."""
        looks = self._pool.pictures[number].looks
        found: Truth = self._pool.distances[np.ix_(looks, looks)] <= ALIKE
        found &= (looks != NO_LOOK)[:, None] & (looks != NO_LOOK)[None]
        return found

    def _as_before(
        self, number: int, place: int, answered: Mapping[int, Labels], yes: Truth, unsure: Truth
    ) -> None:
        """Fill in what a place with several cells showed last in the same problem, in place."""
        if self.perception is not None and not unsure[place]:
            return
        problem = self._pool.pictures[number].picture.problem
        same = [other for other in answered if self._pool.pictures[other].picture.problem == problem]
        if same:
            yes[:, place] = answered[same[-1]][:, place] == 1


# What the labelling page shows of a picture, as JSON.


KEYS: Final = "123456789abcdefghijklmopqrtvwxyz"
"""By which answers are toggled: neither n, s, u nor 0, which mean something else."""


def view_of(visual: VisualVocabulary, draft: Draft, frame: Frame) -> dict[str, Any]:
    """A picture, its places, and what is said about them."""
    height, width = frame.shape[:2]
    scene = draft.index.scene
    problems = draft.problems()
    wrong = {place for problem in problems for place in problem.places}
    told = _descriptions(visual)
    taken: set[tuple[int, ...]] = set()
    places = []
    for number, name in enumerate(draft.index.places):
        cells = draft.index.cells[number]
        large = len(cells) > 1 or cells in taken
        taken.add(cells)
        boxes = [box_of(scene, cell, height, width) for cell in cells]
        asked = draft.asked(number)
        places.append(
            {
                "name": name,
                "boxes": [[round(edge, 5) for edge in box] for box in boxes if box is not None],
                "large": large,
                "asked": asked,
                "yes": [head for head in asked if draft.yes[head, number]],
                "unsure": bool(draft.unsure[number]),
                "wrong": number in wrong,
            }
        )
    return {
        "width": width,
        "height": height,
        "heads": [
            {"name": head, "key": KEYS[number % len(KEYS)], "description": told[head]}
            for number, head in enumerate(draft.heads)
        ],
        "places": places,
        "problems": [
            {"places": list(problem.places), "why": problem.why, "number": problem.number}
            for problem in problems
        ],
    }


def _descriptions(visual: VisualVocabulary) -> dict[str, str]:
    """What the user wrote about every classifier's predicate."""
    found: dict[str, str] = {}
    for entry in visual.entries:
        if isinstance(entry, Perceived):
            for head in entry.heads.values():
                found.setdefault(head, f"{entry.predicate.name}: {entry.description}")
    return found


def box_of(scene: Scene, cell: int, height: int, width: int) -> Box | None:
    """Top, bottom, left and right edge of a cell, as shares of the picture; None if it is nowhere."""
    row, column = divmod(cell, scene.columns)
    if scene.boxes is not None:
        return scene.boxes.get((row, column))
    top, bottom, left, right = board_box(height, width, scene.rows, scene.columns)
    down, across = (bottom - top) / scene.rows / height, (right - left) / scene.columns / width
    return (
        top / height + row * down,
        top / height + (row + 1) * down,
        left / width + column * across,
        left / width + (column + 1) * across,
    )


# The same with questions about single atoms, where those above are about whole pictures.


ANSWERS: dict[str, bool | None] = {"yes": True, "no": False, "skip": None}


@dataclass(frozen=True)
class AtomQuestion:
    """An atom that is asked about."""

    serial: int
    atom: AskedAtom
    tested: bool


class AtomDesk(Waiting[AtomQuestion]):
    """Questions and answers of one session; an ``AtomLabeller``.

    Args:
        visual: the vocabulary.
        sites: of the pictures.
        record: where answers are kept.
        most: answers at most, as the page tells it.

    Raises:
        UnusableInput: the answers in the record contradict each other.
    """

    def __init__(self, visual: VisualVocabulary, sites: Sites, record: AtomRecord, most: int) -> None:
        super().__init__(sites.pool, most)
        self._visual, self._sites, self._record = visual, sites, record
        self._heads = visual.cell_heads()
        self._entries = {
            head: entry
            for entry in visual.entries
            if isinstance(entry, Perceived)
            for head in entry.heads.values()
        }
        self._answers = self._rebuilt()
        self._former: dict[AskedAtom, bool | None] = {}

    def label(self, picture: Walked, *, tested: bool = False) -> State | None:
        """None: nobody is asked about whole pictures here."""
        return None

    def atom(self, atom: AskedAtom, *, tested: bool = False) -> bool | None:
        """What a person says about an atom, None if they skip it; what is on disk is not asked again.

        Raises:
            Corrected: an earlier answer was corrected meanwhile.
        """
        with self._changed:
            self._begin_again()
            if atom not in self._record:
                self._wait(AtomQuestion(self._next(), atom, tested))
            return self._record[atom]

    def learned(self, perception: BoardPerception) -> None:
        """Nothing: no answer is filled in, so that it is the person's own."""

    def _answered(self) -> int:
        return len(self._record)

    def _pictured(self, question: AtomQuestion) -> PooledPicture:
        return self._pool.pictures[question.atom.number]

    def _view(self, question: AtomQuestion) -> dict[str, Any]:
        pooled = self._pictured(question)
        height, width = pooled.picture.frame.shape[:2]
        cells = pooled.index.cells[question.atom.place]
        boxes = [box_of(pooled.index.scene, cell, height, width) for cell in cells]
        return {
            "kind": "atom",
            "width": width,
            "height": height,
            "boxes": [[round(edge, 5) for edge in box] for box in boxes if box is not None],
            **self._text(question.atom),
        }

    def _act(self, what: str, facts: dict[str, Any]) -> str:
        """See ``Waiting.act``.

        Args:
            what: ``yes``, ``no``, ``skip`` or ``undo``.
            facts: ``question``.
        """
        if what == "undo":
            if facts.get("question") is not None:  # else it was asked while the page waited
                self._present(facts["question"])
            return self._withdraw()
        question = self._present(facts.get("question"))
        if what not in ANSWERS:
            raise ValueError(what)
        return self._answer(question, what)

    def _answer(self, question: AtomQuestion, what: str) -> str:
        """Write an answer, and give it to whoever asked."""
        atom, value = question.atom, ANSWERS[what]
        if value is not None:
            self._answers.check(atom, yes=value)
        self._record.add(atom, value)
        if value is not None:
            self._answers.add(atom, yes=value)
        self._told = f"Learning from {counted(len(self._record), 'answer')} ..."
        self._given(question, changed=atom in self._former and value != self._former[atom])
        return f"{self._text(atom)['text']} {'skipped' if value is None else what}"

    def _withdraw(self) -> str:
        """Ask again what was answered last."""
        if self._ended:
            return "The answers are learned: start the command again to go on."
        found = self._record.withdraw()
        if found is None:
            return "There is nothing to undo."
        atom, value = found
        self._answers = self._rebuilt()
        if atom is not None:
            self._former[atom] = value
        self._ask_again(None if atom is None else AtomQuestion(self._next(), atom, tested=False))
        return "The last answer is withdrawn: correct it."

    def _rebuilt(self) -> SiteAnswers:
        """What the record says."""
        found = SiteAnswers(self._sites, len(self._heads))
        for atom, value in self._record.answers():
            try:
                found.add(atom, yes=value)
            except UnusableInput as error:
                raise UnusableInput(
                    f"the answers on disk contradict each other at {self._text(atom)['text']} {error}"
                ) from None
        return found

    def _text(self, atom: AskedAtom) -> dict[str, str]:
        """A question in words, and what its predicate means."""
        head = self._heads[atom.head]
        entry, place = self._entries[head], self._pool.pictures[atom.number].index.places[atom.place]
        name = entry.predicate.name
        if entry.reading is Reading.WHERE:
            look = next(look for look, own in entry.heads.items() if own == head)
            text = f"{name}({look}, {place})?"
        elif entry.reading is Reading.ON:
            text = f"{name}(what is at {place})?"
        else:
            text = f"{name}({place})?"
        return {"text": text, "description": entry.description, "place": place}
