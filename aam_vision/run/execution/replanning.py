"""Plans of an agent's actions: planned as if the likeliest of several outcomes came, and planned anew where another does.

The *most likely outcome* determinization, with replanning (Yoon, Fern and Givan, "FF-Replan", ICAPS 2007): every action is taken to have
the likeliest of its outcomes that change something. Where no plan of these leads to the goal, each outcome is an action of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aam_vision.agents.perception import Frame
from aam_vision.interrogation.controls.mapping import Carriers
from aam_vision.model.pddl import Problem, read_goal
from aam_vision.model.query import Agent, Query, Situation
from aam_vision.model.strips import ActionSchema, Atom, GroundAction, Mode, Model, State
from aam_vision.planning.grounding import TooManyOperators
from aam_vision.planning.planner import Found, Limits, Planner, Verdict, planned
from aam_vision.report.album import Picture
from aam_vision.report.english import marked, signed
from aam_vision.report.video import MAX_FRAMES, Shot, animated
from aam_vision.support.errors import AgentFailed, UnusableInput
from aam_vision.support.files import read_limited
from aam_vision.support.pictures import encode
from aam_vision.support.wording import counted, some

SHOWN = 4
"""Atoms that are named in a line, or in the verdict as come out otherwise, at most."""


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
        if self.probability == 1:
            return f"{what}; as predicted"
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
    model: Model,
    plan: Sequence[GroundAction],
    watch: Callable[[Taken], None] = lambda step: None,
) -> Course:
    """Carry out a plan until a step is refused, or comes out as the model says it cannot. Raises AgentFailed: the agent can no longer answer."""
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
    model: Model,
    goal: tuple[str, str],
    planner: Planner,
    max_steps: int,
    watch: Callable[[Taken], None] = lambda step: None,
) -> Course:
    """Take steps towards a goal (its text, and where that is from), planning anew where a step came out otherwise than was planned.

    Raises:
        UnusableInput: the goal is none, or no plan for it is found at the start.
        AgentFailed, PlannerFailed: they broke down.
    """
    here, steps, plans = start, list[Taken](), 1

    def ended(verdict: str, *, reached: bool = False) -> Course:
        return Course(tuple(steps), plans, reached, verdict)

    problem, plan = _planned(model, here.state, goal, planner)
    while True:
        if not any(open_goals(problem, here.state)):
            return ended(
                f"Goal reached: {counted(len(steps), 'step')}, {counted(plans, 'plan')}.", reached=True
            )
        if len(steps) == max_steps:
            return ended(f"Goal not reached in {counted(max_steps, 'step')}: --max-steps allows more.")
        if not plan:
            try:
                problem, plan = _planned(model, here.state, goal, planner)
            except UnusableInput as error:
                return ended(f"Goal not reached: after {counted(len(steps), 'step')} {error}.")
            plans += 1
        (action, expected), *plan = plan
        here, step = _taken(agent, here, model, action, len(steps) + 1)
        steps.append(step)
        watch(step)
        if not step.as_predicted:
            return ended(f"Not as predicted: step {step.number}, {action}: {step}. Given up there.")
        if not here.state.true ^ expected.true <= here.state.unknown | expected.unknown:
            plan = []


Planned = list[tuple[GroundAction, State]]
"""Steps, and the state in which each is meant to end."""


def _planned(model: Model, state: State, goal: tuple[str, str], planner: Planner) -> tuple[Problem, Planned]:
    """A plan of the likeliest outcomes; where there is none, of any outcomes."""
    try:
        return _plan_of(_determined(model, likeliest=True), model, state, goal, planner)
    except UnusableInput:
        return _plan_of(_determined(model, likeliest=False), model, state, goal, planner)


def _determined(model: Model, *, likeliest: bool) -> dict[str, tuple[str, ActionSchema]]:
    """Actions without chance, by names of their own, each with the agent's: of every case the likeliest outcome that changes something, or all."""
    if model.vocabulary.delays is not None:  # without chance: such a model speaks of its actions by name
        return {schema.header.name: (schema.header.name, schema) for schema in model.actions}
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
                name = f"{schema.header.name}-{len(found) + 1}"
                while name in names:  # of another action
                    name += "-"
                found[name] = schema.header.name, one
    return found


