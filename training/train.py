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

from aam_vision.support.commandline import (
    Progress,
    check_writable,
    run_command,
    told_warnings,
    write_atomically,
)
from aam_vision.support.errors import UnusableInput


def train(
    env: Annotated[str, typer.Option(help="Environment whose images are to be read, e.g. sokoban.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of data, weights and augmentation.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for weights and card; default runs/train-ENV-TIME.")
    ] = None,
    ship: Annotated[
        bool, typer.Option("--ship", help="Write the weights that come with the package.")
    ] = False,
    steps: Annotated[
        int | None,
        typer.Option(min=10, help="Training steps at most; it ends as soon as all is read rightly."),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads; with 1 the weights repeat bit by bit.")] = 1,
    images: Annotated[
        Path | None, typer.Option(help="Also learn from this folder: images/*.png and labels.jsonl.")
    ] = None,
    trunk: Annotated[
        str | None, typer.Option(help="One trunk for all predicates, or separate ones.  [shared]")
    ] = None,
    backbone: Annotated[
        str | None, typer.Option(help="What sees: small, or resnet18 for objects in boxes.  [small]")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Add this predicate, or train it anew, on a trunk that stays.")
    ] = None,
    base: Annotated[
        Path | None, typer.Option(help="With --only: the weights to go on from; default: shipped.")
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
    workers: Annotated[
        int, typer.Option(min=1, help="Processes that draw boards; CPU seconds are those of the first.")
    ] = 1,
    cache: Annotated[
        Path | None, typer.Option(help="Where data sets are kept; default: the user's cache folder.")
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Draw all boards anew, keep none.")] = False,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Logs for TensorBoard, too (the extra tensorboard).")
    ] = False,
    devices: Annotated[str, typer.Option(help="Lightning's: how many devices, or auto.")] = "1",
    strategy: Annotated[str, typer.Option(help="Lightning's: auto, ddp, ...")] = "auto",
) -> None:
    """Train the classifiers of an environment on its training layouts, evaluate them on unseen ones.

    Training goes on, round after round, until all unseen pictures are read rightly or two rounds have not helped.
    Beside weights, card and model card, the folder receives arguments.json, logs/metrics.csv
    (losses, and the confusion of every classifier) and checkpoints/last.ckpt and best.ckpt (not with --ship).

    Examples:
        python -m aam_vision.training.train --env sokoban --out runs/w
        python -m aam_vision.training.train --env doors --only unlocked --out runs/u
        python -m aam_vision.training.train --env doors --fast-dev-run
    """
    if resume is not None and not resume.is_file():
        raise UnusableInput(f"--resume {resume}: no such file; name checkpoints/last.ckpt of a run")
    if images is not None and not images.is_dir():
        raise UnusableInput(f"--images {images}: no such folder; it holds images/*.png and labels.jsonl")
    if ship and fast_dev_run:
        raise UnusableInput("--ship and --fast-dev-run exclude each other: such weights are of no use")
    if ship and tensorboard:
        raise UnusableInput("--ship and --tensorboard exclude each other: logs are not shipped, use --out")
    if ship and out is not None:
        raise UnusableInput(f"--ship and --out {out} exclude each other: give one of them")
    if base is not None and only is None:
        raise UnusableInput(f"--base {base} is for --only PREDICATE: name the predicate to train")
    if only is not None and (trunk or backbone):
        raise UnusableInput("--only goes on with the network of its --base: leave out --trunk and --backbone")
    if cache is not None and no_cache:
        raise UnusableInput(f"--cache {cache} and --no-cache exclude each other: give one of them")
    network = _network(trunk or "shared", backbone or "small")
    from aam_vision.envs.registry import image_domain

    domain = image_domain(env)
    for option, given in (("--workers", workers > 1), ("--cache", cache is not None)):
        if given and domain.visual.cellless:
            raise UnusableInput(f"{option} is for boards, and these are pictures without cells: leave it out")
    folder = out or Path("runs") / f"train-{env.replace(':', '-')}-{datetime.now():%Y%m%d-%H%M%S}"
    if ship:
        from aam_vision.classifiers import store

        folder = domain.classifiers(None) or store.SHIPPED
    check_writable(folder)
    if cache is not None:
        check_writable(cache, "--cache")
    arguments = {
        "env": env,
        "seed": seed,
        "out": str(folder),
        "steps": steps,
        "threads": threads,
        "images": None if images is None else str(images),
        "network": network if only is None else None,
        "only": only,
        "base": None if base is None else str(base),
        "resume": None if resume is None else str(resume),
        "max_seconds": max_seconds,
        "fast_dev_run": fast_dev_run,
        "workers": workers,
        "cache": None if cache is None else str(cache),
        "no_cache": no_cache,
        "tensorboard": tensorboard,
        "devices": devices,
        "strategy": strategy,
    }
    from aam_vision.training.data import user_cache
    from aam_vision.training.session import train_domain
    from aam_vision.training.settings import TrainingSettings
    from aam_vision.training.trainer import TrainingOptions

    settings = TrainingSettings(
        seed=seed,
        steps=steps,
        threads=threads,
        fast=fast_dev_run,
        images=images,
        network=network,
        only=only,
        base=base,
        workers=workers,
        cache=None if no_cache else cache or user_cache(),
    )
    options = TrainingOptions(
        None if ship else folder, resume, max_seconds, devices, strategy, tensorboard=tensorboard
    )
    with told_warnings():
        train_domain(domain, folder, settings, Progress(), options)
    if not ship:
        write_atomically(folder / "arguments.json", json.dumps(arguments, indent=2) + "\n")


def _network(trunk: str, backbone: str) -> str:
    """The network that two options ask for, one of ``classifiers.networks.KINDS``."""
    for option, given, known in (
        ("--trunk", trunk, ("shared", "separate")),
        ("--backbone", backbone, ("small", "resnet18")),
    ):
        if given not in known:
            raise UnusableInput(f"no {option} {given}: use one of {', '.join(known)}")
    if backbone == "small":
        return trunk
    if trunk == "separate":
        raise UnusableInput("--trunk separate goes with --backbone small only: leave one of them out")
    return backbone


if __name__ == "__main__":
    sys.exit(run_command(train))
