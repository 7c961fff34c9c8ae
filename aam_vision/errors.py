"""Everything that can go wrong, under one root, so that a caller catches what it can handle."""

from __future__ import annotations


class AamError(Exception):
    """Root of all errors of the toolkit. Its message is one line: what, which value, what to do."""


class UnusableInput(AamError):
    """Raised when something the user supplied cannot be used; the command exits with code 2."""


class AgentFailed(AamError):
    """Raised when the agent cannot answer any more; the command exits with code 3."""


class InconsistentAgent(AamError):
    """Raised when answers contradict each other under every STRIPS model of the vocabulary."""


class AccessViolation(AamError):
    """Raised when a policy starts where the agent's access does not allow: a mistake in the policy."""


class PlannerFailed(AamError):
    """Raised when a planner breaks down, which is not to find no plan; the command exits with code 3."""


def reason(error: Exception) -> str:
    """A foreign exception in one line: its kind and what it says."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")
