"""What labelling is told: who is asked about what, and how labels are come by. Light, as its options are shown by ``--help``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aam_vision.support.errors import UnusableInput
from aam_vision.support.options import option

PAGE, SIMULATOR = "page", "simulator"
"""Who can be asked."""
PICTURES, ATOMS = "pictures", "atoms"
"""What can be asked about."""
RANDOM, ACTIVE = "random", "active"
"""How questions are chosen."""

MOST: Final = 10
MOST_SCENES: Final = 60
"""Pictures to label at most, where nobody says how many: of boards, and of pictures without cells."""

ANSWERS: Final = 60
"""Likewise, answers about single atoms."""


@dataclass(frozen=True)
class Way:
    """How labels are come by.

    Args:
        choice: of questions, ``RANDOM`` or ``ACTIVE``.
        free: whether labels that follow, or pictures made of labelled ones, are learned from, too.
        most: pictures to label at most, or answers about single atoms.
        seed: of weights, chance and audits.
        waits: whether a person waits for every training.
    """

    choice: str = ACTIVE
    free: bool = True
    most: int = 10
    seed: int = 0
    waits: bool = False


@dataclass(frozen=True, kw_only=True)
class Session:
    """How pictures are labelled; ``out`` is the folder that a command is to be given to go on."""

    labels: str = option("Who labels the pictures: you, at a page, or the simulator, where it knows.", PAGE)
    ask: str = option("What is asked about: whole pictures, or single atoms of them.", PICTURES)
    pictures: int | None = option("Pictures to label at most.  [10; 60 without cells]", min=1)
    answers: int | None = option("With --ask atoms: answers at most.  [60]", min=1)
    steps: int | None = option("Steps of the walk in every problem.  [800; 40 without cells]", min=1)
    seed: int = option("Seed of walks, choice and weights.", 0, min=0)
    port: int = option("Of the page, on this machine; 0 for any free one.", 0, min=0, max=65535)
    out: Path | None = option(
        "Folder for labels and weights, or one to go on with; default runs/label-ENV-TIME."
    )

    def check(self) -> None:
        """Say at once what cannot be used.

        Raises:
            UnusableInput: nobody of that name can be asked, options do not go together, or the page's packages are missing.
        """
        if self.labels not in (PAGE, SIMULATOR):
            raise UnusableInput(f"no --labels {self.labels}: use {PAGE} or {SIMULATOR}")
        if self.ask not in (PICTURES, ATOMS):
            raise UnusableInput(f"no --ask {self.ask}: use {PICTURES} or {ATOMS}")
        if self.answers is not None and self.ask != ATOMS:
            raise UnusableInput(f"goes with --ask {ATOMS} only; give --pictures", "answers", self.answers)
        if self.pictures is not None and self.ask == ATOMS:
            raise UnusableInput(f"does not go with --ask {ATOMS}; give --answers", "pictures", self.pictures)
        if self.labels == PAGE:
            from aam_vision.training.labelling.server import check_installed

            check_installed()

    def way(self, *, cellless: bool = False) -> Way:
        """How labels are come by; ``cellless``: of pictures without cells."""
        usual = self.pictures or (MOST_SCENES if cellless else MOST)
        most = self.answers or ANSWERS if self.ask == ATOMS else usual
        return Way(most=most, seed=self.seed, waits=self.labels == PAGE)

    def settings(self, **others: Any) -> dict[str, Any]:
        """What the pictures and the answers of a folder depend on."""
        others["seed"] = self.seed
        if self.ask != PICTURES:
            others["ask"] = self.ask
        if self.labels != PAGE:
            others["labels"] = self.labels
        return others
