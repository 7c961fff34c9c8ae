"""AIA where no state can be made: ``snapshot`` and ``reset`` access."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move
from aam_vision.interrogation.policies.aia import AiaPolicy
from aam_vision.interrogation.policies.decorators import Replaying
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Location,
    Mode,
    Model,
    Objects,
    PalTuple,
    Predicate,
    State,
    Vocabulary,
)
from aam_vision.planning.planner import Limits
from aam_vision.planning.ppo import DistinguishingProblem
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.report import evaluation
from aam_vision.support.errors import UnusableInput
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import assert_sound
from tests.profiles import promised

AMPLE = Budget(queries=2000, steps=20_000)
SEEN = st.sampled_from([Access.SNAPSHOT, Access.RESET])
REPEATED = "the same question came up again: nothing more can be learnt"


class Hiding(AgentDecorator):
    """A symbolic agent of whose states some atoms are not seen: always the same ones of the same state."""

    agent: SymbolicAgent

    def initial(self) -> Sequence[Situation]:
        return [self._seen(situation) for situation in self.agent.initial()]

    def ask(self, query: Query) -> Response:
        answer = self.agent.ask(Query(self._whole(query.initial), query.plan))
        return Response(answer.executed, self._seen(answer.final))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked = self.agent.walk(self._whole(start), steps, rng)
        return [WalkStep(self._seen(step.before), step.action, self._seen(step.after)) for step in walked]

    def _whole(self, situation: Situation) -> Situation:
        assert isinstance(situation.handle, State)
        return Situation(situation.handle, situation.handle)

    def _seen(self, situation: Situation) -> Situation:
        state = situation.state
        facts = domains.ground_atoms(self.vocabulary, state.objects)
        told = str(sorted(state.true))
        hidden = frozenset(fact for fact in facts if crc32(f"{fact} {told}".encode()) % 8 == 0)
        return Situation(state, State(state.true - hidden, state.objects, hidden))


def _aia(access: Access, walk_steps: int = 100) -> AiaPolicy | Replaying:
    """Searches are short, since there are many runs."""
    aia = AiaPolicy(constructed=False, limits=Limits(states=1000), walk_steps=walk_steps)
    return Replaying(aia) if access is Access.RESET else aia


def _run(domain: Domain, access: Access, seed: int, *, walk_steps: int = 100, hiding: bool = False) -> Result:
    agent: Agent = SymbolicAgent(domain.model, domain.problems, access)
    if hiding:
        agent = Hiding(agent)
    return interrogate(agent, _aia(access, walk_steps), np.random.default_rng(seed), budget=AMPLE)


@promised(60)
@given(domains.domains(), SEEN, st.integers(0, 3))
def test_a_result_is_complete_only_where_no_step_could_tell(
    domain: Domain, access: Access, seed: int
) -> None:
    """Every step in every reachable state either follows from what is known, or is certain to fail."""
    result = _run(domain, access, seed, walk_steps=10)
    assume(result.proven)
    states = domains.reachable(domain.model, domain.problems, 500)
    assume(states is not None)
    for state in states or ():
        for name, action in result.hypotheses.actions.items():
            for row in domains.all_bindings(action.index.header, state.objects):
                held, dim = action.index.values(state, row)
                violated = action.violated(held, dim)
                if violated:
                    assert action.certain_to_fail(violated), GroundAction(name, row)
                else:
                    assert not action.after(held, dim, row)[1], GroundAction(name, row)


@pytest.mark.parametrize("access", [Access.SNAPSHOT, Access.RESET])
@pytest.mark.parametrize(("name", "most"), [("gripper", 17), ("blocksworld", 48), ("miconic", 39)])
def test_packaged_domains_are_learned_with_no_more_queries_than_the_paper_reports(
    name: str, most: int, access: Access
) -> None:
    """Though the paper sets every state that it asks about."""
    model = packaged.load(name)
    problems = [packaged.generate(name, 2, np.random.default_rng(n)).initial for n in range(3)]
    agent = SymbolicAgent(model, problems, access)
    policy = policy_for(access, "aia", PyperplanPlanner())
    result = interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE)
    assert result.proven
    assert evaluation.equivalent(result.model, model, problems)
    assert result.counts.queries <= most


def test_a_plan_leads_to_where_a_step_tells() -> None:
    """The lamp is lit in all that was seen, and the bell may need its light."""
    model, start, _ = domains.bell_and_lamp()
    plans = []

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        if isinstance(move, Ask):
            plans.append([step.name for step in move.plan])

    for seed in range(10):
        agent = SymbolicAgent(model, [start], Access.RESET)
        policy = _aia(Access.RESET, walk_steps=2)
        result = interrogate(agent, policy, np.random.default_rng(seed), budget=AMPLE, watch=watch)
        assert result.proven
        assert evaluation.exact(result.model, model)
    assert ["off", "ring"] in [plan[-2:] for plan in plans]


def test_modes_that_no_query_tells_apart_are_undetermined_and_the_result_is_complete() -> None:
    """Nobody can switch the light off, so whether the bell needs it is not for anyone to find out."""
    model, start, _ = domains.bell_and_lamp()
    ring = model.schema("ring")
    for needs in (frozenset[LiftedAtom](), frozenset([LiftedAtom("lit", ())])):
        agent_model = Model(model.vocabulary, (ActionSchema(ring.header, needs, add=ring.add),))
        agent = SymbolicAgent(agent_model, [start], Access.SNAPSHOT)
        result = interrogate(agent, _aia(Access.SNAPSHOT), np.random.default_rng(0), budget=AMPLE)
        assert result.proven
        lit = PalTuple(LiftedAtom("lit", ()), "ring", Location.PRE)
        assert result.hypotheses.modes(lit) == (Mode.POSITIVE, Mode.ABSENT)


def test_a_value_that_is_not_seen_is_not_relied_on() -> None:
    """In the one situation that a step could tell in, the telling atom is hidden: no such query is made."""
    model, start, _ = domains.bell_and_lamp()
    lit = Atom("lit", ())

    class Dark(Hiding):
        def _seen(self, situation: Situation) -> Situation:
            state = situation.state
            return Situation(state, State(state.true - {lit}, state.objects, frozenset([lit])))

    agent = Dark(SymbolicAgent(model, [start], Access.SNAPSHOT))
    asked: list[DistinguishingProblem] = []
    policy = AiaPolicy(constructed=False, walk_steps=10, show=lambda problem, initial: asked.append(problem))
    result = interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE)
    assert_sound(result.hypotheses, model)
    assert not [problem for problem in asked if problem.pal.atom.predicate == "lit"]


def test_a_refusal_that_was_reached_another_way_is_not_asked_for_again() -> None:
    """Hidden values let the refused step look possible, and under ``reset`` both ways are the same question."""
    kind = "object"
    vocabulary = Vocabulary(
        "pairs", (*(Predicate(name, (kind, kind)) for name in ("p0", "p1", "p2")), Predicate("p3", (kind,)))
    )
    headers = [ActionHeader(name, ("x", "y"), (kind, kind)) for name in ("a0", "a1")]
    joined = frozenset([LiftedAtom("p0", (0, 1))])
    model = Model(vocabulary, tuple(ActionSchema(header, negative=joined, add=joined) for header in headers))
    true = ["p0 o0 o2", "p0 o1 o1", "p1 o0 o1", "p1 o1 o0", "p1 o1 o1", "p1 o1 o2", "p3 o0", "p3 o2"]
    objects = Objects({f"o{number}": kind for number in range(3)}, vocabulary.types)
    facts = frozenset(Atom(name, tuple(rest)) for name, *rest in map(str.split, true))
    result = _run(Domain(model, (State(facts, objects),)), Access.RESET, 0, walk_steps=0, hiding=True)
    assert result.why != REPEATED
    assert_sound(result.hypotheses, model)


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


def test_only_the_papers_policy_writes_such_problems(tmp_path: Path) -> None:
    model, start, _ = domains.bell_and_lamp()
    with pytest.raises(UnusableInput, match="only the policy aia makes such problems"):
        Interrogation(SymbolicAgent(model, [start]), write_ppo=tmp_path)
