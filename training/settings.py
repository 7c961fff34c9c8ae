"""What a training session is asked to do, and the files that come of any of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import nn

from aam_vision.classifiers.architecture import CAMERA, SHARED
from aam_vision.classifiers.looks import LabelledLooks
from aam_vision.classifiers.store import Card, WeightFiles, alone, save, weaknesses
from aam_vision.envs.image_domain import ImageDomain
from aam_vision.support.commandline import write_atomically
from aam_vision.support.errors import UnusableInput
from aam_vision.support.templates import rendered

FAST = 10
"""A fast development run has so many times fewer boards, and so many steps."""

MOST_ROUNDS = 8
"""Rounds of training, if no limit is given: more of them read better where every round helps, and take longer."""


@dataclass(frozen=True)
class TrainingSettings:
    """All that the weights of a training session depend on, and what it may use.

    Args:
        seed: of everything that is drawn.
        steps: training steps at most, of which whole rounds are made; None for ``MOST_ROUNDS`` rounds.
        threads: for torch; with 1 the same seed gives the same weights bit by bit, except where pictures without cells are learned from on a GPU.
        fast: everything once, in little time, to see that it works; the weights are of no use.
        images: a folder of labelled images to learn from as well, see ``folder``.
        network: kind of the network, one of ``networks.KINDS``.
        only: a perceived predicate: its classifiers alone are trained, on the trunk of the weights in ``base``,
            which may have none for it yet; the network is of their kind.
        base: the folder of those weights; None for the shipped ones.
        workers: processes that share the drawing of boards; the boards are the same for any number.
        cache: where data sets are kept for the next time, see ``boards.remembered``; None for nowhere. Those of a user's
            own environment are never kept.
    """

    seed: int = 0
    steps: int | None = None
    threads: int = 1
    fast: bool = False
    images: Path | None = None
    network: str = SHARED
    only: str | None = None
    base: Path | None = None
    workers: int = 1
    cache: Path | None = None

    @property
    def fewer(self) -> int:
        """The divisor of all numbers of boards."""
        return FAST if self.fast else 1

    def rounds(self, domain: ImageDomain) -> tuple[int, int]:
        """The steps of a round, and of all rounds at most."""
        most = self.steps or MOST_ROUNDS * domain.round_steps
        if self.fast:
            most = min(most, FAST)
        steps = min(domain.round_steps, most)
        return steps, most // steps * steps


def write_files(
    classifiers: nn.Module, card: Card, folder: Path, looks: LabelledLooks | None = None
) -> WeightFiles:
    """Write weights, card and model card, and the labelled looks if there are any.

    The model card is the card for people: the weights' purpose, origin, thresholds of certainty and measured quality. Every figure is one
    of ``card.figures``, as measured when the training ended; older weights lack some.
    """
    files = save(classifiers, card, folder, looks)
    written = json.loads(files.card.read_text("utf-8"))
    card = replace(card, weights_sha256=written["weights_sha256"], looks_sha256=written.get("looks_sha256"))
    text = rendered(
        "aam_vision.training",
        "card.md.jinja",
        card=card,
        camera=card.network == CAMERA,
        command="train" if card.looks_sha256 is None or alone(card) else "label",
        weaknesses=weaknesses(card),
    )
    write_atomically(files.card.with_suffix(".md"), text)
    return files


@contextmanager
def limited_threads(number: int) -> Iterator[None]:
    """Let torch use so many threads for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def heads_of(domain: ImageDomain, predicate: str) -> tuple[str, ...]:
    """The classifiers of a perceived predicate; UnusableInput if there is no such predicate."""
    known = {entry.predicate.name: entry for entry in domain.visual.perceived}
    if predicate not in known:
        raise UnusableInput(
            f"{predicate} is not a perceived predicate of {domain.name}: use one of {', '.join(known)}"
        )
    return tuple(known[predicate].heads.values())
