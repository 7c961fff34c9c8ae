"""What an image hides never misleads: the true model stays possible, recovered values are the true ones.

Refusals that bear a conclusion out: each of them could be wrong, but not all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import (
    REFUSALS,
    Claim,
    Evidence,
    by_problem,
    supported,
    unconfirmed,
)
from aam_vision.interrogation.evidence.moves import Aim, Ask, Asked, Walk, Walked
from aam_vision.interrogation.evidence.problems import EVEN, FEW
from aam_vision.interrogation.evidence.transcript import Transcript, evidence_of
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.loop import DOUBTED, interrogate
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction, Location, State
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.support.errors import InconsistentAgent
from tests import domains, small
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, assert_sound
from tests.profiles import promised, thorough


class BlinkingAgent(SymbolicAgent):
    """Hides some atoms of a situation, others with every look. A handle is the number of the look, and the true state."""

    def __init__(self, domain: Domain, share: float, rng: np.random.Generator) -> None:
        super().__init__(domain.model, domain.problems, Access.SNAPSHOT)
        self._share, self._rng, self._looks = share, rng, count()

    def see(self, state: State) -> Situation:
        facts = domains.ground_atoms(self.vocabulary, state.objects)
        hidden = frozenset(fact for fact in facts if self._rng.random() < self._share)
        return Situation((next(self._looks), state), State(state.true - hidden, state.objects, hidden))

    def initial(self) -> Sequence[Situation]:
        return [self.see(situation.state) for situation in super().initial()]

    def ask(self, query: Query) -> Response:
        really = _really(query.initial)
        response = super().ask(Query(Situation(really, really), query.plan))
        seen = self.see(response.final.state) if response.executed else query.initial
        return Response(response.executed, seen)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked, really = list[WalkStep](), _really(start)
        for _, action, after in super().walk(Situation(really, really), steps, rng):
            walked.append(WalkStep(walked[-1].after if walked else start, action, self.see(after.state)))
        return walked


def _really(situation: Situation) -> State:
    state: State = situation.handle[1]  # type: ignore[index]
    return state


def _assert_true(evidence: Evidence, domain: Domain) -> None:
    """Recovered values are those of the true states, and so are predictions."""
    really = {node.number: _really(node.situation) for node in evidence.nodes if node.situation is not None}
    for edge in evidence.edges:
        after = domains.successor(domain.model, really[edge.before.number], edge.action)
        assert really.setdefault(edge.after.number, after) == after
    for node in evidence.nodes:
        state = really[node.number]
        seen = [(node.state, state)]
        for action in domains.applicable(domain.model, state):
            seen.append(
                (evidence.predict(node.state, action), domains.successor(domain.model, state, action))
            )
        facts = domains.ground_atoms(domain.model.vocabulary, state.objects)
        assert all(one.value(fact) in (None, true.value(fact)) for one, true in seen for fact in facts)


def _plan(domain: Domain, state: State, length: int, rng: np.random.Generator) -> tuple[GroundAction, ...]:
    """Mostly of steps that can be executed."""
    plan = list[GroundAction]()
    for _ in range(length):
        possible = domains.applicable(domain.model, state)
        if possible and rng.random() < 0.8:
            plan.append(possible[int(rng.integers(len(possible)))])
            state = domains.successor(domain.model, state, plan[-1])
        elif everything := domains.instances(domain.model.headers, state.objects, 1000):
            plan.append(everything[int(rng.integers(len(everything)))])
    return tuple(plan)


@promised(80)
@given(domains.domains(), st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 0.3, 0.6]))
def test_the_hidden_is_recovered_and_never_excludes_the_truth(
    domain: Domain, seed: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    agent = BlinkingAgent(domain, share, rng)
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers))
    for here in agent.initial():
        evidence.situation(here)
        for _ in range(6):
            if rng.random() < 0.5:
                steps = tuple(agent.walk(here, int(rng.integers(1, 5)), rng))
                evidence.take_in(Walked(steps))
                here = steps[-1].after if steps else here
            else:
                query = Query(here, _plan(domain, _really(here), int(rng.integers(1, 4)), rng))
                response = agent.ask(query)
                evidence.take_in(Asked(query, response))
                here = response.final
            assert_sound(evidence.hypotheses, domain.model)
        _assert_true(evidence, domain)


# One action: two lamps, one of which is switched on, or on and warm.


LAMPS = small.model("switch x", predicates="lit/1 warm/1")
LIT, WARM, ELSEWHERE = "lit one", "warm one", "lit two"
DO = small.step("switch one")


def _at(handle: object, *true: str, unknown: str = "", names: str = "one two") -> Situation:
    return Situation(handle, small.state(names, ", ".join(true), unknown))


def _walked(*situations: Situation) -> Walked:
    return Walked(tuple(WalkStep(before, DO, after) for before, after in pairwise(situations)))


@pytest.fixture
def evidence() -> Evidence:
    known = Evidence(Hypotheses(LAMPS.vocabulary, LAMPS.headers))
    known.begin(_at("dark"))
    return known


def _asked(before: Situation, executed: int, after: Situation, *, steps: int = 1) -> Asked:
    return Asked(Query(before, (DO,) * steps), Response(executed, after))


def _value(evidence: Evidence, situation: Situation, atom: str) -> bool | None:
    (fact,) = small.atoms(atom)
    return evidence.situation(situation).state.value(fact)


def test_a_value_no_step_can_touch_is_carried_over_hidden_moments(evidence: Evidence) -> None:
    seen = [_at("a", ELSEWHERE), *(_at(handle, LIT, unknown=ELSEWHERE) for handle in "bc")]
    evidence.take_in(_walked(*seen))
    assert [_value(evidence, one, ELSEWHERE) for one in seen] == [True, True, True]


def test_an_effect_hidden_at_first_is_recovered_once_the_action_is_understood(evidence: Evidence) -> None:
    hidden, again = (_at(handle, LIT, unknown=WARM) for handle in "be")
    evidence.take_in(_asked(_at("a"), 2, _at("g", LIT, unknown=WARM), steps=2))
    for after in (again, hidden):
        evidence.take_in(_walked(_at("a"), after))
    assert _value(evidence, hidden, WARM) is None
    assert [node.situation for node in evidence.hidden_effects()] == [again, hidden]
    evidence.take_in(_walked(_at("c"), _at("d", LIT, WARM)))
    assert _value(evidence, hidden, WARM) is True
    assert evidence.hidden_effects() == []


def test_a_value_hidden_before_is_recovered_from_what_a_step_cannot_have_done(evidence: Evidence) -> None:
    evidence.take_in(_walked(_at("a", WARM), _at("b", LIT, WARM)))
    evidence.take_in(_walked(_at("c"), _at("d", LIT)))  # so switching has no effect on the warmth
    for now in (True, False):
        hidden = _at(("before", now), unknown=WARM)
        after = _at(("after", now), *((LIT, WARM) if now else (LIT,)), unknown=ELSEWHERE)
        evidence.take_in(_walked(hidden, after))
        assert _value(evidence, hidden, WARM) is now


def test_several_unknown_values_are_recovered_beside_each_other(evidence: Evidence) -> None:
    """Of one step, a value that it cannot touch and one that it can, whether or not the first was ever seen."""
    evidence.take_in(_walked(_at("a", LIT, ELSEWHERE), _at("b", LIT, WARM, ELSEWHERE)))
    for seen in (_at("d", LIT, ELSEWHERE), _at("e", LIT, unknown=ELSEWHERE)):
        hidden = _at((seen, "after"), LIT, unknown=f"{WARM}, {ELSEWHERE}")
        evidence.take_in(_walked(seen, hidden))
        assert _value(evidence, hidden, ELSEWHERE) is _value(evidence, seen, ELSEWHERE)
        assert _value(evidence, hidden, WARM) is True
    assert evidence.learned == 2, "situations of which more was learned"


def test_an_equal_state_of_another_handle_is_one_node_unless_it_hides_something(evidence: Evidence) -> None:
    first, second = (evidence.situation(_at(handle, LIT)) for handle in "ab")
    assert first is second
    third, fourth = (evidence.situation(_at(handle, unknown=LIT)) for handle in "cd")
    assert third is not fourth
    assert evidence.situation(_at("c", unknown=LIT)) is third


def test_one_refusal_of_one_violated_literal_proves_it_contradictions_are_named(evidence: Evidence) -> None:
    evidence.take_in(_walked(_at("dark"), _at("b", LIT, WARM)))
    assert evidence.take_in(_asked(_at("s", WARM), 1, _at("t", LIT, WARM)))
    refused = _asked(lit := _at("u", LIT, WARM), 0, lit)
    assert evidence.take_in(refused)
    action = evidence.hypotheses["switch"]
    assert action.index.text(action.proven) == ["not lit(?x)"]
    assert_sound(evidence.hypotheses, small.model("switch x: not lit x -> lit x, warm x"))
    assert not evidence.take_in(refused), "the same refusal tells nothing new"
    assert evidence.was_seen(evidence.situation(lit), DO)
    with pytest.raises(InconsistentAgent, match=r"switch was refused"):
        evidence.take_in(_asked(_at("dark"), 0, _at("dark")))
    with pytest.raises(InconsistentAgent, match=r"switch changed .*lit\(\?x\)"):
        evidence.take_in(_walked(_at("dark"), _at("v", WARM)))


@thorough(25)
@given(domains.domains())
def test_without_asking_again_what_is_proven_is_said_to_rest_on_too_little(domain: Domain) -> None:
    agent = SymbolicAgent(domain.model, domain.problems, Access.SNAPSHOT)
    policy = policy_for(Access.SNAPSHOT, "economical", PyperplanPlanner())
    result = interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE, scrutiny=DOUBTED)
    assert not (result.proven and result.unconfirmed)
    assert result.unconfirmed == unconfirmed(evidence_of(result.transcript, result.transcript.entries))
    certain = {(pal.action, pal.atom) for pal in result.certain if pal.location is Location.PRE}
    for claim in result.unconfirmed:
        if claim.literals.size() == 1:
            bit = claim.literals.positive | claim.literals.negative
            assert (claim.action, result.hypotheses[claim.action].index.atom(bit)) not in certain


# The evidence as the memory of an interrogation: steps, questions, and the evidence as it was earlier.


def test_a_step_stays_known_when_more_is_learned_of_its_situation(evidence: Evidence) -> None:
    """What an image hides may be recovered later: the step was attempted there all the same, and only once."""
    hidden, after = _at("hidden", WARM, unknown=ELSEWHERE), _at("after", LIT, WARM, unknown=ELSEWHERE)
    evidence.take_in(_walked(hidden, after))
    before = evidence.situation(hidden)
    assert before.state.unknown
    assert before.index.state.unknown
    evidence.take_in(_walked(after, _at("later", LIT, WARM, ELSEWHERE)))
    assert _value(evidence, hidden, ELSEWHERE) is True, "recovered along the steps"
    assert before.index.state == before.state, "joins see it"
    assert before.index_when_new.state == before.state_when_new == hidden.state
    assert evidence.was_seen(before, DO)
    assert evidence.was_seen_in(before.state, DO)
    action = evidence.hypotheses["switch"]
    for successes, kinds, start in ((2, 2, hidden), (3, 2, _at("else", WARM)), (4, 3, _at("dark"))):
        evidence.take_in(_walked(start, _at(("from", start), LIT, WARM)))
        assert (action.successes, action.kinds_of_success) == (successes, kinds), "by what it may depend on"


def test_a_question_is_known_by_its_start_and_its_plan_unless_asked_again(evidence: Evidence) -> None:
    start = evidence.situation(_at("dark"))
    entry = _asked(_at("dark"), 1, _at("light", LIT))
    ask = Ask(start, (DO,), "see what it does")
    evidence.take_in(entry, replace(ask, again=True))
    assert not evidence.was_asked(start, (DO,))
    evidence.take_in(entry, ask)
    assert evidence.was_asked(start, (DO,))
    assert evidence.repeats(ask)
    other = replace(ask, plan=(DO, DO)), replace(ask, start=evidence.situation(_at("light", LIT)))
    meant = replace(ask, again=True), replace(ask, examines=True), Walk(start, 1)
    assert not any(map(evidence.repeats, (*other, *meant)))


def test_an_answer_follows_where_every_step_was_tried_and_the_end_was_seen(evidence: Evidence) -> None:
    start, light = _at("dark"), _at("light", LIT)
    evidence.take_in(_asked(start, 2, light, steps=3))
    node = evidence.situation(start)
    follows = [evidence.answer_follows(node, (DO,) * steps) for steps in range(5)]
    assert follows == [True, False, True, True, True], "the second of the situations was not seen"
    assert not evidence.answer_follows(evidence.situation(_at("warm", WARM)), (DO,))


def test_what_an_answer_leaves_out_is_known_as_untold(evidence: Evidence) -> None:
    start, light = _at("dark"), _at("light", LIT)
    ask = Ask(evidence.situation(start), (DO, DO), "see what it does")
    evidence.take_in(_asked(start, 1, light), ask)
    assert evidence.untold == {(light.state, DO)}
    assert evidence.was_seen(evidence.situation(light), DO)
    action = evidence.hypotheses["switch"]
    told = [action.may_be_told(*action.index.values(one.state, DO.objects)) for one in (start, light)]
    assert told == [True, False]


@pytest.mark.parametrize(("executed", "refuted", "proven"), [(1, 2, 0), (0, 1, 1)])
def test_an_exchange_says_what_became_of_the_moves_aims(
    evidence: Evidence, executed: int, refuted: int, proven: int
) -> None:
    """A success refutes a precondition that did not hold; a refusal for one possible reason proves it."""
    dark, light, both = _at("dark"), _at("light", LIT), _at("both", LIT, WARM)
    evidence.take_in(_walked(light, both), Walk(evidence.situation(light), 1))
    aims = tuple(
        Aim("test", "switch", Literals(bit, 0)) for bit in evidence.hypotheses["switch"].index.bit.values()
    )
    ask = Ask(evidence.situation(dark), (DO,), "test", aims=aims)
    told = evidence.take_in(_asked(dark, executed, _at("warm", WARM) if executed else dark), ask)
    walk, exchange = evidence.exchanges
    assert (walk.told, walk.refuted, walk.proven, walk.edges) == (True, 0, 0, 0)
    assert (told, exchange.told, exchange.refuted, exchange.proven) == (True, True, refuted, proven)
    assert (exchange.move, exchange.edges) == (ask, 1)
    assert exchange.came_from is evidence.situation(both)


def test_the_evidence_as_it_was_after_some_exchanges(evidence: Evidence) -> None:
    counts = []
    for before, after in pairwise([_at("dark"), _at("light", LIT), _at("still light", LIT)]):
        evidence.take_in(_walked(before, after), Walk(evidence.situation(before), 1))
        counts.append((len(evidence.nodes), evidence.hypotheses.version))
    earlier = [evidence.as_of(number) for number in (1, 2)]
    assert [(len(one.nodes), one.hypotheses.version) for one in earlier] == counts
    assert earlier[-1] is evidence


def test_an_empty_walk_leaves_the_agent_where_it_was_brought(evidence: Evidence) -> None:
    other = evidence.situation(_at("light", LIT))
    evidence.take_in(Walked(()), Walk(other, 3))
    assert evidence.current is other
    assert evidence.initial == [evidence.situation(_at("dark"))]
    assert evidence.visited == [*evidence.initial, other]


def test_of_problems_that_look_alike_that_is_gone_on_with_in_which_least_was_tried(
    evidence: Evidence,
) -> None:
    """Where the agent stands if it is there, unless another problem was neglected; looks are no steps."""
    one, other = _at("dark"), _at("dark, too")
    node = evidence.begin(other)
    assert evidence.current is node is evidence.begin(one)
    assert evidence.departure(node) == one, "the agent stands there"
    light = evidence.begin(_at("light", LIT))
    for step in range(1, FEW + 1):
        neglected = step > EVEN + 1
        assert evidence.neglected is (node if neglected else None)
        assert evidence.hardly_tried is node
        evidence.take_in(_asked(other, 0, other, steps=0), Ask(light, (), "look"))
        evidence.take_in(_walked(one, one) if step % 2 else _asked(one, 1, one))
        assert evidence.departure(node) == (other if neglected or step == EVEN + 1 else one)
    assert evidence.hardly_tried is evidence.situation(other)
    evidence.take_in(Walked(()), Walk(light, 1))
    assert evidence.departure(node) == other
    assert evidence.departure(light) == _at("light", LIT)


def test_the_situations_seen_are_grouped_by_the_objects_of_their_problem(evidence: Evidence) -> None:
    alone = evidence.begin(_at("alone", names="one"))
    evidence.take_in(_asked(_at("a", LIT), 2, _at("b", WARM), steps=2))
    dark, a, b = (evidence.situation(one) for one in (_at("dark"), _at("a", LIT), _at("b", WARM)))
    again = evidence.begin(_at("again", LIT, names="one"))
    assert by_problem(evidence) == [[dark, a, b], [alone, again]]


def test_objects_that_are_one_show_what_their_effects_do_together() -> None:
    """Which of the two lamps was lit is not told where they are the same one, but that one is."""
    model = small.model("both x y", predicates="lit/1")
    evidence = Evidence(Hypotheses(model.vocabulary, model.headers, repeated=True))
    dark, light = _at("dark"), _at("light", LIT)
    evidence.begin(dark)
    step = small.step("both one one")
    evidence.take_in(Walked((WalkStep(dark, step, light),)))
    assert evidence.predict(dark.state, step) == light.state
    assert evidence.predict(light.state, step).unknown == small.atoms(LIT)
    evidence.take_in(Walked((WalkStep(_at("hidden", unknown=LIT), step, light),)))
    assert evidence.predict(light.state, step).unknown == small.atoms(LIT), "nobody knows what was so before"


@pytest.mark.parametrize("refusals", [REFUSALS - 1, REFUSALS])
def test_a_conclusion_is_confirmed_by_so_many_refusals(evidence: Evidence, refusals: int) -> None:
    evidence.take_in(_walked(_at("light", LIT, WARM), _at("dark")))
    for number in range(refusals):
        at = _at(f"again {number}", WARM)
        evidence.take_in(_asked(at, 0, at))
    bit = evidence.hypotheses["switch"].index.bit[small.lifted("lit x")]
    claim = Claim("switch", Literals(bit, 0))
    assert supported(evidence) == {claim: evidence.refusals}
    assert unconfirmed(evidence) == ((claim,) if refusals < REFUSALS else ())


def test_entries_are_named_by_what_was_done() -> None:
    a, b = _at("a"), _at("b", LIT)
    entries = (
        _walked(a, b, _at("c", LIT, WARM)),
        _asked(a, 1, b, steps=2),
        _walked(a, b),
        _asked(a, 0, a, steps=0),
    )
    transcript = Transcript(LAMPS.vocabulary, LAMPS.headers, Access.SNAPSHOT, (a,), entries)
    assert transcript.names() == [
        "walk steps 1 to 2 (switch(one), switch(one))",
        "query 1 (switch(one), switch(one): 1 of 2 steps executed)",
        "walk step 3 (switch(one))",
        "look 1",
    ]
