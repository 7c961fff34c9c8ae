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
from aam_vision.interrogation.evidence.moves import Aim, Ask, Move, Stop
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
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from aam_vision.planning.planner import Limits
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.report import evaluation
from experiments.random_domains import outcome
from experiments.random_strips import random_domain
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, assert_sound, walked
from tests.profiles import promised, scaled, thorough


class Stopping:
    """A policy that asks nothing."""

    def __init__(self, *, complete: bool = False) -> None:
        self._complete = complete

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        return Stop(self._complete, "asks nothing", {})


def _run(domain: Domain, access: Access) -> Result:
    exhaustive = Exhaustive(Stopping(), access)
    policy = Replaying(exhaustive) if access is Access.RESET else exhaustive
    agent = SymbolicAgent(domain.model, domain.problems, access, repeated=domain.repeated)
    return interrogate(
        agent, policy, np.random.default_rng(0), budget=Budget(steps=5000), repeated=domain.repeated
    )


@pytest.mark.parametrize("access", Access)
def test_nothing_is_left_to_ask_and_a_proof_is_left_alone(access: Access) -> None:
    for seed in range(scaled(30)):
        domain = random_domain(seed)
        result = _run(domain, access)
        ended, why = outcome(domain, access, result)
        assert ended in ("proven", "unproven"), f"seed {seed}: {ended} ({why})"
        assert ended == "proven" or access is Access.TRAJECTORY or domain.model.vocabulary.constants, seed
    domain = random_domain(0)
    agent = SymbolicAgent(domain.model, domain.problems, access, repeated=domain.repeated)
    policy = Exhaustive(Stopping(complete=True), access)
    assert interrogate(agent, policy, np.random.default_rng(0)).counts.queries == 0


def test_where_the_agent_stands_must_allow_the_question_under_trajectory_access() -> None:
    domain = _one_way()
    result = _run(domain, Access.TRAJECTORY)
    ended, _ = outcome(domain, Access.TRAJECTORY, result)
    assert ended == "unproven", "the first step leads to where nothing can be told of a precondition"


def _one_way() -> Domain:
    """An action that can be executed once, and a second problem to which there is no way."""
    types = Types({})
    vocabulary = Vocabulary("door", (Predicate("open", ()), Predicate("lit", ())), types)
    header = ActionHeader("shut", (), ())
    is_open, is_lit = LiftedAtom("open", ()), LiftedAtom("lit", ())
    schema = ActionSchema(header, positive=frozenset([is_open]), delete=frozenset([is_open, is_lit]))
    objects = Objects({"o": "object"}, types)
    states = (
        State(frozenset([Atom("open", ()), Atom("lit", ())]), objects),
        State(frozenset([Atom("lit", ())]), Objects({"other": "object"}, types)),
    )
    return Domain(Model(vocabulary, (schema,)), states)


# Asking again for what rests on too few refusals, once the policy has stopped.


def _confirmed(domain: Domain, access: Access) -> tuple[Result, list[Move]]:
    moves: list[Move] = []

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        moves.append(move)

    policy = Confirming(policy_for(access, "economical", PyperplanPlanner()), access)
    agent = SymbolicAgent(domain.model, domain.problems, access)
    rng = np.random.default_rng(0)
    return interrogate(agent, policy, rng, budget=AMPLE, scrutiny=DOUBTED, watch=watch), moves


@thorough(40)
@given(domains.domains(), st.sampled_from(Access))
def test_wherever_one_can_go_back_to_all_is_confirmed_after_the_policy_has_stopped_and_nothing_too_often(
    domain: Domain, access: Access
) -> None:
    result, moves = _confirmed(domain, access)
    agent = SymbolicAgent(domain.model, domain.problems, access)
    alone = policy_for(access, "economical", PyperplanPlanner())
    plain = interrogate(agent, alone, np.random.default_rng(0), budget=AMPLE)
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


@given(domains.domains(), st.booleans())
@thorough(10)
def test_an_agent_that_refuses_surely_is_not_asked_again(domain: Domain, surely: bool) -> None:
    policy, planner = policy_for(Access.SNAPSHOT, "economical", PyperplanPlanner()), PyperplanPlanner()
    agent = SymbolicAgent(domain.model, domain.problems, Access.SNAPSHOT, refuses_surely=surely)
    assert (confirmed(policy, agent, planner) is policy) is surely


# Reset access: every question begins in an initial situation, or where the agent stands, and goes back by
# replaying.


@thorough(25)
@given(domains.domains(), st.integers(0, 3))
def test_a_replayed_prefix_leads_to_where_the_policy_wanted_to_ask_by_the_fewest_steps_that_were_made(
    domain: Domain, seed: int
) -> None:
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
        return [
            step
            for step in super().walk(start, steps, rng)
            if not self.reticent(step.before.state, step.action)
        ]

    def reticent(self, state: State, step: GroundAction) -> bool:
        """Whether it does not tell of this step from this state."""
        text = " ".join([*sorted(map(str, state.true)), str(step)])
        return crc32(text.encode()) % self.one_in == 0


@promised(60)
@given(domains.domains(), st.integers(2, 5), st.integers(0, 3))
def test_what_is_not_told_is_not_asked_in_the_same_form_and_nothing_false_follows(
    domain: Domain, one_in: int, seed: int
) -> None:
    agent = ReticentAgent(domain, one_in)
    policy = policy_for(Access.SNAPSHOT, "economical", PyperplanPlanner())
    result = interrogate(agent, policy, np.random.default_rng(seed), budget=AMPLE)
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


class Latch(Agent):
    """A latch that opens with the second turn, though nothing shows the first; each question begins with none."""

    vocabulary = Vocabulary("latch", (Predicate("open", ()),), Types({}))
    headers = (ActionHeader("turn", (), ()), ActionHeader("shut", (), ()))
    access = Access.SETTABLE
    refuses_surely = True

    def initial(self) -> list[Situation]:
        state = State(frozenset(), Objects({}, self.vocabulary.types))
        return [Situation(state, state)]

    def ask(self, query: Query) -> Response:
        true, turns = query.initial.state.true, 0
        for step in query.plan:
            turns = turns + 1 if step.name == "turn" else 0
            true = frozenset([Atom("open", ())]) if turns > 1 else true if turns else frozenset()
        state = State(true, query.initial.state.objects)
        return Response(len(query.plan), Situation(state, state))


def test_what_never_changed_anything_is_attempted_twice_before_a_stop() -> None:
    for seed in range(6):
        told = aam_vision.interrogate(Latch(), seed=seed, exam=0, raises=False, go_on=False)
        assert told.diagnosis is not None
        assert told.diagnosis.culprit == "turn"
