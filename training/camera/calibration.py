"""How sure is sure: calibration of the classifiers of pictures, on pictures that were not learned from."""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
from torch import Generator

from aam_vision.classifiers.camera.network import CameraNetwork
from aam_vision.classifiers.camera.plan import CameraPlan
from aam_vision.training.calibration import Calibration, fit
from aam_vision.training.camera.data import Lessons, augment
from aam_vision.training.labels import NO_LABEL

COPIES: Final = 3
"""Augmented copies of every picture that is calibrated on."""

SURE: Final = (0.02, 0.98)
"""Thresholds at least: below the first an atom is false, above the second true. Stricter than those of boards: what stands
behind something is often a guess that is right nine times of ten."""
FOUND: Final = (0.02, 0.5)
"""The same of the classifiers of looks. Of a thing that hardly shows other classifiers learn to say what can be said of it, so
that it is enough if it rather shows than not."""

_BATCH = 32


def calibrate(network: CameraNetwork, data: Lessons, generator: Generator) -> Calibration:
    """Fit every classifier on augmented copies of pictures."""
    with torch.inference_mode():
        logits = torch.cat(
            [
                network(augment(part.float() / 255, generator)).logits
                for _ in range(COPIES)
                for part in torch.split(data.pictures, _BATCH)
            ]
        )
    labels = data.labels.repeat(COPIES, 1)
    known = {}
    for head, places in places_of(network.plan).items():
        asked = labels[:, places] != NO_LABEL
        known[head] = (logits[:, places][asked], labels[:, places][asked].float())
    found, other = (
        fit({head: asked for head, asked in known.items() if (head in network.plan.found) is wanted}, sure)
        for wanted, sure in ((True, FOUND), (False, SURE))
    )
    return Calibration(
        {**found.offsets, **other.offsets},
        {**found.temperatures, **other.temperatures},
        {**found.thresholds, **other.thresholds},
    )


def places_of(plan: CameraPlan) -> dict[str, list[int]]:
    """Where the answers of every classifier lie in a row of the network's."""
    looks = len(plan.looks)
    found = {head: [number] for number, head in enumerate(plan.found)}
    begin = looks
    for heads, times in ((plan.alone, 1), (plan.single, looks), (plan.pairs, looks * looks)):
        for number, head in enumerate(heads):
            found[head] = (begin + number + len(heads) * np.arange(times)).tolist()
        begin += len(heads) * times
    return found
