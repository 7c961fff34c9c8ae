"""Actions that are several in the model: which literals tell them apart is found, and the agent is asked and learned as one with all of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import Malformed
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.result import Options
from aam_vision.interrogation.going_on import attempts as ways
from aam_vision.interrogation.going_on import go_further
from aam_vision.interrogation.memory.constants import as_constants
from aam_vision.interrogation.memory.constants import told as told_constants
from aam_vision.interrogation.memory.diagnosed import Further, Way
from aam_vision.interrogation.memory.divided import (
    DividedAgent,
    Division,
    Divisions,
    can_divide,
    divided,
    dividing,
    read_divisions,
)
from aam_vision.interrogation.memory.histories import BEGINNING, Attempt
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verification import verify
from aam_vision.model.query import Access, Query, Response, Situation
from aam_vision.model.strips import (
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
)
from experiments.faults.registry import faulty_agent
from experiments.faults.world import FaultyAgent
from experiments.trust_runs import interrogated, unpredicted
from tests.profiles import first, promised, thorough

ACCESSES = [Access.SETTABLE, Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY]
ONE_OF_TWO, OWN_ATOM = "refused unless one of two", "effect depends on own atom"
LAMP, LAMPS = "lamp of one action", "two lamps"
NAMES = ("red", "blue", "open", "dry")
VOCABULARY = Vocabulary("keys", tuple(Predicate(name, ("object",)) for name in NAMES), Types({}))
HEADER = ActionHeader("use", ("x",), ("object",))
STEP = GroundAction("use", ("key",))
OBJECTS = Objects({"key": "object"}, Types({}))


def went_on(family: str, access: Access, seed: int) -> tuple[FaultyAgent, Result, Further]:
    """An agent of a family of faults, its diagnosis, and what became of it."""
    agent = faulty_agent(family, access, seed)
    assert isinstance(agent, FaultyAgent)
    told, _ = interrogated(agent, seed, 60)
    return agent, told, go_further(agent, told, seed, Options(0.1, max_steps=3000), Budget(steps=3000), 60)


@pytest.mark.parametrize(
    ("family", "access", "seed"),
    [
        *first(2, product([ONE_OF_TWO], ACCESSES[::-1], [970000])),
        *first(1, product([OWN_ATOM], ACCESSES, [970000])),
        *first(1, product([LAMP], ACCESSES[::-1], [970000])),
        *first(2, product([LAMPS], ACCESSES, [970000])),
    ],
)
def test_what_the_learned_actions_say_is_what_the_agent_does(family: str, access: Access, seed: int) -> None:
    agent, told, further = went_on(family, access, seed)
    found, divisions = further.found, further.divisions
    assert found is not None
    assert divisions is not None
    assert found.complete, found.missing
    beside = f"{as_constants(further.constants)} and " if further.constants else ""
    assert found.why.startswith(f"deterministic, with {beside}several actions for ")
    assert told.diagnosis.why.split(":")[0] in divisions.by_action
    constants = f"{told_constants(further.constants)} " if further.constants else ""
    assert found.invented == f"{constants}{divisions.told()}"
    assert found.diagnosis == told.diagnosis
    assert unpredicted(found, agent, np.random.default_rng(seed), divisions=divisions) == 0
    assert verify(found.transcript, found).holds
    for division in divisions.by_action.values():
        for header in division.headers:
            action = found.hypotheses[header.name]
            assert action.found_required.size() == action.proven.size() - len(header.given)
    shown = divided(told.transcript, divisions)
    known = found.transcript.entries[: len(shown.entries)]
    assert [str(one) for one in known] == [str(one) for one in shown.entries], "nothing is asked twice"


def test_a_random_or_honest_agent_is_not_divided() -> None:
    told, _ = interrogated(faulty_agent("random outcome", Access.SNAPSHOT, 0), 0, 60)
    assert told.not_strips
    assert not can_divide(told)


class Rule(NamedTuple):
    """When an action is executed: in the first of these cases whose atom holds, or else in the last one, if its literals hold."""

    conditions: tuple[str, ...]
    needs: tuple[tuple[tuple[str, bool], ...], ...]

    def executes(self, held: frozenset[str]) -> bool:
        """Whether it is executed where these atoms hold."""
        case = next((n for n, one in enumerate(self.conditions) if one in held), len(self.conditions))
        return all((name in held) is value for name, value in self.needs[case])


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    """Rules with one to three conditions."""
    conditions = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    others = [name for name in NAMES if name not in conditions]
    literals = st.lists(
        st.tuples(st.sampled_from(others), st.booleans()), max_size=2, unique_by=lambda one: one[0]
    )
    return Rule(tuple(conditions), tuple(tuple(draw(literals)) for _ in range(len(conditions) + 1)))


def state_of(held: frozenset[str]) -> State:
    """The state in which these are true of the key."""
    return State(frozenset(Atom(name, ("key",)) for name in held), OBJECTS)


EVERYWHERE = [
    frozenset(name for name, value in zip(NAMES, values, strict=True) if value)
    for values in product((False, True), repeat=len(NAMES))
]


def attempts(rule: Rule) -> list[Attempt]:
    """The step in every state, as a rule says; it dries the key."""
    return [
        Attempt(BEGINNING, STEP, done, state_of(held), state_of(held | {"dry"} if done else held))
        for held in EVERYWHERE
        for done in [rule.executes(held)]
    ]


def is_strips(seen: Sequence[Attempt]) -> bool:
    """Whether one conjunction of literals says which of these steps are executed."""
    done = [one.before.true for one in seen if one.executed]
    everything = state_of(frozenset(NAMES)).true
    needs, some = everything.intersection(*done), frozenset[Atom]().union(*done)
    return all(one.executed is (needs <= one.before.true <= some) for one in seen)


@promised(200)
@given(rules())
def test_a_rule_of_cases_is_found_again(rule: Rule) -> None:
    seen = attempts(rule)
    found = dividing(VOCABULARY, [HEADER], seen)
    assert (found is None) is is_strips(seen)
    assert found is None or len(found.by_action["use"].conditions) <= len(rule.conditions)
    for name in found.headers([HEADER]) if found else ():
        own = [one for one in seen if found.as_modelled(STEP, one.before).name == name.name]
        assert any(one.executed for one in own)
        assert is_strips(own)


def test_an_action_whose_parts_would_have_names_that_are_taken_is_not_divided() -> None:
    seen = attempts(Rule(("red",), ((), (("blue", True),))))
    assert dividing(VOCABULARY, [HEADER], seen) is not None
    assert dividing(VOCABULARY, [HEADER, replace(HEADER, name="use-otherwise")], seen) is None


@given(rules(), st.tuples(st.booleans(), st.booleans()))
@thorough(60)
def test_divisions_are_read_as_they_were_written(rule: Rule, values: tuple[bool, bool]) -> None:
    atoms = tuple(
        (LiftedAtom(name, (0,)), value) for name, value in zip(rule.conditions, values, strict=False)
    )
    told = Divisions([Division(HEADER, atoms)])
    read = read_divisions(told.json(), VOCABULARY, [HEADER])
    assert (read.json(), read.headers([HEADER])) == (told.json(), told.headers([HEADER]))
    for held in EVERYWHERE:
        modelled = told.as_modelled(STEP, state_of(held))
        assert told.as_given(modelled) == STEP
        (own,) = [one for one in read.headers([HEADER]) if one.name == modelled.name]
        assert all(state_of(held).value(atom.ground(STEP.objects)) is value for atom, value in own.given)


@pytest.mark.parametrize(
    "told",
    [
        [{"action": "lose", "conditions": ["red(?x)"]}],
        [{"action": "use", "conditions": []}],
        [{"action": "use", "conditions": ["red(?x)", "blue(?x)", "open(?x)", "dry(?x)"]}],
        [{"action": "use", "conditions": ["green(?x)"]}],
        [{"action": "use", "conditions": [["red(?x)"]]}],
        [{"action": "use", "conditions": "red(?x)"}],
        [{"action": "use"}],
        ["use"],
    ],
)
def test_what_are_no_divisions_is_refused(told: Any) -> None:
    with pytest.raises(Malformed):
        read_divisions(told, VOCABULARY, [HEADER])


@given(st.integers(0, 2**31), st.sampled_from(ACCESSES[:3]))
@thorough(60)
def test_a_plan_goes_as_far_as_its_steps_are_the_ones_that_are_meant(seed: int, access: Access) -> None:
    rng, dry, red = np.random.default_rng(seed), LiftedAtom("dry", (0,)), LiftedAtom("red", (0,))
    paint = replace(HEADER, name="paint")
    effects = {HEADER: (frozenset({dry}), frozenset({red})), paint: (frozenset({red}), frozenset({dry}))}
    needs = {HEADER: frozenset[LiftedAtom](), paint: frozenset({LiftedAtom("blue", (0,))})}
    schemas = [ActionSchema(one, needs[one], add=add, delete=gone) for one, (add, gone) in effects.items()]
    model, state = Model(VOCABULARY, tuple(schemas)), state_of(EVERYWHERE[int(rng.integers(len(EVERYWHERE)))])
    agent = SymbolicAgent(model, [state], access)
    conditions = (red, bool(rng.integers(2))), (LiftedAtom("open", (0,)), True)
    divisions = Divisions([Division(HEADER, conditions)])
    names = [header.name for header in divisions.headers(agent.headers)]
    plan = tuple(GroundAction(names[int(rng.integers(len(names)))], ("key",)) for _ in range(6))
    response = DividedAgent(agent, divisions).ask(Query(agent.initial()[0], plan))
    executed = 0
    while executed < len(plan):
        meant = divisions.as_given(plan[executed])
        if divisions.as_modelled(meant, state) != plan[executed]:
            break
        if not model.schema(meant.name).applicable(state, ("key",)):
            break
        state, executed = model.schema(meant.name).successor(state, ("key",)), executed + 1
    assert (response.executed, response.final.state, response.told) == (executed, state, None)


def test_of_a_step_whose_condition_is_not_seen_nothing_is_told() -> None:
    use = ActionSchema(HEADER, positive=frozenset(), add=frozenset(), delete=frozenset())
    agent = SymbolicAgent(Model(VOCABULARY, (use,)), [state_of(frozenset())], Access.SETTABLE)
    divisions = Divisions([Division(HEADER, ((LiftedAtom("red", (0,)), True),))])
    hidden = State(frozenset(), OBJECTS, frozenset({Atom("red", ("key",))}))
    response = DividedAgent(agent, divisions).ask(
        Query(Situation(hidden, hidden), (GroundAction("use-otherwise", ("key",)),))
    )
    assert (response.executed, response.told) == (0, 0)


class Unsure(AgentDecorator):
    """An agent that says of no second step whether it was executed."""

    def ask(self, query: Query) -> Response:
        return Response(0, query.initial, 0) if query.goes_on else self.agent.ask(query)


def test_a_plan_is_told_as_far_as_its_steps_are() -> None:
    model = Model(VOCABULARY, (ActionSchema(HEADER),))
    agent = Unsure(SymbolicAgent(model, [state_of(frozenset())], Access.SETTABLE))
    divisions = Divisions([Division(HEADER, ((LiftedAtom("red", (0,)), True),))])
    plan = (GroundAction("use-otherwise", ("key",)),) * 3
    response = DividedAgent(agent, divisions).ask(Query(agent.initial()[0], plan))
    assert (response.executed, response.told) == (1, 1)


def test_where_no_literal_divides_what_was_seen_the_run_goes_on_otherwise() -> None:
    agent, told, further = went_on("effect elsewhere", Access.SNAPSHOT, 0)
    assert told.not_strips
    assert Way.CASES not in [one.way for one in ways(agent, told)]
    assert further.divisions is None
