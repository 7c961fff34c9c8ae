"""The ready-made worlds: which tasks of MiniGrid are covered, and what their interrogations cost.

``python -m experiments.worlds --list`` prints which tasks there are, and why others are not covered;
``python -m experiments.worlds`` interrogates some of them from images and compares with the intended models.
"""

from __future__ import annotations

import sys
from time import process_time
from typing import Annotated

import aam_vision
from aam_vision.envs.registry import image_domain
from aam_vision.run.targets import from_environment
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import UnusableInput
from experiments.interrogations import likeness
from experiments.options import Names, about
from experiments.tables import Row, told

TASKS = (
    "minigrid:Empty-5x5", "minigrid:FourRooms", "minigrid:SimpleCrossingS9N1", "minigrid:MemoryS7",
    "minigrid:LavaGapS5", "minigrid:LavaGapS7", "minigrid:LavaCrossingS9N1", "minigrid:DistShift1",
    "minigrid:GoToDoor-5x5", "minigrid:RedBlueDoors-6x6", "minigrid:Fetch-5x5-N2", "minigrid:PutNear-6x6-N2",
    "minigrid:GoToObject-6x6-N2", "minigrid:DoorKey-5x5", "minigrid:DoorKey-8x8", "minigrid:Unlock",
    "minigrid:KeyCorridorS3R1", "minigrid:KeyCorridorS3R3", "minigrid:UnlockPickup",
    "minigrid:BlockedUnlockPickup", "minigrid:ObstructedMaze-1Dl", "taxi", "frozenlake",
)  # fmt: skip
"""Some of every kind, the larger boards left out."""
STATES = 300  # reachable states of held-out problems on which a model is compared with the intended one


def worlds(
    task: Annotated[Names, about("A world to interrogate (repeatable); default: some of every kind.")] = None,
    seed: Annotated[int, about("Seed of the interrogations.", min=0)] = 0,
    exam: Annotated[int | None, about("Steps of the examination.", min=0)] = None,
    listed: Annotated[bool, about("Only list MiniGrid's tasks, with what is not covered.", "--list")] = False,
) -> int:
    """Interrogate ready-made worlds from images, and compare with what is intended.

    Examples:
        python -m experiments.worlds --task minigrid:UnlockPickup --task taxi
        python -m experiments.worlds --list
    """
    if listed:
        print("\n".join(covered()))
        return 0
    rows = list(told(interrogated(name, seed, exam) for name in task or TASKS))
    return int(any(row["status"] == "complete" and row["model"] == "differs" for row in rows))


def covered() -> list[str]:
    """A line for each of MiniGrid's tasks: the instructions that it has, or why it is not covered."""
    import gymnasium
    import minigrid  # noqa: F401  # registers its tasks with Gymnasium

    found = []
    for gym_id in sorted(gymnasium.registry):
        if gym_id.startswith("MiniGrid-"):
            name = f"minigrid:{gym_id.removeprefix('MiniGrid-').removesuffix('-v0')}"
            try:
                words = ", ".join(header.name for header in image_domain(name).headers)
                found.append(f"{name}\t{words}")
            except UnusableInput as error:
                found.append(f"not covered\t{error}")
    return found


def interrogated(name: str, seed: int, exam: int | None) -> Row:
    """One interrogation, and what its model is worth."""
    began = process_time()
    target = from_environment(name)
    result = aam_vision.interrogate(target.agent, seed=seed, exam=exam)
    seconds = process_time() - began
    assert target.truth is not None, "a ready-made world has one"
    truth = target.truth()
    return {
        "world": name,
        "instructions": len(truth.actions),
        "queries": result.counts.queries,
        "at least": result.lower_bound,
        "steps": result.counts.steps,
        "status": result.status,
        "model": likeness(result.model, truth, target.held_out(), STATES, seed, 1),
        "CPU s": f"{seconds:.1f}",
    }


if __name__ == "__main__":
    sys.exit(run_command(worlds))
