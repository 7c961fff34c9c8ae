"""Answers that were given are not asked for in another run, and the run is the same as without them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given

from aam_vision.agents.cached import Cache, CachedAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import Result
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access, Agent, Query, Response, Situation
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough
from tests.refusals import told_by

from .programs import learned


class Listening(AgentDecorator):
    """Hears what reaches the agent."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent)
        self.asked: list[Query] = []

    def ask(self, query: Query) -> Response:
        self.asked.append(query)
        return self.agent.ask(query)


def _run(agent: Agent) -> Result:
    return learned(agent, Budget(100, 500))


def _cached(domain: Domain, path: Path, identity: str) -> tuple[Result, Listening]:
    listening = Listening(SymbolicAgent(domain.model, domain.problems))
    with closing(Cache(path)) as cache:
        return _run(CachedAgent(listening, cache, identity)), listening


@thorough(25)
@given(domains.domains())
def test_a_kept_answer_is_not_asked_for_in_another_run(one: Domain) -> None:
    plain = _run(SymbolicAgent(one.model, one.problems))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "answers"
        _cached(one, path, "other")
        first, asked = _cached(one, path, "one")
        assert len(asked.asked) == plain.counts.queries, "answers of another agent are none of this one"
        again, silence = _cached(one, path, "one")
    assert silence.asked == []
    for result in (first, again):
        assert result.transcript == plain.transcript
        assert (result.model, result.counts) == (plain.model, plain.counts)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cache") / "answers"
    _gripper(path)
    return path


def _gripper(path: Path) -> None:
    problem = packaged.generate("gripper", 2, np.random.default_rng(0))
    with closing(Cache(path)) as cache:
        _run(CachedAgent(SymbolicAgent(packaged.load("gripper"), [problem.initial]), cache, "gripper"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("PRAGMA user_version = 2", "newer"),
        ("PRAGMA application_id = 7", "no cache"),
        ("CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM answers; END", "its tables"),
        ("UPDATE answers SET answer = 'exit()'", "no JSON"),
        ("UPDATE answers SET answer = '{\"executed\": 5}'", "steps of"),
        ('UPDATE answers SET answer = \'{"executed": 0, "state": {"true": [["at"]]}}\'', "arguments"),
        ("UPDATE answers SET answer = zeroblob(100)", "damaged"),
    ],
)
def test_a_changed_file_is_refused_in_one_line(filled: Path, tmp_path: Path, change: str, told: str) -> None:
    path = tmp_path / "answers"
    shutil.copy(filled, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(change)
    told_by(lambda: _gripper(path), told)


def test_two_runs_may_have_it_open(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    with closing(Cache(path)) as one, closing(Cache(path)) as other:
        one.put("a", "1")
        assert other.get("a") == "1"
        other.put("a", "2")
        assert one.get("a") == "1"


@pytest.mark.parametrize("access", [Access.SNAPSHOT, Access.TRAJECTORY])
def test_an_agent_with_other_handles_is_refused(access: Access, tmp_path: Path) -> None:
    problem = packaged.generate("gripper", 2, np.random.default_rng(0))
    agent = SymbolicAgent(packaged.load("gripper"), [problem.initial], access)
    with closing(Cache(tmp_path / "answers")) as cache:
        cached = CachedAgent(agent, cache, "gripper")
        told_by(lambda: cached.ask(Query(Situation(3, problem.initial), ())), r"^cache: needs")
