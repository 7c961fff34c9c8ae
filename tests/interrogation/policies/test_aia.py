"""AIA, the paper's own algorithm, under settable access."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Policy, Walk
from aam_vision.interrogation.policies.aia import AIA, AiaPolicy, Course, course_of
from aam_vision.interrogation.policies.decorators import Replaying
from aam_vision.interrogation.policies.distinguishing import resolved
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access
from aam_vision.model.strips import Mode, Model, PalTuple, State
from aam_vision.planning.planner import Limits
from aam_vision.planning.ppo import DistinguishingProblem, add_palm
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.report import evaluation
from aam_vision.support.errors import UnusableInput
from experiments.table1 import PAPER
from tests import domains, small
from tests.domains import Domain
from tests.planning.fast_downward import BLIND, needs_fast_downward, planned, read, solves
from tests.profiles import crossed, first, some, thorough

AMPLE = Budget(queries=2000, steps=20_000)


def _policy(**settings: int) -> AiaPolicy:
    """Limited by states and not by time, so that runs can be repeated."""
    return AiaPolicy(limits=Limits(states=300), **settings)


def _interrogate(
    model: Model,
    problems: Sequence[State],
    *,
    seed: int = 0,
    policy: Policy | None = None,
    watch: Callable[[Move, Evidence, CountingAgent], None] = lambda move, evidence, agent: None,
) -> Result:
    agent = SymbolicAgent(model, problems, Access.SETTABLE)
    return interrogate(agent, policy or _policy(), np.random.default_rng(seed), budget=AMPLE, watch=watch)


@pytest.mark.parametrize(("name", "seed"), crossed(packaged.DOMAINS, [0, 1, 2]))
def test_packaged_domains_need_no_more_queries_than_the_paper_reports(name: str, seed: int) -> None:
    model, problems = domains.packaged(name, 3, seed=[seed, 1])
    result = _interrogate(model, problems, seed=seed)
    assert result.proven
    assert evaluation.exact(result.model, model)
    assert result.counts.queries <= PAPER[name]
    assert result.counts.walk_steps <= 500


@pytest.mark.parametrize(("policy", "starts"), [(_policy, 2), (SettablePolicy, 1)])
def test_several_negative_preconditions_in_one_action(policy: Callable[[], Policy], starts: int) -> None:
    """In whatever order they come up, and (the paper's) though no walk can execute the action."""
    model = small.model("act x: r x, not p x, not q x, not s x -> done x, not r x", predicates="p/1 q/1")
    for true in ("r a, p b", "p b")[:starts]:
        for seed in range(10):
            result = _interrogate(model, [small.state("a b", true)], seed=seed, policy=policy())
            assert result.proven, result.why
            assert result.model.actions == model.actions


# AIA where no state can be made: ``snapshot`` and ``reset`` access.


def _aia(access: Access, walk_steps: int = 100) -> AiaPolicy | Replaying:
    """Searches are short, since there are many runs."""
    aia = AiaPolicy(constructed=False, limits=Limits(states=1000), walk_steps=walk_steps)
    return Replaying(aia) if access is Access.RESET else aia


@pytest.mark.parametrize(
    ("access", "most"),
    crossed([Access.SNAPSHOT, Access.RESET], [("gripper", 17), ("blocksworld", 48), ("miconic", 39)]),
)
def test_no_more_queries_are_needed_where_no_state_can_be_made(access: Access, most: tuple[str, int]) -> None:
    """Though the paper sets every state that it asks about."""
    model = packaged.load(most[0])
    problems = [packaged.generate(most[0], 2, np.random.default_rng(n)).initial for n in range(3)]
    agent = SymbolicAgent(model, problems, access)
    policy = policy_for(access, "aia", PyperplanPlanner())
    result = interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE)
    assert result.proven
    assert evaluation.equivalent(result.model, model, problems)
    assert result.counts.queries <= most[1]


def test_trajectory_access_is_refused_in_one_line_that_says_why() -> None:
    with pytest.raises(UnusableInput, match="trajectory access leads back to none"):
        policy_for(Access.TRAJECTORY, "aia", PyperplanPlanner())


@pytest.mark.parametrize("access", [Access.SETTABLE, Access.SNAPSHOT, Access.RESET])
def test_the_problem_of_every_query_is_written_on_request(access: Access, tmp_path: Path) -> None:
    """A domain and a problem each; the folder is made with the first one."""
    model, start, _ = domains.bell_and_lamp()
    agent = SymbolicAgent(model, [start], access)
    folder = tmp_path / "ppo"
    interrogation = Interrogation(agent, policy="aia", write_ppo=folder)
    assert not folder.exists()
    result = interrogation.run(np.random.default_rng(3))
    names = sorted(path.name for path in folder.iterdir())
    domain_files = [name for name in names if name.endswith("-domain.pddl")]
    assert 0 < len(domain_files) <= result.counts.queries
    assert names == sorted([*domain_files, *(name.replace("-domain.", "-problem.") for name in domain_files)])
    assert {name.split("-")[1] for name in domain_files} <= {"ring", "off"}
    with pytest.raises(UnusableInput, match="only the policy aia makes such problems"):
        replace(interrogation, policy="economical")


