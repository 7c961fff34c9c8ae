"""Which invented facts explain what was seen, how one is told, and what a journal may say of one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers, sets

from aam_vision.agents.encoding import Malformed
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
from aam_vision.interrogation.memory.histories import BEGINNING, Attempt
from aam_vision.model.strips import Atom, GroundAction, Predicate, State
from tests.profiles import crossed

from .planted import PlantedFacts, histories, planted

SEEDS = range(6)


class Seen:
    """A planted agent, 400 steps of random histories of it, and the smallest explanations of these."""

    def __init__(self, kind: str, seed: int) -> None:
        fault = planted(kind, seed)
        assert isinstance(fault, PlantedFacts)
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
def test_the_smallest_explanation_is_no_larger_than_the_truth_and_explains_every_step(
    kind: str, seed: int
) -> None:
    one = seen(kind, seed)
    found = one.smallest
    assert found, "the truth explains it"
    sizes = [(isinstance(one.fact, InventedCounter), one.fact.size) for one in found]
    assert sizes == sorted(sizes), "counters come last"
    assert sizes[0][1] <= sum(map(len, one.fault.changes.values()))
    best, rows = found[0], list[Rows]()
    for parent, action, executed, before, after in one.attempts:
        now = Rows() if parent == BEGINNING else rows[parent]
        assert before is not None
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
    assert [header.name for header in headers if name in header.name] == [
        f"{name}-with-memory-1",
        f"{name}-without-memory-1",
    ]
    step = GroundAction(name, ("x",) * best.actions[name].index.header.arity)
    for rows in (Rows(), Rows({()})):
        modelled = best.fact.as_modelled(step, rows)
        assert modelled.name == f"{name}-{'with' if rows else 'without'}-memory-1"
        assert best.fact.as_given(modelled) == step


def test_plans_that_lead_elsewhere_than_their_steps_are_not_explained() -> None:
    model, known = seen("fact", 0).model, seen("fact", 0).attempts
    one = next(one for one in known if one.executed and one.before != one.after)
    assert one.after is not None
    elsewhere = State(one.after.true | {Atom("elsewhere", ())}, one.after.objects)
    plan = [  # of which only the end is seen
        one._replace(parent=BEGINNING, after=None),
        one._replace(parent=len(known), before=None, after=elsewhere),
    ]
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
    text = told(
        InventedFact(Predicate("memory-1"), (Change("undo", None, True),)),
        replace(one.model, vocabulary=vocabulary),
    )
    assert text.startswith("memory-1 is an invented fact: false when a history begins; made true by undo")


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "p0"},
        {"name": 3},
        {"type": "nowhere"},
        {"type": 5},
        {"changes": [["nobody", None, True]]},
        {"changes": [["undo", 0, True]]},
        {"changes": [["undo", None, 1]]},
        {"type": "object", "changes": [["undo", 99, True]]},
        {"type": "object", "changes": [["undo", True, True]]},
        {"changes": None},
        {"cases": [["nobody", None]]},
        {"cases": [["undo", 1]]},
    ],
)
def test_what_is_no_fact_is_refused(wrong: dict[str, Any]) -> None:
    model = seen("fact", 0).model
    right = {"name": "memory-1", "type": None, "changes": [["undo", None, True]], "cases": []}
    read_fact(right, model.vocabulary, model.headers)
    with pytest.raises(Malformed):
        read_fact({**right, **wrong}, model.vocabulary, model.headers)


def test_deletes_come_before_adds() -> None:
    fact = InventedFact(Predicate("memory-1", ("object",)), (Change("a", 1, True), Change("a", 0, False)))
    assert fact.after(frozenset({("x",)}), GroundAction("a", ("x", "y"))) == {("y",)}
    assert fact.after(frozenset({("x",)}), GroundAction("b", ("x", "y"))) == {("x",)}


def test_a_counter_is_true_from_one_on_and_counts_both_ways() -> None:
    counter = InventedCounter(
        Predicate("memory-1"), (Change("up", None, True), Change("down", None, False)), first=-1
    )
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
    for rows, name in (
        (fact.beginning, f"{fill}-at-first"),
        (counter.after(fact.beginning, GroundAction(down, ())), fill),
    ):
        assert fact.as_modelled(step, rows).name == name
        assert fact.as_given(fact.as_modelled(step, rows)) == step
        assert fact.after(rows, step) == fact.beginning
    assert (
        fact.told()
        == f"memory-1 is an invented number: 2 when a history begins; counted down by {down}; 2 again after {fill} (the model speaks of -1 to 3)"
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "object", "changes": []},
        {"first": "3"},
        {"first": 9},
        {"cycle": 3, "first": 4},
        {"cycle": -1},
        {"among": [-1]},
        {"among": [-1, True]},
        {"among": [-1, 10**30]},
        {"among": [4, -1]},
        {"every": None},
        {"changes": [["undo", None, 2]]},
    ],
)
def test_what_is_no_number_is_refused(wrong: dict[str, Any]) -> None:
    model = seen("fact", 0).model
    right = {"name": "fuel", "type": None, "changes": [["undo", None, True]], "cases": []}
    right |= {"first": 2, "cycle": 0, "every": False, "among": [-1, 5]}
    assert read_fact(right, model.vocabulary, model.headers).json() == right
    with pytest.raises(Malformed):
        read_fact({**right, **wrong}, model.vocabulary, model.headers)


@pytest.mark.parametrize("cycle", [0, 3])
def test_a_counter_is_a_parameter_of_every_action_in_a_model(cycle: int) -> None:
    """What the agent shows and is given comes back as it was, and only numbers that follow each other are counted."""
    model = seen("fact", 0).model
    before, vocabulary = seen("fact", 0).attempts[0].before, model.vocabulary
    assert before is not None
    up, other, *_ = (header.name for header in model.headers)
    counter = InventedCounter(
        Predicate("memory-1"), (Change(up, None, True),), first=-1 if not cycle else 0, cycle=cycle
    )
    fact = counter.in_model(vocabulary, model.headers, range(200))
    assert len(fact.among) == (cycle or MOST_NUMBERS)
    assert read_fact(fact.json(), vocabulary, model.headers) == counter.in_model(
        vocabulary, model.headers, fact.among[1:-1]
    )
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
    counter = InventedCounter(
        Predicate("memory-1"), (Change(model.headers[0].name, None, True),), first=first
    )
    fact = counter.in_model(model.vocabulary, model.headers, others)
    assert first in fact.among
    assert len(fact.among) <= MOST_NUMBERS
    assert {0, 1} <= {*fact.among} or not -30 < first < 30 or len(fact.among) < MOST_NUMBERS
    assert read_fact(fact.json(), model.vocabulary, model.headers).json() == fact.json()
