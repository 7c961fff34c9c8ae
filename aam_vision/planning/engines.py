"""Every planner of unified-planning behind the Planner protocol, among them Fast Downward.

The task that our own searches have (``pyperplan.Task``) becomes a ground unified-planning problem in an environment of our
own: its literals are numbered, so no name of a domain can be a keyword of some planner's language. Engines run with a limit on
time only. An engine's proof that there is no plan counts as a proof; giving up does not.

No such planner is part of this toolkit: Fast Downward (GPL) comes with the optional extra
``fast-downward``, others with unified-planning's own extras.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import metadata
from typing import Any

import numpy as np

from aam_vision.model.unified import environment
from aam_vision.planning.fact_tables import Sets
from aam_vision.planning.planner import Found, Limits, Planner, SearchProblem, Verdict
from aam_vision.planning.pyperplan import FactNumbers, NumberedOperators, PyperplanPlanner, Steps, Task
from aam_vision.support.errors import PlannerFailed, UnusableInput
from aam_vision.support.resources import ResourcesSpent

PYPERPLAN = "pyperplan"


@dataclass(frozen=True)
class _Known:
    """Facts about an engine beyond its own description."""

    extra: str
    """The package to install."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    exhaustive: bool = False
    """Whether its search under these parameters ends without a plan only where there is none."""


KNOWN = {
    # A* under h^max finds plans with the fewest steps and drops only states that no goal can follow. Fast
    # Downward calls every search that ran dry incomplete, whatever the search (its exit code 12).
    "fast-downward": _Known(
        "aam-vision[fast-downward]", {"fast_downward_search_config": "astar(hmax())"}, exhaustive=True
    ),
}


def planner_named(name: str) -> Planner:
    """The planner of that name, ready to use.

    Raises:
        UnusableInput: there is none of that name, it is not installed, or it cannot plan.
    """
    return PyperplanPlanner() if name == PYPERPLAN else EnginePlanner(name)


class EnginePlanner:
    """A unified-planning engine, by its name there."""

    def __init__(self, name: str) -> None:
        """Check that the engine is there.

        Raises:
            UnusableInput: there is none of that name, it is not installed, or it cannot plan.
        """
        from unified_planning.engines.factory import DEFAULT_ENGINES

        installed = environment().factory.engines
        if name not in installed:
            if name not in DEFAULT_ENGINES:
                usable = [PYPERPLAN, *(n for n in installed if "[" not in n and _can_plan(n))]
                raise UnusableInput(
                    f"unknown; installed are {', '.join(usable)}", argument="planner", value=name
                )
            raise UnusableInput(
                f'not installed; pip install "{_extra(name)}"', argument="planner", value=name
            )
        if not _can_plan(name):
            raise UnusableInput(
                "an engine of unified-planning, but not a planner", argument="planner", value=name
            )
        self.name = name
        self._known = KNOWN.get(name, _Known(""))

    def solve(self, problem: SearchProblem, limits: Limits) -> Found | Verdict:
        """A plan, or why there is none; ``limits.states`` does not apply to engines.

        Raises:
            PlannerFailed: the engine broke down.
        """
        if not problem.goals:
            return Verdict.UNSOLVABLE
        from unified_planning.engines import PlanGenerationResultStatus as Status

        task = NumberedOperators(problem.operators, FactNumbers()).task(problem)
        posed = _posed(task)
        engine = _engine_class(self.name, posed.environment)(**self._known.parameters)
        try:
            answer = engine.solve(posed, timeout=limits.seconds)
        except ResourcesSpent:
            raise
        except Exception as error:  # of any kind: it is foreign code
            raise PlannerFailed(
                f"{self.name} broke down ({type(error).__name__}: {error}): use another planner"
            ) from error
        if answer.plan is not None:
            return task.found(_steps([step.action.name for step in answer.plan.actions]))
        exhausted = answer.status is Status.UNSOLVABLE_INCOMPLETELY and self._known.exhaustive
        proven = exhausted or answer.status is Status.UNSOLVABLE_PROVEN
        if answer.status in (Status.INTERNAL_ERROR, Status.UNSUPPORTED_PROBLEM):
            told = [line for log in answer.log_messages or () for line in log.message.splitlines() if line]
            raise PlannerFailed(
                f"{self.name} gave up with {answer.status.name} ({'; '.join(told[-2:])}): use another planner"
            )
        return Verdict.UNSOLVABLE if proven else Verdict.LIMIT


