"""``python -m aam_vision.training.train``: train the classifiers of one environment.

Only light modules are imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from aam_vision.commandline import Progress, check_writable, run_command, write_atomically
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
    images: Annotated[
        Path | None, typer.Option(help="Also learn from this folder: images/*.png and labels.jsonl.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Train this predicate anew, on the trunk of the shipped weights.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on from this checkpoint (checkpoints/last.ckpt of a run).")
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=1, help="Stop training after so much wall time; --resume goes on.")
    ] = None,
    fast_dev_run: Annotated[
        bool, typer.Option("--fast-dev-run", help="Everything once, in seconds; the weights are of no use.")
    ] = False,
    devices: Annotated[str, typer.Option(help="Lightning's: how many devices, or auto.")] = "1",
    strategy: Annotated[str, typer.Option(help="Lightning's: auto, ddp, ...")] = "auto",
) -> None:
    """Train the classifiers of an environment on its training layouts, evaluate them on unseen ones.

    Beside weights, card and model card, the folder receives arguments.json, logs/metrics.csv and
    checkpoints/last.ckpt and best.ckpt (not with --ship).
    """
    if resume is not None and not resume.is_file():
        raise UnusableInput(f"--resume {resume}: no such file; name checkpoints/last.ckpt of a run")
    if images is not None and not images.is_dir():
        raise UnusableInput(f"--images {images}: no such folder; it holds images/*.png and labels.jsonl")
    if ship and fast_dev_run:
        raise UnusableInput("--ship and --fast-dev-run exclude each other: such weights are of no use")
    if ship and out is not None:
        raise UnusableInput(f"--ship and --out {out} exclude each other: give one of them")
    from aam_vision.envs.registry import board_domain

    domain = board_domain(env)
    folder = out or Path("runs") / f"train-{env}-{datetime.now():%Y%m%d-%H%M%S}"
    if ship:
        from aam_vision.classifiers import store

        folder = store.SHIPPED
    check_writable(folder)
    arguments = {
        "env": env,
        "seed": seed,
        "out": str(folder),
        "steps": steps,
        "threads": threads,
        "images": None if images is None else str(images),
        "only": only,
        "resume": None if resume is None else str(resume),
        "max_seconds": max_seconds,
        "fast_dev_run": fast_dev_run,
        "devices": devices,
        "strategy": strategy,
    }
    from aam_vision.training.lesson import Course
    from aam_vision.training.session import train_domain

    train_domain(
        domain,
        folder,
        seed=seed,
        steps=steps,
        threads=threads,
        progress=Progress(),
        course=Course(None if ship else folder, resume, max_seconds, devices, strategy),
        fast=fast_dev_run,
        images=images,
        only=only,
    )
    if not ship:
        write_atomically(folder / "arguments.json", json.dumps(arguments, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(run_command(train))
