"""The cost of the journal: wall time to record one answer, without the agent's own part."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from aam_vision.agents.journal import Journal
from aam_vision.agents.journalled import JournalledAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access, Query

ANSWERS = 500


@pytest.mark.parametrize("name", ["gripper", "logistics", "freecell"])
def test_an_answer_recorded(benchmark: BenchmarkFixture, tmp_path: Path, name: str) -> None:
    """Questions from new states, which cost most: both states have to be written."""
    rng = np.random.default_rng(0)
    model, start = packaged.load(name), packaged.generate(name, 3, rng).initial
    plain = SymbolicAgent(model, [start], Access.SETTABLE)
    (situation,) = plain.initial()
    walked = plain.walk(situation, ANSWERS, rng)
    queries = [Query(step.before, (step.action,)) for step in walked]

    def ask(agent: SymbolicAgent | JournalledAgent) -> float:
        began = time.perf_counter()
        for query in queries:
            agent.ask(query)
        return (time.perf_counter() - began) / len(queries)

    alone = ask(plain)
    with Journal.create(tmp_path, {}, {}) as journal:
        agent = JournalledAgent(plain, journal)
        took = benchmark.pedantic(ask, args=(agent,), rounds=1)
    distinct = len({query.initial.state for query in queries})
    print(
        f"\n{name}: {1000 * (took - alone):.3f} ms an answer for the journal "
        f"({len(start.true)} atoms a state, {distinct} distinct states in {len(queries)} queries)"
    )
    assert took - alone < 0.001
