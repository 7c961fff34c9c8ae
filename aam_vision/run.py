"""``python -m aam_vision.run``: interrogate an agent and print its STRIPS model.

Only light modules are imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aam_vision import targets
from aam_vision.commandline import check_writable, run_command, write_atomically
from aam_vision.errors import UnusableInput

if TYPE_CHECKING:
    from aam_vision.interrogation.loop import Interrupted
    from aam_vision.interrogation.result import Result
    from aam_vision.targets import Target

AGENT_FAILED = 3
"""Exit code when the agent failed for good; what was learned is saved."""
EVALUATION_STATES = 200
"""States of the held-out problems on which functional equivalence is checked."""


def interrogate_agent(
    env: Annotated[
        str | None, typer.Option(help="Environment of the agent: sokoban, doors, or a packaged PDDL domain.")
    ] = None,
    domain: Annotated[Path | None, typer.Option(help="A PDDL domain file: a symbolic agent.")] = None,
    problem: Annotated[
        list[str] | None,
        typer.Option(help="With --env the number of a problem, with --domain a PDDL file (repeatable)."),
    ] = None,
    problem_size: Annotated[int, typer.Option(min=1, help="Size of a packaged domain's problems.")] = 2,
    access: Annotated[
        str | None,
        typer.Option(
            help="What the agent allows: settable (symbolic agents only), snapshot, reset, or trajectory "
            "(one problem: the first, or the one named); default the most that it can."
        ),
    ] = None,
    policy: Annotated[str, typer.Option(help="How questions are chosen: economical or aia.")] = "economical",
    planner: Annotated[
        str,
        typer.Option(help="pyperplan, or an installed engine of unified-planning, such as fast-downward."),
    ] = "pyperplan",
    repeated_arguments: Annotated[
        bool,
        typer.Option(
            "--repeated-arguments",
            help="Also learn what happens when one object is named twice (symbolic agents only).",
        ),
    ] = False,
    classifiers: Annotated[
        Path | None, typer.Option(help="Folder of classifier weights; default the shipped ones.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    max_queries: Annotated[int | None, typer.Option(min=0, help="Stop at so many queries.")] = None,
    max_steps: Annotated[
        int | None, typer.Option(min=0, help="Stop at so many steps, walks included.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for results; default runs/ENV-TIME.")] = None,
    image_noise: Annotated[
        float, typer.Option(help="Gaussian noise put on the agent's images: its sigma, 0 to 1.")
    ] = 0.0,
    backend: Annotated[str, typer.Option(help="What runs the classifiers: torch or onnx.")] = "torch",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")] = False,
) -> int:
    """Interrogate an agent and print its STRIPS model.

    Examples: python -m aam_vision.run --env sokoban --seed 0 --out runs/first;
    python -m aam_vision.run --domain D.pddl --problem P1.pddl --problem P2.pddl
    """
    began = perf_counter()
    from aam_vision.interrogation.policies.choice import check_policy, policy_for

    check_policy(policy)
    if (env is None) == (domain is None):
        raise UnusableInput("give either --env NAME or --domain D.pddl with --problem P.pddl")
    if env is not None and env not in targets.names():
        raise UnusableInput(f"--env {env}: unknown; use one of {', '.join(targets.names())}")
    if not 0 <= image_noise <= 1 or (image_noise and env is None):
        raise UnusableInput(
            f"--image-noise {image_noise:g}: a number from 0 to 1, for an image environment (--env) only"
        )
    from aam_vision.planning.engines import planner_named
    from aam_vision.planning.planner import TimedPlanner, cpu_seconds

    timed = TimedPlanner(planner_named(planner))
    folder = out or Path("runs") / f"{env or (domain and domain.stem)}-{datetime.now():%Y%m%d-%H%M%S}"
    check_writable(folder)
    if domain is not None:
        target = targets.from_pddl(domain, problem or [], access=access, repeated=repeated_arguments)
    else:
        assert env is not None
        target = targets.from_environment(
            env,
            access=access,
            problems=problem or [],
            classifiers=classifiers,
            size=problem_size,
            seed=seed,
            repeated=repeated_arguments,
            image_noise=image_noise,
            backend=backend,
        )

    import numpy as np

    from aam_vision.display import Display
    from aam_vision.interrogation.loop import Budget, Interrupted, interrogate

    chosen = policy_for(target.agent.access, policy, timed)
    failure: Interrupted | None = None
    with Display(quiet=quiet) as display:
        display.say(f"Interrogating {target.name} (problems {', '.join(target.problems)}), seed {seed}")
        try:
            result = interrogate(
                target.agent,
                chosen,
                np.random.default_rng(seed),
                budget=Budget(max_queries, max_steps),
                repeated=repeated_arguments,
                watch=display.watch,
            )
        except Interrupted as error:
            failure, result = error, error.result

    from aam_vision.pddl import domain_text

    model_text = domain_text(result.model)
    summary = {
        "env": target.name,
        "seed": seed,
        "access": target.agent.access.value,
        "policy": policy,
        "planner": planner,
        "repeated_arguments": repeated_arguments,
        **_figures(result),
        "wall_s": round(perf_counter() - began, 3),
        "cpu_s": round(cpu_seconds(), 3),
        "planner_s": round(timed.seconds, 3),
        "perception_s": target.perception_s(),
        **_comparison(target, result, seed),
    }
    write_atomically(folder / "model.pddl", model_text)
    write_atomically(folder / "result.json", json.dumps(summary, indent=2) + "\n")
    print(model_text)
    print(_report(summary, result.why, folder))
    if failure is not None:
        print(f"error: {failure}; what was learned is saved in {folder}", file=sys.stderr)
        return AGENT_FAILED
    return 0


def _figures(result: Result) -> dict[str, Any]:
    """What the interrogation itself tells."""
    from aam_vision.interrogation.result import lifted_predicates

    counts = result.counts
    return {
        "status": "complete" if result.complete else "budget",
        "predicates": lifted_predicates(result.model, repeated=result.hypotheses.repeated),
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


def _comparison(target: Target, result: Result, seed: int) -> dict[str, Any]:
    """The comparison with the ground truth, made only now that the interrogation is over."""
    import numpy as np

    from aam_vision import evaluation

    truth, initial, repeated = target.truth(), target.held_out(), result.hypotheses.repeated
    states = evaluation.sample_states(truth, initial, EVALUATION_STATES, np.random.default_rng(seed))
    return {
        "accuracy": evaluation.accuracy(result.model, truth, repeated=repeated),
        "exact": evaluation.exact(result.model, truth, repeated=repeated),
        "equivalent": evaluation.equivalent(result.model, truth, states, repeated=repeated),
        "curve": [
            [
                point.queries,
                point.steps,
                round(evaluation.accuracy(point.model, truth, repeated=repeated), 4),
            ]
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
            f"time          {summary['cpu_s']:.1f} CPU s ({summary['perception_s'] or 0:.1f} perception, "
            f"{summary['planner_s']:.1f} planner)",
            f"saved in      {folder}",
        ]
    )


if __name__ == "__main__":
    sys.exit(run_command(interrogate_agent))
