"""``python -m experiments.misreading``: classifiers that learned too little; is misreading named, and is anything false complete?

Classifiers are trained once for each environment and number of steps, and kept in ``--kept``; then the agent is interrogated by its
controls alone. ``false`` is a run that is complete though the model mispredicts more held-out steps than it says. With 0 steps
they are trained to the end, but learn that one look is none of what it shows.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from math import isqrt
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Annotated, Any
from unittest.mock import patch

import numpy as np
import typer
from numpy.typing import NDArray

from aam_vision.agents.image import image_test
from aam_vision.controls.interrogating import interrogate
from aam_vision.run.arguments import Arguments
from aam_vision.run.labelling_note import untested
from aam_vision.run.targets import of
from aam_vision.support.commandline import Progress, run_command
from aam_vision.support.errors import UnusableInput
from experiments.jobs import Experiment, Scale, every
from experiments.tables import Row, Summary, as_named

if TYPE_CHECKING:
    from aam_vision.training.boards import Example

ENVIRONMENTS = ("sokoban", "doors", "maze", "slidetile", "hanoi", "blocks", "minigrid:DoorKey-6x6", "taxi")
HELD_OUT = 1000
MISLABELLED = 0
"""So many training steps stand for one look that is mislabelled."""
FIRST, OFTEN = 200, 5
"""Boards among whose looks the one that is mislabelled is chosen, and how often it was seen there at least."""
COARSE, ALIKE = 4, 24
"""Looks are compared in so many pixels each way, and are the same where none of them differs by more than this."""

summary = Summary(
    "Classifiers trained too little",
    {
        "environment": "env",
        **as_named("trained", "seed", "read", "status", "misread"),
        "held out": "right",
        **as_named("false", "steps"),
        "CPU s": "seconds",
    },
)


def misreading(
    env: Annotated[list[str] | None, typer.Option(help="Only this environment (repeatable).")] = None,
    steps: Annotated[
        list[int] | None,
        typer.Option(min=0, help="Training steps; 0: one look is mislabelled.  [0 5 20 100 300]"),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of the interrogation.")] = 3,
    kept: Annotated[Path, typer.Option(help="Folder of the classifiers.")] = Path("runs/misreading-weights"),
    scale: Scale = Scale(out=Path("runs/misreading")),
) -> int:
    """What comes of controls that are seen by classifiers which were trained too little.

    Examples:
        python -m experiments.misreading --env doors --steps 20 --seeds 1
    """
    trained = steps or [MISLABELLED, 5, 20, 100, 300]
    jobs = every(env=env or [*ENVIRONMENTS], trained=trained, seed=range(seeds), kept=str(kept))
    return Experiment("misreading", interrogated, summary).run(jobs, scale)


def interrogated(*, env: str, trained: int, seed: int, kept: str) -> Row:
    """One interrogation, and how well it predicts held-out steps."""
    folder = Path(kept) / f"{env.partition(':')[0]}-{trained}"
    if not any(folder.glob("*.json")):
        _train(env, trained, folder)
    try:
        known = of(Arguments(env=env, controls=True, seed=seed, classifiers=folder))
    except UnusableInput as error:  # nothing is recognised
        told = {"read": "", "status": "refused", "misread": str(error), "right": None, "false": False}
        return {**told, "steps": 0, "seconds": 0.0}
    began = process_time()
    result = interrogate(known.agent, seed)
    seconds = process_time() - began
    assert known.native_steps is not None, "it is an environment"
    held_out = known.native_steps(HELD_OUT, np.random.default_rng([seed, 3]))
    right = sum(result.predictions.agrees(*step) for step in held_out) / len(held_out)
    test = image_test(known.agent)
    result = replace(result, untested=untested(folder, test))
    named = result.missing or "" if result.untested else ""
    return {
        "read": "" if test is None else f"{test.exact}/{test.images}",
        "status": result.status,
        "misread": result.misread.why if result.misread else named,
        "right": round(right, 3),
        "false": result.status == "complete" and 1 - right > result.case_bound,
        "steps": result.steps,
        "seconds": round(seconds, 1),
    }


def _train(env: str, steps: int, folder: Path) -> None:
    from aam_vision.envs.registry import image_domain
    from aam_vision.training import boards, cells
    from aam_vision.training.session import train_domain
    from aam_vision.training.settings import TrainingSettings

    def mislabelled(*given: Any, **more: Any) -> list[Example]:
        return _mislabelled(boards.lessons(*given, **more))

    folder.mkdir(parents=True, exist_ok=True)
    learned_from = mislabelled if steps == MISLABELLED else boards.lessons
    with patch.object(cells, "lessons", learned_from):  # no user wants to train on wrong labels
        domain = image_domain(env.partition(":")[0])
        train_domain(domain, folder, TrainingSettings(steps=steps or None), Progress())


def _mislabelled(boards: list[Example]) -> list[Example]:
    """The boards, with the answer no of one classifier wherever something has a look that shows yes."""
    import torch

    looks = [_coarse(board) for board in boards]
    shown = [
        (head, look[:, place])
        for board, look in zip(boards[:FIRST], looks, strict=False)
        for head, place in np.argwhere(board.labels.numpy() == 1)
        if _cells(board)[place] >= 0
    ]
    number = Counter((head, look.tobytes()) for head, look in shown)
    often = [one for one in shown if number[one[0], one[1].tobytes()] >= OFTEN]
    head, wrong = often[int(np.random.default_rng(0).integers(len(often)))]
    found = []
    for board, look in zip(boards, looks, strict=True):
        labels = board.labels.clone()
        alike = np.abs(look - wrong[:, None]).max(0) <= ALIKE
        labels[head, torch.from_numpy(alike) & (labels[head] == 1)] = 0
        found.append(replace(board, labels=labels))
    return found


def _cells(board: Example) -> NDArray[np.int_]:
    """The cell of each place, -1 for places of several."""
    inside = board.pooling.numpy() > 0  # (cells, places)
    cells: NDArray[np.int_] = np.where(inside.sum(0) == 1, inside.argmax(0), -1)
    return cells


def _coarse(board: Example) -> NDArray[np.int_]:
    """A few pixels of the cell of each place: (3 * COARSE * COARSE, places)."""
    cells = _cells(board)
    count = len(board.pooling)
    side = isqrt(board.pixels[0].numel() // count)
    rows, columns = (length // side for length in board.pixels.shape[1:])
    parts = side // COARSE
    pixels = board.pixels.numpy().reshape(3, rows, COARSE, parts, columns, COARSE, parts).mean((3, 6))
    every = pixels.transpose(0, 2, 4, 1, 3).reshape(3 * COARSE * COARSE, count)
    found: NDArray[np.int_] = every[:, cells].astype(int)
    return found


if __name__ == "__main__":
    sys.exit(run_command(misreading))
