"""All errors of the toolkit, under one root."""

from __future__ import annotations

from typing import Final


class AamError(Exception):
    """Root of all errors of the toolkit. Its message is one line: what, which value, what to do."""


class UnusableInput(AamError):
    """Raised when something the user supplied cannot be used; the command exits with code 2.

    Args:
        message: what is wrong and what to do, in one line.
        argument: the parameter at fault, by its name in Python; a command shows its option instead (``at_command``).
        value: the value that it was given, if the message should show it.
    """

    def __init__(self, message: str, argument: str | None = None, value: object = None) -> None:
        self._at = "" if value is None else f" {value}"
        self._message, self.argument = message, argument
        super().__init__(message if argument is None else f"{argument}{self._at}: {message}")

    def at_command(self) -> str:
        """The message as a command shows it: with the option (``--max-queries``) in place of the parameter."""
        if self.argument is None:
            return str(self)
        return f"--{self.argument.replace('_', '-')}{self._at}: {self._message}"


class HasChance(UnusableInput):
    """Raised where an environment has chance, and none was expected."""


class AgentFailed(AamError):
    """Raised when the agent can no longer answer; the command exits with code 3."""


class InconsistentAgent(AamError):
    """Raised when answers contradict each other under every STRIPS model of the vocabulary."""


class AccessViolation(AamError):
    """Raised when a policy starts where the agent's access does not allow; the policy is wrong."""


class PlannerFailed(AamError):
    """Raised when a planner breaks down; the command exits with code 3. Finding no plan is not an error."""


class AamWarning(UserWarning):
    """Something that may make a result worth less, in one line; whatever it is about goes on."""


RAISED: Final = (Exception, SystemExit, GeneratorExit)
"""What foreign code may end with and is told of: a call of ``exit()`` in it would else end the command without a word."""


def reason(error: BaseException) -> str:
    """A foreign exception in one line: its type and its message."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
