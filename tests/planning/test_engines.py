"""Engines of unified-planning answer as our own planner does; Fast Downward is the one that is tested."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.moves import Policy
from aam_vision.interrogation.policies.aia import AiaPolicy
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, GroundAction
from aam_vision.planning.engines import EnginePlanner, planner_named
from aam_vision.planning.grounding import Operator
from aam_vision.planning.planner import Found, Limits, SearchProblem, TimedPlanner, Verdict
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.report import evaluation
from aam_vision.support.errors import PlannerFailed
from tests.domains import packaged
from tests.planning.searches import Search, assert_limits_are_no_proof, counter, goal, searches
from tests.processes import fresh
from tests.profiles import first, thorough
from tests.refusals import told_by

PATIENT = Limits(seconds=60)
installed = pytest.mark.skipif(
    importlib.util.find_spec("up_fast_downward") is None, reason="the extra fast-downward is not installed"
)


def test_pyperplan_needs_no_engine_and_other_names_are_refused() -> None:
    assert isinstance(planner_named("pyperplan"), PyperplanPlanner)
    told_by(lambda: planner_named("oracle"), "planner oracle: unknown; installed are pyperplan")
    told_by(lambda: planner_named("sequential_simulator"), "not a planner")


def test_an_engine_that_is_not_installed_is_named_with_what_to_install(tmp_path: Path) -> None:
    """A package that cannot be imported is like none at all."""
    (tmp_path / "up_fast_downward.py").write_text("raise ImportError('not here')")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from aam_vision.planning.engines import planner_named\n"
        "planner_named('fast-downward')"
    )
    done = fresh(code, tmp_path)
    assert done.stderr.splitlines()[-1].endswith(
        'planner fast-downward: not installed; pip install "aam-vision[fast-downward]"'
    )


@installed
@thorough(25)
@given(searches())
def test_fast_downward_finds_a_shortest_plan_exactly_if_there_is_one(search: Search) -> None:
    search.assert_answered(EnginePlanner("fast-downward").solve(search.problem, PATIENT))


@installed
@pytest.mark.filterwarnings(  # unified-planning leaves what it stopped unwaited for, with open pipes
    "ignore:unclosed file", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_limits_are_told_apart_from_unsolvable() -> None:
    planner = EnginePlanner("fast-downward")
    assert_limits_are_no_proof(planner, Limits(seconds=0.001))

    # both can be had, but not together: only a search that runs dry can tell
    low, high = Atom("low", ()), Atom("high", ())
    up, down = (
        Operator(GroundAction(name, ()), frozenset([a]), frozenset(), frozenset([b]), frozenset([a]))
        for name, a, b in (("up", low, high), ("down", high, low))
    )
    apart = SearchProblem([up, down], [(frozenset([low]), frozenset())], [goal("both", [low, high])])
    assert planner.solve(apart, PATIENT) is Verdict.UNSOLVABLE


def _counting() -> SearchProblem:
    operators, facts = counter(3)
    return SearchProblem(operators, [(frozenset(), frozenset())], [goal("all", facts)])


@installed
def test_an_engine_that_breaks_down_says_so_in_one_line() -> None:
    """The optimal variant only works in unified-planning's global environment, which is not ours to use."""
    with pytest.raises(PlannerFailed, match=r"fast-downward-opt broke down .*: use another planner"):
        EnginePlanner("fast-downward-opt").solve(_counting(), PATIENT)


@installed
def test_nothing_is_left_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    timed = TimedPlanner(EnginePlanner("fast-downward"))
    assert isinstance(timed.solve(_counting(), PATIENT), Found)
    assert timed.seconds > 0.01, "what the planner's own process takes counts"
    assert not list(tmp_path.iterdir())


@installed
@pytest.mark.parametrize("access", first(1, [Access.SETTABLE, Access.SNAPSHOT]))
def test_an_interrogation_with_fast_downward_ends_with_the_true_model(access: Access) -> None:
    """Where states can be set, of a single state and no walk, so that what else is needed has to be planned for."""
    model, problems = packaged("gripper", 2, size=1, seed=[0, 1])
    planner = EnginePlanner("fast-downward")
    policy: Policy = EconomicalPolicy(planner=planner)
    if access is Access.SETTABLE:
        policy = AiaPolicy(planner=planner, states=1, walk_steps=2)
    result = interrogate(SymbolicAgent(model, problems, access), policy, np.random.default_rng(0))
    assert result.proven
    assert evaluation.exact(result.model, model)
