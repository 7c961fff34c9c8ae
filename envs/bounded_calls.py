"""Calls of a user's functions that may take so long and no longer: a call that never returns is told, whatever it is stuck in.

Nothing can end a call from outside that is stuck in C code, so it is made in a thread of its own, and given up there: the thread
stays behind, and does not keep the process from ending. What keeps Python's lock for ever (a C extension that is stuck and does not let
go of it) stops this, too.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from aam_vision.errors import AamError


class TookTooLong(AamError):
    """Raised when a call did not return in time; nothing more can be called."""


class _Call(NamedTuple):
    """A function, its arguments, and the context variables of who calls it (NumPy's handling of errors is one)."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    context: Context


class _Outcome(NamedTuple):
    value: Any
    error: BaseException | None = None


class BoundedCalls:
    """Makes calls one after the other in one thread, which begins with the first of them."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._outcomes: SimpleQueue[_Outcome] = SimpleQueue()
        self._begun = False
        self._stuck = False

    def __call__(self, seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """The function's result; what it raises is raised here.

        Raises:
            TookTooLong: it did not return within so many seconds, or an earlier call did not.
        """
        if self._stuck:
            raise TookTooLong("an earlier call has not returned")
        if not self._begun:
            self._begun = True
            threading.Thread(target=_work, args=(self._calls, self._outcomes), daemon=True).start()
            weakref.finalize(self, self._calls.put, None)
        self._calls.put(_Call(function, arguments, copy_context()))
        try:
            outcome = self._outcomes.get(timeout=seconds)
        except Empty:
            self._stuck = True
            raise TookTooLong(f"did not return within {seconds:g} s") from None
        except BaseException:  # Ctrl-C: the result of this call would be taken for that of the next one
            self._stuck = True
            raise
        if outcome.error is not None:
            raise outcome.error
        return outcome.value


def _work(calls: SimpleQueue[_Call | None], outcomes: SimpleQueue[_Outcome]) -> None:
    """Make calls until there are no more."""
    while (call := calls.get()) is not None:
        try:
            outcome = _Outcome(call.context.run(call.function, *call.arguments))
        except BaseException as error:
            outcome = _Outcome(None, error)
        outcomes.put(outcome)
        del call, outcome  # nothing of a call is kept until the next one
