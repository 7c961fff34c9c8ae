"""Policies as the user gives them: whether one begins, what it does next, and how its failures are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aam_vision.envs.bounded_calls import BoundedCalls, TookTooLong
from aam_vision.envs.meaning import Instruction
from aam_vision.errors import RAISED, UnusableInput, reason


def result_of(name: str, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a user's function.

    Args:
        name: of the environment.
        what: the function is, for messages.
        function: the user's.
        arguments: its arguments.

    Raises:
        UnusableInput: it raises.
    """
    try:
        return function(*arguments)
    except RAISED as error:
        raise UnusableInput(f"{name}: {what} raised {reason(error)}; correct it") from error


class Policies:
    """Asks the policies of one problem, each call within the seconds that its instruction allows.

    Args:
        name: of the environment.
    """

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
