"""``python -m experiments.hidden_arguments``: the packaged domains behind controls that name no or one argument.

Every operator is a control of its own that names the first ``keep`` of its parameters; the state settles the others. Where
several bindings apply, the first one is carried out, so that the control depends on the names of objects: no model
without names describes it (``ambiguous``, the controls for which that came up on held-out problems). ``learned`` are the
other controls that the model predicts exactly in all held-out steps; half of these are chosen so that something happens.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Annotated

import numpy as np

from aam_vision.agents.bare import BareSymbolicAgent, control_of, random_control
from aam_vision.interrogation.controls.interrogating import Options, interrogate
from aam_vision.model.domains import DOMAINS, generate, load
from aam_vision.model.strips import GroundAction, State
from aam_vision.support.commandline import run_command
from experiments.jobs import Experiment, Scale, every
from experiments.options import Domains, about, chosen
from experiments.tables import Row, Summary, as_named

PROBLEMS, SIZE, HELD_OUT = 3, 2, 400
"""Problems that are interrogated and as many that are held out, their size, and steps of each of the latter."""
TRIES = 12

summary = Summary(
    "Operators found behind controls that hide arguments",
    {
        **as_named("domain", "keep", "controls", "ambiguous", "learned"),
        "wrong %": "wrong",
        **as_named("unexplained", "steps"),
        "CPU s": "seconds",
        "status": "status",
    },
)


def hidden_arguments(
    domain: Domains = None,
    seed: Annotated[int, about("Seed of problems and interrogation.", min=0)] = 0,
    max_steps: Annotated[int, about("Controls that may be given.", min=1)] = 1500,
    scale: Scale = Scale(out=Path("runs/hidden_arguments")),
) -> int:
    """Which operators are found when their arguments are hidden.

    Examples:
        python -m experiments.hidden_arguments --domain gripper --domain blocksworld
    """
    jobs = every(domain=chosen("domain", domain, DOMAINS), keep=[0, 1], seed=seed, max_steps=max_steps)
    return Experiment("hidden_arguments", interrogated, summary).run(jobs, scale)


def interrogated(*, domain: str, keep: int, seed: int, max_steps: int) -> Row:
    """One domain, and how well the controls of held-out problems are predicted."""
    began, rng, model = process_time(), np.random.default_rng([seed, 1]), load(domain)
    initial = [generate(domain, SIZE, rng).initial for _ in range(2 * PROBLEMS)]
    controls = [control_of(model, one.name, one.parameters[:keep], [one.name]) for one in model.headers]
    agent = BareSymbolicAgent(model, controls, initial[:PROBLEMS])
    result = interrogate(agent, seed, Options(max_steps))
    seconds = process_time() - began
    steps = held_out(agent, initial[PROBLEMS:], rng)
    wrong = [
        control.name
        for before, control, after, _ in steps
        if not result.predictions.agrees(before, control, after)
    ]
    ambiguous = {control.name for _, control, _, several in steps if several}
    names = {control.header.name for control in controls}
    return {
        "controls": len(names),
        "ambiguous": len(ambiguous),
        "learned": len(names - ambiguous - {*wrong}),
        "wrong": round(100 * len(wrong) / len(steps), 1),
        "unexplained": len(result.unexplained),
        "steps": result.steps,
        "seconds": round(seconds, 1),
        "status": result.status,
        "missed": sorted({*wrong} - ambiguous),
    }


def held_out(
    agent: BareSymbolicAgent, starts: Sequence[State], rng: np.random.Generator
) -> list[tuple[State, GroundAction, State, bool]]:
    """Steps of walks: a state, a control, the state after it, and whether it could have led elsewhere, too."""
    found = []
    for start in starts:
        here = start
        for number in range(HELD_OUT):
            for _ in range(TRIES):
                drawn = random_control(agent.headers, here, rng)
                assert drawn is not None, "every domain has controls"
                control = drawn
                outcomes = agent.outcomes(here, control)
                if outcomes or number % 2:
                    break
            after = outcomes[0] if outcomes else here
            found.append((here, control, after, len(set(outcomes)) > 1))
            here = after
    return found


if __name__ == "__main__":
    sys.exit(run_command(hidden_arguments))
