"""``python -m aam_vision.training.train``: train the classifiers of one environment.

Only light modules are imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from aam_vision.commandline import Progress, check_writable, run_command
from aam_vision.errors import UnusableInput


def train(
    env: Annotated[str, typer.Option(help="Environment whose images are to be read, e.g. sokoban.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of data, weights and augmentation.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for weights and card; default runs/train-ENV-TIME.")
    ] = None,
    ship: Annotated[
        bool, typer.Option("--ship", help="Write the weights that come with the package.")
    ] = False,
    steps: Annotated[int, typer.Option(min=10, help="Training steps.")] = 800,
    threads: Annotated[int, typer.Option(min=1, help="Threads; with 1 the weights repeat bit by bit.")] = 1,
) -> None:
    """Train the classifiers of an environment on its training layouts, evaluate them on unseen ones."""
    if ship and out is not None:
        raise UnusableInput(f"--ship and --out {out} exclude each other: give one of them")
    from aam_vision.envs.registry import board_domain

    domain = board_domain(env)
    folder = out or Path("runs") / f"train-{env}-{datetime.now():%Y%m%d-%H%M%S}"
    if ship:
        from aam_vision.classifiers import store

        folder = store.SHIPPED
    check_writable(folder)
    from aam_vision.training.session import train_domain

    train_domain(domain, folder, seed=seed, steps=steps, threads=threads, progress=Progress())


if __name__ == "__main__":
    sys.exit(run_command(train))
