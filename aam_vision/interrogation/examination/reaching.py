"""Situations that are reached no more: which step on the way comes out otherwise?"""

from __future__ import annotations

from aam_vision.interrogation.examination.inquiry import Inquiry
from aam_vision.interrogation.examination.trials import History, Trial
from aam_vision.query import Access


def unexpected_on_the_way(inquiry: Inquiry, doubtful: Trial) -> Trial | None:
    """The first step on the way to a situation that comes out otherwise than expected, so that it is reached no more.

    Raises:
        Spent: too many steps have been attempted.
    """
    if inquiry.trials.access is not Access.RESET or doubtful.history is None:
        return None
    history = History(doubtful.history.start)
    for step in doubtful.history.executed:
        trial = inquiry.trials.attempt(history, step)
        if trial is None or inquiry.unexpected(trial) or not trial.executed:
            return trial
        history = history.then((step,), 1)
    return None
