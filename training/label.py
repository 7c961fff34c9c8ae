"""``python -m aam_vision.training.label``: from no label at all to classifiers, with few labelled pictures of walks.

Only light modules are imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from aam_vision.commandline import Progress, check_writable, run_command


def label(
    env: Annotated[
        str,
        typer.Option(
            help="Environment whose images are to be read, e.g. sokoban; with --images it brings the vocabulary only."
        ),
    ],
    images: Annotated[
        Path | None,
        typer.Option(help="Label the pictures of this folder (*.png, of one size), whatever they come from."),
    ] = None,
    labels: Annotated[
        str, typer.Option(help="Who labels the pictures: you, at a page, or the simulator, where it knows.")
    ] = "page",
    ask: Annotated[
        str, typer.Option(help="What is asked about: whole pictures, or single atoms of them.")
    ] = "pictures",
    pictures: Annotated[int, typer.Option(min=1, help="Pictures to label at most.")] = 10,
    answers: Annotated[int, typer.Option(min=1, help="With --ask atoms: answers at most.")] = 60,
    steps: Annotated[int, typer.Option(min=1, help="Steps of the walk in every problem.")] = 800,
    seed: Annotated[int, typer.Option(min=0, help="Seed of walks, choice and weights.")] = 0,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Of the page, on this machine; 0 for any free one.")
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for labels and weights, or one to go on with; default runs/label-ENV-TIME."
        ),
    ] = None,
) -> None:
    """Walk about, have the pictures labelled that tell most, train, and stop when unlabelled ones are read surely.

    The pictures are labelled at a page whose address is printed; it is served to this machine only. Every answer is written
    before the next picture is asked about, so that the same command goes on wherever it was ended.

    With --ask atoms every question is about one thing at one place, yes or no.

    With --images no simulator is needed: at the page you also say where the cells are, and how many things there are.

    The folder, which run --classifiers reads, receives images/*.png and labels.jsonl, which train --images reads, the weights with their cards, and
    labelling.json: labelled_pictures, labelled_atoms, whether a test on held-out answers ended the labelling, and the
    upper bound of the share of wrong answers that it gives.

    Examples:
        python -m aam_vision.training.label --env sokoban --out runs/few
        python -m aam_vision.training.label --env doors --pictures 20
        python -m aam_vision.training.label --env sokoban --ask atoms --answers 60
        python -m aam_vision.training.label --env sokoban --images my-pictures
        python -m aam_vision.training.label --env sokoban --labels simulator
    """
    from aam_vision.envs.registry import image_domain
    from aam_vision.training.labelling.session import Session, label_pictures, label_walks

    session = Session(labels, pictures, ask, answers, steps, seed, port)
    session.check()
    domain = image_domain(env) if images is None else None
    folder = out or Path("runs") / f"label-{env.replace(':', '-')}-{datetime.now():%Y%m%d-%H%M%S}"
    check_writable(folder)
    if domain is not None:
        label_walks(domain, folder, session, Progress())
    else:
        assert images is not None
        label_pictures(env, images, folder, session, Progress())


if __name__ == "__main__":
    sys.exit(run_command(label))
