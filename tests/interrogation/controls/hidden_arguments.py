"""Random domains (``random_strips``) whose controls hide about half of the arguments, and what every control does in them."""

from __future__ import annotations

import numpy as np

from aam_vision.agents.bare import BareSymbolicAgent, Control, control_of
from aam_vision.interrogation.controls.giving import ground
from aam_vision.interrogation.controls.operators import Transition
from experiments.random_strips import Domain

MAX_STATES = 400
"""Reachable states that are looked at."""
KEPT, TOGETHER = 0.5, 0.5
"""Share of parameters that controls name, and of actions that share a control with the one before, where they can."""


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
