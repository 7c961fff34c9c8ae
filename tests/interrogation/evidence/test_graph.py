"""What an image hides never misleads: the true model stays possible, recovered values are the true ones.

Refusals that bear a conclusion out: each of them could be wrong, but not all.
"""

from __future__ import annotations

from itertools import count, pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import REFUSALS, Evidence, unconfirmed
from aam_vision.interrogation.evidence.moves import Aim, Ask, Asked, Walk, Walked
from aam_vision.interrogation.evidence.transcript import Transcript, evidence_of
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.loop import DOUBTED, interrogate
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
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
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.support.errors import InconsistentAgent
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, assert_sound
from tests.profiles import promised, thorough


class Showing:
    """An agent that shows its states with some atoms hidden, and an account of what is really the case."""

    def __init__(self, domain: Domain, chance: Random, share: float) -> None:
        self.model = domain.model
        self.evidence = Evidence(Hypotheses(domain.model.vocabulary, domain.model.headers))
        self._chance, self._share = chance, share
        self._handles = count()
        self._really: dict[int, State] = {}  # by the number of a node
        self._edges = 0

    def see(self, state: State) -> Situation:
        """The state as an image may show it."""
        facts = domains.ground_atoms(self.model.vocabulary, state.objects)
        hidden = frozenset(fact for fact in facts if self._chance.random() < self._share)
        return Situation(next(self._handles), State(state.true - hidden, state.objects, hidden))

    def start(self, state: State) -> Situation:
        situation = self.see(state)
        self._really[self.evidence.situation(situation).number] = state
        return situation

    def walk(self, situation: Situation, state: State, steps: int) -> tuple[Situation, State]:
        """Some steps that can be done, each of them seen."""
        walked = []
        for _ in range(steps):
            options = domains.applicable(self.model, state)
            if not options:
                break
            action = self._chance.choice(options)
            state = domains.successor(self.model, state, action)
            after = self.see(state)
            walked.append(WalkStep(situation, action, after))
            situation = after
        self.evidence.take_in(Walked(tuple(walked)))
        return situation, state

    def ask(self, situation: Situation, state: State, length: int) -> tuple[Situation, State]:
        """A plan of which only the last situation is seen; it may fail at any step."""
        plan = []
        there = state
        for _ in range(length):
            options = domains.applicable(self.model, there)
            if options and self._chance.random() < 0.8:
                plan.append(self._chance.choice(options))
                there = domains.successor(self.model, there, plan[-1])
            elif everything := [
                GroundAction(header.name, row)
                for header in self.model.headers
                for row in domains.all_bindings(header, state.objects)
            ]:
                plan.append(self._chance.choice(everything))
        executed, final = self.model.run(state, plan)
        response = Response(executed, self.see(final) if executed else situation)
        self.evidence.take_in(Asked(Query(situation, tuple(plan)), response))
        return response.final, final

    def assert_recovered_and_predicted_values_are_true(self, situation: Situation, state: State) -> None:
        """Those of all situations, and what is predicted of every step from this one."""
        for edge in self.evidence.edges[self._edges :]:
            before = self._really[edge.before.number]
            after = domains.successor(self.model, before, edge.action)
            assert self._really.setdefault(edge.after.number, after) == after
        self._edges = len(self.evidence.edges)
        for node in self.evidence.nodes:
            really = self._really[node.number]
            facts = domains.ground_atoms(self.model.vocabulary, really.objects)
            assert all(node.state.value(fact) in (None, really.value(fact)) for fact in facts)
        here = self.evidence.situation(situation).state
        for action in domains.applicable(self.model, state):
            predicted, after = (
                self.evidence.predict(here, action),
                domains.successor(self.model, state, action),
            )
            facts = domains.ground_atoms(self.model.vocabulary, state.objects)
            assert all(predicted.value(fact) in (None, after.value(fact)) for fact in facts)


