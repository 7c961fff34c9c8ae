"""First successes: the action may be executed where it is asked, by all that is known; and left-out atoms come in turn."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.beliefs.candidates import NaturalBeliefs
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, bits
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses
from aam_vision.interrogation.queries.first_success import (
    FEW_ATOMS,
    constructed_states,
    in_smallest_clause,
    left_false,
    near_misses,
    planned_states,
    reachable_first_success,
    revealing_step,
)
from aam_vision.interrogation.queries.reachability import BoundedSearch, KnownReachability
from aam_vision.model.strips import State
from aam_vision.planning.joins import StateIndex
from aam_vision.planning.planner import Limits
from aam_vision.planning.pyperplan import PyperplanPlanner
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import walked
from tests.profiles import thorough


def _search() -> BoundedSearch:
    return BoundedSearch("first success", PyperplanPlanner(), Limits(states=500), patience=50)


@thorough(50)
@given(domains.domains(), st.integers(0, 10**6))
def test_states_are_made_in_turn_wherever_the_action_may_be_executed(domain: Domain, seed: int) -> None:
    evidence = walked(domain, seed, steps=6)
    start = evidence.nodes[0].state
    for name, action in evidence.hypotheses.actions.items():
        index, left_out = action.index, list(left_false(action))
        assert left_out[0] == 0
        if len(index.atoms) <= FEW_ATOMS:
            assert left_out[1:] == list(bits(action.negative))
        for row in domains.all_bindings(index.header, start.objects)[:3]:
            if index.coinciding(row):
                continue
            expected = [index.everything & ~off for off in left_out]
            expected = [held for held in expected if not action.certain_to_fail(action.violated(held, 0))]
            made = list(constructed_states(action, start, row, left_out))
            assert [index.values(state, row)[0] for state in made] == expected, name
            facts = index.facts(index.everything, row)
            assert all(state.true - facts == start.true - facts for state in made)


@thorough(50)
@given(domains.domains(), st.integers(0, 10**6))
def test_a_plan_is_of_executed_actions_and_ends_where_the_action_may_be(domain: Domain, seed: int) -> None:
    evidence = walked(domain, seed, steps=6)
    beliefs, paths = NaturalBeliefs(evidence.hypotheses, evidence.visited), KnownReachability().of(evidence)
    for name, action in evidence.hypotheses.actions.items():
        ask = None if action.successes else reachable_first_success(evidence, name, beliefs, paths, _search())
        if ask is not None:
            *path, step = ask.plan
            executed, state = domain.model.run(ask.start.state, path)
            assert executed == len(path), "the way relies on what is known"
            assert step.name == name
            assert not action.certain_to_fail(action.violated(*action.index.values(state, step.objects)))


@thorough(50)
@given(domains.domains(), st.integers(0, 10**6))
def test_what_has_to_hold_holds_where_a_plan_ends(domain: Domain, seed: int) -> None:
    evidence, search = walked(domain, seed, steps=6), _search()
    for action in evidence.hypotheses.actions.values():
        likely = [Literals(bit, 0) for bit in bits(action.positive)]
        for one in in_smallest_clause(action, likely):
            assert one.within(min(action.clauses, key=Literals.size))
        for literal in likely[:2]:
            paths = KnownReachability().of(evidence)
            found = planned_states(evidence, action, paths, first=[literal], likely=[], reach=search.reach)
            for planned, state in found:
                assert action.violated(*action.index.values(state, planned.step.objects), literal) == NOTHING


# A probe's outcome is open: it violates only suspects, and neither answer is known before.


def _partly_learned(domain: Domain, seed: int) -> Iterator[tuple[ActionHypotheses, State]]:
    """Every action after some steps and refusals, beside a reachable state."""
    chance = Random(seed)
    hypotheses = Hypotheses(domain.model.vocabulary, domain.model.headers)
    state = domain.problems[0]
    for _ in range(8):
        for schema in domain.model.actions:
            rows = domains.all_bindings(schema.header, state.objects)
            for row in chance.sample(rows, min(2, len(rows))):
                action = hypotheses[schema.header.name]
                values = action.index.values(state, row)
                (action.succeeded if schema.applicable(state, row) else action.failed)(*values)
                action.successes += schema.applicable(state, row)
        options = domains.applicable(domain.model, state)
        if options:
            state = domains.successor(domain.model, state, chance.choice(options))
    for action in hypotheses.actions.values():
        yield action, state


@thorough(60)
@given(domains.domains(max_problems=1), st.integers(0, 10**6), st.integers(0, 2**64))
def test_probes_are_the_open_questions_about_the_suspects(domain: Domain, seed: int, mask: int) -> None:
    for action, state in _partly_learned(domain, seed):
        undecided = action.undecided
        suspects = Literals(undecided.positive & mask, undecided.negative & mask >> 7)
        expected = {}
        for row in domains.all_bindings(action.index.header, state.objects):
            violated = action.violated(*action.index.values(state, row))
            if violated and violated.within(suspects) and not action.certain_to_fail(violated):
                expected[row] = violated
        found = list(near_misses(action, StateIndex(state), suspects))
        assert {probe.action.objects: probe.violated for probe in found} == expected
        assert len(found) == len(expected)


@thorough(60)
@given(domains.domains(max_problems=1), st.integers(0, 10**6))
def test_a_revealing_step_is_certain_to_succeed_and_to_show_the_effect(domain: Domain, seed: int) -> None:
    for action, state in _partly_learned(domain, seed):
        schema = domain.model.schema(action.index.header.name)
        rows = domains.all_bindings(schema.header, state.objects)
        certain = [row for row in rows if not action.violated(*action.index.values(state, row))]
        for atom, bit in action.index.bit.items():
            action.adds |= bit
            action.deletes &= ~bit
            action.keeps |= bit
            step = revealing_step(action, StateIndex(state), bit)
            if step is None:
                assert all(atom.ground(row) in state.true for row in certain)
            else:
                assert schema.applicable(state, step.objects)
                assert atom.ground(step.objects) not in state.true
