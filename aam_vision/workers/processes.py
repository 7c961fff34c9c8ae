"""Copies in processes of this machine."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from aam_vision.errors import AamError, AgentFailed
from aam_vision.workers.crew import CopyLost

LOADED = (
    "numpy",
    "typer",
    "aam_vision.agents.copies",
    "aam_vision.agents.copied_simulator",
    "aam_vision.agents.symbolic",
)
"""Modules that most copies need."""


def load(modules: Sequence[str]) -> None:
    """Have all processes begin with these modules loaded.

    They are forks of a server that has loaded them once; nothing else of this process is in them. Without effect once a
    process has begun.
    """
    get_context("forkserver").set_forkserver_preload([*LOADED, *modules])


class ProcessCopy:
    """A process that makes the thing, and then does jobs with it. It ends with us, and ignores Ctrl-C.

    Args:
        make: makes the thing; both it and every job's arguments are sent to the process.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        context = get_context("forkserver")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(make, theirs), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process.pid is not None, "it has been started"
        return self._process.pid

    def call(self, job: Callable[..., Any], *arguments: Any) -> Any:
        """What the job returns.

        Raises:
            AgentFailed: the job raises.
            CopyLost: the process has ended.
        """
        try:
            self._ours.send((job, arguments))
            done, found = self._ours.recv()
        except (EOFError, OSError) as error:
            raise CopyLost(f"its process has ended ({type(error).__name__})") from None
        if not done:
            raise AgentFailed(found)
        return found

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        with contextlib.suppress(OSError):
            self._ours.close()


def _serve(make: Callable[[], Any], theirs: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    thing = None
    while True:
        try:
            job, arguments = theirs.recv()
        except (EOFError, OSError):
            return
        try:
            thing = make() if thing is None else thing
            answer = True, job(thing, *arguments)
        except Exception as error:  # of any kind: the agent is anybody's
            answer = False, told(error)
        with contextlib.suppress(OSError):
            theirs.send(answer)


def told(error: Exception) -> str:
    """An error in a line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, AamError) else f"{type(error).__name__}: {text}"
