"""Agents with chance for tests, of PPDDL text."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from aam_vision.agents.chance import ChanceAgent
from aam_vision.model.outcomes import ChanceModel
from aam_vision.model.pddl import read_chance_domain, read_chance_problem
from aam_vision.model.query import Access
from aam_vision.model.strips import State

from .domains import PROBLEM, SLIPPERY


def read(domain: str = SLIPPERY, problem: str = PROBLEM) -> tuple[ChanceModel, State]:
    """A model and the initial state of its problem."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "d.pddl").write_text(domain)
        (place / "p.pddl").write_text(problem)
        model = read_chance_domain(place / "d.pddl")
        return model, read_chance_problem(model, place / "p.pddl").initial


def agent(access: Access, seed: int = 0, domain: str = SLIPPERY, problem: str = PROBLEM) -> ChanceAgent:
    """An agent that acts so."""
    model, initial = read(domain, problem)
    return ChanceAgent(model, [initial], np.random.default_rng(seed), access)
