"""A run without chance says what chance of another outcome it does not exclude, and asks nothing more for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aam_vision
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.model.query import Query, Response
from aam_vision.run.summary import not_excluded, sentence
from tests.finished import result_of

from .commands import command


def test_the_bound_is_that_of_the_executions(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = command("--env", "gripper", "--quiet", "--out", folder, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    figures = result_of(folder)
    name, bound = max(figures["not_excluded"].items(), key=lambda one: one[1])
    assert (
        f"Not excluded, with 95%: another outcome of {name} in up to {100 * bound:.0f}% of its steps" in told
    )
    made = np.log(0.05) / np.log(1 - bound)
    assert made == pytest.approx(round(made), abs=0.02)
    assert f"({round(made)} execution" in told
    executions = [round(np.log(0.05) / np.log(1 - one)) for one in figures["not_excluded"].values()]
    assert sum(executions) <= figures["steps"] - figures["failed_steps"] + figures["exam_steps"]


class Useless(AgentDecorator):
    """Can do nothing."""

    def initial(self):  # type: ignore[no-untyped-def]
        return self.agent.initial()

    def ask(self, query: Query) -> Response:
        return Response(0, query.initial)

    def walk(self, start, steps, rng):  # type: ignore[no-untyped-def]
        return []


def test_nothing_is_said_of_what_was_never_executed() -> None:
    result = aam_vision.interrogate(Useless(aam_vision.agent_for("gripper")))
    assert sentence(result) == ""
    assert set((not_excluded(result) or {}).values()) == {1.0}
