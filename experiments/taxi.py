"""Gymnasium's Taxi, seen by classifiers that few labelled images have taught, with and without hidden fuel.

``python -m experiments.taxi --seeds 6`` trains classifiers on 160 images, six times, interrogates the driver with each, and
prints a line per run. A run is *wrong* if it calls a model complete though the driver does otherwise on any of 500 held-out
steps with random histories; runs that end as open are counted apart.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from aam_vision.commandline import Progress, run_command
from experiments.jobs import Row

if TYPE_CHECKING:
    from aam_vision.strips import Model

HELD_OUT_STEPS = 500
FUEL = (10, 30)
HISTORY = 120
"""Steps of a held-out history at most."""
COLUMNS = (
    "seed",
    "fuel",
    "read exactly",
    "status",
    "exact",
    "equivalent",
    "predicted",
    "exam",
    "family",
    "culprit",
    "queries",
    "steps",
    "seconds",
    "why",
)


def taxi(
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 6,
    first_seed: Annotated[int, typer.Option(min=0, help="The first of them.")] = 0,
    fuel: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Moves until hidden fuel is spent (repeatable); default 10, 30."),
    ] = None,
    access: Annotated[str, typer.Option(help="What the driver allows: snapshot or reset.")] = "snapshot",
    exam: Annotated[int | None, typer.Option(min=0, help="Steps of the examination.")] = None,
    steps: Annotated[int, typer.Option(min=10, help="Training steps.")] = 800,
    out: Annotated[Path, typer.Option(help="Where classifiers are kept for the next time.")] = Path(
        "runs/taxi"
    ),
) -> int:
    """Whether classifiers that misread some states, or hidden fuel, end in a model that is complete and wrong.

    Examples:
        python -m experiments.taxi --seeds 6
        python -m experiments.taxi --seeds 1 --first-seed 4 --access reset
        python -m experiments.taxi --exam 100 --fuel 10 --steps 150
    """
    tanks: tuple[int | None, ...] = (None, *(fuel or FUEL))
    print("\t".join(COLUMNS))
    ended: Counter[str] = Counter()
    for seed in range(first_seed, first_seed + seeds):
        folder, read = classifiers(seed, steps, out)
        for tank in tanks:
            row = interrogated(seed, folder, tank, access, exam)
            ended[row["status"]] += row["wrong"]
            row |= {"fuel": tank or "-", "read exactly": f"{read:.4f}"}
            print("\t".join(str(row[name]) for name in COLUMNS), flush=True)
    for status in ("complete", "open"):
        print(f"{ended[status]} of {len(tanks) * seeds} runs {status} with a wrong model")
    return int(ended["complete"] > 0)


def classifiers(seed: int, steps: int, out: Path) -> tuple[Path, float]:
    """The folder of trained classifiers, and the share of unseen states that they read exactly."""
    from aam_vision.classifiers.store import load
    from aam_vision.training.session import train_domain
    from aam_vision.training.settings import TrainingSettings
    from experiments.taxi_environment import environment

    folder, described = out / f"classifiers-{seed}-{steps}", environment()
    if not (folder / "taxi.json").exists():
        train_domain(
            replace(described, round_steps=steps),
            folder,
            TrainingSettings(seed=seed, steps=steps),
            Progress(),
        )
    _, card = load(described.visual, described.name, folder)
    return folder, card.figures["unseen"]["exact_match"]


def interrogated(seed: int, folder: Path, fuel: int | None, access: str, exam: int | None = None) -> Row:
    """One interrogation, and what its model is worth."""
    from aam_vision import evaluation
    from aam_vision.classifiers.perception import BoardPerception
    from aam_vision.interrogation.task.assembly import Interrogation
    from aam_vision.interrogation.task.loop import Interrupted
    from aam_vision.query import Access
    from experiments.taxi_environment import VOCABULARY, environment, intended, states

    began = process_time()
    perception = BoardPerception.load(VOCABULARY, "taxi", folder)
    agent = environment(fuel).agent(perception, Access(access))
    try:
        result = Interrogation(agent, exam=exam).run(np.random.default_rng(seed))
    except Interrupted as error:
        result = error.result
    predicted = list(predictions(result.model, fuel, np.random.default_rng([seed, 3])))
    found = result.diagnosis
    return {
        "seed": seed,
        "status": result.status,
        "exact": evaluation.exact(result.model, intended()),
        "equivalent": evaluation.equivalent(result.model, intended(), states()),
        "predicted": f"{sum(predicted)}/{len(predicted)}",
        "exam": f"{result.exam.steps - result.exam.wrong}/{result.exam.steps}",
        "family": "-" if found is None else found.family.value,
        "culprit": "-" if found is None else found.culprit,
        "queries": result.counts.queries,
        "steps": result.counts.steps,
        "seconds": round(process_time() - began, 1),
        "wrong": not all(predicted),
        "why": result.why if found is None else found.why,
    }


def predictions(model: Model, fuel: int | None, rng: np.random.Generator) -> Iterator[bool]:
    """Whether each of so many steps comes out as a model predicts, from true states that random histories lead to.

    Half of the instructions are such that the driver can carry them out if anything can be, the others are any.
    """
    from experiments.taxi_environment import attempt, make, meant, sample, true_state

    env, left = make(fuel), 0
    for _ in range(HELD_OUT_STEPS):
        if not left:
            env.reset(seed=int(rng.integers(2**31)))
            left = int(rng.integers(1, HISTORY + 1))
        left -= 1
        before = true_state(env.unwrapped)
        options = meant(env)
        action = (
            options[int(rng.integers(len(options)))] if rng.random() < 0.5 else sample(before.objects, rng)
        )
        schema = model.schema(action.name)
        expected = (
            schema.successor(before, action.objects) if schema.applicable(before, action.objects) else None
        )
        done = attempt(env, action)
        yield expected == (true_state(env.unwrapped) if done else None)


if __name__ == "__main__":
    sys.exit(run_command(taxi))
