"""Copies in processes and threads: a lost one costs its own job only, and all must be the same thing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from aam_vision.agents.workers import ATTEMPTS, Crew, Held, ProcessCopy, Workers
from aam_vision.support.errors import AgentFailed
from tests.agents.workers import copies_here
from tests.refusals import told_by


@pytest.fixture
def crew() -> Iterator[Crew]:
    found = Crew(2, partial(ProcessCopy, partial(copies_here.counter, 40)))
    yield found
    found.close()


def test_jobs_are_done_with_the_thing_that_the_process_made(crew: Crew) -> None:
    tasks = [crew.begin(copies_here.add, number) for number in range(6)]
    assert [crew.collect(task) for task in tasks] == [40, 41, 42, 43, 44, 45]
    assert crew.latest in (1, 2)


def test_what_a_job_raises_is_told_in_a_line_and_the_copy_goes_on(crew: Crew) -> None:
    with pytest.raises(AgentFailed, match=r"^ValueError: two lines of a reason$"):
        crew.collect(crew.begin(copies_here.fail))
    assert crew.collect(crew.begin(copies_here.add, 2)) == 42
    assert crew.lost == 0


def test_a_lost_process_costs_its_own_job_only(crew: Crew, tmp_path: Path) -> None:
    tasks = [crew.begin(copies_here.add, number) for number in range(3)]
    deadly = [crew.begin(copies_here.end, tmp_path / str(number)) for number in range(3)]
    tasks += [crew.begin(copies_here.add, number) for number in range(3, 6)]
    assert [crew.collect(task) for task in deadly] == ["done"] * 3
    assert [crew.collect(task) for task in tasks] == [40, 41, 42, 43, 44, 45]
    assert crew.lost == 3


def test_a_job_that_ends_every_process_fails_and_no_other(crew: Crew) -> None:
    with pytest.raises(AgentFailed, match=f"was lost {ATTEMPTS} times at one question"):
        crew.collect(crew.begin(copies_here.end, None))
    assert crew.collect(crew.begin(copies_here.add, 2)) == 42


def test_closing_ends_the_processes_and_whoever_waits() -> None:
    crew = Crew(2, partial(ProcessCopy, partial(copies_here.counter, 0)))
    crew.ready()
    ids = {copy.pid for copy in crew.copies if isinstance(copy, ProcessCopy)}
    assert len(ids) == 2
    crew.close()
    assert not any((Path("/proc") / str(pid)).exists() for pid in ids)


def test_copies_that_are_not_the_same_are_named() -> None:
    numbers = count(1)
    crew = Crew(3, lambda: Held(next(numbers)), lambda number, told: min(number, 2))
    with pytest.raises(AgentFailed, match="worker 2 answers the same questions differently from worker 1"):
        crew.ready()
    crew.close()


def test_a_copy_that_cannot_begin_is_an_error_and_not_a_wait() -> None:
    def refuse() -> Held:
        raise AgentFailed("no robot is free")

    crew = Crew(2, refuse)
    with pytest.raises(AgentFailed, match="no robot is free"):
        crew.ready()
    with pytest.raises(AgentFailed, match="no robot is free"):
        crew.collect(crew.begin(copies_here.process))
    crew.close()


@pytest.mark.parametrize(
    ("number", "address", "why"), [(0, None, "use 1 to"), (10**6, None, "use 1 to"), (1, "auto", "--workers")]
)
def test_numbers_and_addresses_that_make_no_sense(number: int, address: str | None, why: str) -> None:
    told_by(lambda: Workers(number, address), why)


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:1"])
def test_a_cluster_that_cannot_be_reached_is_one_clear_line(address: str) -> None:
    pytest.importorskip("ray")
    told_by(lambda: Workers(2, address).crew(partial(copies_here.counter, 0), copies_here.add), "head")
