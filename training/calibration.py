"""How sure is sure: one temperature per classifier, fitted on boards that were not trained on.

Probabilities are sigmoid(logit / temperature); the temperature with the least cross entropy is taken
from a fixed range (Guo et al., "On Calibration of Modern Neural Networks", 2017).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from aam_vision.classifiers.network import BoardNetwork, place_logits
from aam_vision.training.augmentation import augment
from aam_vision.training.boards import Example, collate
from aam_vision.training.labels import NO_LABEL

TEMPERATURES = np.geomspace(0.25, 4.0, 17).round(3)
"""Below the range a classifier without a single mistake would be made infinitely sure."""


def temperatures(
    network: BoardNetwork, data: Sequence[Example], generator: Generator, *, copies: int = 2
) -> dict[str, float]:
    """The temperature of every head, fitted on augmented copies of the boards in ``data``."""
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
    return {
        head: _best(torch.cat(own), torch.cat(wanted))
        for head, own, wanted in zip(network.heads, logits, truth, strict=True)
    }


def _best(logits: Tensor, truth: Tensor) -> float:
    losses = [float(binary_cross_entropy_with_logits(logits / float(t), truth)) for t in TEMPERATURES]
    return float(TEMPERATURES[int(np.argmin(losses))])
