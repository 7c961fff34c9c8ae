"""Robust interrogations, as several test modules make them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aam_vision.agents.numbered import NumberedAgent
from aam_vision.interrogation.evidence.moves import Policy
from aam_vision.interrogation.policies.decorators import Confirming
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.robust import Setup, interrogate_robustly
from aam_vision.model.query import Access, Agent
from aam_vision.planning.pyperplan import PyperplanPlanner


def doubting(agent: Agent, *, steps: int = 1500, confirm: bool = False) -> Result:
    setup = replace(setup_for(agent.access), budget=Budget(steps=steps), confirm=confirm)
    return interrogate_robustly(agent, setup, np.random.default_rng(0))


def setup_for(access: Access) -> Setup:
    return Setup(Confirming(policy(access), access), lambda: policy(access))


def policy(access: Access) -> Policy:
    return policy_for(access, "economical", PyperplanPlanner())


def hidden(agent: Agent) -> Agent:
    """The agent behind numbers, unless its states can be set: its handles are its true states."""
    return agent if agent.access is Access.SETTABLE else NumberedAgent(agent)
