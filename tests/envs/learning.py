"""Gymnasium environments interrogated, by every way back; and refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aam_vision.agents.image import ImageAgent
from aam_vision.errors import UnusableInput
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.planning.pyperplan import PyperplanPlanner

OWN = (
    lambda env: (env.unwrapped.at, tuple(env.unwrapped.lit)),
    lambda env, token: put(env.unwrapped, token),
)
WAYS = {"copy": "copy", "replay": "replay", "own": OWN}


def put(env: Any, token: tuple[int, tuple[bool, ...]]) -> None:
    env.at, env.lit = token[0], list(token[1])


def learned(subject: ImageAgent, budget: Budget | None = None) -> Any:
    policy = policy_for(subject.access, "economical", PyperplanPlanner())
    return interrogate(subject, policy, np.random.default_rng(0), budget=budget)


def refusal_of(make: Callable[[], Any]) -> str:
    with pytest.raises(UnusableInput) as caught:
        make()
    assert "\n" not in str(caught.value)
    return str(caught.value)
