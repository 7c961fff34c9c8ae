"""Which atom to ask about next: at the place that looks least like all known ones, the one that halves what it may show."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.training.labelling.choice import SAME
from aam_vision.training.labelling.sites import SiteAnswers
from aam_vision.training.labels import NO_LABEL, Labels

STRANGE: Final = 100.0
"""Distance from which on looks have nothing in common; it is larger than that of any two."""

SIMILAR: Final = 30.0
"""Distance up to which a place probably shows what the most similar known one does: a larger one is wrong more often."""

LIKELY: Final = 8.0
"""How many times likelier a place shows what the most similar known one does than anything else: a larger one asks fewer
questions where that is so, and more where it is not."""


def strangest_look(
    answers: SiteAnswers, doubted: NDArray[np.bool_], left_out: set[int]
) -> tuple[int, float] | None:
    """The look that is least like all known ones, and how far it is from them; None if all are known or left out.

    So what is rare comes as soon as what is common, and no look that is not known stays farther from all known ones than the last one
    that was asked about (farthest-first traversal: Gonzalez, 1985). Those that are not read surely come first.

    Args:
        answers: what is known.
        doubted: (looks,), whether a look is not read surely.
        left_out: sites that are not asked about.
    """
    sites, distances = answers.sites, answers.sites.pool.distances
    known = [site for site in answers.wholes if site < sites.looks]
    candidates = np.array(
        [
            look
            for look in range(sites.looks)
            if answers.whole(look) is None and look not in left_out and sites.asked(look)
        ],
        np.intp,
    )
    if not len(candidates):
        return None
    near = distances[:, known].min(1, initial=STRANGE)[candidates]
    first = doubted[candidates] & (near >= SAME)
    chosen = int((near + np.where(first, STRANGE, 0)).argmax())
    return int(candidates[chosen]), float(near[chosen])


def most_telling_head(answers: SiteAnswers, site: int) -> int | None:
    """The classifier to ask of a site: the one whose answer is least foreseen; None if nothing is left to be asked.

    What the site may show is as likely as any other, but for what the most similar known look shows.
    """
    left = answers.possible(site)
    if len(left) < 2:
        return None
    likely = np.ones(len(left))
    nearest = _most_similar(answers, site)
    if nearest is not None:
        likely[(left == nearest).all(1)] = LIKELY * (len(left) - 1)
    likely /= likely.sum()
    open_ = _open(left)
    yes = likely @ (left[:, open_] == 1)
    return int(open_[int(np.abs(yes - 0.5).argmin())])


def _most_similar(answers: SiteAnswers, site: int) -> Labels | None:
    """What the most similar known site shows, if it looks like this one at all."""
    sites = answers.sites
    if site >= sites.looks:
        return None
    known = [one for one in answers.wholes if one < sites.looks]
    if not known:
        return None
    away = sites.pool.distances[site, known]
    return answers.whole(known[int(away.argmin())]) if away.min() < SIMILAR else None


def surest(sure: NDArray[np.bool_], left: Labels) -> int | None:
    """The classifier whose answer tells most of what was read at a place, if that is right: what is there, before what is not.

    Args:
        sure: (heads,), what is read there.
        left: (n, heads), what the place may show.
    """
    open_ = _open(left)
    if not len(open_):
        return None
    kept = (left[:, open_] == sure[open_]).sum(0)
    return int(open_[int(kept.argmin())])


def _open(left: Labels) -> NDArray[np.intp]:
    """The classifiers whose answers tell something, and can be told: nothing hides what they are about, whatever is there."""
    return np.flatnonzero((left != left[0]).any(0) & (left != NO_LABEL).all(0))