def _plan_of(
    actions: dict[str, tuple[str, ActionSchema]],
    model: Model,
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


def _taken(
    agent: Agent, here: Situation, model: Model, action: GroundAction, number: int
) -> tuple[Situation, Taken]:
    """Take a step; where that leads, and what the model says of it."""
    response = agent.ask(Query(here, (action,)))
    schema, after = model.schema(action.name), response.final
    applicable = schema.applicable(here.state, action.objects)
    if not response.executed:
        return after, Taken(number, action, False, float(not applicable), ())
    hidden = here.state.unknown | after.state.unknown  # of these nothing is predicted, or seen
    outcomes = schema.successors(here.state, action.objects) if applicable else {}
    share = sum(chance for state, chance in outcomes.items() if state.true ^ after.state.true <= hidden)
    gained, lost = after.state.true - here.state.true - hidden, here.state.true - after.state.true - hidden
    return after, Taken(number, action, True, share, tuple(signed(gained, lost)))


# What is to be carried out: a plan of discovered operators, given or found by a planner for a goal.


LIMITS = Limits(seconds=60.0, states=300_000, guided=30_000)
"""How long a plan is looked for."""
MAX_BYTES = 1_000_000
"""Bytes of a file with a goal, at most."""


@dataclass(frozen=True)
class Task:
    """A plan from a state, and what it is to bring about: nothing in particular where it was given."""

    problem: Problem
    plan: tuple[GroundAction, ...]
    planned: bool
    """Whether the plan was found for the goal of the problem."""


def goal_text(given: str) -> tuple[str, str]:
    """The text of a goal, given as such or in a file, and where it comes from. Raises UnusableInput: the file cannot be read."""
    if "(" in given:
        return given, "--goal"
    try:
        return read_limited(Path(given), MAX_BYTES).decode(), given
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "no text"
        raise UnusableInput(
            f"no goal such as '(at robot room-2)', and no file with one ({why})", "goal", given[:80]
        ) from None


def for_goal(model: Model, initial: State, text: str, source: str, planner: Planner) -> Task:
    """The plan that a planner finds for a goal, literals of PDDL from a ``source`` that messages name, from a state as it was seen.

    Raises:
        UnusableInput: the goal is none, or no plan for it was found.
        PlannerFailed: the planner broke down.
    """
    goal, goal_false = read_goal(text, model.vocabulary, initial.objects, source)
    problem = Problem("goal", initial, goal, goal_false)
    try:
        found = planned(model, problem, planner, LIMITS)
    except TooManyOperators as error:
        raise UnusableInput(f"the problem is too large for a plan ({error}); give a plan instead") from None
    if isinstance(found, Found):
        return Task(problem, found.plan, planned=True)
    if found is Verdict.LIMIT:
        # no planner knows effects that come later
        other = "" if model.vocabulary.delays is not None else "another --planner, or "
        raise UnusableInput(
            f"no plan for the goal was found within {LIMITS.states:,} states and {LIMITS.seconds:g} s; "
            f"give {other}a --plan"
        )
    hidden = f"; {counted(len(initial.unknown), 'atom')} could not be seen there" if initial.unknown else ""
    raise UnusableInput(
        f"no plan of the learned operators leads from the initial situation to the goal{hidden}"
    )


def for_plan(model: Model, initial: State, plan: Sequence[GroundAction]) -> Task:
    """A given plan, if the model says that it can be carried out as far as can be seen, and no operator names an object twice; or UnusableInput."""
    state = initial
    for number, step in enumerate(plan, 1):
        if len(set(step.objects)) < len(step.objects):
            raise UnusableInput(
                f"step {number}, {step}: names an object twice; the parameters of an operator stand for different ones"
            )
        if missing := violated(model, state, step):
            raise UnusableInput(
                f"step {number}, {step}: cannot be carried out there by the learned model: {some(missing, 4)}"
            )
        state = model.schema(step.name).successor(state, step.objects)
    return Task(Problem("plan", initial), tuple(plan), planned=False)


def violated(model: Model, state: State, step: GroundAction) -> list[str]:
    """What a step requires and certainly does not hold in a state, in words."""
    schema = model.schema(step.name)
    required = marked(schema.positive, schema.negative)
    found = [(atom.ground(step.objects), mode is Mode.POSITIVE) for atom, mode in required]
    return [
        f"{atom} is {'false' if wanted else 'true'}"
        for atom, wanted in sorted(found)
        if state.value(atom) is (not wanted)
    ]


def open_goals(problem: Problem, state: State) -> tuple[list[Atom], list[Atom]]:
    """The atoms of the goal that certainly are not as wanted in a state, and those that are unknown."""
    wanted = [(atom, True) for atom in problem.goal] + [(atom, False) for atom in problem.goal_false]
    values = [(atom, value, state.value(atom)) for atom, value in sorted(wanted)]
    return (
        [atom for atom, value, is_ in values if is_ is (not value)],
        [atom for atom, _, is_ in values if is_ is None],
    )


# Carrying out a plan: each operator's control is given, and what is seen is compared with what the model predicts.


@dataclass(frozen=True)
class Step:
    """A control that was given for one step of a plan, and how that compares with the model."""

    number: int
    operator: GroundAction
    control: GroundAction
    changes: tuple[str, ...]
    """The predicted changes, each after ``+`` or ``-``."""
    differing: tuple[str, ...]
    """The atoms that came out otherwise, in words."""
    hidden: tuple[str, ...]
    """The predicted changes that could not be seen."""

    @property
    def as_predicted(self) -> bool:
        """Whether nothing that was seen is otherwise than predicted."""
        return not self.differing

    def __str__(self) -> str:
        told = "; ".join(self.differing) or ", ".join(self.changes) or "nothing changes"
        unseen = f"; not seen: {', '.join(self.hidden)}" if self.hidden else ""
        how = "as predicted" if self.as_predicted else "NOT as predicted"
        return f"{self.control}: {how}; {told}{unseen}"


@dataclass(frozen=True)
class Execution:
    """A plan that was carried out, as far as everything came out as predicted. ``str()`` says how it went."""

    task: Task
    steps: tuple[Step, ...]
    final: State
    """The last situation: what was seen, and what the model says of the rest."""
    unseen: tuple[str, ...]
    """The atoms of the goal that could not be seen in the end."""

    @property
    def as_predicted(self) -> bool:
        """Whether every step was carried out and came out as predicted."""
        return len(self.steps) == len(self.task.plan) and all(step.as_predicted for step in self.steps)

    @property
    def reached(self) -> bool:
        """Whether all came out as predicted, and the goal, if there is one, was reached."""
        return self.as_predicted and not any(open_goals(self.task.problem, self.final))

    @property
    def verdict(self) -> str:
        """How it ended, in a line."""
        total = len(self.task.plan)
        if not self.as_predicted:
            last = self.steps[-1]
            return (
                f"Not as predicted: step {last.number} of {total}, {last.operator}: "
                f"{some(last.differing, SHOWN)}. Given up there."
            )
        steps = f"all {counted(total, 'step')} came out" if total > 1 else "1 step came out"
        if not self.task.planned:
            return f"Carried out: {steps} as predicted." if total else "Nothing to do: the plan is empty."
        if not self.reached:
            left, unknown = open_goals(self.task.problem, self.final)
            missing = some([*map(str, left + unknown)], SHOWN)
            return f"Goal not reached, though {steps} as predicted: {missing}."
        if not total:
            return "Goal reached: it holds at the start, and nothing has to be done."
        unseen = f" Not seen in the end: {some(self.unseen, SHOWN)}." if self.unseen else ""
        return f"Goal reached: {steps} as predicted.{unseen}"

    def __str__(self) -> str:
        told = [f"{step.number}. {step.operator}\n   {step}" for step in self.steps]
        return "\n".join([*told, self.verdict])


def carried_out(
    agent: Agent,
    start: Situation,
    model: Model,
    carriers: Carriers,
    task: Task,
    watch: Callable[[Step], None] = lambda step: None,
) -> Execution:
    """Give the controls of a plan, each operator's by its carrier, until something comes out otherwise than predicted.

    Raises:
        AgentFailed: the agent can no longer answer, or refuses a control.
    """
    here, believed, steps = start, task.problem.initial, list[Step]()
    for number, operator in enumerate(task.plan, 1):
        control = carriers[operator.name].instructed(operator.objects)
        response = agent.ask(Query(here, (control,)))
        if not response.executed:
            raise AgentFailed(f"step {number}: the agent refused {control}, which can always be given")
        here = response.final
        predicted = model.schema(operator.name).successor(believed, operator.objects)
        step = _compared(number, operator, control, believed, predicted, here.state)
        steps.append(step)
        watch(step)
        if step.as_predicted:  # of what could not be seen, what was predicted
            kept = predicted.true & here.state.unknown
            hidden = here.state.unknown & predicted.unknown
            believed = State(here.state.true | kept, here.state.objects, hidden)
        else:
            believed = here.state
            break
    goal = sorted(task.problem.goal | task.problem.goal_false)
    unseen = [str(atom) for atom in goal if here.state.value(atom) is None]
    return Execution(task, tuple(steps), believed, tuple(unseen) if task.plan else ())


def _compared(
    number: int, operator: GroundAction, control: GroundAction, before: State, predicted: State, seen: State
) -> Step:
    """A step, with the differences between what was predicted and what was seen; unknown atoms agree with all."""
    gained, lost = predicted.true - before.true, before.true - predicted.true
    differing = [
        f"{atom} is {'true' if seen.value(atom) else 'false'} instead of {'true' if predicted.value(atom) else 'false'}"
        for atom in sorted(predicted.true ^ seen.true)
        if None not in (predicted.value(atom), seen.value(atom))
    ]
    changed = [*sorted(gained), *sorted(lost)]
    hidden = [str(atom) for atom in changed if seen.value(atom) is None]
    return Step(number, operator, control, tuple(signed(gained, lost)), tuple(differing), tuple(hidden))


# The images of a plan that is carried out, as an animated GIF: each step with its control, and whether it was as predicted.


class Film:
    """Keeps the images that an agent shows, in order: the first situation, then one after every step."""

    def __init__(self) -> None:
        self._pictures: dict[str, Picture] = {}

    def keep(self, frame: Frame) -> str:
        """Keep an image, uint8, (H, W, 3), and return its name."""
        name = str(len(self._pictures))
        height, width = frame.shape[:2]
        self._pictures[name] = Picture(name, width, height, encode(frame))
        return name

    def gif(self, steps: Sequence[Step]) -> bytes:
        """The film of these steps, as far as it may be long; the agent has shown its images."""
        shots = [Shot("0", "The beginning", "", "before")]
        for step in steps[: MAX_FRAMES - 1]:
            kind = "refused" if not step.as_predicted else "last" if step is steps[-1] else "done"
            verdict = "as predicted" if step.as_predicted else "NOT AS PREDICTED"
            title = f"Step {step.number}, {step.control}: {verdict}"
            shots.append(Shot(str(step.number), title, str(step.operator), kind))
        return animated(shots, self._pictures)[0]
