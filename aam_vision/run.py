"""``python -m aam_vision.run``: interrogate an agent and print its STRIPS model.

Only light modules are imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aam_vision.commandline import check_writable, run_command, write_atomically
from aam_vision.errors import UnusableInput

if TYPE_CHECKING:
    from aam_vision.agents.image import ImageAgent
    from aam_vision.interrogation.loop import Interrupted
    from aam_vision.interrogation.result import Result
    from aam_vision.strips import Model

AGENT_FAILED = 3
"""Exit code when the agent failed for good; what was learned is saved."""
EVALUATION_STATES = 200
"""States of the held-out problems on which functional equivalence is checked."""


def interrogate_agent(
    env: Annotated[str, typer.Option(help="Environment of the agent: sokoban or doors.")],
    problem: Annotated[
        list[int] | None,
        typer.Option(help="Interrogate only this one of its problems, from 0 (repeatable)."),
    ] = None,
    access: Annotated[str, typer.Option(help="What the agent allows: snapshot.")] = "snapshot",
    policy: Annotated[str, typer.Option(help="How questions are chosen: economical.")] = "economical",
    planner: Annotated[str, typer.Option(help="Planner: pyperplan.")] = "pyperplan",
    classifiers: Annotated[
        Path | None, typer.Option(help="Folder of classifier weights; default the shipped ones.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    max_queries: Annotated[int | None, typer.Option(min=0, help="Stop at so many queries.")] = None,
    max_steps: Annotated[
        int | None, typer.Option(min=0, help="Stop at so many steps, walks included.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for results; default runs/ENV-TIME.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")] = False,
) -> int:
    """Interrogate an agent that shows itself only in images; print its STRIPS model.

    Example: python -m aam_vision.run --env sokoban --seed 0 --out runs/first
    """
    began = perf_counter()
    for option, value, known in (
        ("--access", access, ["snapshot"]),
        ("--policy", policy, ["economical"]),
        ("--planner", planner, ["pyperplan"]),
    ):
        if value not in known:
            raise UnusableInput(f"{option} {value}: unknown; use {' or '.join(known)}")

    from aam_vision.envs.registry import board_domain

    domain = board_domain(env)
    chosen = _chosen(env, domain.interrogated, problem)
    folder = out or Path("runs") / f"{env}-{datetime.now():%Y%m%d-%H%M%S}"
    check_writable(folder)

    import numpy as np

    from aam_vision.display import Display
    from aam_vision.interrogation.loop import Budget, Interrupted, interrogate
    from aam_vision.interrogation.policies.economical import EconomicalPolicy
    from aam_vision.planning.planner import TimedPlanner
    from aam_vision.planning.pyperplan import PyperplanPlanner

    timed = TimedPlanner(PyperplanPlanner())
    agent = _image_agent(env, chosen, classifiers)
    failure: Interrupted | None = None
    with Display(quiet=quiet) as display:
        display.say(f"Interrogating {env} (problems {', '.join(f'{s}/{n}' for s, n in chosen)}), seed {seed}")
        try:
            result = interrogate(
                agent,
                EconomicalPolicy(planner=timed),
                np.random.default_rng(seed),
                budget=Budget(max_queries, max_steps),
                watch=display.watch,
            )
        except Interrupted as error:
            failure, result = error, error.result

    from aam_vision.pddl import domain_text

    model_text = domain_text(result.model)
    summary = {
        "env": env,
        "seed": seed,
        "access": access,
        "policy": policy,
        **_figures(result),
        "wall_s": round(perf_counter() - began, 3),
        "cpu_s": round(process_time(), 3),
        "planner_s": round(timed.seconds, 3),
        "perception_s": round(agent.perception_s, 3),
        **_comparison(env, result, seed),
    }
    write_atomically(folder / "model.pddl", model_text)
    write_atomically(folder / "result.json", json.dumps(summary, indent=2) + "\n")
    print(model_text)
    print(_report(summary, result.why, folder))
    if failure is not None:
        print(f"error: {failure}; what was learned is saved in {folder}", file=sys.stderr)
        return AGENT_FAILED
    return 0


def _chosen(
    env: str, problems: Sequence[tuple[str, int]], numbers: Sequence[int] | None
) -> list[tuple[str, int]]:
    """The problems to interrogate: all of the environment's, or those asked for."""
    for number in numbers or ():
        if not 0 <= number < len(problems):
            raise UnusableInput(f"--problem {number}: {env} has problems 0 to {len(problems) - 1}")
    return [problems[number] for number in dict.fromkeys(numbers or range(len(problems)))]


