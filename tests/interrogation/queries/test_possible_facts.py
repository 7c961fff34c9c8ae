"""Tables of possible facts agree with the exclusions, looked up for one binding after the other."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, GroundLiterals, Hypotheses
from aam_vision.interrogation.queries import possible_facts
from aam_vision.interrogation.queries.possible_facts import PossibleFacts
from aam_vision.model.strips import Atom
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


def _asked(
    domain: Domain, positive: int, negative: int, max_literals: int, *, requiring: bool = False
) -> Iterator[tuple[ActionHypotheses, Literals, PossibleFacts, Grounding, Mutexes, list[frozenset[Atom]]]]:
    """For every action some literals, and what is possible beside what always holds, if that is asked for."""
    model, start = domain.model, domain.problems[0]
    operators = [domains.lifted_operator(schema) for schema in model.actions]
    grounding = ground(operators, start.true, start.objects)
    possible = [PossibleOperator(o.positive, o.negative, o.add, o.delete) for o in grounding.operators]
    mutexes = Mutexes(possible, [(start.true, frozenset())], max_literals)
    one_of = always_one_of(operators, mutexes.facts, [start.true]) if requiring else []
    facts = PossibleFacts(start.objects, grounding, mutexes)
    facts = facts.requiring(one_of) if requiring else facts
    for action in Hypotheses(model.vocabulary, model.headers).actions.values():
        everything = action.index.everything
        literals = Literals(positive & everything, negative & everything & ~positive)
        yield action, literals, facts, grounding, mutexes, one_of


@thorough(80)
@questions
def test_literals_hold_where_some_arguments_allow_them(
    domain: Domain, positive: int, negative: int, max_literals: int
) -> None:
    """Of things with one representative, exclusions alone know less."""
    states = domains.reachable(domain.model, domain.problems, limit=100)
    for action, literals, facts, grounding, mutexes, _ in _asked(domain, positive, negative, max_literals):
        rows = domains.all_bindings(action.index.header, domain.problems[0].objects)
        true = {row: GroundLiterals(action, row).holding(literals) for row in rows}
        found = set(facts.where(action, literals))
        expected = {row for row in rows if mutexes.possible(*true[row])}
        assert found == expected if max_literals else found <= expected
        for row, (holds, fails) in true.items():
            if any({*holds} <= state.true and not {*fails} & state.true for state in states or ()):
                assert row in found
        assert list(facts.among(action, literals, rows)) == [row for row in rows if row in found]
        assert facts.somewhere(action, literals) == bool(found)
        # no others need fewer rounds of the relaxation for their facts
        changing = {fact for operator in grounding.operators for fact in operator.add | operator.delete}
        away = {
            row: sum(grounding.reachable[fact] for fact in true[row][0] if fact in changing) for row in found
        }
        nearest = facts.nearest(action, literals, grounding.reachable, 3)
        assert set(nearest) <= found
        assert sorted(away[row] for row in nearest) == sorted(away.values())[:3]


@thorough(80)
@questions
def test_one_fact_of_an_invariant_must_be_possible_too(
    domain: Domain, positive: int, negative: int, max_literals: int
) -> None:
    """Where a literal excludes one of these facts; what holds in a reachable state is never ruled out."""
    states = domains.reachable(domain.model, domain.problems, limit=100)
    asked = _asked(domain, positive, negative, max_literals, requiring=True)
    for action, literals, facts, _, mutexes, one_of in asked:
        expected, reached = set(), set()
        for row in domains.all_bindings(action.index.header, domain.problems[0].objects):
            true, false = map(frozenset, GroundLiterals(action, row).holding(literals))
            needed = [group for group in one_of if group & false]
            if mutexes.possible(true, false) and all(
                any(mutexes.possible(true | {fact}, false) for fact in group - false) for group in needed
            ):
                expected.add(row)
            if any(true <= state.true and not false & state.true for state in states or ()):
                reached.add(row)
        assert reached <= expected
        found = set(facts.where(action, literals))
        assert found == expected if max_literals else reached <= found <= expected
        others = list(Literals(*[action.index.everything] * 2).singles())
        together = [facts.somewhere(action, union([literals, other])) for other in others]
        for at_once in (1, possible_facts.TOGETHER):
            with mock.patch.object(possible_facts, "TOGETHER", at_once):
                assert facts.beside(action, literals, others) == together
