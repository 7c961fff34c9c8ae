"""``python -m aam_vision.training.label``: from no label at all to classifiers, with few labelled pictures of walks.

Only light modules are imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aam_vision.commandline import Progress, check_writable, run_command, write_atomically
from aam_vision.errors import UnusableInput

if TYPE_CHECKING:
    from aam_vision.training.labelling.rounds import Labelled

LABELS = ("simulator",)
"""Who can be asked."""


def label(
    env: Annotated[str, typer.Option(help="Environment whose images are to be read, e.g. sokoban.")],
    labels: Annotated[
        str, typer.Option(help="Who labels the pictures: simulator, where it knows its states.")
    ] = "simulator",
    pictures: Annotated[int, typer.Option(min=1, help="Pictures to label at most.")] = 10,
    steps: Annotated[int, typer.Option(min=1, help="Steps of the walk in every problem.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of walks, choice and weights.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for labels and weights; default runs/label-ENV-TIME.")
    ] = None,
) -> None:
    """Walk about, have the pictures labelled that tell most, train, and stop when unlabelled ones are read surely.

    The folder, which run --classifiers reads, receives images/*.png and labels.jsonl, which train --images reads, the weights with their cards, and
    labelling.json: labelled_pictures, labelled_atoms, whether a test on held-out answers ended the labelling, and the
    upper bound of the share of wrong answers that it gives.

    Examples:
        python -m aam_vision.training.label --env sokoban --out runs/few
        python -m aam_vision.training.label --env doors --pictures 20
    """
    if labels not in LABELS:
        raise UnusableInput(f"no --labels {labels}: use {' or '.join(LABELS)}")
    from aam_vision.envs.registry import image_domain

    domain = image_domain(env)
    folder = out or Path("runs") / f"label-{env.replace(':', '-')}-{datetime.now():%Y%m%d-%H%M%S}"
    check_writable(folder)
    import numpy as np

    from aam_vision.classifiers.architecture import CELL_PIXELS
    from aam_vision.training.labelling.answers import SimulatorLabels
    from aam_vision.training.labelling.files import write_labels
    from aam_vision.training.labelling.pool import Pool
    from aam_vision.training.labelling.rounds import Rounds, Way
    from aam_vision.training.labelling.walks import walk, walked_problems
    from aam_vision.training.settings import write_files

    labeller, progress = SimulatorLabels(domain), Progress()
    progress.stage(f"{env}: walking")
    walked = walk(domain, walked_problems(domain), np.random.default_rng([seed, 81]), steps)
    pool = Pool(domain.visual, walked, CELL_PIXELS)
    _, found = Rounds(domain, pool, labeller, Way(most=pictures, seed=seed), progress).run()
    asked = [pool.pictures[number].picture for number in found.pictures]
    write_labels(domain, [(picture, labeller.label(picture)) for picture in asked], folder)
    assert found.network is not None
    assert found.card is not None
    files = write_files(found.network, found.card, folder)
    write_atomically(folder / "labelling.json", json.dumps(_summary(found), indent=2) + "\n")
    why = "by its test" if found.sure else "at the most that were allowed: the test is not passed"
    progress.stage(
        f"{env}: {len(asked)} of {len(walked)} pictures labelled, stopped {why}; written to {files.weights}"
    )


def _summary(found: Labelled) -> dict[str, object]:
    test = found.examination
    return {
        "labelled_pictures": len(found.pictures),
        "labelled_atoms": found.atoms,
        "sure": found.sure,
        "examined_pictures": len(test.history),
        "mistakes": test.mistakes,
        "answers_since": test.answers,
        "bound": round(test.bound, 4),
        "refused": round(found.refused, 4),
        "cpu_s": [round(seconds, 1) for seconds in found.seconds],
    }


if __name__ == "__main__":
    sys.exit(run_command(label))
