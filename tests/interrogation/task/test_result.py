"""A result accounts for every pal tuple: decided, or listed as undetermined; and its bound is one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.task.result import check_prior, differences, lifted_predicates
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    LiftedAtom,
    Location,
    Mode,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
    lifted_atoms,
)
from aam_vision.support.errors import UnusableInput
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import run, updated
from tests.profiles import thorough


@thorough(50)
@given(domains.domains())
def test_every_pal_tuple_is_decided_or_listed(domain: Domain) -> None:
    result = run(domain)
    listed = {(u.action, u.location): "" for u in result.undetermined}
    for entry in result.undetermined:
        assert entry.group
        assert entry.known
        listed[entry.action, entry.location] += " ".join(entry.group) + " "
    open_tuples = 0
    for name, action in result.hypotheses.actions.items():
        names = action.index.header.parameters
        undecided = {
            "pre": action.undecided.positive | action.undecided.negative,
            "eff": action.undecided_effects,
        }
        for location, mask in undecided.items():
            words = listed.get((name, location), "")
            for atom, bit in action.index.bit.items():
                assert (atom.text(names) in words) is bool(mask & bit)
                open_tuples += bool(mask & bit)
    assert result.hypotheses.decided() + open_tuples == result.hypotheses.size
    assert bool(result.undetermined) is bool(open_tuples)


@thorough(50)
@given(domains.domains())
def test_the_lower_bound_is_never_above_what_was_asked_nor_above_what_is_required(domain: Domain) -> None:
    result = run(domain)
    assert result.lower_bound <= result.counts.queries
    assert result.lower_bound <= result.counts.failed_steps
    required = sum(len(schema.positive) + len(schema.negative) for schema in domain.model.actions)
    assert result.lower_bound <= required


@thorough(50)
@given(domains.domains())
def test_the_model_is_cautious(domain: Domain) -> None:
    """Positive preconditions are all that may be; negative ones and effects only those that must be."""
    result = run(domain)
    for pal in result.hypotheses.pal_tuples():
        possible = result.hypotheses.modes(pal)
        mode = result.model.schema(pal.action).mode(pal.atom, pal.location)
        assert mode in possible
        if pal.location is Location.PRE and Mode.POSITIVE in possible:
            assert mode is Mode.POSITIVE
        elif pal.location is Location.EFF and len(possible) > 1:
            assert mode is Mode.ABSENT


def test_lifted_predicates_are_counted_by_the_types_of_their_parameters() -> None:
    """at(?thing1, ?place1) of one action and of another are one element of P*."""
    vocabulary = Vocabulary(
        "toy", (Predicate("at", ("thing", "place")),), Types({"thing": "object", "place": "object"})
    )
    leave = ActionHeader("leave", ("t", "p"), ("thing", "place"))
    move = ActionHeader("move", ("who", "from", "to"), ("thing", "place", "place"))
    model = Model(vocabulary, (ActionSchema(leave), ActionSchema(move)))
    assert [len(lifted_atoms(vocabulary, header)) for header in model.headers] == [1, 2]
    assert lifted_predicates(model) == 2


def test_what_was_never_executed_is_said_to_be_unknown() -> None:
    vocabulary = Vocabulary("toy", (Predicate("p"), Predicate("q")))
    never = ActionSchema(ActionHeader("never"), positive=frozenset([LiftedAtom("p", ())]))
    result = run(Domain(Model(vocabulary, (never,)), (State(frozenset(), Objects({}, Types())),)))
    assert {entry.known for entry in result.undetermined} == {
        "never executed: nothing is known",
        "at least one is required",
    }


# The differences between a model and one learned earlier.


@thorough(40)
@given(domains.domains(), st.integers(0, 100))
def test_differences_are_none_only_between_models_that_read_alike(domain: Domain, seed: int) -> None:
    other = updated(domain.model, seed)
    assert not differences(domain.model, domain.model)
    forth, back = differences(domain.model, other), differences(other, domain.model)
    assert [(one.before, one.now) for one in forth] == [(one.now, one.before) for one in back]


@given(domains.domains())
@thorough(20)
def test_a_model_of_another_agent_is_refused(domain: Domain) -> None:
    model = domain.model
    check_prior(model, model.vocabulary, model.headers, "old.pddl")
    fewer = replace(model, actions=model.actions[1:])
    with pytest.raises(UnusableInput, match=r"prior old\.pddl: is a model of another agent"):
        check_prior(fewer, model.vocabulary, model.headers, "old.pddl")
