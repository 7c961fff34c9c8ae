"""Whether labels describe legal boards, which perfect classifiers could read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import NO_LABEL, Exactly, Never, VisualVocabulary
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.labelled import Labels, label, things_at
from aam_vision.model.strips import State
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted

__all__ = ["NO_LABEL", "Labels", "check_legal", "label", "things_at"]


def check_legal(vocabulary: VisualVocabulary, index: SceneIndex, state: State) -> None:
    """Labels must be such that perfect classifiers would be believed.

    Raises:
        UnusableInput: they describe no legal board.
    """
    answers = (label(vocabulary, index.scene, index.places, state) == 1).astype(np.float32)
    heads = vocabulary.cell_heads()
    half = np.full((len(heads), 1), 0.5, np.float32)
    _, doubtful = index.legality.settle(answers, half, half)
    if doubtful.any():
        head, place = (int(numbers[0]) for numbers in np.nonzero(doubtful))
        why = _excluding(vocabulary, index, answers > 0) or f"see {heads[head]} at {index.places[place]}"
        raise UnusableInput(
            f"no legal board ({why}): give every thing its one place, and every cell what it shows, or correct the "
            f"vocabulary"
        )


def _excluding(vocabulary: VisualVocabulary, index: SceneIndex, yes: NDArray[np.bool_]) -> str | None:
    """The first constraint of a vocabulary that labels break, in words; None if it is none of the declared ones.

    Args:
        vocabulary: declares the constraints.
        index: of the labelled scene.
        yes: (heads, places), where a label says yes.
    """
    rows = vocabulary.rows
    for item in vocabulary.constraints:
        if isinstance(item, Never):
            shown = yes[[rows[head] for head in item.shows]].all(0)
            spared = yes[[rows[head] for head in item.without]].any(0)
            if (shown & ~spared).any():
                place = index.places[int(np.argmax(shown & ~spared))]
                without = f" without {' or '.join(item.without)}" if item.without else ""
                return f"a constraint excludes {' with '.join(item.shows)}{without}, as at {place}"
        elif isinstance(item, Exactly) and int(yes[rows[item.head]].sum()) != item.number:
            return (
                f"a constraint says that {item.head} holds in {counted(item.number, 'place')}, the label has "
                f"{int(yes[rows[item.head]].sum())}"
            )
    return None
