"""aam-vision: find out what a black-box agent can do, by asking it.

An agent acts in a simulator and shows its states only as images. The toolkit poses plan outcome
queries, reads the images with trained classifiers, and recovers the agent's STRIPS model in the
user's own words (Verma, Marpally, Srivastava: "Asking the Right Questions", AAAI-21).

>>> import aam_vision
>>> agent = aam_vision.agent_for("gripper")
>>> result = aam_vision.interrogate(agent)
>>> result
<Result: complete; 3 actions, 20 lines, 0 groups undetermined; 6 queries, 45 steps>

Names are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aam_vision.controls.result import ControlsResult
    from aam_vision.interrogation.task.result import Result
    from aam_vision.model.query import Access, Agent
    from aam_vision.run.api import agent_for, execute_plan, interrogate, interrogate_controls, symbolic_agent

__version__ = "0.1.0"

__all__ = [
    "Access",
    "Agent",
    "ControlsResult",
    "Result",
    "__version__",
    "agent_for",
    "execute_plan",
    "interrogate",
    "interrogate_controls",
    "symbolic_agent",
]

_HOMES = {
    "Access": "model.query",
    "Agent": "model.query",
    "ControlsResult": "controls.result",
    "Result": "interrogation.task.result",
    "agent_for": "run.api",
    "execute_plan": "run.api",
    "interrogate": "run.api",
    "interrogate_controls": "run.api",
    "symbolic_agent": "run.api",
}


if not TYPE_CHECKING:  # type checkers would take every name for granted

    def __getattr__(name: str) -> object:
        """Import a name of ``_HOMES`` from its module."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"aam_vision.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
