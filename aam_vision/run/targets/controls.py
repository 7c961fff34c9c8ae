"""Agents of which only the controls are known: environments seen in images, and PDDL domains behind controls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aam_vision.model.query import Access
from aam_vision.run.targets.copied import copied_symbolic
from aam_vision.run.targets.images import PerceptionSettings, from_images, settings_of
from aam_vision.run.targets.symbolic import identity, tell_left_out
from aam_vision.run.targets.target import Target, access_of, check_problems
from aam_vision.support.errors import UnusableInput

if TYPE_CHECKING:
    import numpy as np

    from aam_vision.agents.bare import Control
    from aam_vision.agents.workers import Workers
    from aam_vision.model.strips import GroundAction, Model, State
    from aam_vision.run.arguments import Arguments

CONTROL = re.compile(r"\s*(?P<name>[^\s()=,]+)\s*\((?P<parameters>[^()=]*)\)\s*=\s*(?P<operators>[^()=]+)")
WRITE = "write e.g. 'move(?dir)=push,move', with the control, its parameters and the operators that it may carry out"


def with_controls(arguments: Arguments, workers: Workers) -> Target:
    """The agent that a run's arguments name, by its controls. Raises UnusableInput: there is no such thing, or its controls are not known."""
    if arguments.domain is not None:
        bare = from_bare(arguments.domain, arguments.problem or (), arguments.bare or (), arguments.access)
        return copied_symbolic(bare, workers)
    if arguments.agent is not None:
        from aam_vision.run.targets.programs import program_of

        return program_of(arguments, workers)
    assert arguments.env is not None, "one or the other is given"
    settings = settings_of(arguments)
    return controlled(arguments.env, arguments.problem or (), arguments.access, settings, workers)


def from_bare(domain: Path, problems: Sequence[str], bare: Sequence[str], access: str | None) -> Target:
    """A PDDL domain behind controls, each written as ``NAME(?PARAMETER ...)=OPERATOR,...``. Raises UnusableInput: one or a file cannot be used."""
    from aam_vision.agents.bare import BARE_ACCESS, BareSymbolicAgent
    from aam_vision.model.pddl import read_domain, read_problem

    access_of(access, BARE_ACCESS, "--bare")
    check_problems(domain, problems, Access.SNAPSHOT)
    model = read_domain(domain)
    tell_left_out(domain, model.vocabulary)
    initial = [read_problem(model, problem).initial for problem in problems]
    controls = read_controls(model, bare)
    agent = BareSymbolicAgent(model, controls, initial)
    return Target(
        model.vocabulary.name,
        tuple(Path(problem).name for problem in problems),
        agent,
        truth=lambda: model,
        held_out=lambda: initial,
        identity=f"{identity(model)} {' '.join(sorted(bare))}",
        native_steps=lambda count, rng: _walked(agent, initial, count, rng),
    )


def read_controls(model: Model, texts: Sequence[str]) -> list[Control]:
    """The controls of a model, written as ``NAME(?PARAMETER ...)=OPERATOR,...``. Raises UnusableInput: one is not like that, or comes twice."""
    from aam_vision.agents.bare import control_of

    found: dict[str, Control] = {}
    for text in texts:
        match = CONTROL.fullmatch(text)
        if match is None:
            raise UnusableInput(WRITE, "bare", text)
        parameters, operators = (
            [one for one in re.split(r"[\s,]+", match[part].strip()) if one]
            for part in ("parameters", "operators")
        )
        parameters = [one.removeprefix("?") for one in parameters]
        if match["name"] in found:
            raise UnusableInput(f"the control {match['name']} comes twice", "bare")
        found[match["name"]] = control_of(model, match["name"], parameters, operators)
    return list(found.values())


def _walked(
    agent: object, initial: Sequence[State], count: int, rng: np.random.Generator
) -> list[tuple[State, GroundAction, State]]:
    """Steps of random walks; there is no way to make legal states of a PDDL domain at random."""
    from aam_vision.agents.bare import BareSymbolicAgent, random_control

    assert isinstance(agent, BareSymbolicAgent), "the agent of this target"
    found: list[tuple[State, GroundAction, State]] = []
    for number in range(count):
        if number < len(initial) or number % 50 == 0:
            state = initial[number % len(initial)]
        control = random_control(agent.headers, state, rng)
        if control is None:
            break
        after = agent.given(state, control)
        found.append((state, control, after))
        state = after
    return found


def controlled(
    env: str,
    problems: Sequence[str],
    access: str | None,
    settings: PerceptionSettings,
    workers: Workers | None = None,
) -> Target:
    """An environment that is seen in images, by its controls. Raises UnusableInput: not known, or no such problem, access or weights."""
    allowed = access_of(access, (Access.SNAPSHOT,), "--controls")
    return from_images(env, allowed, problems, settings, workers, controls=True)