def _can_plan(name: str) -> bool:
    """Whether an installed engine plans for ground positive STRIPS."""
    engine = environment().factory.engine(name)
    nothing = SearchProblem((), [(frozenset(), frozenset())], ())
    task = NumberedOperators((), FactNumbers()).task(nothing)
    return bool(engine.is_oneshot_planner() and engine.supports(_posed(task).kind))


def _extra(name: str) -> str:
    """The package to install for an engine that unified-planning knows."""
    if name in KNOWN:
        return KNOWN[name].extra
    extras = metadata("unified-planning").get_all("Provides-Extra") or []
    return f"unified-planning[{max((e for e in extras if name.startswith(e)), key=len, default='engines')}]"


def _engine_class(name: str, environment: Any) -> Any:
    engine = environment.factory.engine(name)
    if name != "fast-downward":
        return engine

    class TidyFastDownward(engine):  # type: ignore[misc, valid-type]
        """Fast Downward with its intermediate file beside the plan, not in the user's working directory."""

        def _base_cmd(self, plan_filename: str) -> list[str]:
            return [*super()._base_cmd(plan_filename), "--sas-file", f"{plan_filename}.sas"]

    return TidyFastDownward


def _posed(task: Task) -> Any:
    """The task as a unified-planning problem: its literals are numbered fluents.

    Every start is reached by an action of its own from an empty state, and every goal has an action that ends the task:
    one search serves all starts and all goals.
    """
    from unified_planning.model import Fluent, InstantaneousAction, Problem

    own = environment()
    posed = Problem("task", own)

    def fluent(name: str) -> Any:
        made = Fluent(name, own.type_manager.BoolType(), environment=own)
        posed.add_fluent(made, default_initial_value=False)
        return own.expression_manager.FluentExp(made)

    begin, begun, reached = map(fluent, ("begin", "begun", "reached"))
    literals = [fluent(f"f{number}") for number in range(task.states.shape[1])]

    def act(kind: str, number: int, required: Sequence[Any], effects: Mapping[Any, bool]) -> None:
        action = InstantaneousAction(f"{kind}_{number}", _env=own)
        for one in required:
            action.add_precondition(one)
        for one, value in effects.items():
            action.add_effect(one, value)
        posed.add_action(action)

    def of(sets: Sets, number: int) -> list[Any]:
        return [literals[member] for member in sets.members[sets.rows == number]]

    for number, state in enumerate(task.states):
        holding = [literals[place] for place in np.flatnonzero(state)]
        act("start", number, [begin], {begin: False, begun: True, **dict.fromkeys(holding, True)})
    for number in range(len(task.steps)):
        effects = dict.fromkeys(of(task.add, number), True) | dict.fromkeys(of(task.delete, number), False)
        act("step", number, [begun, *of(task.required, number)], effects)
    for number in range(len(task.goals)):
        act("goal", number, [begun, *of(task.wanted, number)], {reached: True})
    posed.set_initial_value(begin, True)
    posed.add_goal(reached)
    return posed


def _steps(names: Sequence[str]) -> Steps:
    """The plan, by the names of its actions; those after a goal have no use."""
    (_, start), *others = ((kind, int(number)) for kind, number in (name.split("_") for name in names))
    end = next(place for place, (kind, _) in enumerate(others) if kind == "goal")
    return Steps(start, [number for _, number in others[:end]], others[end][1])
