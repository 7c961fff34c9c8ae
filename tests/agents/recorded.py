"""Short interrogations with a journal."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import numpy as np

from aam_vision.agents.journal import NAME, Journal
from aam_vision.agents.journalled import JournalledAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.policies.economical import EconomicalPolicy, Walker
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.resuming import Recorded
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access

BUDGET = Budget(queries=2, steps=200)


def run(journal: Journal) -> None:
    """A short interrogation, or what the journal holds of it once more."""
    problem = packaged.generate("gripper", 2, np.random.default_rng(0))
    agent = SymbolicAgent(packaged.load("gripper"), [problem.initial], Access.SNAPSHOT)
    journalled = JournalledAgent(agent, journal)
    policy = Recorded(EconomicalPolicy(walker=Walker(limit=20)), journalled)
    interrogate(journalled, policy, np.random.default_rng(0), budget=BUDGET)


def act(folder: Path) -> None:
    with Journal.create(folder, {"seed": 1}, {}) as journal:
        run(journal)


def replay(folder: Path) -> None:
    with Journal.open(folder) as journal:
        journal.about("arguments")
        run(journal)


def copy(recorded: Path, to: Path) -> sqlite3.Connection:
    shutil.copy(recorded / NAME, to / NAME)
    return sqlite3.connect(to / NAME, isolation_level=None)
