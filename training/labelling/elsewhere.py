"""A test that speaks of other layouts: each labelled layout is read by what was labelled in the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aam_vision.classifiers.recognition import Recognition
from aam_vision.training.labelling.pool import Pool
from aam_vision.training.labelling.references import labelled_looks
from aam_vision.training.labelling.stopping import upper_bound
from aam_vision.training.labels import NO_LABEL, Labels


@dataclass(frozen=True)
class Elsewhere:
    """Answers about labelled pictures, by the looks that were labelled in other layouts alone.

    Attributes:
        right: those that are as labelled.
        wrong: those that are not.
        refused: places that look like none of the other layouts.
    """

    right: int = 0
    wrong: int = 0
    refused: int = 0

    @property
    def bound(self) -> float:
        """The upper bound of the share of wrong answers."""
        return upper_bound(self.wrong, self.right + self.wrong)


def read_elsewhere(pool: Pool, answers: Mapping[int, Labels]) -> Elsewhere:
    """Read every layout with labelled pictures by the others; nothing is read where there is one only."""
    layouts: dict[str, dict[int, Labels]] = {}
    for number, labels in answers.items():
        layouts.setdefault(pool.pictures[number].picture.problem, {})[number] = labels
    right = wrong = refused = 0
    for own in layouts.values():
        others = {number: labels for number, labels in answers.items() if number not in own}
        if not others:
            continue
        recognition = Recognition(labelled_looks(pool, others))
        for number, labels in own.items():
            index = pool.pictures[number].index
            known = recognition.labels(
                [pool.cells(number, place) for place in range(len(index.places))], index.legality.asked
            )
            for place, found in enumerate(known):
                if found is None:
                    refused += bool((labels[:, place] != NO_LABEL).any())
                    continue
                told = (found != NO_LABEL) & (labels[:, place] != NO_LABEL)
                right += int((found == labels[:, place])[told].sum())
                wrong += int((found != labels[:, place])[told].sum())
    return Elsewhere(right, wrong, refused)