# Where the paper's algorithm stands, as it is written on its moves.


def _settings(constructed: bool, **more: int) -> dict[str, Any]:
    return {"constructed": constructed, "limits": Limits(states=300), "walk_steps": 10, **more}


def _agent(domain: Domain, *, constructed: bool) -> SymbolicAgent:
    access = Access.SETTABLE if constructed else Access.SNAPSHOT
    return SymbolicAgent(domain.model, domain.problems, access)


def _moments(domain: Domain, *, constructed: bool) -> list[tuple[Ask, Course]]:
    """Every question with a note, and the course that is read from it when it is the latest."""
    found: list[tuple[Ask, Course]] = []

    class Watched(AiaPolicy):
        def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
            course = course_of(evidence, [*evidence.hypotheses.pal_tuples()])
            if course is not None:
                move = evidence.exchanges[-1].move
                assert isinstance(move, Ask)
                found.append((move, course))
            return super().next(evidence, rng)

    agent = _agent(domain, constructed=constructed)
    interrogate(agent, Watched(**_settings(constructed)), np.random.default_rng(0), budget=AMPLE)
    return found


@thorough(30)
@given(domains.domains(), st.booleans())
def test_the_latest_note_says_where_the_algorithm_stands(domain: Domain, constructed: bool) -> None:
    """S and Gamma are written once; the rest is read back as it was written, also from a journal's JSON."""
    for number, (ask, course) in enumerate(_moments(domain, constructed=constructed)):
        assert course.note(first=number == 0) == ask.note
        assert (ask.note[-1] == ()) is (number > 0)
        assert _tuples(json.loads(json.dumps(ask.note))) == ask.note


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@thorough(60)
@given(domains.domains(), st.booleans(), st.data())
def test_a_damaged_note_is_told_in_one_line(domain: Domain, constructed: bool, data: st.DataObject) -> None:
    """Any value in any place, as a journal that is anybody's file may have it: the algorithm goes on, or says so."""
    evidences: list[Evidence] = []
    interrogate(
        _agent(domain, constructed=constructed),
        AiaPolicy(**_settings(constructed)),
        np.random.default_rng(0),
        budget=Budget(queries=3),
        watch=lambda move, evidence, agent: evidences.append(evidence),
    )
    exchanges = evidences[-1].exchanges
    numbers = [number for number, exchange in enumerate(exchanges) if isinstance(exchange.move, Ask)]
    assume(numbers)
    exchange = exchanges[number := data.draw(st.sampled_from(numbers))]
    assert isinstance(exchange.move, Ask)
    note = _damaged(exchange.move.note, data)
    note = note if isinstance(note, tuple) else (note,)
    exchanges[number] = replace(exchange, move=replace(exchange.move, note=note))
    said = "start a new run"
    try:
        AiaPolicy(**_settings(constructed)).next(evidences[-1], np.random.default_rng(0))
    except UnusableInput as error:
        said = str(error)
    assert "\n" not in said
    assert "start a new run" in said


def _damaged(note: Any, data: st.DataObject) -> Any:
    """The note with another value somewhere."""
    if isinstance(note, tuple) and note and data.draw(st.integers(0, 5)):
        place = data.draw(st.integers(0, len(note) - 1))
        return (*note[:place], _damaged(note[place], data), *note[place + 1 :])
    return data.draw(
        st.sampled_from([(), -1, 0, 7, 10**30, "", AIA, "Change", True, ((), ()), (("Change", 0),)])
    )


# The lines of the paper's Algorithms 1 and 2 that docs/concepts/aia.md calls "as published", under both kinds of access.


@dataclass
class Posed:
    """A distinguishing query at the moment when it is posed."""

    problem: DistinguishingProblem
    initial: State
    ask: Ask
    modes: tuple[Mode, ...]
    """Those that gamma may still have."""
    states: tuple[int, ...]
    """S."""


@dataclass
class Watched:
    """The algorithm, with all distinguishing queries that it poses."""

    policy: AiaPolicy
    posed: list[Posed] = field(default_factory=list)
    asked: list[Ask] = field(default_factory=list)
    walked: int = 0

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        shown: list[tuple[DistinguishingProblem, State]] = []
        self.policy.show = lambda problem, initial: shown.append((problem, initial))
        move = self.policy.next(evidence, rng)
        if isinstance(move, Ask):
            self.asked.append(move)
        if isinstance(move, Walk):
            self.walked += move.steps
        for problem, initial in shown:
            assert isinstance(move, Ask)
            course = course_of(evidence, [*evidence.hypotheses.pal_tuples()])
            states = () if course is None else course.states
            modes = evidence.hypotheses.modes(problem.pal)
            assert not resolved(evidence.hypotheses, problem.pal)
            self.posed.append(Posed(problem, initial, move, modes, states))
        return move


