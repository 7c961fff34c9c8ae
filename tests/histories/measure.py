"""Is anything complete that new histories refute? ``python -m tests.histories.measure --seeds 10``."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

import aam_vision
from aam_vision.envs.controlled import ControlledEnvironment
from aam_vision.interrogation.controls.result import ControlsResult
from aam_vision.model.remembered import Remembered
from aam_vision.model.strips import GroundAction, State

from .worlds import all_worlds

EPISODES, EPISODE = 25, 40
"""New histories, and the controls of each."""


def histories(
    game: ControlledEnvironment, rng: np.random.Generator, memory: Remembered | None = None
) -> Iterator[tuple[State, GroundAction, State]]:
    """Steps of new histories: from where problems begin, controls at random, without a return.

    With a memory, steps are as the model tells them: what is remembered is in both states, or the control is the one that is
    carried out, one without a name where none is.
    """
    for number in range(EPISODES):
        env = game.make()
        env.reset(seed=game.seeds[number % len(game.seeds)])
        scene = game.scene(env.unwrapped)
        before = game.true_state(env.unwrapped, scene)
        remembered: Any = None if memory is None else memory.begins
        for _ in range(EPISODE):
            chosen = int(rng.integers(len(game.control_headers)))
            env.step(chosen)
            after = game.true_state(env.unwrapped, scene)
            control = GroundAction(game.control_headers[chosen].name, ())
            if memory is None:
                yield before, control, after
            else:
                told, carried_out, then = memory.step(before, control, after, remembered)
                yield told, carried_out or GroundAction("", ()), then
                remembered = memory.after(remembered, control, did=before != after)
            before = after


@dataclass(frozen=True)
class Measured:
    """One interrogation of a world, and the share of new steps that its model mispredicts."""

    result: ControlsResult
    wrong: float
    cpu_s: float

    @property
    def false(self) -> bool:
        """Whether it is complete, and wrong more often than it says."""
        return self.result.complete and self.wrong > self.result.case_bound

    @property
    def learned(self) -> bool:
        """Whether it was learned with what is remembered, and predicts 99% of new steps."""
        return self.result.memory is not None and self.wrong <= 0.01


def measure(game: ControlledEnvironment, seed: int) -> Measured:
    """Interrogate a world, and hold the result against new histories."""
    began = process_time()
    result = aam_vision.interrogate_controls(game.bare_agent(), seed=seed)
    spent = process_time() - began
    steps = list(histories(game, np.random.default_rng([seed, 77]), result.memory))
    wrong = sum(not result.predictions.agrees(*step) for step in steps) / len(steps)
    return Measured(result, wrong, spent)


def main() -> None:
    """Print a line for each run, then the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="*", help="only these (default: all forty)")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    totals: Counter[str] = Counter()
    for name, hidden, game in all_worlds():
        if options.worlds and name not in options.worlds:
            continue
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            one = measure(game, seed)
            kind = "hidden" if hidden else "visible"
            totals[f"{kind} {one.result.status}"] += 1
            totals[f"{kind} false"] += one.false
            totals[f"{kind} learned with memory"] += one.learned
            print(
                f"{name:26} seed {seed}: {one.result.status:10} {one.result.steps:5} controls {one.cpu_s:6.1f} CPU s "
                f"{100 * one.wrong:5.1f}% of new steps wrong, at most {100 * one.result.case_bound:.1f}% said"
                f"{'  FALSE' if one.false else ''}  {'' if one.result.memory is None else one.result.memory.text}"
                f"  {(one.result.missing or '')[:70]}",
                flush=True,
            )
    print(", ".join(f"{key}: {value}" for key, value in sorted(totals.items())))


if __name__ == "__main__":
    main()
