"""Plans for an agent whose steps may have several outcomes: planned as if the likeliest came, and planned anew where another does.

The *most likely outcome* determinization, with replanning (Yoon, Fern and Givan, "FF-Replan", ICAPS 2007): every action is taken to have
the likeliest of its outcomes that change something. Where no plan of these leads to the goal, each outcome is an action of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from aam_vision.errors import UnusableInput
from aam_vision.execution.tasks import for_goal, open_goals
from aam_vision.outcomes import ChanceModel
from aam_vision.pddl import Problem
from aam_vision.planning.planner import Planner
from aam_vision.query import Agent, Query, Situation
from aam_vision.strips import ActionSchema, GroundAction, Model, State
from aam_vision.wording import counted, some

SHOWN = 4
"""Atoms that are named in a line, at most."""


@dataclass(frozen=True)
class Taken:
    """A step that was attempted."""

    number: int
    action: GroundAction
    executed: bool
    probability: float
    """Of what came of it, by the model; of a refusal 1 where the model says that it is refused, else 0."""
    changes: tuple[str, ...]

    @property
    def as_predicted(self) -> bool:
        """Whether the model says that this may come of it."""
        return self.probability > 0

    def __str__(self) -> str:
        if not self.executed:
            return "refused, as predicted" if self.as_predicted else "refused, NOT as predicted"
        what = some(self.changes, SHOWN) or "nothing changes"
        if not self.as_predicted:
            return f"{what}; NOT an outcome of the model"
        return f"{what}; {100 * self.probability:.0f}% of the time by the model"


@dataclass(frozen=True)
class Course:
    """What came of it. ``reached``: the goal holds in the end, or the given plan was carried out."""

    steps: tuple[Taken, ...]
    plans: int
    """How often a plan was made."""
    reached: bool
    verdict: str


def carry_out(
    agent: Agent,
    start: Situation,
    model: ChanceModel,
    plan: Sequence[GroundAction],
    watch: Callable[[Taken], None] = lambda step: None,
) -> Course:
    """Carry out a plan until a step is refused, or comes out as the model says it cannot.

    Raises:
        AgentFailed: the agent can no longer answer.
    """
    here, steps = start, list[Taken]()
    for action in plan:
        here, step = _taken(agent, here, model, action, len(steps) + 1)
        steps.append(step)
        watch(step)
        if not step.executed or not step.as_predicted:
            verdict = f"Step {step.number} of {len(plan)}, {action}: {step}. Given up there."
            return Course(tuple(steps), 0, reached=False, verdict=verdict)
    done = f"Carried out: {counted(len(plan), 'step')}." if plan else "Nothing to do: the plan is empty."
    return Course(tuple(steps), 0, reached=True, verdict=done)


def pursue(
    agent: Agent,
    start: Situation,
    model: ChanceModel,
    goal: tuple[str, str],
    planner: Planner,
    max_steps: int,
    watch: Callable[[Taken], None] = lambda step: None,
) -> Course:
    """Take steps towards a goal until it holds, planning anew where a step came out otherwise than was planned.

    Args:
        agent: its instructions are the actions of the model.
        start: a situation of it.
        model: the learned one.
        goal: its text, literals of PDDL, and where that comes from, for messages.
        planner: finds the plans.
        max_steps: steps after which it is given up.
        watch: called after every step.

    Raises:
        UnusableInput: the goal is none, or no plan for it is found at the start.
        AgentFailed, PlannerFailed: they broke down.
    """
    here, steps, plans = start, list[Taken](), 0
    problem, plan = _planned(model, here.state, goal, planner)
    plans += 1
    while True:
        if not any(open_goals(problem, here.state)):
            verdict = f"Goal reached: {counted(len(steps), 'step')}, {counted(plans, 'plan')}."
            return Course(tuple(steps), plans, reached=True, verdict=verdict)
        if len(steps) == max_steps:
            verdict = f"Goal not reached in {counted(max_steps, 'step')}: --max-steps allows more."
            return Course(tuple(steps), plans, reached=False, verdict=verdict)
        if not plan:
            try:
                problem, plan = _planned(model, here.state, goal, planner)
            except UnusableInput as error:
                verdict = f"Goal not reached: after {counted(len(steps), 'step')} {error}."
                return Course(tuple(steps), plans, reached=False, verdict=verdict)
            plans += 1
        (action, expected), *plan = plan
        here, step = _taken(agent, here, model, action, len(steps) + 1)
        steps.append(step)
        watch(step)
        if not step.as_predicted:
            verdict = f"Not as predicted: step {step.number}, {action}: {step}. Given up there."
            return Course(tuple(steps), plans, reached=False, verdict=verdict)
        if here.state.true != expected.true:
            plan = []


Planned = list[tuple[GroundAction, State]]
"""Steps, and the state in which each is meant to end."""


def _planned(
    model: ChanceModel, state: State, goal: tuple[str, str], planner: Planner
) -> tuple[Problem, Planned]:
    """A plan of the likeliest outcomes; where there is none, of any outcomes."""
    try:
        return _plan_of(_determined(model, likeliest=True), model, state, goal, planner)
    except UnusableInput:
        return _plan_of(_determined(model, likeliest=False), model, state, goal, planner)


def _determined(model: ChanceModel, *, likeliest: bool) -> dict[str, tuple[str, ActionSchema]]:
    """Actions without chance: of every case of an action the likeliest outcome that changes something, or all.

    By names of their own, with the name of the agent's action beside each.
    """
    names = {header.name for header in model.headers}
    found: dict[str, tuple[str, ActionSchema]] = {}
    for schema in model.actions:
        single = iter(schema.single)
        for case in schema.branches:
            own = [(one, next(single)) for one in case.outcomes]
            if likeliest:
                changing = [one for one in own if one[0].effects.add or one[0].effects.delete] or own
                own = [max(changing, key=lambda one: one[0].probability)]
            for _, one in own:
                found[_new_name(f"{schema.header.name}-{len(found) + 1}", names)] = schema.header.name, one
    return found


def _plan_of(
    actions: dict[str, tuple[str, ActionSchema]],
    model: ChanceModel,
    state: State,
    goal: tuple[str, str],
    planner: Planner,
) -> tuple[Problem, Planned]:
    """A plan of these actions without chance; each has the name of the agent's own beside it."""
    schemas = tuple(
        replace(schema, header=replace(schema.header, name=name)) for name, (_, schema) in actions.items()
    )
    simple = Model(model.vocabulary, schemas)
    task = for_goal(simple, state, *goal, planner)
    found: Planned = []
    for step in task.plan:
        state = simple.schema(step.name).successor(state, step.objects)
        found.append((GroundAction(actions[step.name][0], step.objects), state))
    return task.problem, found


def _new_name(name: str, names: set[str]) -> str:
    """A name that no action has."""
    while name in names:
        name += "-"
    return name


def _taken(
    agent: Agent, here: Situation, model: ChanceModel, action: GroundAction, number: int
) -> tuple[Situation, Taken]:
    """Take a step; where that leads, and what the model says of it."""
    response = agent.ask(Query(here, (action,)))
    schema, after = model.schema(action.name), response.final
    applicable = schema.applicable(here.state, action.objects)
    if not response.executed:
        return after, Taken(number, action, False, float(not applicable), ())
    share = schema.successors(here.state, action.objects).get(after.state, 0.0) if applicable else 0.0
    gained, lost = (
        sorted(a.true - b.true) for a, b in ((after.state, here.state), (here.state, after.state))
    )
    changes = [f"+{atom}" for atom in gained] + [f"-{atom}" for atom in lost]
    return after, Taken(number, action, True, share, tuple(changes))
