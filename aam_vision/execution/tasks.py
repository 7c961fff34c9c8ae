"""What is to be carried out: a plan of discovered operators, given or found by a planner for a goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aam_vision.errors import UnusableInput
from aam_vision.files import read_limited
from aam_vision.pddl import Problem, read_goal
from aam_vision.planning.grounding import TooManyOperators
from aam_vision.planning.planner import Found, Limits, Planner, Verdict
from aam_vision.planning.plans import planned
from aam_vision.strips import Atom, GroundAction, Model, State
from aam_vision.wording import counted, some

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
    """The text of a goal, which is given as such or as the name of a file, and where it comes from.

    Raises:
        UnusableInput: the file cannot be read.
    """
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
    """The plan that a planner finds for a goal.

    Args:
        model: the learned one.
        initial: where the plan starts, as it was seen.
        text: the goal, literals of PDDL.
        source: where the text comes from, for messages.
        planner: finds the plan.

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
        raise UnusableInput(
            f"no plan for the goal was found within {LIMITS.states:,} states and {LIMITS.seconds:g} s; "
            "give another --planner, or a --plan"
        )
    hidden = f"; {counted(len(initial.unknown), 'atom')} could not be seen there" if initial.unknown else ""
    raise UnusableInput(
        f"no plan of the learned operators leads from the initial situation to the goal{hidden}"
    )


def for_plan(model: Model, initial: State, plan: Sequence[GroundAction]) -> Task:
    """A given plan, if the model says that it can be carried out as far as can be seen.

    Raises:
        UnusableInput: an operator names an object twice, or the model says that it cannot be carried out there.
    """
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
    found = [(atom.ground(step.objects), True) for atom in schema.positive]
    found += [(atom.ground(step.objects), False) for atom in schema.negative]
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
