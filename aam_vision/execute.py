"""``python -m aam_vision.execute RUN``: carry out a plan with the agent of a run, and watch it.

Of a run that knew only controls, it is a plan of discovered operators, given as controls. Of any other, it is one of the agent's actions;
for a goal, it is planned anew where a step comes out otherwise than was planned.

Exit codes: 0 if the goal was reached (or the given plan carried out) and every step came out as predicted, 2 if something
given cannot be used, 3 if the agent or the planner failed, 4 if a step came out otherwise than the model predicts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aam_vision.run.arguments import Arguments
from aam_vision.run.checks import recorded_arguments
from aam_vision.support.commandline import (
    check_file,
    run_command,
    told_if_slow,
    told_warnings,
    write_atomically,
)
from aam_vision.support.errors import AgentFailed, PlannerFailed, UnusableInput
from aam_vision.support.options import option
from aam_vision.support.wording import counted

if TYPE_CHECKING:
    from aam_vision.agents.journal import WentOn
    from aam_vision.model.query import Agent
    from aam_vision.model.strips import GroundAction
    from aam_vision.planning.planner import Planner
    from aam_vision.run.execution.replanning import Course, Execution, Step, Taken
    from aam_vision.run.targets import Target

FAILED, NOT_AS_PREDICTED = 3, 4
"""Exit codes."""
MAX_STEPS = 100
"""Steps of an agent with chance towards a goal, at most, by default."""


@dataclass(frozen=True)
class Wanted:
    """What is to be carried out, and where."""

    goal: str | None = option("What is to be reached, such as '(at robot room-2)', or a file with that.")
    plan: Path | None = option("A file with an operator a line, such as (forward a b), to be carried out.")
    problem: str | None = option(
        "The number of a problem, as for the run, or the name of any other: of an environment of yours the seed of its reset (7), of boards "
        "test/7, of a PDDL domain a PDDL file. Default: the first of the run."
    )
    planner: str = option(
        "pyperplan, or an installed engine of unified-planning, such as fast-downward.", "pyperplan"
    )
    agent: str | None = option("The program that the run was of, if it was of one.")
    env: str | None = option("The environment of the run, if it was MODULE:NAME.")
    record: Path | None = option("Write the images of all steps to this file, an animated GIF.")
    max_steps: int = option(
        "Steps after which a goal is given up; not of runs that knew only controls.", MAX_STEPS, min=1
    )

    @property
    def what(self) -> str:
        """What is carried out, in words."""
        return f"the goal, by {self.planner}" if self.plan is None else str(self.plan)


Show = Callable[..., None]
"""Prints a text in a style."""


def _watch(step: Step | Taken, action: GroundAction, show: Show) -> None:
    """Print a step that was taken, and what came of it."""
    show(f"{step.number}. {action}")
    show(f"   {step}", "green" if step.as_predicted else "red")


@told_warnings()
def execute_plan(
    run: Annotated[Path, typer.Argument(help="Folder of a run.", metavar="RUN")], wanted: Wanted
) -> int:
    """Carry out a plan with the agent of a run, and compare every step with the learned model.

    Examples:
        python -m aam_vision.execute runs/first --goal "(at robot room-2)"
        python -m aam_vision.execute runs/first --problem test/7 --goal goal.pddl
        python -m aam_vision.execute runs/first --plan plan.txt --record plan.gif
    """
    from rich.console import Console
    from rich.text import Text

    from aam_vision.interrogation.chance.refusals import WithRefusals
    from aam_vision.interrogation.task.repeated_looks import LookingAgent
    from aam_vision.planning.engines import planner_named
    from aam_vision.report.recorded import opened
    from aam_vision.run import targets
    from aam_vision.run.execution.replanning import Execution, Film
    from aam_vision.run.folder import check_images

    if (wanted.plan is None) is (wanted.goal is None):
        raise UnusableInput("give either --goal GOAL or --plan FILE")
    if wanted.record is not None:
        check_file(wanted.record, "--record", ".gif")
    planner = planner_named(wanted.planner)
    kept, further = _arguments(run, wanted)
    controls = bool(kept.controls or kept.bare)
    if wanted.record is not None and not controls:
        raise UnusableInput("is of runs with --controls or --bare", "record", wanted.record)
    if wanted.max_steps != MAX_STEPS and controls:
        raise UnusableInput("is of runs that knew the instructions", "max_steps", wanted.max_steps)
    console = Console(highlight=False, markup=False)

    def show(text: str, style: str = "") -> None:
        console.print(Text(text, style), soft_wrap=not console.is_terminal)

    with told_if_slow(f"Loading {run}", seconds=0.1):
        named = targets.of(kept)
    with closing(named) as target:
        film = None
        if wanted.record is not None:
            check_images(wanted.record, target)
            assert target.keep_images is not None, "it shows images"
            target.keep_images((film := Film()).keep)
        if kept.confirm or (further is not None and further.looked):
            agent = LookingAgent(target.agent, kept.confidence, whole=kept.chance)
            target = replace(target, agent=agent)
        if further is not None:
            target = replace(target, agent=_as_modelled(target.agent, further, run))
        if kept.chance:
            with opened(run) as journal:
                refusals = journal.refusals([one.name for one in target.agent.headers])
            target = replace(target, agent=WithRefusals(target.agent, refusals))
        carry_out = _with_controls if controls else _with_actions
        try:
            done = carry_out(run, wanted, target, planner, show)
        except (AgentFailed, PlannerFailed) as error:
            print(f"error: {error}", file=sys.stderr)
            return FAILED
    show(done.verdict, "bold green" if done.reached else "bold red")
    if film is not None and wanted.record is not None:
        assert isinstance(done, Execution), "only such are recorded"
        try:
            write_atomically(wanted.record, film.gif(done.steps))
        except OSError as error:
            raise UnusableInput(
                f"cannot be written ({error.strerror or error})", "record", wanted.record
            ) from None
    return 0 if done.reached else NOT_AS_PREDICTED


def _arguments(run: Path, wanted: Wanted) -> tuple[Arguments, WentOn | None]:
    """The options of the run, with one problem; and how it has gone on from a diagnosis, if it has."""
    from aam_vision.report.recorded import opened

    with opened(run) as journal:
        kept = recorded_arguments(journal, run, Arguments(agent=wanted.agent, env=wanted.env))
        kept = replace(kept, chance=bool(journal.options().get("chance")))
        further = journal.went_on()
    if not (run / "model.pddl").is_file():
        raise UnusableInput(f"{run}: holds no model; give the folder of a finished run")
    return _with_problem(kept, wanted), further


def _with_problem(kept: Arguments, wanted: Wanted) -> Arguments:
    problems, named = kept.problem or [], wanted.problem
    if named is None:
        return replace(kept, problem=problems[:1] or ["0"])
    if kept.domain is not None and named.isdecimal() and not Path(named).exists():
        if len(named) > 9 or int(named) >= len(problems):
            raise UnusableInput(f"the run has problems 0 to {len(problems) - 1}", "problem", named[:40])
        named = problems[int(named)]
    return replace(kept, problem=[named])


def _with_controls(run: Path, wanted: Wanted, target: Target, planner: Planner, show: Show) -> Execution:
    """Find or read a plan of operators and carry it out, and print every step."""
    from aam_vision.interrogation.controls.conditional import conditional, in_cases
    from aam_vision.interrogation.controls.mapping import read_carriers
    from aam_vision.model.pddl import read_domain
    from aam_vision.report.ending import refuse_remembering
    from aam_vision.report.written import read_plan_file
    from aam_vision.run.execution.replanning import carried_out, for_goal, for_plan, goal_text

    refuse_remembering(run / "result.json")
    model = read_domain(run / "model.pddl")
    carriers = read_carriers(run, model, target.agent.headers)
    start = target.agent.initial()[0]
    if wanted.plan is not None:
        split = conditional(model, carriers)
        given = read_plan_file(wanted.plan, split.added_to(model), start.state.objects)
        plan = [step for step in in_cases(model, split, start.state, given) if step is not None]
        task = for_plan(model, start.state, plan)
    else:
        task = for_goal(model, start.state, *goal_text(wanted.goal or ""), planner)
    show(f"{target.name}, problem {target.problems[0]}: {counted(len(task.plan), 'step')} of {wanted.what}")
    return carried_out(
        target.agent, start, model, carriers, task, lambda step: _watch(step, step.operator, show)
    )


def _as_modelled(agent: Agent, further: WentOn, run: Path) -> Agent:
    """The agent as a run has learned it: with the fact that was invented for what it remembers, several actions in place of one, or what is to come."""
    from aam_vision.agents.encoding import Malformed, typed
    from aam_vision.interrogation.evidence.transcript import Transcript
    from aam_vision.interrogation.memory.delayed import DelayedAgent, read_delays
    from aam_vision.interrogation.memory.divided import DividedAgent, read_divisions
    from aam_vision.interrogation.memory.facts import read_fact
    from aam_vision.interrogation.memory.histories import RecordingAgent
    from aam_vision.interrogation.memory.refused import Without, read_refused
    from aam_vision.interrogation.memory.remembering import RememberingAgent
    from aam_vision.interrogation.task.forgotten_constants import extended

    try:
        if further.divisions is not None:
            vocabulary = extended(agent.vocabulary, typed(further.constants or {}, agent.vocabulary.types))
            return DividedAgent(agent, read_divisions(further.divisions, vocabulary, agent.headers))
        if further.delays is not None:
            return DelayedAgent(agent, read_delays(further.delays, agent.vocabulary, agent.headers))
        if further.refused is not None:
            begun = Transcript(agent.vocabulary, agent.headers, agent.access, (), ())
            return Without(agent, read_refused(further.refused, begun))
        if further.fact is None:
            return agent
        invented = read_fact(further.fact, agent.vocabulary, agent.headers)
    except Malformed as error:
        raise UnusableInput(f"{run}: damaged, or of another agent ({error})") from None
    begun = Transcript(agent.vocabulary, agent.headers, agent.access, tuple(agent.initial()), ())
    return RememberingAgent(RecordingAgent(agent, begun), invented)


def _with_actions(run: Path, wanted: Wanted, target: Target, planner: Planner, show: Show) -> Course:
    """Carry out a plan, or pursue a goal, with the actions of an agent, and print every step."""
    from aam_vision.model.pddl import read_domain
    from aam_vision.report.written import read_plan_file
    from aam_vision.run.execution.replanning import carry_out, goal_text, pursue

    model, own = read_domain(run / "model.pddl", chance=True), target.agent.headers
    if sorted((one.name, one.types) for one in model.headers) != sorted((one.name, one.types) for one in own):
        raise UnusableInput(f"{run / 'model.pddl'}: is of another agent than the run")
    start = target.agent.initial()[0]
    # no planner knows effects that come later
    searched = wanted.plan is None and model.vocabulary.delays is not None
    what = "the goal, by breadth-first search" if searched else wanted.what
    show(f"{target.name}, problem {target.problems[0]}: {what}")

    def watch(step: Taken) -> None:
        _watch(step, step.action, show)

    if wanted.plan is not None:
        plan = read_plan_file(wanted.plan, model, start.state.objects)
        return carry_out(target.agent, start, model, plan, watch)
    goal = goal_text(wanted.goal or "")
    return pursue(target.agent, start, model, goal, planner, wanted.max_steps, watch)


if __name__ == "__main__":
    sys.exit(run_command(execute_plan))
