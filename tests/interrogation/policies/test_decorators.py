"""A policy that stops too early is taken to where nothing is left to ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from zlib import crc32

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import aam_vision
from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.completeness.indistinguishability import Closure
from aam_vision.interrogation.evidence.graph import REFUSALS, Evidence, Node, supported
from aam_vision.interrogation.evidence.moves import Aim, Ask, Move, Policy, Stop
from aam_vision.interrogation.evidence.transcript import evidence_of
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.decorators import (
    CONFIRM,
    MAX_ATTEMPTS,
    Confirming,
    Excusing,
    Exhaustive,
    Replaying,
    confirmed,
    replay,
)
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.loop import DOUBTED, Budget, interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction, State
from aam_vision.planning.planner import Limits
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.report import evaluation
from experiments.random_domains import outcome
from experiments.random_strips import random_domain
from tests import domains, small
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, assert_sound, walked
from tests.profiles import scaled, thorough


class Stopping:
    """A policy that asks nothing."""

    def __init__(self, *, complete: bool = False) -> None:
        self._complete = complete

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        return Stop(self._complete, "asks nothing", {})


def _economical(access: Access) -> Policy:
    return policy_for(access, "economical", PyperplanPlanner())


def _run(domain: Domain, access: Access, *, complete: bool = False) -> Result:
    exhaustive = Exhaustive(Stopping(complete=complete), access)
    policy = Replaying(exhaustive) if access is Access.RESET else exhaustive
    agent = SymbolicAgent(domain.model, domain.problems, access, repeated=domain.repeated)
    rng, budget = np.random.default_rng(0), Budget(steps=5000)
    return interrogate(agent, policy, rng, budget=budget, repeated=domain.repeated)


@pytest.mark.parametrize("access", Access)
def test_nothing_is_left_to_ask_and_a_proof_is_left_alone(access: Access) -> None:
    for seed in range(scaled(30)):
        domain = random_domain(seed)
        ended, why = outcome(domain, access, _run(domain, access))
        assert ended in ("proven", "unproven"), f"seed {seed}: {ended} ({why})"
        assert ended == "proven" or access is Access.TRAJECTORY or domain.model.vocabulary.constants, seed
    assert _run(random_domain(0), access, complete=True).counts.queries == 0


def test_where_the_agent_stands_must_allow_the_question_under_trajectory_access() -> None:
    """An action can be executed once, and there is no way to a second problem."""
    model = small.model("shut: open -> not open, not lit")
    domain = Domain(model, (small.state("o", "open, lit"), small.state("other", "lit")))
    ended, _ = outcome(domain, Access.TRAJECTORY, _run(domain, Access.TRAJECTORY))
    assert ended == "unproven", "the first step leads to where nothing can be told of a precondition"


# Asking again for what rests on too few refusals, once the policy has stopped.


@thorough(40)
@given(domains.domains(), st.sampled_from(Access))
def test_all_is_confirmed_wherever_one_can_go_back_to_it(domain: Domain, access: Access) -> None:
    agent, moves = SymbolicAgent(domain.model, domain.problems, access), list[Move]()
    plain = interrogate(agent, _economical(access), np.random.default_rng(0), budget=AMPLE)
    result = interrogate(
        agent,
        Confirming(_economical(access), access),
        np.random.default_rng(0),
        budget=AMPLE,
        scrutiny=DOUBTED,
        watch=lambda move, evidence, agent: moves.append(move),
    )
    own = len(plain.transcript.entries)
    assert result.transcript.entries[:own] == plain.transcript.entries, "the policy's own moves come first"
    *confirming, last = moves[own:]
    assert isinstance(last, Stop)
    attempts = Counter[Aim]()
    for move in confirming:
        assert isinstance(move, Ask)
        assert move.stopped == Stop(plain.proven, plain.why)
        attempts.update(move.aims)
    assert {aim.purpose for aim in attempts} <= {CONFIRM}
    assert max(attempts.values(), default=0) <= MAX_ATTEMPTS
    if access is Access.TRAJECTORY:
        return
    assert not result.unconfirmed
    evidence = evidence_of(result.transcript, result.transcript.entries)
    for claim, refusals in supported(evidence).items():
        assert len(refusals) >= REFUSALS
        action = evidence.hypotheses[claim.action]
        for refusal in refusals:
            held, dim = action.index.values(refusal.at.state, refusal.action.objects)
            assert action.violated(held, dim).within(claim.literals)


@pytest.mark.parametrize("surely", [True, False])
def test_an_agent_that_refuses_surely_is_not_asked_again(surely: bool) -> None:
    model, start, _ = domains.bell_and_lamp()
    agent = SymbolicAgent(model, [start], Access.SNAPSHOT, refuses_surely=surely)
    policy = Stopping()
    assert (confirmed(policy, agent, PyperplanPlanner()) is policy) is surely


# Reset access: every question begins in an initial situation, or where the agent stands, and goes back by
# replaying.


@thorough(25)
@given(domains.domains(), st.integers(0, 3))
def test_a_replayed_prefix_leads_to_where_the_policy_wanted_to_ask(domain: Domain, seed: int) -> None:
    stood: list[Node | None] = [None]
    last: list[Evidence] = []

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        last[:] = [evidence]
        if isinstance(move, Stop):
            return
        assert move.start.initial or move.start is stood[-1]
        if isinstance(move, Ask) and move.wanted is not None:
            executed, final = domain.model.run(move.start.state, move.plan[: move.replayed])
            assert (executed, final) == (move.replayed, move.wanted.state)
        stood.append(evidence.current)

    agent = SymbolicAgent(domain.model, domain.problems, Access.RESET)
    policy = Replaying(EconomicalPolicy(limits=Limits(states=1000)))
    interrogate(agent, policy, np.random.default_rng(seed), budget=AMPLE, watch=watch)
    (evidence,) = last
    distance = {node.number: 0 for node in evidence.nodes if node.initial}
    for _ in evidence.nodes:
        for edge in evidence.edges:
            if edge.before.number in distance:
                further = distance[edge.before.number] + 1
                distance[edge.after.number] = min(further, distance.get(edge.after.number, further))
    for node in evidence.visited:
        start, steps = replay(evidence, node)
        executed, final = domain.model.run(start.state, steps)
        assert (start.initial, executed, final) == (True, len(steps), node.state)
        assert len(steps) == distance[node.number]


# What answers do not tell is not asked again in the same form, nothing false follows, and every interrogation
# ends.


class ReticentAgent(SymbolicAgent):
    """Does not tell whether some steps are executed, always of the same steps from the same states."""

    def __init__(self, domain: Domain, one_in: int) -> None:
        super().__init__(domain.model, domain.problems, Access.SNAPSHOT)
        self.one_in = one_in

    def ask(self, query: Query) -> Response:
        here = query.initial
        for number, step in enumerate(query.plan):
            if self.reticent(here.state, step):
                return Response(number, here, told=number)
            response = super().ask(Query(here, (step,)))
            if not response.executed:
                return Response(number, here)
            here = response.final
        return Response(len(query.plan), here)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked = super().walk(start, steps, rng)
        return [step for step in walked if not self.reticent(step.before.state, step.action)]

    def reticent(self, state: State, step: GroundAction) -> bool:
        """Whether it does not tell of this step from this state."""
        text = " ".join([*sorted(map(str, state.true)), str(step)])
        return crc32(text.encode()) % self.one_in == 0


@thorough(90)
@given(domains.domains(), st.integers(2, 5), st.integers(0, 3))
def test_of_what_is_not_told_nothing_false_follows(domain: Domain, one_in: int, seed: int) -> None:
    agent, rng = ReticentAgent(domain, one_in), np.random.default_rng(seed)
    result = interrogate(agent, _economical(Access.SNAPSHOT), rng, budget=AMPLE)
    assert "budget of" not in result.why, "the interrogation does not end"
    assert "came up again" not in result.why
    assert_sound(result.hypotheses, domain.model)
    states = domains.reachable(domain.model, domain.problems, limit=400)
    assert not result.proven or states is None or evaluation.equivalent(result.model, domain.model, states)


@thorough(40)
@given(domains.domains(), st.integers(0, 3))
def test_a_stop_is_complete_only_if_there_are_reasons_for_all_that_is_open(domain: Domain, seed: int) -> None:
    evidence, rng = walked(domain, seed), np.random.default_rng(seed)
    actions = evidence.hypotheses.actions
    open_ = [(name, one) for name, action in actions.items() for one in action.undecided.singles()]
    assume(open_)
    left_out = open_[int(rng.integers(len(open_)))]

    def reasons(hypotheses: Hypotheses, beyond: Closure) -> dict[tuple[str, Literals], str]:
        return {one: "nobody tells" for one in open_ if one != left_out}

    stop = Excusing(Stopping(), reasons).next(evidence, rng)
    assert isinstance(stop, Stop)
    assert not stop.complete
    assert stop.beyond is not None
    for name, literal in open_:
        assert literal.within(stop.beyond[name][0]) is ((name, literal) != left_out)


class Latch(SymbolicAgent):
    """A latch that opens with the second turn, though nothing shows the first; each question begins with none."""

    def __init__(self) -> None:
        model = small.model("turn", "shut", predicates="open/0")
        super().__init__(model, [small.state("")], Access.SETTABLE, refuses_surely=True)

    def ask(self, query: Query) -> Response:
        true, turns = query.initial.state.true, 0
        for step in query.plan:
            turns = turns + 1 if step.name == "turn" else 0
            true = small.atoms("open") if turns > 1 else true if turns else frozenset()
        state = State(true, query.initial.state.objects)
        return Response(len(query.plan), Situation(state, state))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return []


def test_what_never_changed_anything_is_attempted_twice_before_a_stop() -> None:
    for seed in range(6):
        told = aam_vision.interrogate(Latch(), seed=seed, exam=0, raises=False, go_on=False)
        assert told.diagnosis is not None
        assert told.diagnosis.culprit == "turn"
