"""The labels of pictures as they are given: every one is on disk before the next is asked for, and so is every withdrawal.

See ``line_file``.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.errors import UnusableInput
from aam_vision.perception import Frame
from aam_vision.strips import State
from aam_vision.training.folder import (
    Labellable,
    Named,
    labelling,
    partly_labelled,
    perceived_atoms,
    read_labels,
)
from aam_vision.training.label_checks import Labelling, check_together
from aam_vision.training.labelling.line_file import LineFile
from aam_vision.training.labelling.walks import Walked
from aam_vision.training.single_answers import Said

Digest = bytes
"""Of a picture and its problem."""


def digest_of(problem: str, frame: Frame) -> Digest:
    """What tells pictures apart."""
    return sha256(repr((problem, frame.shape)).encode() + frame.tobytes()).digest()


class LabelRecord:
    """The labels of a folder, to read and to go on with.

    Args:
        domain: knows the vocabulary and the scenes.
        folder: with ``labels.jsonl`` and ``images``, or without.

    Raises:
        UnusableInput: the labels in it are not sound, or it cannot be written.
    """

    def __init__(self, domain: Labellable, folder: Path) -> None:
        self._domain, self._file = domain, LineFile(folder)
        self._names: dict[Digest, str] = {}
        self._active: dict[Digest, Labelling] = {}
        try:
            known = read_labels(domain, folder, CELL_PIXELS, none_is_fine=True) if self._file.lines else []
            if any(one.said is not None and not one.said.whole_skipped for one in known):
                raise UnusableInput(
                    f"{folder}: holds single answers; go on with --ask atoms, or give another --out"
                )
        except UnusableInput:
            self.close()
            raise
        for one in known:
            digest = digest_of(one.problem, one.frame)
            self._names[digest], self._active[digest] = one.image, one

    def __len__(self) -> int:
        return sum(one.said is None for one in self._active.values())

    def known(self, picture: Walked) -> State | None:
        """What a picture was labelled; None if it is not."""
        one = self._active.get(digest_of(picture.problem, picture.frame))
        return None if one is None or one.said is not None else State(one.atoms, one.index.scene.objects)

    def skipped(self, picture: Walked) -> bool:
        """Whether nobody could tell what a picture shows."""
        one = self._active.get(digest_of(picture.problem, picture.frame))
        return one is not None and one.said is not None

    def check(self, picture: Walked, index: SceneIndex, state: State) -> Labelling:
        """A label as it would be read from the file, compared with all others.

        Raises:
            UnusableInput: ``train --images`` would refuse it.
        """
        digest = digest_of(picture.problem, picture.frame)
        named = Named(self._file.lines + 1, self._name(digest), picture.problem)
        one = labelling(self._domain, index, state.true, picture.frame, named, CELL_PIXELS)
        check_together(self._domain.visual.cell_heads(), [*self._active.values(), one])
        return one

    def add(self, picture: Walked, index: SceneIndex, state: State) -> None:
        """Write a label; it is on disk when this returns.

        Raises:
            UnusableInput: it is wrong, or cannot be written.
        """
        one = self.check(picture, index, state)
        true = perceived_atoms(self._domain, picture.scene, state)
        self._keep(one, {"image": one.image, "problem": picture.problem, "true": true})

    def skip(self, picture: Walked, index: SceneIndex) -> None:
        """Note that nobody can tell what a picture shows; it is on disk when this returns.

        Raises:
            UnusableInput: that cannot be written.
        """
        said = Said(whole_skipped=True)
        digest = digest_of(picture.problem, picture.frame)
        named = Named(self._file.lines + 1, self._name(digest), picture.problem)
        one = partly_labelled(self._domain, index, said, picture.frame, named, CELL_PIXELS)
        self._keep(one, {"image": one.image, "problem": picture.problem, **said.facts()})

    def withdraw(self) -> tuple[str, Frame, State | None] | None:
        """Take back the last label; its problem, picture and atoms (None if it was skipped), or None if there is none."""
        if not self._active:
            return None
        digest, one = list(self._active.items())[-1]
        self._file.write({"image": one.image, "withdrawn": True})
        del self._active[digest]
        return (
            one.problem,
            one.frame,
            None if one.said is not None else State(one.atoms, one.index.scene.objects),
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _name(self, digest: Digest) -> str:
        """The name of a picture's file: the one it has, or the next free one."""
        known = self._names.get(digest)
        if known is not None:
            return known
        return self._file.free_name(len(self._names) + 1)

    def _keep(self, one: Labelling, facts: dict[str, object]) -> None:
        digest = digest_of(one.problem, one.frame)
        if digest not in self._names:
            self._file.picture(one.image, one.frame)
        self._file.write(facts)
        self._names[digest], self._active[digest] = one.image, one
