"""Labels as plain files, which ``train --images`` reads: ``images/*.png`` and ``labels.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from aam_vision.commandline import write_atomically
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.errors import UnusableInput
from aam_vision.pictures import encode
from aam_vision.strips import State
from aam_vision.training.folder import Labellable, perceived_atoms
from aam_vision.training.labelling.pool import Pool
from aam_vision.training.labelling.sites import AskedAtom
from aam_vision.training.labelling.walks import Walked
from aam_vision.training.single_answers import Said


def write_answers(
    domain: Labellable, pool: Pool, answers: Sequence[tuple[AskedAtom, bool | None]], folder: Path
) -> None:
    """Write pictures and single answers about them, one line per picture; all are complete on disk, or none.

    Raises:
        UnusableInput: nothing can be written there.
    """
    heads = domain.visual.cell_heads()
    lines: list[str] = []
    try:
        (folder / "images").mkdir(parents=True, exist_ok=True)
        for number in dict.fromkeys(atom.number for atom, _ in answers):
            one, name = pool.pictures[number], f"{len(lines) + 1:04d}.png"
            own = [(atom, value) for atom, value in answers if atom.number == number]
            yes, no, skipped = (
                tuple(
                    (heads[atom.head], one.index.places[atom.place]) for atom, value in own if value is wanted
                )
                for wanted in (True, False, None)
            )
            write_atomically(folder / "images" / name, encode(one.picture.frame))
            said = Said(yes, no, skipped).facts()
            lines.append(json.dumps({"image": name, "problem": one.picture.problem, **said}))
        write_atomically(folder / "labels.jsonl", "".join(line + "\n" for line in lines))
    except OSError as error:
        raise UnusableInput(f"cannot write labels to {folder}: {error.strerror or error}") from None


def write_labels(domain: ImageDomain, labelled: Sequence[tuple[Walked, State]], folder: Path) -> None:
    """Write pictures and what they show; all labels are complete on disk, or none.

    Raises:
        UnusableInput: nothing can be written there.
    """
    lines = []
    try:
        (folder / "images").mkdir(parents=True, exist_ok=True)
        for number, (picture, state) in enumerate(labelled, start=1):
            name = f"{number:04d}.png"
            write_atomically(folder / "images" / name, encode(picture.frame))
            true = perceived_atoms(domain, picture.scene, state)
            lines.append(json.dumps({"image": name, "problem": picture.problem, "true": true}))
        write_atomically(folder / "labels.jsonl", "".join(line + "\n" for line in lines))
    except OSError as error:
        raise UnusableInput(f"cannot write labels to {folder}: {error.strerror or error}") from None
