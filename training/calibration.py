"""How sure is sure: calibration of every classifier on boards that were not trained on.

Probabilities are sigmoid((logit + offset) / temperature) with the least cross entropy within fixed ranges
(temperature: Guo et al., "On Calibration of Modern Neural Networks", 2017; offset: Platt, 1999, needed
because the training weighs rare and frequent answers the same). The offset becomes part of the weights.
Thresholds are closer to certainty where a classifier makes more mistakes on those boards.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from aam_vision.classifiers.network import BoardNetwork, place_logits
from aam_vision.classifiers.store import SURE, Card, describe
from aam_vision.training.augmentation import augment
from aam_vision.training.boards import Example, collate
from aam_vision.training.folder import Labellable
from aam_vision.training.labels import NO_LABEL

TEMPERATURES = np.geomspace(0.25, 4.0, 17).round(3)
"""Below the range a classifier without a single mistake would be made infinitely sure."""

OFFSETS = np.linspace(-6, 6, 49).round(3)

SUREST = 0.99
"""No threshold asks for more than this, so that one odd board cannot make a classifier silent."""

MISTAKEN = 0.002
"""Share of the yes answers that may be taken for a sure no, and the other way round; on boards that are
changed more than most images, where the joint checks of ``legality`` come on top."""

_RIDGE = 1e-6  # between offsets that do not matter, the smallest


@dataclass(frozen=True)
class Calibration:
    """Per head: what is added to its logits, what then divides them, and when an answer is sure."""

    offsets: dict[str, float]
    temperatures: dict[str, float]
    thresholds: dict[str, tuple[float, float]]

    def only(self, heads: Sequence[str], card: Card) -> Calibration:
        """This for some heads, and what the card of weights that were kept says for the others."""
        return Calibration(
            {head: offset if head in heads else 0.0 for head, offset in self.offsets.items()},
            {h: t if h in heads else card.temperatures[h] for h, t in self.temperatures.items()},
            {h: t if h in heads else card.thresholds[h] for h, t in self.thresholds.items()},
        )

    def card(
        self,
        domain: Labellable,
        seed: int,
        data_sha256: str,
        network: str,
        *,
        figures: Mapping[str, Any] | None = None,
        picture: tuple[int, int] | None = None,
    ) -> Card:
        """The card of weights for a domain that are calibrated like this; see ``Card``. They are not written yet."""
        return Card(
            name=domain.name,
            vocabulary=describe(domain.visual),
            weights_sha256="",
            data_sha256=data_sha256,
            seed=seed,
            temperatures=self.temperatures,
            thresholds=self.thresholds,
            versions={"python": platform.python_version(), "torch": torch.__version__},
            figures=figures or {},
            network=network,
            picture=picture,
        )


def calibrate(
    network: BoardNetwork, data: Sequence[Example], generator: Generator, *, copies: int = 6
) -> Calibration:
    """Fit every head on augmented copies of the boards in ``data``."""
    logits: list[list[Tensor]] = [[] for _ in network.heads]
    truth: list[list[Tensor]] = [[] for _ in network.heads]
    with torch.inference_mode():
        for example in data:
            boards, pooling, labels = collate([example] * copies)
            found = place_logits(network(augment(boards, generator)), pooling)
            for head in range(len(network.heads)):
                known = labels[:, head] != NO_LABEL
                logits[head].append(found[:, head][known])
                truth[head].append(labels[:, head][known].float())
    return fit(
        {
            name: (torch.cat(own), torch.cat(wanted))
            for name, own, wanted in zip(network.heads, logits, truth, strict=True)
        }
    )


def fit(known: Mapping[str, tuple[Tensor, Tensor]], sure: tuple[float, float] = SURE) -> Calibration:
    """The calibration of every head from its logits and the right answers, 1 or 0, one of each per question.

    No threshold is laxer than those of ``sure``.
    """
    offsets, temperatures, thresholds = {}, {}, {}
    for name, (values, answers) in known.items():
        offsets[name], temperatures[name] = _best(values, answers)
        found = ((values + offsets[name]) / temperatures[name]).sigmoid()
        thresholds[name] = _thresholds(found, answers > 0, sure)
    return Calibration(offsets, temperatures, thresholds)


def shift(network: BoardNetwork, offsets: dict[str, float]) -> None:
    """Make the offsets part of a network's weights, in place."""
    with torch.no_grad():
        assert network.head.bias is not None
        network.head.bias += torch.tensor([offsets[head] for head in network.heads])


def _best(logits: Tensor, truth: Tensor) -> tuple[float, float]:
    """The offset and temperature with the least cross entropy."""
    pairs = list(product(OFFSETS.tolist(), TEMPERATURES.tolist()))
    losses = [
        float(binary_cross_entropy_with_logits((logits + offset) / temperature, truth)) + _RIDGE * offset**2
        for offset, temperature in pairs
    ]
    return pairs[int(np.argmin(losses))]


def _thresholds(found: Tensor, truth: Tensor, sure: tuple[float, float]) -> tuple[float, float]:
    """At least as strict as ``sure``, and so strict that ``MISTAKEN`` at most lie beyond them, up to ``SUREST``."""
    highest_no = float(found[~truth].quantile(1 - MISTAKEN)) if (~truth).any() else 0.0
    lowest_yes = float(found[truth].quantile(MISTAKEN)) if truth.any() else 1.0
    low, high = min(sure[0], lowest_yes), max(sure[1], highest_no)
    return round(max(low, 1 - SUREST), 4), round(min(high, SUREST), 4)
