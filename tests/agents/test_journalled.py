"""An interrogation that is ended anywhere goes on as if it had not been: nothing is asked twice, the end is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import Malformed
from aam_vision.agents.image import ImageAgent
from aam_vision.agents.journal import Journal
from aam_vision.agents.journalled import Contents, JournalledAgent
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import NoisySimulator, UnreliableAgent
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.registry import board_domain
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Asked, Move, Policy, Stop, Walked
from aam_vision.interrogation.policies.decorators import Confirming
from aam_vision.interrogation.policies.economical import EconomicalPolicy, Walker
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.resuming import Recorded
from aam_vision.interrogation.task.robust import Setup, interrogate_robustly
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.support.errors import UnusableInput
from tests import domains
from tests.domains import Domain
from tests.profiles import crossed, first, thorough

AMPLE = Budget(queries=100, steps=500)
Make = Callable[[], tuple[Agent, Sequence[np.random.Generator]]]
"""An agent, and the generators that its answers depend on."""


class Killed(BaseException):
    """The process ends: nobody can catch it."""


class Mortal(AgentDecorator):
    """An agent in a process that is ended at a given exchange, before the answer or just after it."""

    def __init__(self, agent: Agent, lives: int | None) -> None:
        super().__init__(agent)
        self.lives = lives
        self.asked: list[object] = []

    def _live(self, question: object) -> None:
        if self.lives is not None and len(self.asked) >= self.lives:
            raise Killed
        self.asked.append(question)

    def initial(self) -> Sequence[Situation]:
        self._live("initial")
        return super().initial()

    def ask(self, query: Query) -> Response:
        self._live(query)
        return self.agent.ask(query)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        self._live((start, steps))
        return self.agent.walk(start, steps, rng)


def _policy(access: Access, name: str = "economical") -> Policy:
    return policy_for(access, name, PyperplanPlanner())


@contextmanager
def _journal(folder: Path) -> Iterator[Journal]:
    known = (folder / "transcript.sqlite").exists()
    with Journal.open(folder) if known else Journal.create(folder, {}, {}) as journal:
        yield journal


def _run(make: Make, folder: Path, lives: int | None, policy: str) -> tuple[Result | None, Mortal]:
    """A run in one process, which goes on with the folder's journal and may be ended early."""
    agent, generators = make()
    mortal = Mortal(agent, lives)
    with _journal(folder) as journal:
        journalled = JournalledAgent(mortal, journal, generators)
        try:
            result = _interrogated(journalled, journalled, policy)
        except Killed:
            return None, mortal
    return result, mortal


def _interrogated(agent: Agent, record: JournalledAgent | None, name: str) -> Result:
    def asked_of_the_present(policy: Policy) -> Policy:
        return policy if record is None else OfThePresent(policy, record)

    confirming = Confirming(_policy(agent.access, name), agent.access, PyperplanPlanner())
    setup = Setup(
        asked_of_the_present(confirming), lambda: asked_of_the_present(_policy(agent.access)), AMPLE
    )
    return interrogate_robustly(agent, setup, np.random.default_rng(5), record=record)


class OfThePresent:
    """A policy that fails when it is asked for a move whose answer is recorded."""

    def __init__(self, policy: Policy, record: JournalledAgent) -> None:
        self._policy = policy
        self._record = record

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        move = self._policy.next(evidence, rng)
        # a run that was finished ends with the Stop that no exchange followed
        assert self._record.live or isinstance(move, Stop), "the policy was asked about the past"
        return move


def _assert_same(one: Result, other: Result) -> None:
    for name in ("transcript", "model", "counts", "curve", "proven", "why", "undetermined", "doubt"):
        assert getattr(one, name) == getattr(other, name), name
    assert (one.assessment is None) == (other.assessment is None)


def _assert_goes_on(make: Make, lives: Sequence[int], policy: str = "economical") -> None:
    """Processes that end after so many exchanges of their own, one after the other, and one that does not."""
    agent, _ = make()
    whole = Mortal(agent, None)
    plain = _interrogated(whole, None, policy)
    with TemporaryDirectory() as folder:
        asked: list[object] = []
        for number in (*lives, None):
            result, mortal = _run(make, Path(folder), number, policy)
            asked += mortal.asked
        assert result is not None
        _assert_same(result, plain)
        assert asked == whole.asked, "nothing is asked twice"
        again, mortal = _run(make, Path(folder), 0, policy)
        assert again is not None, "a finished run needs no agent"
        _assert_same(again, plain)


