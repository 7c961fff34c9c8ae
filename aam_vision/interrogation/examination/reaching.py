"""What happened before and after a step: the way to a situation that is reached no more, and the next picture."""

from __future__ import annotations

from aam_vision.interrogation.examination.inquiry import Inquiry
from aam_vision.interrogation.examination.surprises import differing
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


def kept(inquiry: Inquiry, then: Trial, now: Trial) -> bool:
    """Whether the next picture after a step showed its outcome, too: then it was not misread."""
    if then.after is None or now.after is None:
        return False
    atoms = differing(then.after.state, now.after.state)
    return any(
        trial.after is not None
        and any(trial.after.state.value(atom) is then.after.state.value(atom) for atom in atoms)
        for trial in inquiry.trials.seen[: inquiry.trials.known]
        if trial.before.handle == then.after.handle
    )