@promised(80)
@given(domains.domains(), st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 0.3, 0.6]))
def test_hidden_atoms_never_exclude_the_true_model_and_are_recovered_right(
    domain: Domain, seed: int, share: float
) -> None:
    chance = Random(seed)
    showing = Showing(domain, chance, share)
    for state in domain.problems:
        situation = showing.start(state)
        for _ in range(6):
            if chance.random() < 0.5:
                situation, state = showing.walk(situation, state, chance.randrange(1, 5))
            else:
                situation, state = showing.ask(situation, state, chance.randrange(1, 4))
            assert_sound(showing.evidence.hypotheses, domain.model)
            showing.assert_recovered_and_predicted_values_are_true(situation, state)


# --- one action under the microscope ----------------------------------------------------------------

VOCABULARY = Vocabulary("lamps", (Predicate("lit", ("lamp",)), Predicate("warm", ("lamp",))))
SWITCH = ActionHeader("switch", ("x",), ("lamp",))
LAMPS = Objects({"one": "lamp", "two": "lamp"}, Types())
LIT, WARM, ELSEWHERE = Atom("lit", ("one",)), Atom("warm", ("one",)), Atom("lit", ("two",))
DO = GroundAction("switch", ("one",))


def _state(*true: Atom, unknown: tuple[Atom, ...] = ()) -> State:
    return State(frozenset(true), LAMPS, frozenset(unknown))


def _walk(evidence: Evidence, *states: State) -> None:
    seen = [Situation(number, state) for number, state in enumerate(states, start=len(evidence.nodes))]
    evidence.take_in(Walked(tuple([WalkStep(a, DO, b) for a, b in pairwise(seen)])))


def test_a_value_no_step_can_touch_is_carried_over_a_hidden_moment() -> None:
    evidence = Evidence(Hypotheses(VOCABULARY, [SWITCH]))
    _walk(evidence, _state(ELSEWHERE), _state(LIT, unknown=(ELSEWHERE,)), _state(LIT, unknown=(ELSEWHERE,)))
    assert [node.state.value(ELSEWHERE) for node in evidence.nodes] == [True, True, True]


def test_an_effect_hidden_at_first_is_recovered_once_the_action_is_understood() -> None:
    evidence = Evidence(Hypotheses(VOCABULARY, [SWITCH]))
    _walk(evidence, _state(), _state(LIT, unknown=(WARM,)))
    assert evidence.nodes[1].state.value(WARM) is None
    assert [node.number for node in evidence.hidden_effects()] == [1]
    _walk(evidence, _state(), _state(LIT, WARM))
    assert evidence.nodes[1].state.value(WARM) is True
    assert evidence.hidden_effects() == []


def test_a_value_hidden_before_a_step_is_recovered_from_what_the_step_cannot_have_done() -> None:
    evidence = Evidence(Hypotheses(VOCABULARY, [SWITCH]))
    _walk(evidence, _state(WARM), _state(LIT, WARM))
    _walk(evidence, _state(), _state(LIT))  # so switching has no effect on the warmth
    for now in (True, False):
        true = (LIT, WARM) if now else (LIT,)
        first = len(evidence.nodes)
        _walk(evidence, _state(unknown=(WARM,)), _state(*true, unknown=(ELSEWHERE,)))
        assert evidence.nodes[first].state.value(WARM) is now


def test_an_equal_state_with_another_handle_is_the_same_node_unless_something_is_hidden() -> None:
    evidence = Evidence(Hypotheses(VOCABULARY, [SWITCH]))
    first, second = (evidence.situation(Situation(handle, _state(LIT))) for handle in "ab")
    assert first is second
    third, fourth = (evidence.situation(Situation(handle, _state(unknown=(LIT,)))) for handle in "cd")
    assert third is not fourth
    assert evidence.situation(Situation("c", _state(unknown=(LIT,)))) is third


def test_one_refusal_of_one_violated_literal_proves_it() -> None:
    lit_x, warm_x = (LiftedAtom(name, (0,)) for name in ("lit", "warm"))
    model = Model(
        VOCABULARY, (ActionSchema(SWITCH, negative=frozenset([lit_x]), add=frozenset([lit_x, warm_x])),)
    )
    evidence = Evidence(Hypotheses(VOCABULARY, [SWITCH]))
    _walk(evidence, _state(), _state(LIT, WARM))
    start = Situation("s", _state(WARM))
    assert evidence.take_in(Asked(Query(start, (DO,)), Response(1, Situation("t", _state(LIT, WARM)))))
    lit = Situation("u", _state(LIT, WARM))
    assert evidence.take_in(Asked(Query(lit, (DO,)), Response(0, lit)))
    action = evidence.hypotheses["switch"]
    assert action.index.text(action.proven) == ["not lit(?x)"]
    assert_sound(evidence.hypotheses, model)
    assert not evidence.take_in(Asked(Query(lit, (DO,)), Response(0, lit))), (
        "the same refusal tells nothing new"
    )
    assert evidence.was_seen(evidence.situation(lit), DO)


