"""Where questions wait for a person: the rounds of labelling ask here and wait, a page shows the picture and brings the answer.

Both run in threads of their own. Every answer is on disk before it counts. An answer that is withdrawn has the rounds begin again
with the answers that are left (``Corrected``): so all is as if the mistake had never been made. What a page shows of a question, and what
a person can do there, is a ``Sheet``'s: ``sheets`` has those of boards, ``things`` those of pictures without cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Condition
from typing import Any, Final, Generic, TypeVar

from aam_vision.support.errors import AamError
from aam_vision.support.pictures import encode
from aam_vision.training.described import PROBLEM
from aam_vision.training.labelling.pool import LabelQuestion, Walked
from aam_vision.training.labelling.record import LabelRecord
from aam_vision.training.labelling.rounds import Answer
from aam_vision.training.labelling.sheets import Sheet, Sheets

P = TypeVar("P", contravariant=True)

SOON: Final = 0.3
"""Seconds in which the next question may come with the answer to what a page did; a page asks for later ones itself."""


class Corrected(AamError):
    """Raised where the rounds ask, after an earlier answer was corrected: begin again, what is known is not asked again."""


class Stale(AamError):
    """Raised when a page speaks of a question that is no longer the one that is asked."""


@dataclass(frozen=True)
class _Asked:
    """A question that a page shows, under a number of its own."""

    serial: int
    question: LabelQuestion
    sheet: Sheet
    tested: bool
    missing: int = 0


class Desk(Generic[P]):
    """Questions and answers of one session; a ``Labeller``, and ``server.Shown``.

    ``_changed`` is held wherever anything here is read or changed. An answer that is withdrawn is asked about first
    (``_correcting``), and what the rounds asked meanwhile waits.
    """

    def __init__(self, pictures: Sequence[Walked], record: LabelRecord, sheets: Sheets[P], most: int) -> None:
        self._pictures, self._record, self._sheets, self._most = pictures, record, sheets, most
        self._changed = Condition()
        self._asked: _Asked | None = None
        self._correcting: _Asked | None = None
        self._former: dict[LabelQuestion, Answer | None] = {}
        self._serial, self._withdrawn, self._redo = 0, 0, False
        self._told, self._ended, self._seen = "", False, False

    def answer(self, question: LabelQuestion, *, tested: bool = False, missing: int = 0) -> Answer | None:
        """What a person answers, None if they skip it; what is on disk is not asked again.

        Raises:
            Corrected: an earlier answer was corrected meanwhile.
        """
        with self._changed:
            self._begin_again()
            if question not in self._record:
                self._asked = self._sheet(question, tested=tested, missing=missing)
                self._changed.notify_all()
                while self._asked is not None:
                    self._changed.wait()
                self._begin_again()
            answer = self._record[question]
            if answer is not None:
                self._sheets.note(question, answer)
            return answer

    def learned(self, perception: P) -> None:
        with self._changed:
            self._sheets.learned(perception)

    def settle(self) -> None:
        """Wait until no earlier answer is being corrected; Corrected if one was."""
        with self._changed:
            while self._correcting is not None:
                self._changed.wait()
            self._begin_again()

    def end(self, text: str, seconds: float) -> None:
        """Tell the page that all is done, and wait for so long at most until it has seen it."""
        with self._changed:
            self._told, self._ended = text, True
            self._changed.wait_for(lambda: self._seen, seconds)

    def view(self) -> dict[str, Any]:
        """All that the page shows; once it is ``done``, the page has seen the end."""
        with self._changed:
            facts = {"labelled": len(self._record), "most": self._most, "told": self._told}
            asked = self._shown()
            if asked is None:
                self._seen = self._ended
                self._changed.notify_all()
                return {"kind": "done" if self._ended else "busy", **facts}
            picture = self._pictures[asked.question.number]
            height, width = picture.frame.shape[:2]
            return {
                **facts,
                "question": asked.serial,
                "problem": picture.problem,
                "described": picture.problem == PROBLEM,
                "tested": asked.tested,
                "missing": asked.missing,
                "corrected": asked is self._correcting,
                "width": width,
                "height": height,
                **asked.sheet.view(picture.frame),
            }

    def picture(self, serial: int) -> bytes:
        """The picture of the present question, as PNG; Stale if it is another one."""
        with self._changed:
            return encode(self._pictures[self._present(serial).question.number].frame)

    def act(self, what: str, facts: dict[str, Any]) -> str:
        """Do what the page asks for; returns what it should say. The next question is there then, if it comes soon.

        ``what``: ``undo``, one of the sheets' ``endings``, or what the sheet can do; ``facts``: ``question``, and what belongs to it.

        Raises:
            Stale: something else is asked by now.
            UnusableInput: the answer cannot be right, or cannot be written.
            ValueError: the page sent something else.
        """
        with self._changed:
            if what == "undo" and facts.get("question") is None:  # asked while the page waited
                said = self._withdraw()
            else:
                said = self._act(self._present(facts.get("question")), what, facts)
            self._changed.wait_for(lambda: self._ended or self._shown() is not None, SOON)
            return said

    def _act(self, asked: _Asked, what: str, facts: dict[str, Any]) -> str:
        if what == "undo":
            return "Undone." if asked.sheet.take_back() else self._withdraw()
        if what not in self._sheets.endings:
            asked.sheet.change(what, facts)
            return ""
        question, answer = asked.question, None if what == "skip" else asked.sheet.answer(what)
        self._record.add(question, answer)
        if answer is not None:
            self._sheets.note(question, answer)
        if asked is self._correcting:
            changed = question in self._former and answer != self._former[question]
            self._redo = self._redo or self._withdrawn > 1 or changed
            self._correcting, self._withdrawn = None, 0
            if self._redo:  # what was asked after it may not be asked now
                self._asked = None
        else:
            self._asked = None
        self._changed.notify_all()
        self._told, said = asked.sheet.told(what, len(self._record))
        return said

    def _withdraw(self) -> str:
        """Ask again what was answered last."""
        name = self._sheets.name
        if self._ended:
            return f"The {name}s are learned: start the command again to go on."
        found = self._record.withdraw()
        if found is None:
            return "There is nothing to undo."
        question, answer = found
        self._sheets.forget(question)
        self._withdrawn += 1
        if question is None:  # about a picture of another walk
            self._redo, self._asked = True, None
        else:
            self._former[question] = answer
            self._correcting = self._sheet(question, tested=False)
        self._changed.notify_all()
        return f"The last {name} is withdrawn: correct it."

    def _begin_again(self) -> None:
        """Raise ``Corrected`` once the corrected answer is there."""
        if self._redo and self._correcting is None:
            self._redo = False
            self._sheets.forget(None)
            raise Corrected("an answer was corrected")

    def _shown(self) -> _Asked | None:
        """What the page asks: a withdrawn answer first."""
        return self._correcting or self._asked

    def _present(self, serial: object) -> _Asked:
        """What the page asks, by its number; Stale if that is another one."""
        asked = self._shown()
        if asked is None or asked.serial != serial:
            raise Stale("this is not asked any more")
        return asked

    def _sheet(self, question: LabelQuestion, *, tested: bool, missing: int = 0) -> _Asked:
        self._serial += 1
        sheet = self._sheets.sheet(question, self._former.get(question))
        return _Asked(self._serial, question, sheet, tested, missing)