def _image_agent(env: str, problems: Sequence[tuple[str, int]], classifiers: Path | None) -> ImageAgent:
    """The environment's agent, seen through the classifiers."""
    from aam_vision.agents.image import ImageAgent
    from aam_vision.classifiers.perception import BoardPerception
    from aam_vision.envs.registry import board_domain, make_simulator

    domain = board_domain(env)
    perception = BoardPerception.load(domain.visual, domain.name, classifiers)
    simulators = [make_simulator(env, split, number) for split, number in problems]
    return ImageAgent(simulators, perception, domain.visual.vocabulary(), domain.headers)


def _figures(result: Result) -> dict[str, Any]:
    """What the interrogation itself tells."""
    from aam_vision.interrogation.result import lifted_predicates

    counts = result.counts
    return {
        "status": "complete" if result.complete else "budget",
        "predicates": lifted_predicates(result.model),
        "actions": len(result.model.actions),
        "pal_tuples": result.hypotheses.size,
        "queries": counts.queries,
        "steps": counts.steps,
        "failed_steps": counts.failed_steps,
        "walk_steps": counts.walk_steps,
        "resets": counts.resets,
        "lower_bound": result.lower_bound,
        "undetermined": [
            {"action": u.action, "location": u.location, "group": list(u.group), "known": u.known}
            for u in result.undetermined
        ],
    }


def _comparison(env: str, result: Result, seed: int) -> dict[str, Any]:
    """The comparison with the ground truth, made only now that the interrogation is over."""
    import numpy as np

    from aam_vision import evaluation
    from aam_vision.envs.ground_truth import ground_truth_model, held_out_problems

    truth: Model = ground_truth_model(env)
    initial = [held_out.initial for held_out in held_out_problems(env)]
    states = evaluation.sample_states(truth, initial, EVALUATION_STATES, np.random.default_rng(seed))
    return {
        "accuracy": evaluation.accuracy(result.model, truth),
        "exact": evaluation.exact(result.model, truth),
        "equivalent": evaluation.equivalent(result.model, truth, states),
        "curve": [
            [point.queries, point.steps, round(evaluation.accuracy(point.model, truth), 4)]
            for point in result.curve
        ],
    }


def _report(summary: dict[str, Any], why: str, folder: Path) -> str:
    """The summary for a person."""
    verdict = "exact" if summary["exact"] else f"accuracy {summary['accuracy']:.3f}"
    return "\n".join(
        [
            f"status        {summary['status']}: {why}",
            f"queries       {summary['queries']} (no sound interrogation needs fewer than "
            f"{summary['lower_bound']} for what was proven)",
            f"steps         {summary['steps']} ({summary['walk_steps']} walked, "
            f"{summary['failed_steps']} failed, {summary['resets']} resets)",
            f"pal tuples    {summary['pal_tuples']} ({len(summary['undetermined'])} groups undetermined)",
            f"ground truth  {verdict}, "
            f"{'equivalent' if summary['equivalent'] else 'NOT equivalent'} on held-out problems",
            f"time          {summary['cpu_s']:.1f} CPU s ({summary['perception_s']:.1f} perception, "
            f"{summary['planner_s']:.1f} planner)",
            f"saved in      {folder}",
        ]
    )


if __name__ == "__main__":
    sys.exit(run_command(interrogate_agent))
