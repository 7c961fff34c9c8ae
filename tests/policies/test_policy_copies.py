"""Several copies of a policy pursue at a time: the same comes of it, whichever pursues what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.image import Passage
from aam_vision.agents.workers import Crew, Held
from aam_vision.envs.policies import Pursue
from aam_vision.envs.policy_copies import PolicyCopies, prove
from aam_vision.interrogation.chance.interrogating import interrogate
from aam_vision.interrogation.chance.result import ChanceResult, Options
from aam_vision.model.query import Access, Query, Response, Situation
from aam_vision.model.strips import GroundAction
from aam_vision.report.chance_evaluation import check
from tests.commands import called, refused
from tests.finished import cut_short, timeless
from tests.profiles import thorough
from tests.refusals import told_by

from .tower import BLOCKS, Arm, agent

INSTRUCTIONS = [
    GroundAction("achieve-on", (one, other)) for one in BLOCKS for other in BLOCKS if one != other
]
ARMS = """
from multiprocessing import current_process

import numpy as np
from aam_vision.model.query import Access
from tests.policies.tower import BLOCKS, TABLE, Arm, Tower, agent

class Elsewhere(Tower):
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        # processes are numbered in the order in which they are started: no two that follow one another show the same
        name, _, number = current_process().name.rpartition("-")
        self.on = [TABLE] * len(BLOCKS)
        if name and int(number) % 2:
            self.on[0] = 1
        return np.array(self.on), {}

arm = agent(Arm(clears=False).pursue, slips=0.2, access=Access.RESET, render_mode="rgb_array")
kept = agent(Arm().pursue)
elsewhere = agent(Arm().pursue, access=Access.RESET, make=Elsewhere)
"""
Pursuits = Sequence[tuple[int, int]]
"""Each by the number of a reset, or -1 where the last one ended, and that of an instruction."""


@contextmanager
def copies(number: int, seed: int = 0, pursue: Pursue = Arm(clears=False).pursue) -> Iterator[PolicyCopies]:  # noqa: B008 - it cannot be changed
    """An arm, so many of which pursue at a time."""
    arm = agent(pursue, slips=0.3, access=Access.RESET)
    crew = Crew(number, lambda: Held(arm.another()), prove)
    try:
        yield PolicyCopies(arm.another(), seed, crew)
    finally:
        crew.close()


def pursue(arm: PolicyCopies, pursuits: Pursuits) -> list[tuple[Query, Response]]:
    """What comes of pursuits; the first ones, which need no other, are announced."""
    begun, found = arm.initial(), list[tuple[Query, Response]]()
    apart = takewhile(lambda one: one[0] >= 0, pursuits)
    arm.expect([Query(begun[start], (INSTRUCTIONS[step],)) for start, step in apart])
    for start, step in pursuits:
        at = found[-1][1].final if start < 0 and found else begun[start]
        query = Query(at, (INSTRUCTIONS[step],))
        found.append((query, arm.ask(query)))
    return found


@thorough(30)
@given(st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 5)), min_size=1, max_size=12), st.integers(0, 3))
def test_the_same_comes_of_the_same_pursuits_whoever_makes_them_and_in_a_resumed_run(
    pursuits: Pursuits, seed: int
) -> None:
    with copies(1, seed) as one, copies(3, seed) as three, copies(2, seed) as later:
        found = pursue(one, pursuits)
        assert pursue(three, pursuits) == found
        # as a run that was cut short
        passages = [Passage(None, (), start, None) for start in one.initial()]
        passages += [
            Passage(asked.initial, asked.plan, told.final, one.memo(told.final)) for asked, told in found
        ]
        later.resume(passages)
        for start in (found[-1][1].final, found[0][0].initial):
            query = Query(start, (INSTRUCTIONS[0],))
            assert later.ask(query) == one.ask(query)


def test_what_is_learned_is_right_and_the_same_with_any_number_of_copies() -> None:
    def learned(number: int, at_a_time: int) -> ChanceResult:
        with copies(number) as arm:
            return interrogate(
                arm, np.random.default_rng(0), Options(0.2, max_steps=400, at_a_time=at_a_time)
            )

    alone, two, four = learned(1, 1), learned(2, 8), learned(4, 8)
    assert [str(one) for one in two.actions] == [str(one) for one in four.actions]
    assert (two.status, two.counts) == (four.status, four.counts)
    assert two.status == alone.status
    assert two.counts.steps < 1.5 * alone.counts.steps
    for one, other in zip(two.actions, alone.actions, strict=True):
        assert {case.condition for case in one.cases} == {case.condition for case in other.cases}
        assert not check(one, other.schema()).wrong


def test_a_policy_that_is_random_itself_goes_on_from_where_it_stands() -> None:
    """Made anew, its pursuits may end elsewhere: they are made again until they do not."""
    rng = np.random.default_rng(0)

    def hesitates(*given: Any) -> bool:
        return bool(rng.random() < 0.5) and Arm(clears=False).pursue(*given)

    with copies(2, pursue=hesitates) as arm:
        order = [(start, step) for step in range(6) for start in (0, -1, -1)]
        for asked, told in pursue(arm, order):
            assert told.executed == 1
            changed = {one.predicate for one in asked.initial.state.true ^ told.final.state.true}
            assert changed <= {"on", "on-table", "clear", "claimed"}
        found = interrogate(arm, np.random.default_rng(0), Options(0.2, max_steps=300, at_a_time=8))
    assert found.status != "failed"


def test_a_record_without_seeds_is_refused() -> None:
    with copies(1) as arm:
        begun = arm.initial()
        told = Passage(begun[0], (INSTRUCTIONS[0],), Situation(6, begun[0].state), {"steps": 1})
        told_by(
            lambda: arm.resume([*(Passage(None, (), one, None) for one in begun), told]), "start a new run"
        )


def test_a_run_with_workers_is_the_same_with_more_and_after_it_was_cut_short(tmp_path: Path) -> None:
    (tmp_path / "arms.py").write_text(ARMS)
    run = ("aam_vision.run", "--env", "arms:arm", "--chance", "--max-steps", "250", "--quiet")
    for number in ("2", "3"):
        called(*run, "--workers", number, "--out", number, cwd=tmp_path, code=0)
    two, three = (timeless(tmp_path / number) for number in ("2", "3"))
    assert {name for name in two if two[name] != three[name]} <= {"workers"}
    assert any((tmp_path / "2").rglob("*.png")) or "data:image" in (tmp_path / "2/report.html").read_text()
    assert cut_short(tmp_path / "2")
    called("aam_vision.run", "--resume", "2", "--env", "arms:arm", "--quiet", cwd=tmp_path, code=0)
    assert timeless(tmp_path / "2") == two


@pytest.mark.parametrize(
    ("name", "more", "complaint"),
    [
        ("arm", ("--workers", "2"), "--workers 2: with a policy, needs --chance"),
        ("kept", ("--chance", "--workers", "2"), "give it access='reset'"),
        ("elsewhere", ("--chance", "--workers", "4"), "the copies are not the same agent"),
    ],
)
def test_what_cannot_have_copies_is_refused(
    name: str, more: tuple[str, ...], complaint: str, tmp_path: Path
) -> None:
    (tmp_path / "arms.py").write_text(ARMS)
    run = ("aam_vision.run", "--env", f"arms:{name}", "--quiet", "--out", "run")
    assert complaint in refused(*run, *more, cwd=tmp_path)