def _watched(domain: Domain, watched: Watched, seed: int = 0) -> Result:
    agent = _agent(domain, constructed=watched.policy.constructed)
    return interrogate(agent, watched, np.random.default_rng(seed), budget=AMPLE)


def test_s_is_collected_by_walks_of_500_steps_and_holds_60_states_at_most() -> None:
    """Algorithm 1, line 1, where states can be made."""
    watched = Watched(AiaPolicy())
    _watched(Domain(*domains.packaged("gripper")), watched)
    assert watched.walked == 500
    assert 1 < max(len(posed.states) for posed in watched.posed) <= 60


@pytest.mark.parametrize(("constructed", "backwards"), crossed([True, False], [False, True]))
def test_pal_tuples_come_up_in_the_order_that_is_given(constructed: bool, backwards: bool) -> None:
    """Algorithm 1, line 4: in one round of Gamma no query is about a pal tuple that comes before that of an earlier query."""
    places: dict[PalTuple, int] = {}

    def ordering(pals: Sequence[PalTuple], rng: np.random.Generator) -> Sequence[PalTuple]:
        chosen = pals[::-1] if backwards else pals
        places.update({pal: place for place, pal in enumerate(chosen)})
        return chosen

    watched = Watched(AiaPolicy(constructed=constructed, ordering=ordering))
    _watched(Domain(*domains.packaged("gripper")), watched)
    came_up = [places[posed.problem.pal] for posed in watched.posed]
    assert len({*came_up}) > 2
    assert sum(after < before for before, after in pairwise(came_up)) <= 1, came_up


@thorough(60)
@given(domains.domains(), st.integers(0, 3), st.booleans())
def test_every_query_and_the_result_are_as_published(domain: Domain, seed: int, constructed: bool) -> None:
    """The lines of Algorithms 1 and 2 that every query and every result shows."""
    watched = Watched(AiaPolicy(**_settings(constructed, walk_steps=20)))
    result = _watched(domain, watched, seed)
    for pal in result.hypotheses.pal_tuples():
        truth = domain.model.schema(pal.action).mode(pal.atom, pal.location)
        assert truth in result.hypotheses.modes(pal), "Algorithm 1, line 2: the true model is returned"
    for number, posed in enumerate(watched.posed):
        pair = {posed.problem.i, posed.problem.j}
        assert len(pair) == 2
        assert pair <= {*posed.modes}, "line 8: two modes that are still possible"
        if not constructed:
            assert posed.ask.start.situation is not None, "Algorithm 2, line 4: a state that was seen"
            assert posed.ask.start.situation.state == posed.initial
        elif number:
            assert posed.ask.start.number in posed.states, "Algorithm 2, line 4: a state of S"
        assert solves(posed.problem, posed.initial, posed.ask.plan), "lines 7 to 10: M' + gamma^i differs"
        assert posed.ask.plan[-1].name == posed.problem.pal.action, "Lemma 2"
        for mode in _pruned(posed, domain.model):
            assert mode not in result.hypotheses.modes(posed.problem.pal)
            assert mode is not domain.model.schema(posed.problem.pal.action).mode(*posed.problem.pal[::2])
    for action in result.hypotheses.actions.values():
        if constructed and action.successes:
            assert not action.undecided, "an action that was ever executed is resolved entirely"
            assert not action.undecided_effects
    asked = {(ask.start.number, ask.plan) for ask in watched.asked}
    assert len(asked) == len(watched.asked), "stored responses are used if a query is repeated"


def _pruned(posed: Posed, truth: Model) -> list[Mode]:
    """The modes that filter_models prunes: where exactly one model is consistent (Definitions 5 and 6), the other."""
    problem, plan = posed.problem, posed.ask.plan
    executed, final = truth.run(posed.initial, plan)
    consistent = []
    for mode in (problem.i, problem.j):
        length, reached = add_palm(problem.model, problem.pal, mode).run(posed.initial, plan)
        consistent.append(executed == length == len(plan) and reached.true <= final.true)
    if consistent[0] == consistent[1]:
        return []
    return [problem.j if consistent[0] else problem.i]


@needs_fast_downward
@pytest.mark.parametrize("constructed", first(1, [True, False]))
def test_fast_downward_solves_the_p_po_of_every_query(constructed: bool, tmp_path: Path) -> None:
    """Algorithm 2, line 6: as the paper has it, from the same initial state."""
    watched = Watched(AiaPolicy(constructed=constructed))
    _watched(Domain(*domains.packaged("gripper")), watched)
    assert len(watched.posed) > 2
    for posed in some(2, watched.posed):
        plan = planned(read(posed.problem, posed.initial, tmp_path), BLIND)
        assert plan is not None
        assert solves(posed.problem, posed.initial, plan)
