"""Every planner of unified-planning behind the Planner protocol, among them Fast Downward.

A search problem becomes a ground unified-planning problem in an environment of our own: its facts are
numbered, so no name of a domain can be a keyword of some planner's language. Engines run with a limit on
time only. An engine's proof that there is no plan counts as a proof; giving up does not.

No such planner is part of this toolkit: Fast Downward (GPL) comes with the optional extra
``fast-downward``, others with unified-planning's own extras.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import metadata
from typing import Any, NamedTuple

from aam_vision.model.strips import GroundAction
from aam_vision.model.unified import environment
from aam_vision.planning.grounding import Operator
from aam_vision.planning.joins import Fact
from aam_vision.planning.planner import Found, Limits, Planner, SearchProblem, Verdict
from aam_vision.planning.pyperplan import PyperplanPlanner
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

        operators = positive_operators(problem)
        task = _task(operators)
        engine = _engine_class(self.name, task.environment)(**self._known.parameters)
        try:
            answer = engine.solve(task, timeout=limits.seconds)
        except ResourcesSpent:
            raise
        except Exception as error:  # of any kind: it is foreign code
            raise PlannerFailed(
                f"{self.name} broke down ({type(error).__name__}: {error}): use another planner"
            ) from error
        if answer.plan is not None:
            return as_found([operators[int(step.action.name[1:])].source for step in answer.plan.actions])
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
    return bool(engine.is_oneshot_planner() and engine.supports(_task([]).kind))


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


def _task(operators: list[PositiveOperator]) -> Any:
    """The unified-planning problem: operator number i is the action ``oi``."""
    from unified_planning.model import Fluent, InstantaneousAction, Problem

    own = environment()
    boolean = own.type_manager.BoolType()
    expressions = own.expression_manager
    task = Problem("task", own)
    numbers: dict[Any, Any] = {}

    def fluent(symbol: Any) -> Any:
        if symbol not in numbers:
            made = Fluent(f"f{len(numbers)}", boolean, environment=own)
            task.add_fluent(made, default_initial_value=False)
            numbers[symbol] = expressions.FluentExp(made)
        return numbers[symbol]

    for number, operator in enumerate(operators):
        if (
            not operator.add and not operator.delete
        ):  # it changes nothing, and Fast Downward refuses such an action
            continue
        action = InstantaneousAction(f"o{number}", _env=own)
        for symbol in sorted(operator.required, key=str):
            action.add_precondition(fluent(symbol))
        for symbol in sorted(operator.add, key=str):
            action.add_effect(fluent(symbol), True)
        for symbol in sorted(operator.delete, key=str):
            action.add_effect(fluent(symbol), False)
        task.add_action(action)
    for symbol in INITIAL:
        task.set_initial_value(fluent(symbol), True)
    for symbol in GOAL:
        task.add_goal(fluent(symbol))
    return task


# A search problem as one ground task of positive STRIPS, which every classical planner understands.
#
# Facts that occur negatively get a complement, which is true when they are known to be false; of a fact that is unknown
# at a start, neither is true. Every start is reached by an operator of its own from an empty state, and every goal
# operator ends the task: one search serves all starts and all goals.


Symbol = Hashable
"""A fact of the task: (True, fact), its complement (False, fact), or one of the marks below."""

BEGIN, BEGUN, REACHED = "begin", "begun", "reached"


class PositiveOperator(NamedTuple):
    """An operator of the task; ``source`` is the number of a start, a step, or a goal operator."""

    source: int | GroundAction | Operator
    required: frozenset[Symbol]
    add: frozenset[Symbol]
    delete: frozenset[Symbol]


INITIAL: frozenset[Symbol] = frozenset([BEGIN])
GOAL: frozenset[Symbol] = frozenset([REACHED])


def positive_operators(problem: SearchProblem) -> list[PositiveOperator]:
    """The task's operators: from ``INITIAL`` to ``GOAL`` a plan is a start, steps and a goal operator."""
    everything = (*problem.operators, *problem.goals)
    changing = {fact for operator in problem.operators for fact in operator.add | operator.delete}
    always = frozenset.intersection(*(true for true, _ in problem.starts)) - changing
    ever = frozenset.union(*(true | unknown for true, unknown in problem.starts)) | changing
    relevant = {fact for operator in everything for fact in operator.positive} - always
    negated = {fact for operator in everything for fact in operator.negative} & ever

    def symbols(positive: frozenset[Fact], negative: frozenset[Fact]) -> frozenset[Symbol]:
        return frozenset(
            [(True, fact) for fact in positive & relevant] + [(False, fact) for fact in negative & negated]
        )

    def required(source: Operator) -> frozenset[Symbol]:
        # operators without changing preconditions must wait until a start is chosen, too
        return symbols(source.positive, source.negative) or frozenset([BEGUN])

    found = []
    for number, (true, unknown) in enumerate(problem.starts):
        facts = symbols(true, frozenset(negated - true - unknown)) | {BEGUN}
        found.append(PositiveOperator(number, INITIAL, facts, INITIAL))
    for source in problem.operators:
        delete = source.delete - source.add
        found.append(
            PositiveOperator(
                source.action, required(source), symbols(source.add, delete), symbols(delete, source.add)
            )
        )
    for goal in problem.goals:
        found.append(PositiveOperator(goal, required(goal), GOAL, frozenset()))
    return found


def as_found(sources: Sequence[int | GroundAction | Operator]) -> Found:
    """The plan of the search problem, given the operators of a plan of the task."""
    start = sources[0]
    assert isinstance(start, int), "no operator but a start can be the first"
    steps: list[GroundAction] = []
    for source in sources[1:]:
        if isinstance(source, Operator):  # steps after that have no use
            return Found(start, tuple(steps), source)
        assert isinstance(source, GroundAction)
        steps.append(source)
    raise AssertionError("a plan of the task ends with a goal operator")
