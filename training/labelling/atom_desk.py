"""Where questions about single atoms wait for a person; see ``desk``, which does the same with whole pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.errors import UnusableInput
from aam_vision.perception import Perceived, Reading, VisualVocabulary
from aam_vision.strips import State
from aam_vision.training.labelling.atom_record import AtomRecord
from aam_vision.training.labelling.pool import PooledPicture
from aam_vision.training.labelling.sites import AskedAtom, SiteAnswers, Sites
from aam_vision.training.labelling.view import box_of
from aam_vision.training.labelling.waiting import Waiting
from aam_vision.training.labelling.walks import Walked
from aam_vision.wording import counted

ANSWERS: dict[str, bool | None] = {"yes": True, "no": False, "skip": None}


@dataclass(frozen=True)
class Question:
    """An atom that is asked about."""

    serial: int
    atom: AskedAtom
    tested: bool


class AtomDesk(Waiting[Question]):
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
                self._wait(Question(self._next(), atom, tested))
            return self._record[atom]

    def learned(self, perception: BoardPerception) -> None:
        """Nothing: no answer is filled in, so that it is the person's own."""

    def _answered(self) -> int:
        return len(self._record)

    def _pictured(self, question: Question) -> PooledPicture:
        return self._pool.pictures[question.atom.number]

    def _view(self, question: Question) -> dict[str, Any]:
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

    def _answer(self, question: Question, what: str) -> str:
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
        self._ask_again(None if atom is None else Question(self._next(), atom, tested=False))
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
