"""AIA, the paper's own algorithm, under settable access."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Asked, Move, Policy
from aam_vision.interrogation.policies.aia import AiaPolicy
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Mode,
    Model,
    Objects,
    PalTuple,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from aam_vision.planning.planner import Limits
from aam_vision.planning.ppo import DistinguishingProblem, add_palm
from aam_vision.report import evaluation
from tests import domains
from tests.domains import Domain
from tests.profiles import crossed, thorough

PAPER = {
    "gripper": 17,
    "blocksworld": 48,
    "miconic": 39,
    "parking": 63,
    "logistics": 68,
    "satellite": 41,
    "termes": 134,
    "rovers": 370,
    "barman": 357,
    "freecell": 535,
}
"""Queries of the paper's own implementation (its table of domains)."""
AMPLE = Budget(queries=2000, steps=10_000)


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
def test_packaged_domains_are_learned_with_no_more_queries_than_the_paper_reports(
    name: str, seed: int
) -> None:
    model = packaged.load(name)
    rng = np.random.default_rng([seed, 1])
    problems = [packaged.generate(name, 2, rng).initial for _ in range(3)]
    result = _interrogate(model, problems, seed=seed)
    assert result.proven
    assert evaluation.exact(result.model, model)
    assert result.counts.queries <= PAPER[name]
    assert result.counts.walk_steps <= 500


@thorough(60)
@given(domains.domains(), st.integers(0, 3))
def test_an_action_that_was_ever_executed_is_resolved_entirely(domain: Domain, seed: int) -> None:
    result = _interrogate(domain.model, domain.problems, seed=seed)
    for action in result.hypotheses.actions.values():
        if action.successes:
            assert not action.undecided
            assert not action.undecided_effects


@thorough(40)
@given(domains.domains(), st.integers(0, 3))
def test_whatever_the_papers_filter_models_prunes_is_pruned(domain: Domain, seed: int) -> None:
    """And the true mode is not among it. The agent's own answer is compared with those of the two models."""
    asked: list[tuple[DistinguishingProblem, State]] = []
    policy = _policy()
    policy.show = lambda problem, initial: asked.append((problem, initial))

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        while asked:
            problem, initial = asked.pop()
            assert isinstance(move, Ask)
            for mode in _pruned(problem, domain.model, initial, move.plan):
                assert mode not in evidence.hypotheses.modes(problem.pal)
                assert mode is not domain.model.schema(problem.pal.action).mode(*problem.pal[::2])

    _interrogate(domain.model, domain.problems, seed=seed, policy=policy, watch=watch)


def _pruned(
    problem: DistinguishingProblem, truth: Model, initial: State, plan: Sequence[GroundAction]
) -> list[Mode]:
    """The modes that the paper prunes: where exactly one model is consistent (its Definitions 5 and 6), the other."""
    executed, final = truth.run(initial, plan)
    consistent = []
    for mode in (problem.i, problem.j):
        length, reached = add_palm(problem.model, problem.pal, mode).run(initial, plan)
        consistent.append(executed == length == len(plan) and reached.true <= final.true)
    if consistent[0] == consistent[1]:
        return []
    return [problem.j if consistent[0] else problem.i]


@thorough(30)
@given(domains.domains(), st.integers(0, 3), st.booleans())
def test_all_that_is_remembered_between_two_moves_is_in_the_evidence(
    domain: Domain, seed: int, constructed: bool
) -> None:
    """A policy that is made anew for every move asks the same questions."""

    def policy() -> AiaPolicy:
        return AiaPolicy(constructed=constructed, limits=Limits(states=300), walk_steps=20)

    class Forgetful:
        def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
            return policy().next(evidence, rng)

    def questions(asking: Policy) -> list[tuple[State, tuple[GroundAction, ...]]]:
        access = Access.SETTABLE if constructed else Access.SNAPSHOT
        agent = SymbolicAgent(domain.model, domain.problems, access)
        result = interrogate(agent, asking, np.random.default_rng(seed), budget=AMPLE)
        entries = [entry for entry in result.transcript.entries if isinstance(entry, Asked)]
        return [(entry.query.initial.state, entry.query.plan) for entry in entries]

    assert questions(Forgetful()) == questions(policy())


def test_the_ordering_of_pal_tuples_can_be_given() -> None:
    seen: list[PalTuple] = []

    def reversed_order(pals: Sequence[PalTuple], rng: np.random.Generator) -> Sequence[PalTuple]:
        seen.extend(pals[::-1])
        return pals[::-1]

    model = packaged.load("gripper")
    problems = [packaged.generate("gripper", 2, np.random.default_rng(0)).initial]
    result = _interrogate(model, problems, policy=AiaPolicy(ordering=reversed_order))
    assert seen == [*result.hypotheses.pal_tuples()][::-1]
    assert evaluation.exact(result.model, model)


@pytest.mark.parametrize(("policy", "starts"), [(_policy, 2), (SettablePolicy, 1)])
def test_several_negative_preconditions_in_one_action(policy: Callable[[], Policy], starts: int) -> None:
    """In whatever order they come up, and (the paper's) though no walk can execute the action."""
    atoms = [LiftedAtom(name, (0,)) for name in ("p", "q", "r", "s", "done")]
    p, q, r, s, done = atoms
    vocabulary = Vocabulary("negative", tuple(Predicate(a.predicate, ("object",)) for a in atoms))
    header = ActionHeader("act", ("x",), ("object",))
    schema = ActionSchema(header, frozenset([r]), frozenset([p, q, s]), frozenset([done]), frozenset([r]))
    objects = Objects({"a": "object", "b": "object"}, Types())
    executable = State(frozenset([Atom("r", ("a",)), Atom("p", ("b",))]), objects)
    for start in (executable, State(frozenset([Atom("p", ("b",))]), objects))[:starts]:
        for seed in range(10):
            result = _interrogate(Model(vocabulary, (schema,)), [start], seed=seed, policy=policy())
            assert result.proven, result.why
            assert result.model.schema("act") == schema


def test_distinguishing_plans_of_several_steps_come_from_the_planner() -> None:
    model, start, _ = domains.bell_and_lamp()
    plans = []

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        if isinstance(move, Ask):
            plans.append([step.name for step in move.plan])

    for seed in range(10):
        policy = _policy(states=1, walk_steps=2)
        result = _interrogate(model, [start], seed=seed, policy=policy, watch=watch)
        assert result.proven
        assert evaluation.exact(result.model, model)
    assert ["off", "ring"] in plans
