"""How a run ended, as its command reports it."""

from __future__ import annotations

from typing import NamedTuple

from aam_vision.interrogation.task.verdict import FAILED, NOT_STRIPS
from aam_vision.support.commandline import AGENT_FAILED, NOT_EXPLAINED


class Ended(NamedTuple):
    """How a run ended."""

    status: str
    final: bool = True
    """Whether the same answers would end it again: a run of which this is not so may go on with ``--resume``."""
    why: str = ""
    """What is to be said of it on stderr, in a line: an error if there is an exit code, or else a warning; empty for nothing."""
    code: int = 0


def accusation(why: str, otherwise: str | None) -> str:
    """What is wrong with the agent, in a line; ``otherwise``: what else may be behind it, if anything."""
    return f"{why}; or pictures were misread (diagnosis in result.json)" if otherwise else why


def exit_code(status: str) -> int:
    """The exit code of a run that ended so."""
    return {FAILED: AGENT_FAILED, NOT_STRIPS: NOT_EXPLAINED}.get(status, 0)
