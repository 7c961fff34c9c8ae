"""The paper's simulators: agents that show themselves only in images.

``python -m experiments.simulators`` interrogates them under snapshot access with several seeds.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

from aam_vision.envs import DOMAINS
from aam_vision.envs.registry import board_domain
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.model.query import Access
from aam_vision.planning.engines import planner_named
from aam_vision.support.commandline import run_command
from experiments.interrogations import interrogation
from experiments.jobs import Experiment, Scale, every
from experiments.options import FirstSeed, Names, Seeds, about
from experiments.tables import Summary, as_named, average, queries_figure, share, spread_of

PAPER = {"sokoban": 201, "doors": 252}  # queries in the paper (Sec. "Empirical Evaluation", simulators)

summary = Summary(
    "Simulators: images only, snapshot access",
    {
        "environment": "env",
        "queries": spread_of("queries"),
        "paper": lambda runs: PAPER.get(runs[0]["env"]),
        "lower bound": spread_of("lower_bound"),
        "steps": spread_of("steps"),
        "CPU s": spread_of("seconds"),
        "accuracy": average("accuracy"),
        **as_named("exact", "equivalent", "complete", column=share),
        "runs": len,
    },
    by=("env",),
)

QUESTION = (
    "How many queries and steps does it take in images? *Equivalent*: the same successors on held-out problems "
    "([why not exact](../concepts/perception.md))."
)


def simulators(
    env: Annotated[Names, about("Environments (repeatable); default every one.")] = None,
    seeds: Seeds = 10,
    first_seed: FirstSeed = 0,
    policy: Annotated[str, about("How questions are chosen.")] = "economical",
    planner: Annotated[str, about("What plans.")] = "pyperplan",
    scale: Scale = Scale(out=Path("runs/simulators")),
) -> int:
    """Queries, steps and time on the image environments, beside the paper's.

    Examples:
        python -m experiments.simulators
        python -m experiments.simulators --env doors --seeds 3 --out runs/doors
    """
    policy_for(Access.SNAPSHOT, policy, planner_named(planner))  # an unknown one is told now
    names = env or list(DOMAINS)
    for name in names:
        board_domain(name)  # an unknown one is told now, in one line
    seed = range(first_seed, first_seed + seeds)
    jobs = every(env=names, access="snapshot", policy=policy, planner=planner, seed=seed, problems=[[]])
    return Experiment(
        "simulators", interrogation, summary, question=QUESTION, figure=partial(queries_figure, PAPER)
    ).run(jobs, scale)


if __name__ == "__main__":
    sys.exit(run_command(simulators))
