"""A probe's outcome is open: it violates only suspects, and neither answer is known before."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses
from aam_vision.interrogation.queries.first_success import near_misses, revealing_step
from aam_vision.model.strips import State
from aam_vision.planning.joins import StateIndex
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


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
def test_probes_are_exactly_the_open_questions_about_the_suspects(
    domain: Domain, seed: int, mask: int
) -> None:
    for action, state in _partly_learned(domain, seed):
        undecided = action.undecided
        suspects = Literals(undecided.positive & mask, undecided.negative & mask >> 7)
        expected = {}
        for row in domains.all_bindings(action.index.header, state.objects):
            held, dim = action.index.values(state, row)
            violated = action.violated(held, dim)
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
        for atom, bit in action.index.bit.items():
            action.adds |= bit
            action.deletes &= ~bit
            action.keeps |= bit
            step = revealing_step(action, StateIndex(state), bit)
            if step is None:
                possible = [
                    row
                    for row in domains.all_bindings(schema.header, state.objects)
                    if not action.violated(*action.index.values(state, row))
                    and atom.ground(row) not in state.true
                ]
                assert possible == []
            else:
                assert schema.applicable(state, step.objects)
                assert atom.ground(step.objects) not in state.true
