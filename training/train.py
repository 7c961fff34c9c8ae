"""``python -m aam_vision.training.train``: train the classifiers of one environment.

Only light modules are imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
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
from aam_vision.support.options import flag, option


@dataclass(frozen=True)
class Training:
    """What is trained from what, and what comes of it."""

    seed: int = option("Seed of data, weights and augmentation.", 0, min=0)
    out: Path | None = option("Folder for weights and card; default runs/train-ENV-TIME.")
    ship: bool = flag("Write the weights that come with the package.")
    steps: int | None = option("Training steps at most; it ends as soon as all is read rightly.", min=10)
    threads: int = option("Threads; with 1 the weights repeat bit by bit, except on GPUs.", 1, min=1)
    images: Path | None = option(
        "Also learn from this folder: images/*.png and labels.jsonl; alone, where --env has no pictures."
    )
    trunk: str | None = option("One trunk for all predicates, or separate ones.  [shared]")
    backbone: str | None = option("What sees: small, or resnet18 for objects in boxes.  [small]")
    only: str | None = option("Add this predicate, or train it anew, on a trunk that stays.")
    base: Path | None = option("With --only: the weights to go on from; default: shipped.")
    resume: Path | None = option("Go on from this checkpoint (checkpoints/last.ckpt of a run).")
    max_seconds: float | None = option("Stop training after so much wall time; --resume goes on.", min=1)
    fast_dev_run: bool = flag("Everything once, in seconds; the weights are of no use.")
    workers: int = option("Processes that draw boards; CPU seconds are those of the first.", 1, min=1)
    cache: Path | None = option("Where data sets are kept; default: the user's cache folder.")
    no_cache: bool = flag("Draw all boards anew, keep none.")
    tensorboard: bool = flag("Logs for TensorBoard, too (the extra tensorboard).")
    devices: str = option("Lightning's: how many devices, or auto.", "1")
    strategy: str = option("Lightning's: auto, ddp, ...", "auto")

    def network(self) -> str:
        """The network that is asked for, one of ``classifiers.networks.KINDS``.

        Raises:
            UnusableInput: options exclude each other, or name what there is not.
        """
        if self.resume is not None and not self.resume.is_file():
            raise UnusableInput(f"--resume {self.resume}: no such file; name checkpoints/last.ckpt of a run")
        if self.images is not None and not self.images.is_dir():
            raise UnusableInput(
                f"--images {self.images}: no such folder; it holds images/*.png and labels.jsonl"
            )
        for asked, other, why in (
            (self.fast_dev_run, "--fast-dev-run", "such weights are of no use"),
            (self.tensorboard, "--tensorboard", "logs are not shipped, use --out"),
            (self.out is not None, f"--out {self.out}", "give one of them"),
        ):
            if self.ship and asked:
                raise UnusableInput(f"--ship and {other} exclude each other: {why}")
        if self.base is not None and self.only is None:
            raise UnusableInput(f"--base {self.base} is for --only PREDICATE: name the predicate to train")
        if self.only is not None and (self.trunk or self.backbone):
            raise UnusableInput(
                "--only goes on with the network of its --base: leave out --trunk and --backbone"
            )
        if self.cache is not None and self.no_cache:
            raise UnusableInput(f"--cache {self.cache} and --no-cache exclude each other: give one of them")
        trunk, backbone = self.trunk or "shared", self.backbone or "small"
        for name, given, known in (
            ("--trunk", trunk, ("shared", "separate")),
            ("--backbone", backbone, ("small", "resnet18")),
        ):
            if given not in known:
                raise UnusableInput(f"no {name} {given}: use one of {', '.join(known)}")
        if backbone != "small" and trunk == "separate":
            raise UnusableInput("--trunk separate goes with --backbone small only: leave one of them out")
        return trunk if backbone == "small" else backbone


def train(
    env: Annotated[str, typer.Option(help="Environment whose images are to be read, e.g. sokoban.")],
    training: Training,
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
    network, given = training.network(), training
    from aam_vision.training.pictures import domain_of

    domain = domain_of(env, given.images)
    for name, asked in (("--workers", given.workers > 1), ("--cache", given.cache is not None)):
        if asked and domain.visual.cellless:
            raise UnusableInput(f"{name} is for boards, and these are pictures without cells: leave it out")
    folder = given.out or Path("runs") / f"train-{env.replace(':', '-')}-{datetime.now():%Y%m%d-%H%M%S}"
    if given.ship:
        from aam_vision.classifiers import store

        folder = domain.classifiers(None) or store.SHIPPED
    check_writable(folder)
    if given.cache is not None:
        check_writable(given.cache, "--cache")
    from aam_vision.training.boards import user_cache
    from aam_vision.training.session import train_domain
    from aam_vision.training.settings import TrainingSettings
    from aam_vision.training.trainer import TrainingOptions

    names = "seed", "steps", "threads", "images", "only", "base", "workers"
    same = {name: getattr(given, name) for name in names}
    cache = None if given.no_cache else given.cache or user_cache()
    settings = TrainingSettings(**same, fast=given.fast_dev_run, network=network, cache=cache)
    how = given.resume, given.max_seconds, given.devices, given.strategy
    options = TrainingOptions(None if given.ship else folder, *how, tensorboard=given.tensorboard)
    with told_warnings():
        train_domain(domain, folder, settings, Progress(), options)
    if not given.ship:
        told = asdict(given) | {"env": env, "out": folder, "network": network if given.only is None else None}
        arguments = {
            name: str(value) if isinstance(value, Path) else value
            for name, value in told.items()
            if name not in ("ship", "trunk", "backbone")
        }
        write_atomically(folder / "arguments.json", json.dumps(arguments, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(run_command(train))
