"""Interrogations by several workers: the same whatever their number, their times, their losses and where they run."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aam_vision.agents.copies import StatelessCopies
from aam_vision.agents.workers import LOCAL, STARTS, Workers, started
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Course, Query
from aam_vision.run import targets
from aam_vision.support.errors import UnusableInput
from tests.agents.programs import REFERENCE, program
from tests.agents.workers import copies_here
from tests.profiles import first
from tests.refusals import told_by


def interrogated(env: str, number: int, *, access: str | None = None, **options: object) -> Result:
    """By workers that are processes, if there are several."""
    return _run(targets.from_environment(env, access=access, workers=Workers(number)), **options)


def _run(target: Any, **options: object) -> Result:
    with closing(target):
        asked = Interrogation(target.agent, copies=target.copies, **options)  # type: ignore[arg-type]
        return asked.run(np.random.default_rng(0))


def of_program(command: str, access: str, number: int) -> Result:
    options = {"access": access, "seconds": 60, "megabytes": 4096}
    return _run(targets.from_program(command, [], workers=Workers(number), **options))


NEVER = 10**6
SUBJECTS = [("gripper", "snapshot"), ("gripper", "settable"), ("blocksworld", "snapshot")]


@pytest.mark.parametrize(("env", "access"), first(1, SUBJECTS))
def test_the_number_of_workers_makes_no_difference(env: str, access: str) -> None:
    alone, two, three = (interrogated(env, number, access=access) for number in (1, 2, 3))
    assert (two.transcript, two.counts) == (three.transcript, three.counts)
    assert two.proven
    assert alone.proven
    assert two.model == alone.model
    assert two.counts.queries <= 1.1 * alone.counts.queries + 1


def test_neither_late_answers_nor_lost_workers_make_a_difference(tmp_path: Path) -> None:
    target = targets.from_environment("gripper")
    found = []
    makes = [partial(copies_here.erratic, target.agent, lates) for lates in (0.0, 0.05)]
    for make in (*makes, partial(copies_here.deadly, target.agent, tmp_path, 12)):
        with closing(Workers(3).crew(make, copies_here.same)) as crew:
            agent = StatelessCopies(target.agent, crew)
            found.append(Interrogation(agent, copies=3).run(np.random.default_rng(5)))
            lost = crew.lost
    assert found[0].transcript == found[1].transcript == found[2].transcript
    assert found[0].proven
    assert lost == 12


@pytest.mark.parametrize("access", first(1, ["snapshot", "settable", "reset"]))
def test_programs_are_asked_by_several_workers(access: str) -> None:
    alone, several = (of_program(REFERENCE, access, number) for number in (1, 3))
    assert several.model == alone.model
    assert several.proven
    assert alone.proven


def test_images_are_seen_by_several_workers() -> None:
    alone, several = interrogated("doors", 1, exam=0), interrogated("doors", 2, exam=0)
    assert several.proven
    assert several.counts.queries <= alone.counts.queries + 1
    assert several.hypotheses.decided() == alone.hypotheses.decided()


def test_no_more_is_asked_than_the_budget_allows() -> None:
    found = interrogated("gripper", 3, budget=Budget(queries=3, steps=100))
    assert found.counts.queries <= 3
    assert found.counts.steps <= 100
    assert not found.proven


def test_a_trajectory_has_no_use_for_several_workers() -> None:
    why = "workers 2: a trajectory is one course"
    told_by(lambda: interrogated("gripper", 2, access="trajectory"), why)


def test_a_program_that_runs_only_once_is_not_started_twice(tmp_path: Path) -> None:
    command = program("tests.agents.faulty_agent", "once", NEVER, tmp_path / "asked", "settable")
    assert of_program(command, "settable", 1).proven
    why = "workers 2: the agent says that it can run only once"
    told_by(lambda: of_program(command, "settable", 2), why)


def test_copies_of_a_program_that_answer_differently_are_named(tmp_path: Path) -> None:
    command = program("tests.agents.faulty_agent", "differs", NEVER, tmp_path / "asked", "settable")
    why = "worker [23] answers the same questions differently from worker 1"
    told_by(lambda: of_program(command, "settable", 3), why)


def test_plans_that_go_on_from_each_other_are_asked_of_one_worker() -> None:
    target = targets.from_environment("gripper", access="snapshot")
    start = target.agent.initial()[0]
    steps = [step.action for step in target.agent.walk(start, 6, np.random.default_rng(0))]
    plans = tuple(steps[:2]), (), tuple(steps[2:])
    erratic = partial(copies_here.erratic, target.agent, 0.0)
    with closing(Workers(2).crew(erratic, copies_here.same)) as crew:
        agent = StatelessCopies(target.agent, crew)
        agent.expect([Course(start, plans)])
        answers = [agent.ask(Query(start, plans[0]))]
        for plan in plans[1:]:
            answers.append(agent.ask(Query(answers[-1].final, plan)))
    whole = target.agent.ask(Query(start, tuple(steps)))
    assert [answer.executed for answer in answers] == [2, 0, 4]
    assert answers[0].final == answers[1].final
    assert answers[-1].final.state == whole.final.state
    assert not agent.unused


@pytest.mark.skipif(find_spec("ray") is None, reason="needs ray")
def test_actors_ask_and_answer_what_processes_do(tmp_path: Path) -> None:
    target = targets.from_environment("gripper")
    erratic = partial(copies_here.erratic, target.agent, 0.0)
    with closing(Workers(2, LOCAL).crew(erratic, copies_here.same)) as crew:
        found = Interrogation(StatelessCopies(target.agent, crew), copies=2).run(np.random.default_rng(0))
        tasks = [crew.begin(copies_here.process) for _ in range(3)]
        deadly = crew.begin(copies_here.end, tmp_path / "once")
        assert crew.collect(deadly) == "done"
        assert os.getpid() not in [crew.collect(task) for task in tasks]
        assert crew.lost == 1
    assert found.transcript == interrogated("gripper", 2).transcript


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
