"""Of every invariant at least one fact is true in every reachable state."""

from __future__ import annotations

from hypothesis import assume, given

from aam_vision.model import domains as packaged
from aam_vision.model.strips import ActionHeader, Atom, LiftedAtom
from aam_vision.planning.grounding import LiftedOperator
from aam_vision.planning.mutexes import always_one_of
from aam_vision.run import targets
from tests import domains
from tests.domains import Domain
from tests.profiles import promised


@promised(200)
@given(domains.domains(constants=True, alike=True))
def test_one_of_them_is_true_in_every_reachable_state(domain: Domain) -> None:
    states = domains.reachable(domain.model, domain.problems, limit=150)
    assume(states is not None)
    facts = domains.ground_atoms(domain.model.vocabulary, domain.problems[0].objects)
    operators = [domains.lifted_operator(schema) for schema in domain.model.actions]
    starts = [state.true for state in domain.problems]
    for group in always_one_of(operators, facts, starts):
        assert all(group & state.true for state in states or ())


def test_the_invariants_of_blocks() -> None:
    """The hand is empty or holds a block; a block is held, on the table, or on another one."""
    model = packaged.load("blocksworld")
    start = targets.from_environment("blocksworld").agent.initial()[0].state
    operators = [domains.lifted_operator(schema) for schema in model.actions]
    atoms = domains.ground_atoms(model.vocabulary, start.objects)
    facts = [atom for atom in atoms if len(set(atom.objects)) == len(atom.objects)]
    found = always_one_of(operators, facts, [start.true])
    blocks = list(start.objects)
    for block in blocks:
        others = [other for other in blocks if other != block]
        under = {Atom("on", (block, other)) for other in others}
        assert {Atom("holding", (block,)), Atom("ontable", (block,)), *under} in found
        over = {Atom("on", (other, block)) for other in others}
        assert {Atom("holding", (block,)), Atom("clear", (block,)), *over} in found
    assert {Atom("handempty", ()), *(Atom("holding", (block,)) for block in blocks)} in found


def test_a_constant_may_be_the_object_that_a_parameter_stands_for() -> None:
    """The step keeps the key of its parameter, which may be the one that it deletes."""
    key, given_key = LiftedAtom("has", ("k",)), LiftedAtom("has", (0,))
    step = LiftedOperator(ActionHeader("drop", ("x",), ("object",)), positive=(given_key,), delete=(key,))
    facts = [Atom("has", ("k",)), Atom("has", ("m",))]
    starts = [frozenset(facts)]
    assert always_one_of([step], facts, starts) == []
    other = step._replace(positive=(LiftedAtom("has", ("m",)),))
    assert always_one_of([other], facts, starts) == [frozenset(facts)], (
        "different constants are different objects"
    )
