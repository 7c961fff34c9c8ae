"""A question that waits for a person, and answers that are withdrawn: the same for pictures and atoms (``desk``)."""

from __future__ import annotations

from threading import Condition
from typing import Any, Final, Generic, Protocol, TypeVar

from aam_vision.errors import AamError
from aam_vision.pictures import encode
from aam_vision.training.described import PROBLEM
from aam_vision.training.labelling.pool import Pool, PooledPicture

SOON: Final = 0.3
"""Seconds in which the next question may come with the answer to what a page did; a page asks for later ones itself."""


class Corrected(AamError):
    """Raised where the rounds ask, after an earlier answer was corrected: begin again, what is known is not asked again."""


class Stale(AamError):
    """Raised when a page speaks of a question that is no longer the one that is asked."""


class Asked(Protocol):
    """A question with a number of its own, by which a page names it; ``tested`` tells whether its answer is held out."""

    @property
    def serial(self) -> int: ...
    @property
    def tested(self) -> bool: ...


Q = TypeVar("Q", bound=Asked)


class Waiting(Generic[Q]):
    """What is asked now, by the rounds in one thread, and answered by a page in another.

    ``_changed`` is held wherever anything here is read or changed. An answer that is withdrawn is asked about first
    (``_correcting``), and what the rounds asked meanwhile waits.

    Args:
        pool: all pictures.
        most: answers at most, as the page tells it.
    """

    def __init__(self, pool: Pool, most: int) -> None:
        self._pool, self._most = pool, most
        self._changed = Condition()
        self._asked: Q | None = None
        self._correcting: Q | None = None
        self._serial, self._withdrawn, self._redo = 0, 0, False
        self._told, self._ended, self._seen = "", False, False

    def view(self) -> dict[str, Any]:
        """All that the page shows."""
        with self._changed:
            facts: dict[str, Any] = {"labelled": self._answered(), "most": self._most, "told": self._told}
            question = self._shown()
            if question is None:
                return {"kind": self._idle(), **facts}
            problem = self._pictured(question).picture.problem
            return {
                **facts,
                "question": question.serial,
                "problem": problem,
                "described": problem == PROBLEM,
                "tested": question.tested,
                "corrected": question is self._correcting,
                **self._view(question),
            }

    def picture(self, serial: int) -> bytes:
        """The picture of the present question, as PNG; Stale if it is another one."""
        with self._changed:
            return encode(self._pictured(self._present(serial)).picture.frame)

    def _answered(self) -> int:
        """How many answers there are."""
        raise NotImplementedError

    def _pictured(self, question: Q) -> PooledPicture:
        """The picture that a question is about."""
        raise NotImplementedError

    def _view(self, question: Q) -> dict[str, Any]:
        """The kind of view that a question has, and all that belongs to this kind alone."""
        raise NotImplementedError

    def act(self, what: str, facts: dict[str, Any]) -> str:
        """Do what the page asks for; returns what it should say. The next question is there then, if it comes soon.

        Args:
            what: the name of it; see ``_act``.
            facts: what belongs to it.

        Raises:
            Stale: something else is asked by now.
            UnusableInput: the answer cannot be right, or cannot be written.
            ValueError: the page sent something else.
        """
        with self._changed:
            said = self._act(what, facts)
            self._changed.wait_for(lambda: self._ended or self._shown() is not None, SOON)
            return said

    def _act(self, what: str, facts: dict[str, Any]) -> str:
        """As of ``act``, with ``_changed`` held."""
        raise NotImplementedError

    def stage(self, text: str) -> None:
        """Tell the page what is being done while nothing is asked."""
        with self._changed:
            self._told = text

    def settle(self) -> None:
        """Wait until no earlier answer is being corrected.

        Raises:
            Corrected: one was.
        """
        with self._changed:
            while self._correcting is not None:
                self._changed.wait()
            self._begin_again()

    def end(self, text: str, seconds: float) -> None:
        """Tell the page that all is done, and wait for so long at most until it has seen it."""
        with self._changed:
            self._told, self._ended = text, True
            self._changed.wait_for(lambda: self._seen, seconds)

    def _wait(self, question: Q) -> None:
        """Ask, and wait until it is answered.

        Raises:
            Corrected: an earlier answer was corrected meanwhile.
        """
        self._asked = question
        self._changed.notify_all()
        while self._asked is not None:
            self._changed.wait()
        self._begin_again()

    def _begin_again(self) -> None:
        """Raise ``Corrected`` once the corrected answer is there."""
        if self._redo and self._correcting is None:
            self._redo = False
            self._forget()
            raise Corrected("an answer was corrected")

    def _forget(self) -> None:
        """What is to be done before all begins again."""

    def _shown(self) -> Q | None:
        """What the page asks: a withdrawn answer first."""
        return self._correcting or self._asked

    def _present(self, serial: object) -> Q:
        """What the page asks, by its number; Stale if that is another one."""
        question = self._shown()
        if question is None or question.serial != serial:
            raise Stale("this is not asked any more")
        return question

    def _idle(self) -> str:
        """What kind of view a page has while nothing is asked; once it is ``done``, the page has seen the end."""
        self._seen = self._ended
        return "done" if self._ended else "busy"

    def _next(self) -> int:
        """The number of a new question."""
        self._serial += 1
        return self._serial

    def _given(self, question: Q, *, changed: bool) -> None:
        """An answer is on disk: give it to whoever asked.

        Args:
            question: is answered.
            changed: whether the answer is another one than was withdrawn.
        """
        if question is self._correcting:
            self._redo = self._redo or self._withdrawn > 1 or changed
            self._correcting, self._withdrawn = None, 0
            if self._redo:  # what was asked after it may not be asked now
                self._asked = None
        else:
            self._asked = None
        self._changed.notify_all()

    def _ask_again(self, question: Q | None) -> None:
        """Ask about a withdrawn answer; None if it was about a picture of another walk."""
        self._withdrawn += 1
        if question is None:
            self._redo, self._asked = True, None
        else:
            self._correcting = question
        self._changed.notify_all()
