"""The robot arm on a table: how long things take, and what interrogations find out from states that are told.

``python -m experiments.tabletop`` interrogates without perception: poses and contacts tell the states. It prints what that
costs, physics and pictures apart, and how the model compares with the intended one in held-out scenes.
``--picture FILE.png`` draws what the camera sees of scenes 0 to 3, before and after the first thing that can be lifted is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Annotated, Any

import numpy as np

import aam_vision
from aam_vision.support.commandline import run_command
from experiments.interrogations import likeness
from experiments.options import about
from experiments.tables import Row, told

STATES = 300  # reachable states of held-out scenes on which a model is compared with the intended one
DRAWN = 4  # scenes that are drawn


def tabletop(
    seeds: Annotated[int, about("Interrogations, from seed 0.", min=1)] = 5,
    picture: Annotated[Path | None, about("Only draw some scenes into this file.")] = None,
) -> int:
    """Interrogate the arm on a table by states that are told, and compare with what is intended.

    Examples:
        python -m experiments.tabletop --seeds 1
        python -m experiments.tabletop --picture scenes.png
    """
    if picture is not None:
        draw(picture)
        return 0
    return int(any(row["model"] == "differs" for row in list(told(map(interrogated, range(seeds))))))


def interrogated(seed: int) -> Row:
    """One interrogation, and what its model is worth."""
    from aam_vision.envs.tabletop.environment import TabletopEnv, intended, world
    from aam_vision.envs.tabletop.skills import Skills

    table, truth = world(), intended()
    with timed(Skills, "carry_out") as physics, timed(TabletopEnv, "picture") as pictures:
        began = process_time()
        result = aam_vision.interrogate(table.agent(table.told()), seed=seed)
        seconds = process_time() - began
    others = [table.simulator(("seed", number)) for number in table.held_out or ()]
    held_out = [table.true_state(other.present, other.scene) for other in others]
    return {
        "seed": seed,
        "queries": result.counts.queries,
        "skills": result.counts.steps,
        "status": result.status,
        "model": likeness(result.model, truth, held_out, STATES, seed, 1),
        "CPU s": round(seconds, 1),
        "of it physics": round(sum(physics), 1),
        "of it pictures": round(sum(pictures), 1),
    }


@contextmanager
def timed(owner: type, name: str) -> Iterator[list[float]]:
    """The CPU seconds of every call of a method, as long as this lasts."""
    method: Callable[..., Any] = getattr(owner, name)
    times: list[float] = []

    def measured(*arguments: Any) -> Any:
        began = process_time()
        try:
            return method(*arguments)
        finally:
            times.append(process_time() - began)

    setattr(owner, name, measured)
    try:
        yield times
    finally:
        setattr(owner, name, method)


def draw(path: Path) -> None:
    """Write what the camera sees of some scenes, and below of each the same with something in the hand."""
    from PIL import Image

    from aam_vision.envs.tabletop.environment import TabletopEnv

    table = TabletopEnv("rgb_array")
    columns = []
    for seed in range(DRAWN):
        before, _ = table.reset(seed=seed)
        next(thing for thing in table.layout.things if table.carry_out("pick-up", thing.name) is None)
        columns.append(np.concatenate([before, table.picture()]))
    Image.fromarray(np.concatenate(columns, 1)).save(path)


if __name__ == "__main__":
    sys.exit(run_command(tabletop))
