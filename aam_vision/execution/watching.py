"""Carrying out a plan: each operator's control is given, and what is seen is compared with what the model predicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aam_vision.controls.mapping import Carriers
from aam_vision.errors import AgentFailed
from aam_vision.execution.replanning import Task, open_goals
from aam_vision.perception import Frame
from aam_vision.pictures import encode
from aam_vision.query import Agent, Query, Situation
from aam_vision.report.album import Picture
from aam_vision.report.video import MAX_FRAMES, Shot, animated
from aam_vision.strips import Atom, GroundAction, Model, State
from aam_vision.wording import counted, some

SHOWN = 4
"""Atoms that came out otherwise which are named in the verdict, at most."""


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
        return (
            f"{self.control}: {'as predicted' if self.as_predicted else 'NOT as predicted'}; {told}{unseen}"
        )


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
            return (
                f"Goal not reached, though {steps} as predicted: {some([*map(str, left + unknown)], SHOWN)}."
            )
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
    """Give the controls of a plan one after the other, until something comes out otherwise than predicted.

    Args:
        agent: its instructions are the controls.
        start: a situation of it, in which the task's plan starts.
        model: the learned one, of the operators.
        carriers: the controls that carry them out.
        task: the plan.
        watch: called after every step.

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
        believed = _combined(here.state, predicted) if step.as_predicted else here.state
        if not step.as_predicted:
            break
    problem = task.problem
    goal = sorted(problem.goal | problem.goal_false)
    unseen = [str(atom) for atom in goal if here.state.value(atom) is None]
    return Execution(task, tuple(steps), believed, tuple(unseen) if task.plan else ())


def _compared(
    number: int, operator: GroundAction, control: GroundAction, before: State, predicted: State, seen: State
) -> Step:
    """A step, with the differences between what was predicted and what was seen; unknown atoms agree with all."""
    gained, lost = sorted(predicted.true - before.true), sorted(before.true - predicted.true)
    differing = [
        f"{atom} is {_word(seen.value(atom))} instead of {_word(predicted.value(atom))}"
        for atom in sorted(predicted.true ^ seen.true)
        if None not in (predicted.value(atom), seen.value(atom))
    ]
    hidden = [atom for atom in [*gained, *lost] if seen.value(atom) is None]
    return Step(
        number,
        operator,
        control,
        (*(f"+{atom}" for atom in gained), *(f"-{atom}" for atom in lost)),
        tuple(differing),
        tuple(map(str, hidden)),
    )


def _word(value: bool | None) -> str:
    return "true" if value else "false"


def _combined(seen: State, predicted: State) -> State:
    """What was seen, and of what could not be seen, what was predicted."""
    kept: frozenset[Atom] = predicted.true & seen.unknown
    return State(seen.true | kept, seen.objects, seen.unknown & predicted.unknown)


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
