"""The agent has keys that its predicates do not speak of, and no run calls a model of it complete, or invents a precondition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from aam_vision import interrogate
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import Location, Mode, State
from experiments.trust_runs import interrogated
from tests import domains, small
from tests.profiles import crossed

CORRIDOR = small.model(
    "go from to: at from -> not at from, at to",
    "unlock x: at x, locked x -> not locked x",
    "lock x: at x, not locked x, not open x -> locked x",
    "open x: at x, not locked x, not open x -> open x",
    "close x: at x, open x -> not open x",
    "switch-on: not lit -> lit",
    "switch-off: lit -> not lit",
)
START = small.state("red green blue", "at red, locked red, locked green, locked blue")


class Corridor(SymbolicAgent):
    """``unlock`` uses up one of two keys; without any it is refused. A handle is a state, and the keys that are left."""

    def initial(self) -> Sequence[Situation]:
        return [Situation((START, 2), START)]

    def ask(self, query: Query) -> Response:
        here = query.initial
        for number, step in enumerate(query.plan):
            state, keys = _world(here)
            schema, uses = CORRIDOR.schema(step.name), step.name == "unlock"
            if not schema.applicable(state, step.objects) or (uses and not keys):
                return Response(number, here)
            state = schema.successor(state, step.objects)
            here = Situation((state, keys - uses), state)
        return Response(len(query.plan), here)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked = list[WalkStep]()
        for _ in range(steps):
            here = walked[-1].after if walked else start
            possible = [
                step
                for step in domains.applicable(CORRIDOR, here.state)
                if step.name != "unlock" or _world(here)[1]
            ]
            step = possible[int(rng.integers(len(possible)))]
            walked.append(WalkStep(here, step, self.ask(Query(here, (step,))).final))
        return walked


def _world(situation: Situation) -> tuple[State, int]:
    state, keys = situation.handle  # type: ignore[misc]
    return state, keys


@pytest.mark.parametrize(("access", "seed"), crossed([Access.RESET, Access.SNAPSHOT], [0, 1]))
def test_no_run_is_complete(access: Access, seed: int) -> None:
    result, _ = interrogated(Corridor(CORRIDOR, [START], access, refuses_surely=True), seed, None)
    assert result.status != "complete"


def test_no_precondition_is_invented() -> None:
    """What is never required may coincide with what is."""
    agent = Corridor(CORRIDOR, [START], Access.RESET, refuses_surely=True)
    result = interrogate(agent, seed=0, exam=0)
    certain = [
        (mode, CORRIDOR.schema(pal.action).mode(pal.atom, pal.location))
        for pal, mode in result.certain.items()
        if pal.location is Location.PRE and mode is not Mode.ABSENT
    ]
    assert certain
    assert all(mode is true for mode, true in certain)
