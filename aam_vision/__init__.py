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
    from aam_vision.envs.matched import (
        Capability,
        Gate,
        assert_capability,
        assert_nothing_lost,
        capability,
        gate,
    )
    from aam_vision.envs.policies import Objective, PolicyAgent, by_actions
    from aam_vision.envs.told_agents import ToldAgent
    from aam_vision.interrogation.controls.result import ControlsResult
    from aam_vision.interrogation.task.loop import Interrupted
    from aam_vision.interrogation.task.result import Result
    from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
    from aam_vision.model.strips import (
        ActionHeader,
        ActionSchema,
        Atom,
        GroundAction,
        LiftedAtom,
        Model,
        Objects,
        Predicate,
        Problem,
        State,
        Types,
        Vocabulary,
    )
    from aam_vision.run.api import (
        agent_for,
        execute_plan,
        interrogate,
        interrogate_controls,
        learn_from_traces,
        symbolic_agent,
    )
    from aam_vision.support.errors import AamError, AgentFailed, InconsistentAgent, UnusableInput

__version__ = "0.1.0"

__all__ = [
    "AamError",
    "Access",
    "ActionHeader",
    "ActionSchema",
    "Agent",
    "AgentFailed",
    "Atom",
    "Capability",
    "ControlsResult",
    "Gate",
    "GroundAction",
    "InconsistentAgent",
    "Interrupted",
    "LiftedAtom",
    "Model",
    "Objective",
    "Objects",
    "PolicyAgent",
    "Predicate",
    "Problem",
    "Query",
    "Response",
    "Result",
    "Situation",
    "State",
    "ToldAgent",
    "Types",
    "UnusableInput",
    "Vocabulary",
    "WalkStep",
    "__version__",
    "agent_for",
    "assert_capability",
    "assert_nothing_lost",
    "by_actions",
    "capability",
    "execute_plan",
    "gate",
    "interrogate",
    "interrogate_controls",
    "learn_from_traces",
    "symbolic_agent",
]

_HOMES = {
    "envs.matched": "Capability Gate assert_capability assert_nothing_lost capability gate",
    "envs.policies": "Objective PolicyAgent by_actions",
    "envs.told_agents": "ToldAgent",
    "interrogation.controls.result": "ControlsResult",
    "interrogation.task.loop": "Interrupted",
    "interrogation.task.result": "Result",
    "model.query": "Access Agent Query Response Situation WalkStep",
    "model.strips": "ActionHeader ActionSchema Atom GroundAction LiftedAtom Model Objects Predicate Problem State Types Vocabulary",
    "run.api": "agent_for execute_plan interrogate interrogate_controls learn_from_traces symbolic_agent",
    "support.errors": "AamError AgentFailed InconsistentAgent UnusableInput",
}
"""Module -> the names that are imported from it."""


if not TYPE_CHECKING:  # type checkers would take every name for granted

    def __getattr__(name: str) -> object:
        """Import a name of ``_HOMES`` from its module."""
        for module, names in _HOMES.items():
            if name in names.split():
                return getattr(import_module(f"aam_vision.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
