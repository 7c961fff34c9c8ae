"""Labels of the user's own that the classifiers trained on them contradict: forgotten atoms, and wrong ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.training.label_checks import Labelling
from aam_vision.training.labels import NO_LABEL

MOST: Final = 10
"""Lines that are told, the others are counted: more of them hide what was told before."""


def doubts(heads: Sequence[str], perception: BoardPerception, labellings: Sequence[Labelling]) -> list[str]:
    """One line for every labelled place of which a classifier is sure that its label is wrong; ``MOST`` at most.

    Args:
        heads: names of the classifiers, in the order of ``VisualVocabulary.cell_heads``.
        perception: the trained classifiers.
        labellings: the labels that they were trained on.
    """
    low, high = (np.array([[perception.card.thresholds[head][side]] for head in heads]) for side in (0, 1))
    found = []
    for one in labellings:
        (probabilities,) = perception.probabilities([one.frame], one.index.scene)
        labels = one.example.labels.numpy()
        wrong = ((labels == 0) & (probabilities > high)) | ((labels == 1) & (probabilities < low))
        for row, column in np.argwhere(wrong & (labels != NO_LABEL)):
            said, seen = ("yes", "no") if labels[row, column] == 1 else ("no", "yes")
            found.append(
                f"line {one.line} of the labels ({one.image}) says {said} to {heads[row]} at {one.index.places[column]}, and the "
                f"classifiers say {seen}: an atom may be forgotten or wrong"
            )
    return shortened(found)


def shortened(lines: list[str]) -> list[str]:
    """The first ``MOST`` lines about labels, and how many more there are."""
    rest = len(lines) - MOST
    return (
        lines if rest <= 0 else [*lines[:MOST], f"{rest} further labels are contradicted by the classifiers"]
    )
