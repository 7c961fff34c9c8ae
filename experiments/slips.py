"""``python -m experiments.slips``: controls that slip at times. Is their likeliest outcome learned, and how often it comes?

Random small domains behind controls, or image domains (``--env``). Some controls slip with a probability between 10 and 35%: nothing happens
then, or what another control with the same arguments does. A run is *right* if chance is noticed, at least 99% of held-out steps come out
as its model says where nothing slips, and every interval of a likeliest outcome has its probability; *certain and wrong* if an interval is
wrong, or it is ``complete`` and held-out steps come out otherwise, slips included, more often than its bound says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Annotated

import numpy as np

from aam_vision.agents.bare import BareSymbolicAgent, control_of
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.interrogation.controls.giving import ground
from aam_vision.interrogation.controls.interrogating import Options, interrogate
from aam_vision.model.query import Agent, Query, Response
from aam_vision.model.strips import GroundAction, State
from aam_vision.run import targets
from aam_vision.run.arguments import Arguments
from aam_vision.support.commandline import run_command
from experiments.jobs import Experiment, Scale, every
from experiments.options import FirstSeed, Names, about
from experiments.random_strips import random_domain
from experiments.tables import Row, Summary, average, total

RATES = 0.1, 0.35
RIGHT = 0.99
STEPS = 400
"""Held-out steps of a problem, or of an image domain."""
RANDOM = "random domain"

Step = tuple[State, GroundAction, State]

summary = Summary(
    "Controls that slip",
    {
        "world": "world",
        "runs": len,
        "complete": total(lambda row: row["status"] == "complete"),
        "chance found": total("noticed"),
        "right": total("right"),
        "certain and wrong": total("false"),
        "intervals": total("intervals"),
        "of them right": total("intervals_right"),
        "controls given": average("steps"),
        "CPU s": average("seconds"),
    },
    by=("world",),
)


def slips(
    runs: Annotated[int, about("Agents of each world.", min=1)] = 100,
    env: Annotated[Names, about("Image domains (repeatable) instead of random ones.")] = None,
    first_seed: FirstSeed = 0,
    scale: Scale = Scale(processes=1, out=Path("runs/slips")),
) -> int:
    """Whether the likeliest outcome of controls that slip is learned, and how often it comes.

    Examples:
        python -m experiments.slips --runs 100
        python -m experiments.slips --env doors --env maze --runs 5
    """
    jobs = every(world=env or RANDOM, seed=range(first_seed, first_seed + runs))
    return Experiment("slips", interrogated, summary).run(jobs, scale)


class SlippingAgent(AgentDecorator):
    """Controls some of which slip: nothing happens, or what another one does.

    Args:
        agent: each of its instructions can always be given; its access is ``snapshot``.
        rate: how often.
        instead: by the name of a control that slips the name of the one that is given then, its own if nothing happens.
        rng: the source of all chance.
    """

    def __init__(self, agent: Agent, rate: float, instead: dict[str, str], rng: np.random.Generator) -> None:
        super().__init__(agent)
        self._rate = rate
        self._instead = instead
        self._rng = rng

    def ask(self, query: Query) -> Response:
        """Give the controls of a plan one after the other."""
        here = query.initial
        for control in query.plan:
            given: tuple[GroundAction, ...] = (control,)
            other = self._instead.get(control.name)
            if other is not None and self._rng.random() < self._rate:
                given = () if other == control.name else (control._replace(name=other),)
            here = self.agent.ask(Query(here, given)).final
        return Response(len(query.plan), here) if query.plan else self.agent.ask(query)


def interrogated(*, world: str, seed: int) -> Row:
    """One agent, and whether what is said of it is right."""
    rng = np.random.default_rng([seed, 21])
    agent, steps = _random(seed, rng) if world == RANDOM else _of_images(world, seed, rng)
    rate, instead = float(rng.uniform(*RATES)), _instead(agent, steps, rng)
    slipping = SlippingAgent(agent, rate, instead, rng)
    began = process_time()
    result = interrogate(slipping, seed, Options())
    seconds = process_time() - began
    wrong = sum(not result.predictions.agrees(*step) for step in steps) / max(1, len(steps))
    told = [
        (likeliest.low <= (1 - rate if name in instead else 1.0) <= likeliest.high)
        for name, own in (result.chance or {}).items()
        for likeliest in own[:1]
    ]
    slipped = sum(control.name in instead and before != after for before, control, after in steps)
    often = wrong + rate * slipped / max(1, len(steps))  # about so often, with slips
    return {
        "status": result.status,
        "noticed": result.chance is not None,
        "right": wrong <= 1 - RIGHT and all(told) and result.chance is not None,
        "false": (result.complete and often > result.case_bound) or not all(told),
        "wrong": round(wrong, 4),
        "rate": round(rate, 3),
        "slip": instead,
        "intervals": len(told),
        "intervals_right": sum(told),
        "steps": result.steps,
        "seconds": round(seconds, 1),
        "why": result.missing or result.why,
    }


def _instead(agent: Agent, steps: Sequence[Step], rng: np.random.Generator) -> dict[str, str]:
    """Which controls slip, at least one and only such as do something, and what is given then: nothing, or what does something else."""
    found, changes = dict[str, str](), [step for step in steps if step[0] != step[2]]
    does = {control.name for before, control, after in steps if before != after}
    headers = [one for one in agent.headers if one.name in does]
    for number in rng.permutation(len(headers))[: int(rng.integers(1, len(headers) + 1))]:
        header = headers[int(number)]
        own = [step for step in changes if step[1].name == header.name]
        others = [one.name for one in agent.headers if one.types == header.types]
        others = [one for one in others if one == header.name or _differs(agent, one, own)]
        found[header.name] = others[int(rng.integers(len(others)))]
    return found


def _differs(agent: Agent, other: str, steps: Sequence[Step]) -> bool:
    """Whether another control does something else in all of these steps, so that what slips is not likelier in some situations."""
    if not isinstance(agent, BareSymbolicAgent):
        return False
    return all(agent.given(before, control._replace(name=other)) != after for before, control, after in steps)


def _random(seed: int, rng: np.random.Generator) -> tuple[Agent, Sequence[Step]]:
    """A random domain behind controls that name all arguments, and held-out steps; another one if nothing can be done in it."""
    while True:
        domain = random_domain(seed)
        model = domain.model
        controls = [control_of(model, one.name, one.parameters, [one.name]) for one in model.headers]
        agent = BareSymbolicAgent(model, controls, domain.problems)
        given = [ground([one], state) for one in agent.headers for state in domain.problems]
        usable = all(given) and not domain.repeated and bool(agent.headers)
        steps = [step for start in domain.problems for step in _walked(agent, start, rng)] if usable else []
        if any(before != after for before, _, after in steps):
            return agent, steps
        seed += 1_000_000


def _walked(agent: BareSymbolicAgent, here: State, rng: np.random.Generator) -> Iterator[Step]:
    """The steps of a walk; every other control does something, if any does."""
    for number in range(STEPS):
        given = ground(agent.headers, here)
        doing = [one for one in given if agent.given(here, one) != here] if number % 2 else []
        control = (doing or given)[int(rng.integers(len(doing or given)))]
        after = agent.given(here, control)
        yield here, control, after
        here = after


def _of_images(env: str, seed: int, rng: np.random.Generator) -> tuple[Agent, Sequence[Step]]:
    """An image domain with its controls, and held-out steps of it."""
    target = targets.of(Arguments(env=env, controls=True, seed=seed))
    assert target.native_steps is not None, "image domains have them"
    return target.agent, list(target.native_steps(STEPS, rng))


if __name__ == "__main__":
    sys.exit(run_command(slips))
