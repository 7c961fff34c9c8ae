"""Single answers as they are given: every one is on disk before the next is asked for, and so is every withdrawal; see ``line_file``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.errors import UnusableInput
from aam_vision.training.folder import Labellable, read_labels
from aam_vision.training.labelling.line_file import LineFile
from aam_vision.training.labelling.pool import Pool
from aam_vision.training.labelling.record import Digest, digest_of
from aam_vision.training.labelling.sites import AskedAtom
from aam_vision.training.labels import NO_LABEL
from aam_vision.training.single_answers import BETWEEN, Said, check_possible, labels_of

Key = tuple[Digest, str, str]
"""A picture, a classifier and a place."""


class AtomRecord:
    """The single answers of a folder, to read and to go on with.

    Args:
        domain: knows the vocabulary and the scenes.
        folder: with ``labels.jsonl`` and ``images``, or without.
        pool: the pictures that are asked about.

    Raises:
        UnusableInput: the answers in it are not sound, or it cannot be written.
    """

    def __init__(self, domain: Labellable, folder: Path, pool: Pool) -> None:
        self._heads, self._pool, self._file = domain.visual.cell_heads(), pool, LineFile(folder)
        self._digests = [digest_of(one.picture.problem, one.picture.frame) for one in pool.pictures]
        self._numbers = {digest: number for number, digest in enumerate(self._digests)}
        self._names: dict[Digest, str] = {}
        self._answers: dict[Key, bool | None] = {}
        try:
            for one in (
                read_labels(domain, folder, CELL_PIXELS, none_is_fine=True) if self._file.lines else []
            ):
                if one.said is None or one.said.whole_skipped:
                    raise UnusableInput(
                        f"{folder}: holds labels of whole pictures; go on with --ask pictures, or give another --out"
                    )
                digest = digest_of(one.problem, one.frame)
                self._names[digest] = one.image
                for value, said in ((True, one.said.yes), (False, one.said.no), (None, one.said.skipped)):
                    self._answers.update({(digest, head, place): value for head, place in said})
        except UnusableInput:
            self.close()
            raise

    def __len__(self) -> int:
        """The number of answers, without what was skipped."""
        return sum(value is not None for value in self._answers.values())

    def __contains__(self, atom: AskedAtom) -> bool:
        return self._key(atom) in self._answers

    def __getitem__(self, atom: AskedAtom) -> bool | None:
        """The answer about an atom; None if it was skipped."""
        return self._answers[self._key(atom)]

    def answers(self) -> list[tuple[AskedAtom, bool]]:
        """All answers about pictures of the pool, without what was skipped, in their order."""
        found = ((self._atom(key), value) for key, value in self._answers.items())
        return [(atom, value) for atom, value in found if atom is not None and value is not None]

    def add(self, atom: AskedAtom, value: bool | None) -> None:
        """Write an answer; it is on disk when this returns.

        Raises:
            UnusableInput: other answers about the picture exclude it, or it cannot be written.
        """
        digest, head, place = key = self._key(atom)
        one = self._pool.pictures[atom.number]
        self._check(atom, value)
        if digest not in self._names:
            name = self._file.free_name(len(self._names) + 1)
            self._file.picture(name, one.picture.frame)
            self._names[digest] = name
        kind = "skipped" if value is None else "yes" if value else "no"
        self._file.write(
            {
                "image": self._names[digest],
                "problem": one.picture.problem,
                kind: [BETWEEN.join((head, place))],
            }
        )
        self._answers[key] = value

    def withdraw(self) -> tuple[AskedAtom | None, bool | None] | None:
        """Take back the last answer; the atom (None if it is of another walk) and the answer, or None if there is none."""
        if not self._answers:
            return None
        key, value = list(self._answers.items())[-1]
        digest, head, place = key
        self._file.write({"image": self._names[digest], "withdrawn": [BETWEEN.join((head, place))]})
        del self._answers[key]
        return self._atom(key), value

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _check(self, atom: AskedAtom, value: bool | None) -> None:
        """Refuse what could not be read again."""
        index = self._pool.pictures[atom.number].index
        digest, head, place = self._key(atom)
        told = {(h, p): answer for (d, h, p), answer in self._answers.items() if d == digest}
        told[head, place] = value
        said = Said(
            tuple(one for one, answer in told.items() if answer is True),
            tuple(one for one, answer in told.items() if answer is False),
        )
        labels = labels_of(said, self._heads, index)
        if np.any(labels != NO_LABEL):
            check_possible(self._heads, index, labels)

    def _key(self, atom: AskedAtom) -> Key:
        one = self._pool.pictures[atom.number]
        return self._digests[atom.number], self._heads[atom.head], one.index.places[atom.place]

    def _atom(self, key: Key) -> AskedAtom | None:
        digest, head, place = key
        number = self._numbers.get(digest)
        if number is None:
            return None
        return AskedAtom(
            number, self._pool.pictures[number].index.places.index(place), self._heads.index(head)
        )
