"""Agents with chance for tests, of PPDDL text."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.model.pddl import read_domain, read_problem
from aam_vision.model.query import Access
from aam_vision.model.strips import Model, State

from .domains import PROBLEM, SLIPPERY


def read(domain: str = SLIPPERY, problem: str = PROBLEM) -> tuple[Model, State]:
    """A model and the initial state of its problem."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "d.pddl").write_text(domain)
        (place / "p.pddl").write_text(problem)
        model = read_domain(place / "d.pddl", chance=True)
        return model, read_problem(model, place / "p.pddl").initial


def agent(access: Access, seed: int = 0, domain: str = SLIPPERY, problem: str = PROBLEM) -> SymbolicAgent:
    """An agent that acts so."""
    model, initial = read(domain, problem)
    return SymbolicAgent(model, [initial], access, refuses_surely=True, chance=np.random.default_rng(seed))
