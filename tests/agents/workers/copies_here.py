"""What the copies in the tests of this folder are made of; their processes import it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.model.query import Agent, Query, Response, Situation, WalkStep


@dataclass
class Counter:
    """Something with a state of its own."""

    start: int = 0


def counter(start: int) -> Counter:
    return Counter(start)


def add(found: Counter, number: int) -> int:
    return found.start + number


def process(found: Counter) -> int:
    return os.getpid()


def fail(found: Counter) -> None:
    raise ValueError("two lines\nof a reason")


def end(found: Counter, once: Path | None) -> str:
    """End the process as ``kill -9`` does; only the first time, if there is a file to say so."""
    if once is None or not once.exists():
        if once is not None:
            once.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


class Erratic(AgentDecorator):
    """An agent whose answers take more or less time."""

    def __init__(self, agent: Agent, lates: float) -> None:
        super().__init__(agent)
        self._lates = lates
        self._rng = np.random.default_rng(int.from_bytes(os.urandom(4), "little"))

    def ask(self, query: Query) -> Response:
        self._wait()
        return self.agent.ask(query)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        self._wait()
        return self.agent.walk(start, steps, rng)

    def _wait(self) -> None:
        time.sleep(self._lates * self._rng.random())


class Deadly(Erratic):
    """An agent whose process ends as with ``kill -9`` in the midst of some of its questions, up to a number of times."""

    def __init__(self, agent: Agent, folder: Path, most: int) -> None:
        super().__init__(agent, 0.005)
        self._folder = folder
        self._most = most

    def _wait(self) -> None:
        super()._wait()
        if self._rng.random() < 0.6:
            for number in range(self._most):
                with suppress(FileExistsError):  # several processes may come to it at once
                    (self._folder / str(number)).touch(exist_ok=False)
                    os.kill(os.getpid(), signal.SIGKILL)


def deadly(agent: Agent, folder: Path, most: int) -> Agent:
    return Deadly(agent, folder, most)


def erratic(agent: Agent, lates: float) -> Agent:
    return Erratic(agent, lates)


def same(found: object, told: object) -> bool:
    """All copies are the same, whatever they are."""
    return True
