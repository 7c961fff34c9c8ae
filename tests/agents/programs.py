"""Programs as agents: the commands that start them, and conversations with them."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from aam_vision.agents import reference_agent
from aam_vision.agents.program import ProgramLimits
from aam_vision.agents.shown import Conversation
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Agent
from aam_vision.planning.pyperplan import PyperplanPlanner

SCHEMA = json.loads(
    Path(reference_agent.__file__).with_name("protocol.schema.json").read_text(encoding="utf-8")
)


def program(module: str, *words: object) -> str:
    """The command that starts a module."""
    return shlex.join([sys.executable, "-m", module, *map(str, words)])


REFERENCE = program("aam_vision.agents.reference_agent")


def written(folder: Path, code: str) -> str:
    """The command that starts this code, from a file in the folder."""
    (folder / "program.py").write_text(code, encoding="utf-8")
    return shlex.join([sys.executable, str(folder / "program.py")])


@contextmanager
def conversing(command: str, limits: ProgramLimits) -> Iterator[Conversation]:
    conversation = Conversation(command, limits)
    try:
        yield conversation
    finally:
        conversation.close()


def asked_of(counter: Path) -> list[dict[str, Any]]:
    """All questions to all processes, except the hello."""
    asked = [json.loads(line) for line in counter.read_text().splitlines()]
    return [question for question in asked if question["ask"] != "hello"]


def learned(agent: Agent, budget: Budget | None = None) -> Result:
    policy = policy_for(agent.access, "economical", PyperplanPlanner())
    return interrogate(agent, policy, np.random.default_rng(0), budget=budget)
