"""Tables of possible facts agree with the exclusions, looked up for one binding after the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.hypotheses.ground_literals import GroundLiterals
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.queries.possible_facts import PossibleFacts
from aam_vision.planning.grounding import ground
from aam_vision.planning.interchangeable import PossibleOperator
from aam_vision.planning.mutexes import Mutexes
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


@thorough(80)
@given(
    domains.domains(constants=True, max_problems=1),
    st.integers(0, 2**40),
    st.integers(0, 2**40),
    st.sampled_from([0, 10**6]),
)
def test_literals_hold_somewhere_exactly_if_some_arguments_allow_them(
    domain: Domain, positive: int, negative: int, max_literals: int
) -> None:
    model, start = domain.model, domain.problems[0]
    grounding = ground([domains.lifted_operator(s) for s in model.actions], start.true, start.objects)
    possible = [PossibleOperator(o.positive, o.negative, o.add, o.delete) for o in grounding.operators]
    mutexes = Mutexes(possible, [(start.true, frozenset())], max_literals)
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
        assert facts.somewhere(action, literals) == bool(expected)
