"""Workers that are actors of a real Ray cluster of our own give what processes give, and a lost one costs its job only."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.workers import LOCAL, STARTS, Workers, started
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.result import Result
from aam_vision.run import targets
from aam_vision.support.errors import UnusableInput
from tests.agents.workers import copies_here

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="needs ray")


def interrogated(address: str | None) -> Result:
    target = targets.from_environment("gripper", workers=Workers(2, address))
    try:
        return Interrogation(target.agent, copies=target.copies).run(np.random.default_rng(0))
    finally:
        target.close()


def test_actors_ask_and_answer_what_processes_do(tmp_path: Path) -> None:
    assert interrogated(LOCAL).transcript == interrogated(None).transcript
    crew = Workers(2, LOCAL).crew(partial(copies_here.counter, 40), copies_here.same)
    try:
        tasks = [crew.begin(copies_here.add, number) for number in range(3)]
        deadly = crew.begin(copies_here.end, tmp_path / "once")
        assert crew.collect(deadly) == "done"
        assert [crew.collect(task) for task in tasks] == [40, 41, 42]
        assert crew.lost == 1
    finally:
        crew.close()


def test_a_cluster_that_does_not_start_is_started_again_and_then_named_in_one_line() -> None:
    """On a busy machine its head may take too long."""

    class Slow:
        def __init__(self, failures: int) -> None:
            self.failures, self.ended = failures, 0

        def init(self, *_: str, **__: object) -> None:
            self.failures -= 1
            if self.failures >= 0:
                raise RuntimeError("Failed to start GCS.\nIt is slow.")

        def shutdown(self) -> None:
            self.ended += 1

    slow = Slow(STARTS - 1)
    assert started(slow) is slow
    assert slow.ended == STARTS - 1
    with pytest.raises(UnusableInput, match=r"cannot be started here \(.*Failed to start GCS. It is slow"):
        started(Slow(STARTS))
