"""Tables of possible facts agree with the exclusions, looked up for one binding after the other."""

from __future__ import annotations

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, GroundLiterals, Hypotheses
from aam_vision.interrogation.queries import possible_facts
from aam_vision.interrogation.queries.possible_facts import PossibleFacts
from aam_vision.planning.grounding import Grounding, ground
from aam_vision.planning.interchangeable import PossibleOperator
from aam_vision.planning.mutexes import Mutexes, always_one_of
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough

questions = given(
    domains.domains(constants=True, max_problems=1),
    st.integers(0, 2**40),
    st.integers(0, 2**40),
    st.sampled_from([0, 10**6]),
)
"""A domain, which literals of its actions are true and which false, and how many literals exclusions tell apart."""


def _reached(domain: Domain, max_literals: int) -> tuple[Grounding, Mutexes]:
    model, start = domain.model, domain.problems[0]
    grounding = ground([domains.lifted_operator(s) for s in model.actions], start.true, start.objects)
    possible = [PossibleOperator(o.positive, o.negative, o.add, o.delete) for o in grounding.operators]
    return grounding, Mutexes(possible, [(start.true, frozenset())], max_literals)


@thorough(80)
@questions
def test_literals_hold_somewhere_exactly_if_some_arguments_allow_them(
    domain: Domain, positive: int, negative: int, max_literals: int
) -> None:
    model, start = domain.model, domain.problems[0]
    grounding, mutexes = _reached(domain, max_literals)
    facts = PossibleFacts(start.objects, grounding, mutexes)
    hypotheses = Hypotheses(model.vocabulary, model.headers)
    for action in hypotheses.actions.values():
        everything = action.index.everything
        literals = Literals(positive & everything, negative & everything & ~positive)
        expected = {
            row
            for row in domains.all_bindings(action.index.header, start.objects)
            if mutexes.possible(*GroundLiterals(action, row).holding(literals))
        }
        assert set(facts.where(action, literals)) == expected
        everything_bound = domains.all_bindings(action.index.header, start.objects)
        assert list(facts.among(action, literals, everything_bound)) == [
            row for row in everything_bound if row in expected
        ]
        assert facts.somewhere(action, literals) == bool(expected)


@thorough(80)
@questions
def test_of_what_always_holds_once_one_fact_must_be_possible_beside_the_literals(
    domain: Domain, positive: int, negative: int, max_literals: int
) -> None:
    """Where a literal excludes one of these facts; what holds in a reachable state is never ruled out."""
    model, start = domain.model, domain.problems[0]
    grounding, mutexes = _reached(domain, max_literals)
    operators = [domains.lifted_operator(schema) for schema in model.actions]
    one_of = always_one_of(operators, mutexes.facts, [start.true])
    facts = PossibleFacts(start.objects, grounding, mutexes).requiring(one_of)
    states = domains.reachable(model, [start], limit=100)
    hypotheses = Hypotheses(model.vocabulary, model.headers)
    for action in hypotheses.actions.values():
        everything = action.index.everything
        literals = Literals(positive & everything, negative & everything & ~positive)
        expected = set()
        for row in domains.all_bindings(action.index.header, start.objects):
            true, false = map(frozenset, GroundLiterals(action, row).holding(literals))
            needed = [group for group in one_of if group & false]
            if mutexes.possible(true, false) and all(
                any(mutexes.possible(true | {fact}, false) for fact in group - false) for group in needed
            ):
                expected.add(row)
            if any(true <= state.true and not false & state.true for state in states or ()):
                assert row in expected
        assert set(facts.where(action, literals)) == expected
        others = list(Literals(everything, everything).singles())
        together = [facts.somewhere(action, union([literals, other])) for other in others]
        for at_once in (1, possible_facts.TOGETHER):
            with mock.patch.object(possible_facts, "TOGETHER", at_once):
                assert facts.beside(action, literals, others) == together


@thorough(60)
@questions
def test_the_nearest_arguments_are_some_of_those_that_are_possible(
    domain: Domain, positive: int, negative: int, max_literals: int
) -> None:
    """No others need fewer rounds of the relaxation for their facts."""
    grounding, mutexes = _reached(domain, max_literals)
    facts = PossibleFacts(domain.problems[0].objects, grounding, mutexes)
    changing = {fact for operator in grounding.operators for fact in operator.add | operator.delete}
    hypotheses = Hypotheses(domain.model.vocabulary, domain.model.headers)
    for action in hypotheses.actions.values():
        everything = action.index.everything
        literals = Literals(positive & everything, negative & everything & ~positive)

        def away(
            row: tuple[str, ...], action: ActionHypotheses = action, literals: Literals = literals
        ) -> int:
            true, _ = GroundLiterals(action, row).holding(literals)
            return sum(grounding.reachable[fact] for fact in true if fact in changing)

        rows = set(facts.where(action, literals))
        found = facts.nearest(action, literals, grounding.reachable, 3)
        assert len(found) == min(3, len(rows))
        assert set(found) <= rows
        assert sorted(map(away, found)) == sorted(map(away, rows))[:3]