def _packaged(name: str, access: Access, *seed: int) -> SymbolicAgent:
    return SymbolicAgent(*domains.packaged(name, seed=seed or 0), access)


@thorough(30)
@given(domains.domains(), st.sampled_from(Access), st.lists(st.integers(0, 12), max_size=2))
def test_a_symbolic_agent_is_asked_nothing_twice(domain: Domain, access: Access, lives: list[int]) -> None:
    problems = domain.problems[:1] if access is Access.TRAJECTORY else domain.problems
    _assert_goes_on(lambda: (SymbolicAgent(domain.model, problems, access), ()), lives)


@pytest.mark.parametrize("access", [Access.SETTABLE, Access.RESET])
def test_a_full_journal_ends_the_run_and_can_still_be_read(
    access: Access, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("aam_vision.agents.journal.MAX_PARTS", 2000)
    (result, _), (again, mortal) = (
        _run(lambda: (_packaged("gripper", access, 0, 1), ()), tmp_path, lives, "economical")
        for lives in (None, 0)
    )
    assert result is not None
    assert again is not None
    assert (result.status, result.why) == ("budget", "the journal is full: it keeps 2000 values at most")
    _assert_same(again, result)
    assert not mortal.asked


@pytest.mark.parametrize("access", [Access.SETTABLE, Access.SNAPSHOT, Access.RESET])
def test_the_papers_policy_goes_on_where_its_algorithm_stood(access: Access) -> None:
    _assert_goes_on(lambda: (_packaged("gripper", access, 0, 1), ()), [22, 3], "aia")


def test_problems_with_the_same_objects_stay_apart_and_in_their_order() -> None:
    """Their states share the objects in memory once they are read from a journal."""
    model, problems = domains.packaged("blocksworld", 3, seed=[0, 1])
    assert problems[0].objects == problems[1].objects
    assert problems[0].objects is not problems[1].objects
    _assert_goes_on(lambda: (SymbolicAgent(model, problems, Access.SNAPSHOT), ()), [1, 8])


@pytest.mark.parametrize(("access", "lives"), crossed(Access, [[3], [20, 15], [60, 1, 1]]))
def test_a_run_that_weighs_its_answers_goes_on(access: Access, lives: list[int]) -> None:
    """Wherever it is ended: before it doubts, while it asks again, and while it weighs."""

    def make() -> tuple[Agent, Sequence[np.random.Generator]]:
        faults, agent = np.random.default_rng(3), _packaged("gripper", access)
        numbered = agent if access is Access.SETTABLE else NumberedAgent(agent)
        return UnreliableAgent(numbered, 0.05, 0.02, faults), (faults,)

    _assert_goes_on(make, lives)


@pytest.mark.parametrize(
    ("access", "sigma"), first(1, [(Access.SNAPSHOT, 0.2), (Access.RESET, 0.0), (Access.TRAJECTORY, 0.2)])
)
def test_simulators_are_led_back_to_where_they_were(access: Access, sigma: float) -> None:
    """Their snapshots are lost with the process, and no image is looked at again; even the noise goes on."""
    domain = board_domain("doors")
    perception = BoardPerception.load(domain.visual, domain.name)

    def make() -> tuple[Agent, Sequence[np.random.Generator]]:
        noise = np.random.default_rng(7)
        chosen = domain.interrogated[: 1 if access is Access.TRAJECTORY else 2]
        simulators = [NoisySimulator(board_domain("doors").simulator(one), sigma, noise) for one in chosen]
        vocabulary = domain.visual.vocabulary()
        return ImageAgent(simulators, perception, vocabulary, domain.headers, access), (noise,)

    _assert_goes_on(make, [1, 3, 5])


def test_what_limits_in_time_decide_otherwise_does_not_change_what_was_asked(tmp_path: Path) -> None:
    model, problems = domains.packaged("blocksworld", size=3)
    agent = Mortal(SymbolicAgent(model, problems, Access.SNAPSHOT), 12)
    with _journal(tmp_path) as journal:
        journalled = JournalledAgent(agent, journal)
        policy = Recorded(_policy(Access.SNAPSHOT), journalled)
        with pytest.raises(Killed):
            interrogate(journalled, policy, np.random.default_rng(1))
    again = Mortal(SymbolicAgent(model, problems, Access.SNAPSHOT), None)
    with _journal(tmp_path) as journal:
        journalled = JournalledAgent(again, journal)
        other = EconomicalPolicy(PyperplanPlanner(), walker=Walker(share=1.5, stride=2))
        result = interrogate(journalled, Recorded(other, journalled), np.random.default_rng(1))
    assert result.proven
    assert len(result.transcript.entries) == 11 + len(again.asked)


def test_a_journal_about_another_agent_is_refused(tmp_path: Path) -> None:
    with _journal(tmp_path) as journal:
        JournalledAgent(_packaged("gripper", Access.SETTABLE), journal).initial()
        for other in (_packaged("blocksworld", Access.SETTABLE), _packaged("gripper", Access.RESET)):
            with pytest.raises(UnusableInput, match="another agent"):
                JournalledAgent(other, journal)


def test_a_journal_says_what_was_asked_and_answered(tmp_path: Path) -> None:
    agent = _packaged("gripper", Access.SNAPSHOT)
    with _journal(tmp_path) as journal:
        result = interrogate(JournalledAgent(agent, journal), EconomicalPolicy(), np.random.default_rng(0))
        contents = Contents(journal, agent.vocabulary, agent.headers)
        begun, *rows = journal.rows()
    assert tuple(map(contents.situation, begun.answer)) == result.transcript.initial
    _, *state = begun.answer[0]
    for handle in (True, "1"):
        with pytest.raises(Malformed, match="a handle is none of this agent's"):
            contents.situation([handle, *state])
    for row, entry in zip(rows, result.transcript.entries, strict=True):
        if row.kind == "walk":
            assert Walked(tuple(contents.walk(row.answer))) == entry
        else:
            query = contents.query(row.question)
            assert Asked(query, contents.response(query, row.answer)) == entry


def test_a_recorded_move_is_known_before_it_is_made_again_with_any_generator(tmp_path: Path) -> None:
    def drawing() -> np.random.Generator:
        return np.random.Generator(np.random.MT19937(0))  # its state has an array

    agent = _packaged("gripper", Access.RESET)
    with _journal(tmp_path) as journal:
        first_time = JournalledAgent(agent, journal)
        start, *_ = first_time.initial()
        first_time.note_move(start, {"kind": "walk"}, rng := drawing())
        first_time.walk(start, 3, rng)
    with _journal(tmp_path) as journal:
        again = JournalledAgent(agent, journal)
        told = again.upcoming()
        assert told is not None
        assert told["kind"] == "walk"
        rng = np.random.default_rng(5)
        with pytest.raises(UnusableInput, match="damaged"):
            again.next_move(rng)
    with _journal(tmp_path) as journal:
        again = JournalledAgent(agent, journal)
        rng = np.random.Generator(np.random.MT19937(5))
        assert again.next_move(rng) == (start, told)
        assert again.upcoming() is None
        assert rng.random() == drawing().random()


@pytest.mark.parametrize(
    ("memo", "image"),
    [({"image": "start.png"}, "start.png"), ({"image": 3}, None), ({}, None), (None, None), ([1], None)],
)
def test_the_image_of_a_situation_is_the_one_that_its_memo_names(
    memo: object, image: str | None, tmp_path: Path
) -> None:
    class Remembering(NumberedAgent):
        def memo(self, situation: Situation) -> object:
            return memo

    symbolic = _packaged("gripper", Access.SNAPSHOT)
    with _journal(tmp_path) as journal:
        journalled = JournalledAgent(Remembering(symbolic), journal)
        (start,) = journalled.initial()
        assert journalled.image(start) == image
    with _journal(tmp_path) as journal:
        again = JournalledAgent(Remembering(symbolic), journal)
        assert again.image(start) is None, "the agent is not back where it was yet"