def test_contradictions_are_named() -> None:
    evidence = Evidence(Hypotheses(VOCABULARY, [SWITCH]))
    start = Situation("s", _state())
    _walk(evidence, _state(), _state(LIT))
    with pytest.raises(InconsistentAgent, match=r"switch was refused"):
        evidence.take_in(Asked(Query(start, (DO,)), Response(0, start)))
    evidence = Evidence(Hypotheses(VOCABULARY, [SWITCH]))
    _walk(evidence, _state(), _state(LIT))
    with pytest.raises(InconsistentAgent, match=r"switch changed .*lit\(\?x\)"):
        _walk(evidence, _state(), _state(WARM))


@thorough(25)
@given(domains.domains())
def test_without_asking_again_what_is_proven_is_said_to_rest_on_too_little(domain: Domain) -> None:
    agent = SymbolicAgent(domain.model, domain.problems, Access.SNAPSHOT)
    policy = policy_for(Access.SNAPSHOT, "economical", PyperplanPlanner())
    result = interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE, scrutiny=DOUBTED)
    assert not (result.proven and result.unconfirmed)
    evidence = evidence_of(result.transcript, result.transcript.entries)
    assert result.unconfirmed == unconfirmed(evidence)
    for claim in result.unconfirmed:
        if claim.literals.size() == 1:
            bit = claim.literals.positive | claim.literals.negative
            atom = result.hypotheses[claim.action].index.atom(bit)
            assert all(
                (pal.action, pal.atom, pal.location.value) != (claim.action, atom, "pre")
                for pal in result.certain
            )


# The evidence as the memory of an interrogation: steps, questions, and the evidence as it was earlier.


def seen(handle: str, *true: Atom, unknown: tuple[Atom, ...] = ()) -> Situation:
    return Situation(handle, _state(*true, unknown=unknown))


@pytest.fixture
def evidence() -> Evidence:
    known = Evidence(Hypotheses(VOCABULARY, [SWITCH]))
    known.begin(seen("dark"))
    return known


def walked(*situations: Situation) -> Walked:
    return Walked(tuple(WalkStep(before, DO, after) for before, after in pairwise(situations)))


def test_a_step_stays_known_when_more_is_learned_of_its_situation(evidence: Evidence) -> None:
    """What an image hides may be recovered later: the step was attempted there all the same, and only once."""
    hidden = seen("hidden", WARM, unknown=(ELSEWHERE,))
    evidence.take_in(walked(hidden, seen("after", LIT, WARM, unknown=(ELSEWHERE,))))
    before = evidence.situation(hidden)
    assert before.state.unknown
    evidence.take_in(
        walked(seen("after", LIT, WARM, unknown=(ELSEWHERE,)), seen("later", LIT, WARM, ELSEWHERE))
    )
    assert before.state.value(ELSEWHERE) is True, "recovered along the steps"
    assert evidence.was_seen(before, DO)
    assert evidence.was_seen_in(before.state, DO)
    successes = evidence.hypotheses["switch"].successes
    evidence.take_in(walked(hidden, seen("after", LIT, WARM, unknown=(ELSEWHERE,))))
    assert evidence.hypotheses["switch"].successes == successes, "the same step again is not another success"


def test_several_unknown_values_are_recovered_beside_each_other(evidence: Evidence) -> None:
    """Of one step, a value that it cannot touch and one that it can."""
    evidence.take_in(walked(seen("a", LIT, ELSEWHERE), seen("b", LIT, WARM, ELSEWHERE)))
    hidden = seen("c", LIT, unknown=(WARM, ELSEWHERE))
    evidence.take_in(walked(seen("d", LIT, ELSEWHERE), hidden))
    state = evidence.situation(hidden).state
    assert (state.value(ELSEWHERE), state.value(WARM)) == (True, True)


