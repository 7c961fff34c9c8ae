"""P_PO as unified-planning reads it and Fast Downward solves it."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aam_vision.model.strips import GroundAction, State
from aam_vision.planning.ppo import DistinguishingProblem, add_palm

BLIND = {"fast_downward_search_config": "astar(blind())"}
needs_fast_downward = pytest.mark.skipif(
    importlib.util.find_spec("up_fast_downward") is None, reason="the extra fast-downward is not installed"
)


def solves(made: DistinguishingProblem, initial: State, plan: Sequence[GroundAction]) -> bool:
    """Whether the two models answer differently to <initial, plan>."""
    one, other = (add_palm(made.model, made.pal, mode).run(initial, plan) for mode in (made.i, made.j))
    return one != other


def read(made: DistinguishingProblem, initial: State, folder: Path) -> Any:
    """P_PO as unified-planning reads it."""
    from unified_planning.io import PDDLReader

    files = [folder / "domain.pddl", folder / "problem.pddl"]
    for file, text in zip(files, made.pddl(initial), strict=True):
        file.write_text(text)
    return PDDLReader().parse_problem(*map(str, files))


def planned(problem: Any, options: dict[str, str]) -> list[GroundAction] | None:
    problem.environment.credits_stream = None
    with problem.environment.factory.OneshotPlanner(name="fast-downward", params=options) as planner:
        plan = planner.solve(problem).plan
    if plan is None:
        return None
    return [
        GroundAction(step.action.name, tuple(str(one) for one in step.actual_parameters))
        for step in plan.actions
    ]
