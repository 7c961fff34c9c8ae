"""``python -m experiments.random_controls``: random domains whose controls hide arguments, checked by brute force.

The actions of a random domain (``random_strips``) are put behind controls that name about half of their parameters; some
controls carry out two actions. Each domain is interrogated by its controls alone, and the model then compared with what
every control does in every reachable state. ``complete`` says that the result claims so, with nothing unexplained; ``wrong``
that an operator is applicable where it should not be, or not where it should; ``missing case`` that only something which
no operator describes was not seen. In ``ambiguous`` domains some control fits several outcomes, of which the first comes
about, so that no model without names describes it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Annotated, Any

import numpy as np
import typer

from aam_vision.agents.bare import BareSymbolicAgent, Control, control_of
from aam_vision.controls.giving import ground
from aam_vision.controls.interrogating import interrogate
from aam_vision.controls.operators import Transition, explanations
from aam_vision.controls.result import ControlsResult
from aam_vision.support.commandline import run_command
from experiments.jobs import Experiment, FirstSeed, Scale, batches
from experiments.random_strips import Domain, random_domain
from experiments.tables import Row, Table, pooled, values

BATCH = 25
"""Domains in one job."""
MAX_STATES = 400
"""Reachable states that are looked at."""
KEPT, TOGETHER = 0.5, 0.5
"""Share of parameters that controls name, and of actions that share a control with the one before, where they can."""


def random_controls(
    runs: Annotated[int, typer.Option(min=1, help="Domains.")] = 300,
    first_seed: FirstSeed = 0,
    scale: Scale = Scale(out=Path("runs/random_controls")),
) -> int:
    """Whether operators that are called certain are right, in random domains with hidden arguments.

    Examples:
        python -m experiments.random_controls --runs 300
    """
    jobs = batches(first_seed, runs, BATCH)
    return Experiment("random_controls", batch, summary).run(jobs, scale)


def batch(*, seed: int, count: int) -> Row:
    """As many domains from this seed on."""
    began = process_time()
    found = {one: judged(one) for one in range(seed, seed + count)}
    return {
        "outcomes": dict(Counter(outcome for outcome, _ in found.values())),
        "wrong": [one for one, (outcome, _) in found.items() if outcome.endswith("complete, wrong")],
        "steps": sum(steps for _, steps in found.values()),
        "seconds": round(process_time() - began, 2),
    }


def judged(seed: int) -> tuple[str, int]:
    """How one interrogation ended, and its steps."""
    domain = random_domain(seed)
    if domain.repeated:
        return "one object named twice: left out", 0
    agent = hidden(domain, seed)
    seen = everything(agent)
    if seen is None:
        return f"more than {MAX_STATES} states", 0
    if not any(transition.change for transition in seen):
        return "nothing ever happens", 0
    agent.ambiguous = 0
    several = any(len(set(agent.outcomes(one.before, one.control))) > 1 for one in seen)
    result = interrogate(agent, seed)
    inner = result.interrogation
    complete = inner is not None and inner.proven and not result.unexplained and not result.why
    claim = "complete" if complete else "open"
    return f"{'ambiguous: ' if several else ''}{claim}, {verdict(result, seen)}", result.steps


def hidden(domain: Domain, seed: int) -> BareSymbolicAgent:
    """The agent of a domain behind controls that name some of the parameters."""
    rng, controls = np.random.default_rng([seed, 77]), list[Control]()
    left = list(domain.model.headers)
    while left:
        header = left.pop(0)
        kept = [name for name in header.parameters if rng.random() < KEPT]
        types = [header.types[header.parameters.index(name)] for name in kept]
        names = [header.name]
        if left and rng.random() < TOGETHER:
            other = dict(zip(left[0].parameters, left[0].types, strict=True))
            if all(other.get(name) == kind for name, kind in zip(kept, types, strict=True)):
                names.append(left.pop(0).name)
        controls.append(control_of(domain.model, f"c{len(controls)}", kept, names))
    return BareSymbolicAgent(domain.model, controls, domain.problems)


def everything(agent: BareSymbolicAgent) -> list[Transition] | None:
    """What every control does in every reachable state; None if there are too many states."""
    waiting = [situation.state for situation in agent.initial()]
    known, found = dict.fromkeys(waiting), []
    while waiting:
        here = waiting.pop()
        for control in ground(agent.headers, here):
            after = agent.given(here, control)
            found.append(Transition(here, control, after))
            if after not in known:
                if len(known) >= MAX_STATES:
                    return None
                known[after] = None
                waiting.append(after)
    return found


def verdict(result: ControlsResult, seen: Sequence[Transition]) -> str:
    """Whether the model is right, lacks a case, or is wrong."""
    said = "right"
    for one in seen:
        if result.predictions.agrees(one.before, one.control, one.after):
            continue
        explained = any(
            any(True for _ in explanations(each.effects, each.header.arity, each.derivations, one))
            for each in result.operators
            if each.control == one.control.name
        )
        silent = result.predictions.next_states(one.before, one.control) == {one.before}
        if not one.change or explained or not silent:
            return "wrong"
        said = "missing case"
    return said


def summary(rows: Sequence[Row]) -> Table:
    """The number of domains by outcome."""
    total = sum((Counter(row["outcomes"]) for row in rows), Counter[str]())
    lines: list[list[Any]] = [[*one] for one in sorted(total.items())]
    wrong = ", ".join(map(str, pooled(rows, "wrong")))
    lines += [
        ["called certain and wrong: seeds", wrong or "none"],
        ["steps", sum(values(rows, "steps"))],
        ["CPU seconds", round(sum(values(rows, "seconds")), 1)],
    ]
    return Table("Random domains with hidden arguments", ["outcome", "domains"], lines)


if __name__ == "__main__":
    sys.exit(run_command(random_controls))
