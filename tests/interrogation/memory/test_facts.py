"""What an agent was asked since it was reset, which invented facts explain it, and how they are told apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers, sets

import aam_vision
from aam_vision.agents.encoding import Malformed
from aam_vision.interrogation.evidence.moves import Asked, Walked
from aam_vision.interrogation.memory.experiments import HISTORIES, QUESTIONS, VersionSpace, Way, telling_apart
from aam_vision.interrogation.memory.explanations import Explanation, Explanations
from aam_vision.interrogation.memory.facts import (
    MOST_NUMBERS,
    Change,
    InventedCounter,
    InventedFact,
    Rows,
    number_of,
    read_fact,
    told,
)
from aam_vision.interrogation.memory.histories import BEGINNING, Attempt, Histories, RecordingAgent, two_ways
from aam_vision.interrogation.task.budget import Budget
from aam_vision.model.query import Access, Query, Situation
from aam_vision.model.strips import Atom, GroundAction, Predicate, State
from experiments.faults.world import FaultyAgent, World
from tests.profiles import crossed

from .planted import histories, planted, planted_agent

RESTARTS = [Access.RESET, Access.SNAPSHOT, Access.SETTABLE]


def questions(agent: FaultyAgent, rng: np.random.Generator, count: int) -> Iterator[Asked | Walked]:
    """Walks and steps from where the access allows, as they come."""
    here, seen = agent.initial()[0], list(agent.initial())
    for _ in range(count):
        start = seen[int(rng.integers(len(seen)))] if agent.access.returns else here
        if not agent.access.returns and rng.random() < 0.2:
            start = seen[0]
        if rng.random() < 0.3:
            steps = tuple(agent.walk(start, 3, rng))
            here = steps[-1].after if steps else here
            yield Walked(steps)
        else:
            option = agent.option(start.state, rng)
            plan = () if option is None else (option, option)
            response = agent.ask(query := Query(start, plan))
            here = response.final
            yield Asked(query, response)
        if agent.access.returns:
            seen.append(here)


@pytest.mark.parametrize("access", RESTARTS)
def test_the_attempts_of_a_history_come_out_again_when_they_are_made_again(access: Access) -> None:
    """Whatever the access leads back to, the attempts before one tell what is hidden there."""
    for seed in range(6):
        agent = planted_agent("fact", access, seed)
        fault, rng = agent.fault, np.random.default_rng(seed)
        initial = agent.initial()
        histories = Histories(access, initial)
        for entry in questions(agent, rng, 30):
            histories.add(entry)
        worlds: list[World] = []
        for one in histories.attempts:
            assert one.parent < len(worlds)
            if one.parent == BEGINNING:
                world = World(one.before, fault.fresh(one.before))
            else:
                world = worlds[one.parent]
            outcome = fault.step(world, one.action, agent.nature)
            assert outcome.executed is one.executed
            assert one.before in (None, world.state)
            assert one.after in (None, outcome.world.state)
            worlds.append(outcome.world)


def test_attempts_count_once_and_are_told_by_what_came_before() -> None:
    agent = planted_agent("fact", Access.SETTABLE, 0)
    start = agent.initial()[0]
    step = agent.option(start.state, np.random.default_rng(0))
    histories = Histories(Access.SETTABLE, [start])
    for plan in ((step,), (step, step), (step,)):
        histories.add(Asked(query := Query(start, plan), agent.ask(query)))
    assert len(histories.attempts) == 2
    agent = planted_agent("fact", Access.RESET, 0)
    state = agent.initial()[0].state
    step, other = GroundAction("a", ()), GroundAction("b", ())
    attempts = [
        Attempt(BEGINNING, step, False, state, None),
        Attempt(BEGINNING, other, True, state, state),
        Attempt(1, step, True, state, state),
    ]
    assert two_ways(attempts) == "a() is executed after b(), and refused at first"
    assert two_ways(attempts[:2]) == ""
    agent = planted_agent("fact", Access.RESET, 0)
    here = agent.initial()[0]
    assert Histories(Access.RESET, [here]).before(Situation("unknown", here.state)) == BEGINNING


SEEDS = range(4)


class Seen:
    """A planted agent, 400 steps of random histories of it, and the smallest explanations of these."""

    def __init__(self, kind: str, seed: int) -> None:
        fault = planted(kind, seed)
        self.fault, self.model, self.attempts = fault, fault.setting.model, list[Attempt]()
        for step in histories(fault, np.random.default_rng(seed), 400):
            parent = BEGINNING if step.first else len(self.attempts) - 1
            after = step.after if step.executed else None
            self.attempts.append(Attempt(parent, step.action, step.executed, step.state, after))

    @cached_property
    def smallest(self) -> list[Explanation]:
        return Explanations(self.model.vocabulary, self.model.headers, self.attempts).smallest()


seen = cache(Seen)


@pytest.mark.parametrize(("kind", "seed"), crossed(["fact", "fact of an object", "case"], SEEDS))
def test_the_smallest_explanation_is_no_larger_than_the_truth_and_explains_all(kind: str, seed: int) -> None:
    one = seen(kind, seed)
    found = one.smallest
    assert found, "the truth explains it"
    sizes = [(isinstance(one.fact, InventedCounter), one.fact.size) for one in found]
    assert sizes == sorted(sizes), "counters come last"
    assert sizes[0][1] <= sum(map(len, one.fault.changes.values()))
    best, rows = found[0], list[Rows]()
    for parent, action, executed, before, after in one.attempts:
        now = Rows() if parent == BEGINNING else rows[parent]
        state = best.fact.added(before, now)
        strictest = best.actions[action.name]
        held, visible = (strictest.index.values(one, action.objects)[0] for one in (state, before))
        assert strictest.held(visible, now, action.objects) == held
        assert strictest.executes(held) is executed
        rows.append(best.fact.after(now, action) if executed else now)
        if after is not None:
            assert best.actions[action.name].after(before, state, action.objects) == after
    for other in found:
        if not isinstance(other.fact, InventedCounter):
            assert read_fact(other.fact.json(), one.model.vocabulary, one.model.headers) == other.fact


def test_an_action_whose_effects_depend_on_the_fact_is_two() -> None:
    one = seen("case", 1)
    best = one.smallest[0]
    ((name, place),) = best.fact.cases
    assert name in one.fault.needs
    assert place is None
    headers = best.fact.headers(one.model.headers)
    named = [header.name for header in headers if name in header.name]
    assert named == [f"{name}-with-memory-1", f"{name}-without-memory-1"]
    step = GroundAction(name, ("x",) * best.actions[name].index.header.arity)
    for rows in (Rows(), Rows({()})):
        modelled = best.fact.as_modelled(step, rows)
        assert modelled.name == f"{name}-{'with' if rows else 'without'}-memory-1"
        assert best.fact.as_given(modelled) == step


def test_plans_that_lead_elsewhere_than_their_steps_are_not_explained() -> None:
    model, known = seen("fact", 0).model, seen("fact", 0).attempts
    one = next(one for one in known if one.executed and one.before != one.after)
    elsewhere = State(one.after.true | {Atom("elsewhere", ())}, one.after.objects)
    first = one._replace(parent=BEGINNING, after=None)  # of the plan only the end is seen
    plan = [first, one._replace(parent=len(known), before=None, after=elsewhere)]
    changed = [*known, *plan]
    assert Explanations(model.vocabulary, model.headers, known).coherent
    assert not Explanations(model.vocabulary, model.headers, changed).coherent
    assert Explanations(model.vocabulary, model.headers, changed).smallest() == []


def test_a_taken_name_is_not_used_and_a_fact_is_told_with_who_changes_it() -> None:
    one = seen("fact", 0)
    predicates = (*one.model.vocabulary.predicates, Predicate("memory-1"))
    vocabulary = replace(one.model.vocabulary, predicates=predicates)
    (best, *_) = Explanations(vocabulary, one.model.headers, one.attempts).smallest()
    assert best.fact.predicate.name == "memory-2"
    undone = InventedFact(Predicate("memory-1"), (Change("undo", None, True),))
    text = told(undone, replace(one.model, vocabulary=vocabulary))
    assert text.startswith("memory-1 is an invented fact: false when a history begins; made true by undo")


UNDO = ["undo", None, True]
FACT = {"name": "memory-1", "type": None, "changes": [UNDO], "cases": []}
OF_OBJECTS = {**FACT, "type": "object", "changes": [["undo", 0, True]]}
NUMBER = {**FACT, "name": "fuel", "first": 2, "cycle": 0, "every": False, "among": [-1, 5]}
WRONG: list[tuple[dict[str, Any], dict[str, list[Any]]]] = [
    (FACT, {"name": ["p0", 3], "type": ["nowhere", 5], "cases": [[["nobody", None]], [["undo", 1]]]}),
    (FACT, {"changes": [None, [["nobody", None, True]], [["undo", 0, True]], [["undo", None, 1]]]}),
    (OF_OBJECTS, {"changes": [[["undo", 99, True]], [["undo", True, True]]]}),
    (NUMBER, {"first": ["3", 9], "cycle": [2, -1], "every": [None], "type": ["object"]}),
    (NUMBER, {"among": [[-1], [-1, True], [-1, 10**30], [4, -1]], "changes": [[["undo", None, 2]]]}),
]


@pytest.mark.parametrize(("right", "wrong"), WRONG)
def test_what_is_no_fact_and_no_number_is_refused(right: dict[str, Any], wrong: dict[str, list[Any]]) -> None:
    model = seen("fact", 0).model
    assert read_fact(right, model.vocabulary, model.headers).json() == right
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(Malformed):
                read_fact({**right, name: value}, model.vocabulary, model.headers)


def test_deletes_come_before_adds_and_a_counter_counts_both_ways() -> None:
    fact = InventedFact(Predicate("memory-1", ("object",)), (Change("a", 1, True), Change("a", 0, False)))
    assert fact.after(frozenset({("x",)}), GroundAction("a", ("x", "y"))) == {("y",)}
    assert fact.after(frozenset({("x",)}), GroundAction("b", ("x", "y"))) == {("x",)}
    changes = (Change("up", None, True), Change("down", None, False))
    counter = InventedCounter(Predicate("memory-1"), changes, first=-1)
    up, down = GroundAction("up", ()), GroundAction("down", ())
    rows, seen = counter.beginning, []
    for step in (up, up, up, down, GroundAction("other", ()), down):
        rows = counter.after(rows, step)
        seen.append(() in rows)
    assert seen == [False, True, True, True, True, False]


def test_an_action_that_brings_a_number_back_is_two() -> None:
    model = seen("fact", 0).model
    down, fill, *_ = (header.name for header in model.headers)
    changes = (Change(down, None, False), Change(fill, None, None))
    counter = InventedCounter(Predicate("memory-1"), changes, first=2)
    fact = counter.in_model(model.vocabulary, model.headers, [0])
    assert read_fact(fact.json(), model.vocabulary, model.headers) == fact
    headers = {header.name: header.parameters[-2:] for header in fact.headers(model.headers)}
    assert headers[fill] == ("number", "then")
    assert headers[f"{fill}-at-first"][-1] == "number"
    step = GroundAction(fill, ("x",) * model.schema(fill).header.arity)
    lower = counter.after(fact.beginning, GroundAction(down, ()))
    for rows, name in ((fact.beginning, f"{fill}-at-first"), (lower, fill)):
        assert fact.as_modelled(step, rows).name == name
        assert fact.as_given(fact.as_modelled(step, rows)) == step
        assert fact.after(rows, step) == fact.beginning
    told = "memory-1 is an invented number: 2 when a history begins; counted down by {}; 2 again after {} (the model speaks of -1 to 3)"
    assert fact.told() == told.format(down, fill)


@pytest.mark.parametrize("cycle", [0, 3])
def test_a_counter_is_a_parameter_of_every_action_in_a_model(cycle: int) -> None:
    """What the agent shows and is given comes back as it was, and only numbers that follow each other are counted."""
    model = seen("fact", 0).model
    before, vocabulary = seen("fact", 0).attempts[0].before, model.vocabulary
    up, other, *_ = (header.name for header in model.headers)
    changes = (Change(up, None, True),)
    counter = InventedCounter(Predicate("memory-1"), changes, first=0 if cycle else -1, cycle=cycle)
    fact = counter.in_model(vocabulary, model.headers, range(200))
    assert len(fact.among) == (cycle or MOST_NUMBERS)
    fewer = counter.in_model(vocabulary, model.headers, fact.among[1:-1])
    assert read_fact(fact.json(), vocabulary, model.headers) == fewer
    headers = {header.name: header for header in fact.headers(model.headers)}
    assert not any("object" in header.types for header in headers.values()), "a number is no other object"
    rows, numbers = fact.beginning, list[int]()
    for name in (up, other, up, up):
        step = GroundAction(name, tuple(list(before.objects)[: model.schema(name).header.arity]))
        modelled, state = fact.as_modelled(step, rows), fact.added(before, rows)
        assert fact.as_given(modelled) == step
        assert fact.without(state) == before
        assert len(modelled.objects) == headers[name].arity
        assert {state.objects[one] for one in modelled.objects[len(step.objects) :]} == {"number"}
        now = Atom("memory-1", (modelled.objects[len(step.objects)],))
        assert [atom for atom in state.true if atom.predicate == "memory-1"] == [now]
        if name == up:
            assert Atom("one-below", modelled.objects[-2:]) in state.true
        rows = fact.after(rows, step)
        numbers.append(number_of(rows))
    assert numbers == ([1, 1, 2, 0] if cycle else [0, 0, 1, 2])
    assert fact.needed == f"above-{0 if cycle else 1}"


@given(first=integers(-60, 60), others=sets(integers(-90, 90), max_size=4))
def test_a_model_speaks_of_the_numbers_that_matter(first: int, others: set[int]) -> None:
    """One that was counted far down keeps the first number, and where it begins to be large enough, as far as there is room."""
    model = seen("fact", 0).model
    changes = (Change(model.headers[0].name, None, True),)
    counter = InventedCounter(Predicate("memory-1"), changes, first=first)
    fact = counter.in_model(model.vocabulary, model.headers, others)
    assert first in fact.among
    assert len(fact.among) <= MOST_NUMBERS
    assert {0, 1} <= {*fact.among} or not -30 < first < 30 or len(fact.among) < MOST_NUMBERS
    assert read_fact(fact.json(), model.vocabulary, model.headers).json() == fact.json()


SEED = 1


@pytest.fixture
def recorded() -> RecordingAgent:
    """An agent that remembers something, diagnosed."""
    agent = planted_agent("fact", Access.RESET, SEED)
    told = aam_vision.interrogate(agent, seed=SEED, raises=False, go_on=False)
    return RecordingAgent(agent, told.transcript)


def test_each_question_is_asked_once_until_none_tells_more(recorded: RecordingAgent) -> None:
    space, before = VersionSpace(recorded, np.random.default_rng(SEED)), len(recorded.transcript.entries)
    first = space.left()
    left = space.tell_apart(Budget(), 0)
    assert not space.open
    assert left
    asked = recorded.transcript.entries[before:]
    assert len(space.random) >= HISTORIES
    assert 0 <= len(asked) - len(space.random) <= QUESTIONS
    telling = [one for number, one in enumerate(asked, before) if number not in space.random]
    questions = [(one.query.initial.handle, one.query.plan) for one in telling if isinstance(one, Asked)]
    assert len(set(questions)) == len(telling)
    assert {one.fact for one in left} < {one.fact for one in first} or left[0].fact != first[0].fact


def test_a_question_is_one_of_which_two_explanations_say_different_things(recorded: RecordingAgent) -> None:
    best, *others = VersionSpace(recorded, np.random.default_rng(SEED)).left()
    begun = [Way(situation, (), situation.state) for situation in recorded.initial()]
    found = [one for one in others if telling_apart(best, one, begun)]
    assert found
    for other in found:
        question = telling_apart(best, other, begun)
        said = []
        for one in (best, other):
            state, rows = question.start.state, one.fact.beginning
            for step in question.plan[:-1]:
                state = best.actions[step.name].after(state, one.fact.added(state, rows), step.objects)
                rows = one.fact.after(rows, step)
            seen, (name, objects) = one.fact.added(state, rows), question.plan[-1]
            executes = one.actions[name].executes(one.actions[name].index.values(seen, objects)[0])
            said.append((executes, one.actions[name].after(state, seen, objects) if executes else None))
        assert said[0] != said[1]


def test_without_steps_left_it_is_known_that_something_is_open(recorded: RecordingAgent) -> None:
    space, before = VersionSpace(recorded, np.random.default_rng(SEED)), len(recorded.transcript.entries)
    assert len(space.tell_apart(Budget(steps=10), 10)) > 1
    assert space.open
    assert len(recorded.transcript.entries) == before