def test_joins_see_what_was_learned_of_a_situation(evidence: Evidence) -> None:
    hidden = evidence.situation(seen("hidden", unknown=(ELSEWHERE,)))
    assert hidden.index.state.unknown
    evidence.take_in(walked(seen("before", ELSEWHERE), seen("hidden", unknown=(ELSEWHERE,))))
    assert hidden.index.state == hidden.state
    assert not hidden.index.state.unknown


def test_a_question_is_known_by_where_it_starts_and_its_plan_unless_it_was_asked_again(
    evidence: Evidence,
) -> None:
    start = evidence.situation(seen("dark"))
    entry = Asked(Query(seen("dark"), (DO,)), Response(1, seen("light", LIT)))
    evidence.take_in(entry, Ask(start, (DO,), "once more", again=True))
    assert not evidence.was_asked(start, (DO,))
    evidence.take_in(entry, Ask(start, (DO,), "see what it does"))
    assert evidence.was_asked(start, (DO,))
    assert not evidence.was_asked(start, (DO, DO))


def test_an_exchange_says_what_became_of_the_moves_aims(evidence: Evidence) -> None:
    """A success refutes a precondition that did not hold; a refusal for one possible reason proves it."""
    index = evidence.hypotheses["switch"].index
    lit, warm = (Literals(bit, 0) for bit in index.bit.values())
    start = evidence.situation(seen("dark"))
    aims = tuple(Aim("test", "switch", literal) for literal in (lit, warm))
    told = evidence.take_in(
        Asked(Query(seen("dark"), (DO,)), Response(1, seen("light", LIT))),
        Ask(start, (DO,), "test", aims=aims),
    )
    (exchange,) = evidence.exchanges
    assert (told, exchange.told, exchange.refuted, exchange.proven) == (True, True, 2, 0)


def test_the_evidence_as_it_was_after_some_exchanges(evidence: Evidence) -> None:
    situations = [seen("dark"), seen("light", LIT), seen("still light", LIT)]
    counts = []
    for before, after in pairwise(situations):
        evidence.take_in(walked(before, after), Walk(evidence.situation(before), 1))
        counts.append((len(evidence.nodes), evidence.hypotheses.version))
    for number, expected in enumerate(counts, 1):
        earlier = evidence.as_of(number)
        assert (len(earlier.nodes), earlier.hypotheses.version) == expected
    assert evidence.as_of(len(counts)) is evidence


def test_an_empty_walk_leaves_the_agent_where_it_was_brought(evidence: Evidence) -> None:
    other = evidence.situation(seen("light", LIT))
    evidence.take_in(Walked(()), Walk(other, 3))
    assert evidence.current is other


@pytest.mark.parametrize("refusals", [REFUSALS - 1, REFUSALS])
def test_a_conclusion_is_confirmed_by_so_many_refusals(evidence: Evidence, refusals: int) -> None:
    evidence.take_in(walked(seen("light", LIT, WARM), seen("dark")))
    for number in range(refusals):
        at = seen(f"again {number}", WARM)
        evidence.take_in(Asked(Query(at, (DO,)), Response(0, at)))
    weak = [claim.action for claim in unconfirmed(evidence)]
    assert weak == (["switch"] if refusals < REFUSALS else [])


def test_entries_are_named_by_what_was_done() -> None:
    entries = (
        walked(seen("a"), seen("b", LIT), seen("c", LIT, WARM)),
        Asked(Query(seen("a"), (DO, DO)), Response(1, seen("b", LIT))),
        walked(seen("a"), seen("b", LIT)),
        Asked(Query(seen("a"), ()), Response(0, seen("a"))),
    )
    transcript = Transcript(VOCABULARY, (SWITCH,), Access.SNAPSHOT, (seen("a"),), entries)
    assert transcript.names() == [
        "walk steps 1 to 2 (switch(one), switch(one))",
        "query 1 (switch(one), switch(one): 1 of 2 steps executed)",
        "walk step 3 (switch(one))",
        "look 1",
    ]
