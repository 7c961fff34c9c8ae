"""Plans with derived predicates: there is one exactly if the states that the model leads to say so."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.derived import AtLeast
from aam_vision.model.pddl import Problem
from aam_vision.model.strips import (
    ROOT_TYPE,
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
    lifted_atoms,
)
from aam_vision.planning import counting
from aam_vision.planning.grounding import TooManyOperators
from aam_vision.planning.planner import Found, Limits, planned
from aam_vision.planning.pyperplan import PyperplanPlanner
from tests.domains import all_bindings, derived, domains
from tests.profiles import thorough

LIMITS = Limits(seconds=60, states=50_000)
MOST = 300


@st.composite
def problems(draw: st.DrawFn) -> tuple[Model, Problem]:
    """A model in which some action depends on a derived predicate, and a goal."""
    domain = draw(domains(max_problems=1))
    one = draw(derived(domain.model.vocabulary))
    vocabulary = domain.model.vocabulary.with_derived([one])
    actions = []
    for schema in domain.model.actions:
        own = [
            atom for atom in lifted_atoms(vocabulary, schema.header) if atom.predicate == one.predicate.name
        ]
        needed: frozenset[LiftedAtom] = frozenset(
            draw(st.lists(st.sampled_from(own), max_size=1)) if own else ()
        )
        sign = draw(st.booleans())
        positive, negative = (
            (schema.positive | needed, schema.negative)
            if sign
            else (
                schema.positive,
                schema.negative | needed,
            )
        )
        actions.append(replace(schema, positive=positive, negative=negative, derived=vocabulary.derived))
    initial = domain.problems[0].completed(vocabulary.derived)
    facts = sorted(initial.freed(vocabulary.derived).unknown)
    facts += sorted(initial.true)
    goal = frozenset(draw(st.lists(st.sampled_from(facts), max_size=2))) if facts else frozenset()
    return Model(vocabulary, tuple(actions)), Problem("goal", initial, goal, frozenset())


def reachable(model: Model, problem: Problem) -> bool | None:
    """Whether the goal can be reached; None if there are too many states."""
    waiting, seen = deque([problem.initial]), {problem.initial}
    while waiting:
        state: State = waiting.popleft()
        if problem.goal <= state.true:
            return True
        for schema in model.actions:
            for objects in all_bindings(schema.header, state.objects):
                if schema.applicable(state, objects):
                    after = schema.successor(state, objects)
                    if after not in seen:
                        seen.add(after)
                        waiting.append(after)
        if len(seen) > MOST:
            return None
    return False


@thorough(150)
@given(problems())
def test_a_plan_is_found_exactly_if_there_is_one(case: tuple[Model, Problem]) -> None:
    model, problem = case
    there = reachable(model, problem)
    if there is None:
        return
    try:
        found = planned(model, problem, PyperplanPlanner(), LIMITS)
    except TooManyOperators:
        return  # many counts change at a time
    assert isinstance(found, Found) is there
    if isinstance(found, Found):
        executed, final = model.run(problem.initial, found.plan)
        assert executed == len(found.plan)
        assert problem.goal <= final.true


def test_too_many_numbers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "LIMIT", 3)
    operator = counting.Operator(GroundAction("a", ()), *[frozenset[tuple[str, tuple[str, ...]]]()] * 4)
    with pytest.raises(TooManyOperators, match="more than 3 operators that know how many facts hold"):
        counting.Counting([]).counted([operator] * 4)


ROOMS = Vocabulary(
    "rooms",
    (
        Predicate("robot-in", ("room",)),
        Predicate("lies-in", ("ball", "room")),
        Predicate("holds", ("ball",)),
        Predicate("free"),
    ),
    Types({"ball": ROOT_TYPE, "room": ROOT_TYPE}),
).with_derived([AtLeast(Predicate("lies-in", ("ball", "room")), (1,), 2)])
FULL, HERE, LIES, HOLDS, FREE = (
    LiftedAtom("at-least-2-lies-in-any-x", (1,)),
    LiftedAtom("robot-in", (1,)),
    LiftedAtom("lies-in", (0, 1)),
    LiftedAtom("holds", (0,)),
    LiftedAtom("free", ()),
)
CARRIER = Model(
    ROOMS,
    tuple(
        replace(schema, derived=ROOMS.derived)
        for schema in (
            ActionSchema(
                ActionHeader("go", ("from", "to"), ("room", "room")),
                positive=frozenset({LiftedAtom("robot-in", (0,))}),
                add=frozenset({HERE}),
                delete=frozenset({LiftedAtom("robot-in", (0,))}),
            ),
            ActionSchema(
                ActionHeader("take", ("what", "where"), ("ball", "room")),
                positive=frozenset({HERE, LIES, FREE}),
                add=frozenset({HOLDS}),
                delete=frozenset({LIES, FREE}),
            ),
            ActionSchema(
                ActionHeader("put", ("what", "where"), ("ball", "room")),
                positive=frozenset({HERE, HOLDS}),
                negative=frozenset({FULL}),
                add=frozenset({LIES, FREE}),
                delete=frozenset({HOLDS}),
            ),
        )
    ),
)
"""A robot that carries one ball at a time, in rooms with place for two."""
BALLS, PLACES = ("red", "blue", "green", "white"), ("kitchen", "hall", "garden")
THINGS = Objects({**dict.fromkeys(BALLS, "ball"), **dict.fromkeys(PLACES, "room")}, ROOMS.types)


def lying(*where: tuple[str, str], unknown: Sequence[tuple[str, str]] = ()) -> State:
    """The robot in the hall with free hands, and balls in rooms."""
    true = {Atom("robot-in", ("hall",)), Atom("free", ()), *(Atom("lies-in", one) for one in where)}
    hidden = frozenset(Atom("lies-in", one) for one in unknown)
    return State(frozenset(true), THINGS, hidden).completed(ROOMS.derived)


FOUR = (("red", "kitchen"), ("blue", "hall"), ("green", "hall"), ("white", "garden"))


@pytest.mark.parametrize(
    ("initial", "goal", "steps"),
    [
        (lying(*FOUR), [("red", "garden")], 4),
        (lying(*FOUR), [("white", "hall"), ("red", "garden")], 9),
        (lying(*FOUR), [("white", "garden"), ("red", "garden"), ("blue", "garden")], None),
        # the room may be full already; of a room whose count does not change that does not matter
        (lying(*FOUR[:2], FOUR[3], unknown=[("green", "garden")]), [("red", "garden")], None),
        (lying(*FOUR[:2], FOUR[3], unknown=[("green", "hall")]), [("red", "garden")], 4),
        (lying(*FOUR[:2], FOUR[3], unknown=[("green", "hall")]), [("blue", "garden")], None),
    ],
)
def test_room_is_made_where_there_is_none(
    initial: State, goal: Sequence[tuple[str, str]], steps: int | None
) -> None:
    wanted = frozenset(Atom("lies-in", one) for one in goal)
    found = planned(CARRIER, Problem("goal", initial, wanted, frozenset()), PyperplanPlanner(), LIMITS)
    assert isinstance(found, Found) is (steps is not None)
    if isinstance(found, Found):
        assert len(found.plan) == steps
        executed, final = CARRIER.run(initial, found.plan)
        assert executed == steps
        assert wanted <= final.true
