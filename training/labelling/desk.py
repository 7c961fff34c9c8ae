"""Where questions wait for a person: the rounds of labelling ask here and wait, a page shows the picture and brings the answer.

Both run in threads of their own. Every answer is on disk before it counts. An answer that is withdrawn has the rounds begin again
with the answers that are left (``Corrected``): so all is as if the mistake had never been made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.errors import UnusableInput
from aam_vision.perception import VisualVocabulary
from aam_vision.strips import State
from aam_vision.training.labelling.draft import Draft, Guess
from aam_vision.training.labelling.guesses import Guesser
from aam_vision.training.labelling.pool import Pool, PooledPicture
from aam_vision.training.labelling.record import Digest, LabelRecord, digest_of
from aam_vision.training.labelling.view import view_of
from aam_vision.training.labelling.waiting import Waiting
from aam_vision.training.labelling.walks import Walked
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
