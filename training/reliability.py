"""Whether probabilities can be believed: calibration error, cross entropy, and risk against coverage.

Calibration error (ECE) and cross entropy (NLL) are over the single answers that have a label. Risk and
coverage are over whole images: sorted by confidence (that of the least sure answer), the *risk* at a
*coverage* c is the share of images with any answer on the wrong side of one half among the most confident
share c (El-Yaniv and Wiener, "On the Foundations of Noise-free Selective Classification", 2010).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.training.labels import NO_LABEL, Labels

COVERAGES: Final = (1.0, 0.99, 0.95)
BINS: Final = 15

_LEAST = 1e-12  # of a probability, so that its logarithm is finite


@dataclass
class Reliability:
    """Probabilities and labels, gathered image by image."""

    _found: list[NDArray[np.float32]] = field(default_factory=list)
    _truth: list[NDArray[np.bool_]] = field(default_factory=list)

    def add(self, probabilities: NDArray[np.float32], labels: Labels) -> None:
        """One image: (heads, places) each."""
        known = labels != NO_LABEL
        self._found.append(probabilities[known])
        self._truth.append(labels[known] == 1)

    @property
    def ece(self) -> float:
        """Expected calibration error: mean distance between probability and frequency, over ``BINS`` bins."""
        from aam_vision.classifiers.torchvision_cure import cure_torchvision

        cure_torchvision()
        import torch
        from torchmetrics.functional.classification import binary_calibration_error

        found, truth = np.concatenate(self._found), np.concatenate(self._truth)
        return float(binary_calibration_error(torch.from_numpy(found), torch.from_numpy(truth).int(), BINS))

    @property
    def nll(self) -> float:
        """Mean negative log likelihood of an answer, in nats."""
        found, truth = np.concatenate(self._found).astype(float), np.concatenate(self._truth)
        return float(-np.log(np.where(truth, found, 1 - found).clip(min=_LEAST)).mean())

    def risk(self, coverage: float) -> float:
        """Share of misread images among the most confident share ``coverage`` of all."""
        confidence = np.array([np.maximum(p, 1 - p).min(initial=1.0) for p in self._found])
        wrong = np.array([((p > 0.5) != yes).any() for p, yes in zip(self._found, self._truth, strict=True)])
        kept = np.argsort(-confidence, kind="stable")[: max(1, round(coverage * len(wrong)))]
        return float(wrong[kept].mean())

    def summary(self) -> dict[str, Any]:
        """The figures as they are written to JSON; empty where nothing was added."""
        if not self._found:
            return {}
        return {
            "ece": self.ece,
            "nll": self.nll,
            "risk": {f"{coverage:g}": self.risk(coverage) for coverage in COVERAGES},
        }
