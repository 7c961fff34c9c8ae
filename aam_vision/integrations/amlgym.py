"""This toolkit as learners of AMLGym: an active one on one trajectory, without reset, and a passive one from traces.

>>> from amlgym.algorithms import get_algorithm  # before anything else that imports unified-planning
>>> from aam_vision.integrations.amlgym import AAMVision
>>> model, trajectory = AAMVision("empty.pddl").learn(simulator)
>>> model = AAMVisionPassive().learn("empty.pddl", ["0_traj", "1_traj"])
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np
from amlgym.algorithms.ActiveAlgorithmAdapter import ActiveAlgorithmAdapter
from amlgym.algorithms.PassiveAlgorithmAdapter import PassiveAlgorithmAdapter
from amlgym.modeling.trajectory import Trajectory

from aam_vision.agents.simulator import SimulatorAgent
from aam_vision.interrogation.task.forgotten_constants import interrogated
from aam_vision.interrogation.task.result import Result
from aam_vision.model.pddl import domain_text
from aam_vision.model.query import Access
from aam_vision.run.api import learn_from_traces
from aam_vision.support.errors import AamWarning, reason


@dataclass
class AAMVision(ActiveAlgorithmAdapter):  # type: ignore[misc]
    """A learner that never raises: what it could not do is a warning, and what it learned until then its model.

    Args:
        input_domain_path: a domain that declares the predicates and the operators; the model gets its name.
        constants: objects that operators may mean without naming them, where that domain forgets them (childsnack's
            ``kitchen``); if nothing else explains all answers, they are found in the steps that are left.
    """

    constants: tuple[str, ...] = ()
    result: Result | None = field(default=None, init=False)
    """What is certain of the model, and what is not; None if nothing could be asked."""

    def learn(self, simulator: Any, max_steps: int = 100, seed: int = 123) -> tuple[str, Any]:
        """The model as PDDL, and the steps that were executed with the states between them.

        Args:
            simulator: of unified-planning; it is asked for its initial state once, and then for one step after the other.
            max_steps: attempted steps at most, refused ones included.
            seed: of every random choice.
        """
        given = Path(self.input_domain_path).read_text(encoding="utf-8")
        recorded = _Recorded(simulator)
        self.result = None
        try:
            agent = SimulatorAgent(recorded, Access.TRAJECTORY, self.constants)
            self.result, constants = interrogated(agent, max_steps, np.random.default_rng(seed))
        except Exception as error:  # of any kind: learners that raise end a whole benchmark
            warn(f"nothing was learned: {reason(error)}", AamWarning, stacklevel=2)
            return given, recorded.trajectory
        if constants or self.result.status in ("failed", "not-strips"):
            warn(self.result.why, AamWarning, stacklevel=2)
        return _text(self.result, given), recorded.trajectory


@dataclass
class AAMVisionPassive(PassiveAlgorithmAdapter):  # type: ignore[misc]
    """A learner from traces that never raises: what it could not do is a warning."""

    result: Result | None = field(default=None, init=False)
    """What is certain of the model, and what is not; None if nothing could be read."""

    def learn(self, domain_path: str, trajectory_paths: list[str]) -> str:
        """The cautious model as PDDL: what held before every step of an action counts as required; the domain if no trace can be read."""
        self.result = None
        try:
            self.result = learn_from_traces(trajectory_paths, domain=domain_path, raises=False)
        except Exception as error:  # of any kind: learners that raise end a whole benchmark
            warn(f"nothing was learned: {reason(error)}", AamWarning, stacklevel=2)
            return Path(domain_path).read_text(encoding="utf-8")
        if self.result.not_strips:
            warn(self.result.why, AamWarning, stacklevel=2)
        return _text(self.result, Path(domain_path).read_text(encoding="utf-8"))


def _text(result: Result, given: str) -> str:
    """The learned model as PDDL, under the name of the domain that was given."""
    model = result.model
    if name := re.search(r"\(\s*domain\s+([^\s()]+)", given):
        model = replace(model, vocabulary=replace(model.vocabulary, name=name[1]))
    return domain_text(model)


class _Recorded:
    """A simulator whose executed steps are kept."""

    def __init__(self, simulator: Any) -> None:
        self._simulator, self._problem = simulator, getattr(simulator, "_problem", None)
        self._states: list[Any] = []
        self._actions: list[Any] = []

    @property
    def trajectory(self) -> Any:
        return Trajectory(self._states, self._actions)

    def get_initial_state(self) -> Any:
        self._states = [self._simulator.get_initial_state()]
        return self._states[0]

    def apply(self, state: Any, action: Any) -> Any:
        after = self._simulator.apply(state, action)
        if after is not None:
            self._states.append(after)
            self._actions.append(action)
        return after
