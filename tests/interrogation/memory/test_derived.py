"""Agents whose steps depend on objects that they do not name, or on how many facts there are, are learned with derived predicates."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.result import Options
from aam_vision.interrogation.going_on import go_further
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.memory.derived import Counted, DerivingAgent, with_derived
from aam_vision.interrogation.memory.diagnosed import Way
from aam_vision.interrogation.memory.divided import Division, Divisions, read_divisions
from aam_vision.interrogation.memory.histories import RecordingAgent
from aam_vision.interrogation.task.budget import Budget
from aam_vision.model.derived import AtLeast
from aam_vision.model.query import Access, Query
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    GroundAction,
    LiftedAtom,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from experiments.faults.registry import faulty_agent
from experiments.faults.world import FaultyAgent
from experiments.trust_runs import interrogated, unpredicted
from tests.domains import derived, domains
from tests.profiles import first, thorough


@pytest.mark.parametrize(
    ("family", "access", "seed"),
    first(
        4,
        [
            ("refused for another object", Access.SNAPSHOT, 979002),
            ("refused for a count", Access.SETTABLE, 979000),
            ("effect depends on another object", Access.RESET, 979003),
            ("refused for another object", Access.RESET, 983000),
            *product(
                ["refused for another object", "refused for a count", "effect depends on another object"],
                [Access.TRAJECTORY],
                [2],
            ),
        ],
    ),
)
def test_what_depends_on_objects_that_no_step_names_is_learned(
    family: str, access: Access, seed: int
) -> None:
    agent = faulty_agent(family, access, seed)
    assert isinstance(agent, FaultyAgent)
    told, _ = interrogated(agent, seed, 60)
    further = go_further(agent, told, seed, Options(0.1, max_steps=3000), Budget(steps=3000), 60)
    assert further.way is Way.CASES
    assert further.found is not None
    missed = unpredicted(further.found, agent, np.random.default_rng(seed), None, further.divisions)
    assert missed == 0
    assert further.found.complete, further.found.missing
    assert further.divisions is not None
    for one in further.divisions.derived:
        assert f"{one}." in further.found.invented
        assert f"(:derived ({one.predicate.name}" in further.found.pddl


@thorough(60)
@given(st.data())
def test_an_agent_shows_what_follows_and_is_given_what_it_knows(data: st.DataObject) -> None:
    domain = data.draw(domains(max_problems=1))
    some = (data.draw(derived(domain.model.vocabulary)),)
    access = data.draw(st.sampled_from([Access.SETTABLE, Access.RESET]))
    plain = SymbolicAgent(domain.model, domain.problems, access)
    agent, rng = DerivingAgent(plain, some), np.random.default_rng(0)
    assert agent.access is (Access.SNAPSHOT if access.constructs else access)
    (begun,) = agent.initial()
    assert begun.state == domain.problems[0].completed(some)
    recorded = RecordingAgent(plain, interrogated(plain, 0, 0)[0].transcript.of([]))
    seen = DerivingAgent(recorded, some)
    steps = seen.walk(begun, 3, rng)
    for one in steps:
        assert one.after.state == one.after.state.plain(some).completed(some)
    plan = tuple(one.action for one in steps)
    assert seen.ask(Query(begun, plan)).final.state == (steps[-1].after if steps else begun).state
    told = with_derived(recorded.transcript, some)
    assert told.vocabulary == seen.vocabulary
    assert [entry.actions for entry in told.entries] == [plan, plan] if plan else True


ROOMS = Vocabulary("rooms", (Predicate("at", ("ball", "room")),), Types({"ball": "object", "room": "object"}))
PUT = ActionHeader("put", ("what", "where"), ("ball", "room"))
OBJECTS = Objects({"a": "ball", "b": "ball", "c": "ball", "hall": "room", "yard": "room"}, ROOMS.types)
FULL = AtLeast(ROOMS.predicates[0], (1,), 2)


def state(*held: tuple[str, str]) -> State:
    """Where these balls are in these rooms."""
    return State(frozenset(Atom("at", one) for one in held), OBJECTS)


def test_what_follows_is_no_effect_and_only_what_an_action_may_require_is_a_precondition() -> None:
    vocabulary = ROOMS.with_derived([FULL])
    atom = LiftedAtom(FULL.predicate.name, (1,))
    for over in ((), (atom,)):
        header = ActionHeader("put", PUT.parameters, PUT.types, over=over)
        action = Hypotheses(vocabulary, [header])["put"]
        bit = action.index.bit[atom]
        before, after = state(("b", "hall")), state(("a", "hall"), ("b", "hall"))
        values = [
            action.index.values(one.completed(vocabulary.derived), ("a", "hall")) for one in (before, after)
        ]
        action.succeeded(*values[0])
        assert action.changed(*values)
        assert not action.undecided_effects & bit
        assert atom not in action.schema().add | action.schema().delete
        assert bool((action.positive | action.negative) & bit) is bool(over)
        assert action.index.facts(action.after(*values[0], ("a", "hall"))[1], ("a", "hall")) >= {
            Atom(FULL.predicate.name, ("hall",))
        }


def test_what_may_be_counted_is_counted_with_and_without_the_objects_of_the_step() -> None:
    begun = [
        (one, ("a", "hall"))
        for one in (
            state(),
            state(("b", "hall")),
            state(("b", "yard")),
            state(("a", "hall")),
            state(("a", "hall"), ("c", "hall")),
        )
    ]
    counted = Counted(ROOMS, PUT)
    found = {str(one.derived): counted.values(one, begun) for one in counted.literals(begun)}
    assert found["at-least-2-at-any-x(?x1) says that at least 2 facts at(_, ?x1) hold"] == [
        False,
        False,
        False,
        False,
        True,
    ]
    other = (
        "some-at-any-x-apart-from-ball(?x1, ?x2) says that some fact at(_, ?x1) holds apart from those of ?x2"
    )
    assert found[other] == [False, True, False, False, True]
    apart = "some-at-apart-from-ball-room(?x1, ?x2) says that some fact at(_, _) holds apart from those of ?x1, ?x2"
    assert found[apart] == [False, False, True, False, False]


def test_what_is_counted_of_a_constant_and_what_is_not_known() -> None:
    hidden = Atom("at", ("c", "hall"))
    begun = [
        (State(one.true, OBJECTS, frozenset({hidden})), ("a", "yard"))
        for one in (state(), state(("b", "hall")), state(("b", "yard")))
    ]
    counted = Counted(replace(ROOMS, constants={"hall": "room"}), PUT)
    found = {
        (one.derived.predicate.name, one.atom.arguments): counted.values(one, begun)
        for one in counted.literals(begun)
    }
    assert found["some-at-any-x", ("hall",)] == [None, True, None]
    assert found["some-at-any-x", (1,)] == [False, False, True]
    assert found["some-at", ()] == [None, True, True]
    assert not [name for name, _ in found if name.startswith("at-least-2")], "nowhere are two sure to be"


@pytest.mark.parametrize(
    ("conditions", "over"),
    [(((LiftedAtom(FULL.predicate.name, (1,)), True),), ()), ((), (LiftedAtom(FULL.predicate.name, (1,)),))],
)
def test_they_are_read_as_they_were_written(
    conditions: tuple[tuple[LiftedAtom, bool], ...], over: tuple[LiftedAtom, ...]
) -> None:
    told = Divisions([Division(PUT, conditions, over, (FULL,))])
    read = read_divisions(told.json(), ROOMS, [PUT])
    assert (read.derived, read.headers([PUT])) == (told.derived, told.headers([PUT]))
    assert read.told() == told.told()
    step = GroundAction("put", ("a", "hall"))
    for one in (state(), state(("b", "hall"), ("c", "hall"))):
        here = one.completed(told.derived)
        assert told.as_given(read.as_modelled(step, here) or step) == step
