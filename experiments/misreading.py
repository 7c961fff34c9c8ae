"""``python -m experiments.misreading``: classifiers that are trained too little; is misreading named, and is anything false complete?

Classifiers are trained once for each environment and number of steps, and kept in ``--kept``; then the agent is interrogated by its
controls alone. ``false`` is a run that is complete though the model mispredicts more held-out steps than it says.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Annotated

import numpy as np
import typer

from aam_vision.commandline import Progress, run_command
from experiments.jobs import Parameters, Presentation, Row, Scale, Table, report

ENVIRONMENTS = ("sokoban", "doors", "maze", "slidetile", "hanoi", "blocks", "minigrid:DoorKey-6x6", "taxi")
HELD_OUT = 1000
COLUMNS = (
    "environment",
    "trained",
    "seed",
    "read",
    "status",
    "misread",
    "held out",
    "false",
    "steps",
    "CPU s",
)


def misreading(
    env: Annotated[list[str] | None, typer.Option(help="Only this environment (repeatable).")] = None,
    steps: Annotated[list[int] | None, typer.Option(min=1, help="Training steps.  [5 20 100 300]")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of the interrogation.")] = 3,
    kept: Annotated[Path, typer.Option(help="Folder of the classifiers.")] = Path("runs/misreading-weights"),
    scale: Scale = Scale(out=Path("runs/misreading")),
) -> int:
    """What comes of controls that are seen by classifiers which were trained too little.

    Examples:
        python -m experiments.misreading --env doors --steps 20 --seeds 1
    """
    jobs: list[Parameters] = [
        {"env": name, "trained": number, "seed": seed, "kept": str(kept)}
        for name in env or ENVIRONMENTS
        for number in steps or (5, 20, 100, 300)
        for seed in range(seeds)
    ]
    return report("misreading", jobs, Presentation(summary), scale, work=interrogated)


def interrogated(*, env: str, trained: int, seed: int, kept: str) -> Row:
    """One interrogation, and how well it predicts held-out steps."""
    from aam_vision.agents.image import image_test
    from aam_vision.arguments import Arguments
    from aam_vision.controls.interrogating import interrogate
    from aam_vision.targets.controls import of

    folder = Path(kept) / f"{env.partition(':')[0]}-{trained}"
    if not any(folder.glob("*.json")):
        _train(env, trained, folder)
    known = of(Arguments(env=env, controls=True, seed=seed, classifiers=folder))
    began = process_time()
    result = interrogate(known.target.agent, seed)
    seconds = process_time() - began
    held_out = known.native_steps(HELD_OUT, np.random.default_rng([seed, 3]))
    right = sum(result.predictions.agrees(*step) for step in held_out) / len(held_out)
    test = image_test(known.target.agent)
    return {
        "read": "" if test is None else f"{test.exact}/{test.images}",
        "status": result.status,
        "misread": "" if result.misread is None else result.misread.why,
        "right": round(right, 3),
        "false": result.status == "complete" and 1 - right > result.case_bound,
        "steps": result.steps,
        "seconds": round(seconds, 1),
    }


def _train(env: str, steps: int, folder: Path) -> None:
    from aam_vision.envs.registry import image_domain
    from aam_vision.training.session import train_domain
    from aam_vision.training.settings import TrainingSettings

    folder.mkdir(parents=True, exist_ok=True)
    train_domain(image_domain(env), folder, TrainingSettings(steps=steps), Progress())


def summary(rows: Sequence[Row]) -> Table:
    """One line per run."""
    names = ("env", "trained", "seed", "read", "status", "misread", "right", "false", "steps", "seconds")
    return Table("Classifiers trained too little", COLUMNS, [[row[name] for name in names] for row in rows])


if __name__ == "__main__":
    sys.exit(run_command(misreading))
