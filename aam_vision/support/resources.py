"""The CPU time and the memory that an interrogation may take: limits beside its budgets, which count its work.

Results depend on neither until one is spent. Long computations do not look at a clock: a timer interrupts them where the
system and the thread have one (a signal); elsewhere it is looked between questions only.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import inf
from pathlib import Path
from time import process_time

from aam_vision.support.errors import AamError, AgentFailed, UnusableInput

MEGABYTES = 1536
"""Memory that a run takes beyond what it begins with, at most; few take a fifth of it."""
ENDING_SECONDS = 4.0
"""CPU seconds for each part of what is worked out at the end, once no more may be taken."""
ANSWER_SECONDS = 60.0
"""Wall seconds that an environment may take for one action; agents that are programs have as many for an answer."""
_EVERY = 0.1
"""CPU seconds after which a computation is interrupted to look whether it may go on."""
_STATUS = Path("/proc/self/statm")
"""Where Linux says how many pages of memory a process holds."""


class ResourcesSpent(AamError):
    """Raised when no more time or memory may be taken; the message says which limit was reached."""


class Resources:
    """Limits of one interrogation, from now on.

    Args:
        seconds: CPU seconds of this process; None for no limit.
        megabytes: memory beyond what the process holds now; None for no limit, and none where that is not known.

    Raises:
        UnusableInput: ``seconds`` is no number above 0.
    """

    def __init__(self, seconds: float | None = None, megabytes: int | None = None) -> None:
        if seconds is not None and not 0 < seconds < inf:
            raise UnusableInput("give a number of CPU seconds above 0", "max_seconds", f"{seconds:g}")
        self._seconds, self._megabytes = seconds, megabytes
        self._until = inf if seconds is None else process_time() + seconds
        self._most = inf if megabytes is None else _resident() + megabytes
        self._interrupts = False
        """Whether what is worked out now may be interrupted."""

    @property
    def spent(self) -> str:
        """Which limit was reached, in a line; empty if none was."""
        if process_time() >= self._until:
            return f"{self._seconds:g} CPU seconds were spent (--max-seconds)"
        if self._most < inf and _resident() > self._most:
            return f"{self._megabytes} megabytes of memory were taken"
        return ""

    def check(self) -> None:
        """Raises ResourcesSpent if a limit was reached."""
        if why := self.spent:
            raise ResourcesSpent(why)

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """Raise ResourcesSpent in the block once a limit is reached; what is half done in it then must not be used."""
        self.check()
        limited = min(self._until, self._most) < inf
        with _timer(self._look) if limited else nullcontext(), self._set(True):
            yield

    def undisturbed(self) -> AbstractContextManager[None]:
        """Do not interrupt the block, which is inside of one that is interrupted: it has to be done as a whole."""
        return self._set(False)

    @contextmanager
    def _set(self, interrupts: bool) -> Iterator[None]:
        earlier, self._interrupts = self._interrupts, interrupts
        try:
            yield
        finally:
            self._interrupts = earlier

    def _look(self, *_: object) -> None:
        if self._interrupts:
            self.check()


@contextmanager
def _timer(look: Callable[..., None]) -> Iterator[None]:
    """Look now and then, in the main thread; on Windows there is no such timer."""
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGPROF) == look:
        yield
        return
    others = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, _EVERY, _EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, others)


@contextmanager
def returning(what: str, seconds: float = ANSWER_SECONDS) -> Iterator[Callable[[], object]]:
    """Give up what does not return, in the main thread, where the system has such a timer and nobody else uses it.

    Yields:
        A function that allows the block as many seconds more, from when it is called.

    Raises:
        AgentFailed: the block has taken so many wall seconds.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGALRM) != signal.SIG_DFL:
        yield lambda: None
        return

    def late(*_: object) -> None:
        raise AgentFailed(f"{what} has not returned within {seconds:g} s")

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield lambda: signal.setitimer(signal.ITIMER_REAL, seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _resident() -> float:
    """Megabytes of memory that this process holds; 0 where the system does not say."""
    try:
        pages = int(_STATUS.read_bytes().split()[1])
    except OSError:
        return 0.0
    from resource import getpagesize

    return pages * getpagesize() / 2**20
