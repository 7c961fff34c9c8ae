"""How sure is sure: calibration of every classifier on images that were not trained on.

Probabilities are sigmoid((logit + offset) / temperature) with the least cross entropy within fixed ranges
(temperature: Guo et al., "On Calibration of Modern Neural Networks", 2017; offset: Platt, 1999, needed
because the training weighs rare and frequent answers the same). The offset becomes part of the weights.
Thresholds are closer to certainty where a classifier makes more mistakes on those images.
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

from aam_vision.classifiers.networks import Network
from aam_vision.classifiers.store import Card, describe
from aam_vision.training.folder import Labellable
from aam_vision.training.labels import NO_LABEL
from aam_vision.training.trainer import Data, Task

TEMPERATURES = np.geomspace(0.25, 4.0, 17).round(3)
"""Below the range a classifier without a single mistake would be made infinitely sure."""

OFFSETS = np.linspace(-6, 6, 49).round(3)

SUREST = 0.99
"""No threshold asks for more than this, so that one odd image cannot make a classifier silent."""

MISTAKEN = 0.002
"""Share of the yes answers that may be taken for a sure no, and the other way round; on images that are
changed more than most, where the joint checks of ``legality`` come on top."""

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


def calibrate(task: Task[Network, Data], network: Network, data: Data, generator: Generator) -> Calibration:
    """Fit every classifier on augmented copies of the images in ``data``."""
    known: dict[str, list[tuple[Tensor, Tensor]]] = {head: [] for head in task.heads}
    with torch.inference_mode():
        for logits, labels in task.answered(network, data, generator):
            for number, head in enumerate(task.heads):
                asked = labels[:, number] != NO_LABEL
                known[head].append((logits[:, number][asked], labels[:, number][asked].float()))
    offsets, temperatures, thresholds = {}, {}, {}
    for head, parts in known.items():
        values, truth = (torch.cat(each) for each in zip(*parts, strict=True))
        offsets[head], temperatures[head] = _best(values, truth)
        found = ((values + offsets[head]) / temperatures[head]).sigmoid()
        thresholds[head] = _thresholds(found, truth > 0, task.sure[head])
    return Calibration(offsets, temperatures, thresholds)


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
