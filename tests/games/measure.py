"""Every game with some seeds: ``python -m tests.games.measure --seeds 5``; what was found of what can happen, and the claim.

A *kind of change* is a control with the predicates that it changes, and how. A kind is found if the learned model predicts
all its steps, of all that can be reached from the problems that were interrogated.
"""

from __future__ import annotations

import argparse
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass
from time import process_time

import aam_vision
from aam_vision.envs.controlled import ControlledEnvironment
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.controls.result import ControlsResult
from aam_vision.model.strips import GroundAction

from .boards import ENVIRONMENTS

MOST = 4000
"""Situations of one game that are looked at."""


def reachable(game: ControlledEnvironment) -> list[Transition]:
    """All steps from all situations that can be reached from its problems."""
    found, controls = [], [(header.name, number) for number, header in enumerate(game.control_headers)]
    for seed in game.seeds:
        env = game.make()
        env.reset(seed=seed)
        scene = game.scene(env.unwrapped)
        known = {game.true_state(env.unwrapped, scene): env}
        waiting = list(known)
        while waiting and len(known) < MOST:
            before = waiting.pop()
            for name, number in controls:
                there = deepcopy(known[before])
                there.step(number)
                after = game.true_state(there.unwrapped, scene)
                found.append(Transition(before, GroundAction(name, ()), after))
                if after not in known:
                    known[after] = there
                    waiting.append(after)
    return found


@dataclass(frozen=True)
class Measured:
    """One interrogation of a game, held against everything that can happen in it."""

    result: ControlsResult
    missing: tuple[str, ...]
    """The kinds of change of which some step is mispredicted."""
    wrong: float
    """The share of all steps that are mispredicted."""
    cpu_s: float


def measure(name: str, seed: int, steps: list[Transition] | None = None) -> Measured:
    """Interrogate a game and compare what was learned with all that can happen."""
    game, began = ENVIRONMENTS[name], process_time()
    result = aam_vision.interrogate_controls(game.bare_agent(), seed=seed)
    spent = process_time() - began
    steps = reachable(game) if steps is None else steps
    wrong = Counter(
        one.kind for one in steps if not result.predictions.agrees(one.before, one.control, one.after)
    )
    return Measured(result, tuple(sorted(wrong)), wrong.total() / len(steps), spent)


def main() -> None:
    """Print a line for each run, then the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", default=[*ENVIRONMENTS])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    totals: Counter[str] = Counter()
    for name in options.games:
        steps = reachable(ENVIRONMENTS[name])
        kinds = len({one.kind for one in steps})
        for seed in range(options.seeds):
            one = measure(name, seed, steps)
            complete = one.result.status == "complete"
            totals["runs"] += 1
            totals["found"] += not one.missing
            totals["complete"] += complete
            totals["complete and wrong"] += complete and bool(one.missing)
            untried = getattr(one.result, "untried", ())
            totals["wrong, nothing named"] += bool(one.missing) and not untried
            print(
                f"{name:12} seed {seed}: {one.result.status:30} {one.result.steps:5} controls {one.cpu_s:6.1f} CPU s  "
                f"{kinds - len(one.missing)}/{kinds} kinds, {100 * one.wrong:.1f}% wrong; missing: "
                f"{', '.join(one.missing) or 'none'}; untried: {len(untried)}",
                flush=True,
            )
    print(", ".join(f"{key} {value}" for key, value in totals.items()))


if __name__ == "__main__":
    main()
