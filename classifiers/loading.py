"""The perception for a vocabulary, with trained weights: of boards, or of pictures without cells."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from aam_vision.agents.perception import VisualVocabulary
from aam_vision.classifiers.backends import Running
from aam_vision.classifiers.camera.perception import CameraPerception
from aam_vision.classifiers.perception import BoardPerception


def load_perception(
    vocabulary: VisualVocabulary,
    name: str,
    folder: Path | None = None,
    *,
    threads: int = 1,
    noisy: bool = False,
    **how: Unpack[Running],
) -> BoardPerception | CameraPerception:
    """What reads the images of a vocabulary, with the weights called ``name`` in ``folder`` or the shipped ones.

    Args:
        vocabulary: says whether its images are boards or pictures without cells.
        name: of the weights.
        folder: of the weights; None for those shipped.
        threads: that share batches of boards.
        noisy: whether noise is put on the images, see ``BoardPerception.load``.
        how: images whose answers are kept, and what runs the network, see ``backends``; numpy, which is usual for boards, leaves
            pictures without cells to torch.

    Raises:
        UnusableInput: there are no such weights, or they cannot be used for this vocabulary, or with this backend.
    """
    if not vocabulary.cellless:
        return BoardPerception.load(vocabulary, name, folder, threads=threads, noisy=noisy, **how)
    return CameraPerception.load(vocabulary, name, folder, **how)
