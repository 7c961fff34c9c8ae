"""Policies as the user gives them: whether one begins, what it does next, and how its failures are told."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from aam_vision.envs.meaning import Instruction
from aam_vision.support.errors import RAISED, AamError, UnusableInput, reason


def result_of(name: str, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a user's function; UnusableInput if it raises."""
    try:
        return function(*arguments)
    except RAISED as error:
        raise UnusableInput(f"{name}: {what} raised {reason(error)}; correct it") from error


class Policies:
    """Asks the policies of one problem, each call within the seconds that its instruction allows."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls = BoundedCalls()

    def begins(self, instruction: Instruction, told: str, env: Any, objects: tuple[str, ...]) -> bool:
        """Whether a policy begins at all; if so, it is made to forget the last execution.

        Raises:
            UnusableInput: ``ready`` or ``reset`` raises, or does not return in time.
        """
        ready, anew = instruction.ready, getattr(instruction.policy, "reset", None)

        def asked(ask: Callable[[str], None]) -> bool:
            ask(f"ready of {told}")
            if ready is not None and not ready(env, *objects):
                return False
            ask(f"reset of the policy of {told}")
            if callable(anew):
                anew()
            return True

        if ready is None and not callable(anew):
            return True
        return bool(self._asked(instruction, asked))

    def action(
        self, instruction: Instruction, told: str, env: Any, observation: Any, objects: tuple[str, ...]
    ) -> tuple[Any] | None:
        """What a policy does next; None where it is done.

        Raises:
            UnusableInput: ``until`` or the policy raises, or does not return in time.
        """
        policy, until = instruction.policy, instruction.until
        assert policy is not None, "there is one"
        assert until is not None, "every policy has one"

        def asked(ask: Callable[[str], None]) -> tuple[Any] | None:
            ask(f"until of {told}")
            if until(env, *objects):
                return None
            ask(f"policy of {told}")
            return (policy(observation, *objects),)

        found: tuple[Any] | None = self._asked(instruction, asked)
        return found

    def _asked(self, instruction: Instruction, asked: Callable[[Callable[[str], None]], Any]) -> Any:
        """The result of calls of the user's functions, each of which is named before it is made."""
        asking = [""]

        def ask(what: str) -> None:
            asking[0] = what

        try:
            if instruction.seconds is None:
                return asked(ask)
            return self._calls(instruction.seconds, asked, ask)
        except TookTooLong as error:
            raise UnusableInput(
                f"{self._name}: {asking[0]} {error}; correct it, or give its instruction more seconds"
            ) from None
        except RAISED as error:
            raise UnusableInput(f"{self._name}: {asking[0]} raised {reason(error)}; correct it") from error


# Calls of a user's functions that may take so long and no longer: a call that never returns is told, whatever it is stuck in.
#
# Nothing can end a call from outside that is stuck in C code, so it is made in a thread of its own, and given up there: the thread
# stays behind, and does not keep the process from ending. What keeps Python's lock for ever (a C extension that is stuck and does not let
# go of it) stops this, too.


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
