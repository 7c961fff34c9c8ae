"""``python -m experiments.parallel``: agents that take half a second for a step, asked by one worker and by several.

Every row is an interrogation. ``lost`` says how many workers were killed with ``kill -9`` meanwhile, ``same`` whether the
interrogation was then the same, question by question, as without.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Annotated

import numpy as np

from aam_vision.agents.copies import CopiedSimulator, StatelessCopies, prove, prove_simulators
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.image import ImageAgent
from aam_vision.agents.perception import Simulator
from aam_vision.agents.unreliable import SimulatorDecorator
from aam_vision.agents.workers import Crew, ProcessCopy, Workers
from aam_vision.envs.registry import image_domain
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Agent, Query, Response, Situation, WalkStep
from aam_vision.report.evaluation import equivalent, sample_states
from aam_vision.run import targets
from aam_vision.run.targets.copied import SIMULATING
from aam_vision.run.targets.images import PerceptionSettings, perception_of, seen_through
from aam_vision.support.commandline import Progress, check_writable, run_command
from experiments.options import Names, about
from experiments.tables import Row, Table

HELD_OUT_STATES = 200  # states in which the learned model is compared with the true one
AGENTS = ("rovers", "sokoban")


class SlowAgent(AgentDecorator):
    """An agent that takes its time for every step that it attempts."""

    def __init__(self, agent: Agent, seconds: float) -> None:
        super().__init__(agent)
        self._seconds = seconds

    def ask(self, query: Query) -> Response:
        response = self.agent.ask(query)
        sleep(self._seconds * min(response.executed + 1, len(query.plan)))
        return response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked = self.agent.walk(start, steps, rng)
        sleep(self._seconds * len(walked))
        return walked


class SlowSimulator(SimulatorDecorator):
    """A simulator that takes its time for every step that is attempted."""

    def __init__(self, simulator: Simulator, seconds: float) -> None:
        super().__init__(simulator)
        self._seconds = seconds

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        sleep(self._seconds)
        return super().instruct(name, objects)


def slow_simulators(env: str, seconds: float) -> list[Simulator]:
    """The simulators of all problems of an environment, slowed down; made in the process of a worker."""
    domain = image_domain(env)
    return [SlowSimulator(domain.simulator(problem), seconds) for problem in domain.interrogated]


@dataclass(frozen=True)
class Run:
    """An interrogation, and what it took."""

    result: Result
    seconds: float
    equivalent: bool
    lost: int

    def same(self, other: Run) -> bool:
        """Whether the same was asked and answered, question by question."""
        return self.result.transcript == other.result.transcript


def interrogated(
    env: str, seed: int, seconds: float, workers: Workers, kills: int = 0, apart: float = 1.0
) -> Run:
    """One interrogation of a slow agent; so many workers are killed, so many seconds apart on average."""
    target = targets.from_environment(env, seed=seed)
    assert target.truth is not None, "the environments here have one"
    began = perf_counter()
    agent, crew = _slow(env, target.agent, seconds, workers)
    over = Event()
    killer = Thread(target=_kill, args=(crew, kills, apart, seed, over), daemon=True)
    try:
        if crew is not None:
            crew.ready()
        killer.start()
        result = Interrogation(agent, copies=workers.number).run(np.random.default_rng(seed))
    finally:
        over.set()
        if crew is not None:
            crew.close()
    took = perf_counter() - began
    states = sample_states(target.truth(), target.held_out(), HELD_OUT_STATES, np.random.default_rng(seed))
    same = equivalent(result.model, target.truth(), states)
    return Run(result, took, same, 0 if crew is None else crew.lost)


def _slow(env: str, agent: Agent, seconds: float, workers: Workers) -> tuple[Agent, Crew | None]:
    """The agent, slowed down, and its workers if there are several."""
    if not isinstance(agent, ImageAgent):
        slow = SlowAgent(agent, seconds)
        if workers.number == 1:
            return slow, None
        crew = workers.crew(partial(SlowAgent, agent, seconds), prove)
        return StatelessCopies(agent, crew), crew
    simulators = slow_simulators(env, seconds)
    seeing: Crew | None = None
    if workers.number > 1:
        seeing = workers.crew(partial(slow_simulators, env, seconds), prove_simulators, modules=SIMULATING)
        simulators = [CopiedSimulator(one.scene, number, seeing) for number, one in enumerate(simulators)]
    settings = PerceptionSettings()
    asked = agent.headers, agent.access, settings, perception_of(env, settings)
    return seen_through(env, simulators, *asked).agent, seeing


def _kill(crew: Crew | None, kills: int, apart: float, seed: int, over: Event) -> None:
    """Kill processes of workers at random moments, until enough or the interrogation is over."""
    rng = np.random.default_rng([seed, 4])
    while kills and crew is not None and not over.wait(rng.exponential(apart)):
        copies = [copy for copy in crew.copies if isinstance(copy, ProcessCopy)]
        if copies:
            copy = copies[int(rng.integers(len(copies)))]
            with suppress(ProcessLookupError):
                os.kill(copy.pid, signal.SIGKILL)
                kills -= 1


def parallel(
    env: Annotated[Names, about("Agents: rovers, sokoban, ... (repeatable).")] = None,
    workers: Annotated[list[int] | None, about("Numbers of workers (repeatable).", min=1)] = None,
    seeds: Annotated[int, about("Interrogations of each.", min=1)] = 1,
    first_seed: Annotated[int, about("The first seed.", min=0)] = 0,
    seconds: Annotated[float, about("Time that a step takes.", min=0)] = 0.5,
    kills: Annotated[int, about("Workers to kill in one more run of the most workers.", min=0)] = 0,
    address: Annotated[str | None, about("Of a Ray cluster, or local, instead of processes.")] = None,
    out: Annotated[Path, about("Folder for the table.")] = Path("runs/parallel"),
) -> int:
    """Measure interrogations of slow agents with one worker and with several.

    Examples:
        python -m experiments.parallel --seeds 10 --first-seed 100
        python -m experiments.parallel --env rovers --workers 8 --kills 50
    """
    check_writable(out)
    numbers, progress = workers or [1, 4, 8], Progress()
    rows: list[Row] = []
    differing = 0
    for name in env or AGENTS:
        for seed in range(first_seed, first_seed + seeds):
            found: dict[int, Run] = {}
            for number in numbers:
                progress.stage(f"{name}, seed {seed}, {number} at a time")
                where = Workers(number, address if number > 1 else None)
                found[number] = interrogated(name, seed, seconds, where)
                rows.append(_row(name, seed, number, found[number], found[numbers[0]]))
            if kills:
                most = max(numbers)
                apart = found[most].seconds / kills
                killed = interrogated(name, seed, seconds, Workers(most, address), kills, apart)
                differing += not killed.same(found[most])
                row = _row(name, seed, most, killed, found[numbers[0]])
                rows.append({**row, "lost": killed.lost, "same": killed.same(found[most])})
    table = Table.of(f"Agents that take {seconds:g} s for a step", rows)
    table.print()
    table.save(out, "parallel")
    return int(bool(differing))


def _row(env: str, seed: int, number: int, run: Run, first: Run) -> Row:
    counts = run.result.counts
    return {
        "agent": env,
        "seed": seed,
        "workers": number,
        "wall s": round(run.seconds, 1),
        "times as fast": round(first.seconds / run.seconds, 2),
        "queries": counts.queries,
        "steps": counts.steps + counts.exam_steps,
        "equivalent": run.equivalent,
        "lost": run.lost,
        "same": None,
    }


if __name__ == "__main__":
    sys.exit(run_command(parallel))
