"""Which invented facts explain what was seen, how one is told, and what a journal may say of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aam_vision.agents.encoding import Malformed
from aam_vision.interrogation.memory.facts import (
    Change,
    Explanations,
    InventedCounter,
    InventedFact,
    Rows,
    read_fact,
    told,
)
from aam_vision.interrogation.memory.histories import BEGINNING, Attempt
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, GroundAction, Predicate, State
from tests.profiles import crossed

from .planted import PlantedFacts, histories, planted_agent
from .test_planted import true_model

SEEDS = range(6)


def attempts(fault: PlantedFacts, seed: int, steps: int = 400) -> list[Attempt]:
    """Random histories of an agent."""
    found: list[Attempt] = []
    for step in histories(fault, np.random.default_rng(seed), steps):
        parent = BEGINNING if step.first else len(found) - 1
        found.append(
            Attempt(parent, step.action, step.executed, step.state, step.after if step.executed else None)
        )
    return found


def fault_of(kind: str, seed: int) -> PlantedFacts:
    fault = planted_agent(kind, Access.RESET, seed).fault
    assert isinstance(fault, PlantedFacts)
    return fault


@pytest.mark.parametrize(("kind", "seed"), crossed(["fact", "fact of an object", "case"], SEEDS))
def test_the_smallest_explanation_is_no_larger_than_the_truth_and_explains_every_step(
    kind: str, seed: int
) -> None:
    fault = fault_of(kind, seed)
    model, seen = fault.setting.model, attempts(fault, seed)
    found = Explanations(model.vocabulary, model.headers, seen).smallest()
    assert found, "the truth explains it"
    sizes = [(isinstance(one.fact, InventedCounter), len(one.fact.changes)) for one in found]
    assert sizes == sorted(sizes), "counters come last"
    assert sizes[0][1] <= sum(map(len, fault.changes.values()))
    best, rows = found[0], list[Rows]()
    for parent, action, executed, before, after in seen:
        now = Rows() if parent == BEGINNING else rows[parent]
        assert before is not None
        state = best.fact.added(before, now)
        assert best.actions[action.name].executes(state, action.objects) is executed
        rows.append(best.fact.after(now, action) if executed else now)
        if after is not None:
            assert best.actions[action.name].after(before, state, action.objects) == after


def test_an_action_whose_effects_depend_on_the_fact_is_two() -> None:
    fault = fault_of("case", 1)
    model = fault.setting.model
    best = Explanations(model.vocabulary, model.headers, attempts(fault, 1)).smallest()[0]
    ((name, place),) = best.fact.cases
    assert name in fault.needs
    assert place is None
    headers = best.fact.headers(model.headers)
    assert [one.name for one in headers if name in one.name] == [
        f"{name}-with-memory-1",
        f"{name}-without-memory-1",
    ]
    step = GroundAction(name, ("x",) * best.actions[name].index.header.arity)
    for rows in (Rows(), Rows({()})):
        modelled = best.fact.as_modelled(step, rows)
        assert modelled.name == f"{name}-{'with' if rows else 'without'}-memory-1"
        assert best.fact.as_given(modelled) == step


def test_plans_that_lead_elsewhere_than_their_steps_are_not_explained() -> None:
    fault = fault_of("fact", 0)
    model, seen = fault.setting.model, attempts(fault, 0)
    one = next(one for one in seen if one.executed and one.before != one.after)
    assert one.after is not None
    elsewhere = State(one.after.true | {Atom("elsewhere", ())}, one.after.objects)
    plan = [  # of which only the end is seen
        one._replace(parent=BEGINNING, after=None),
        one._replace(parent=len(seen), before=None, after=elsewhere),
    ]
    changed = [*seen, *plan]
    assert Explanations(model.vocabulary, model.headers, seen).coherent
    assert not Explanations(model.vocabulary, model.headers, changed).coherent
    assert Explanations(model.vocabulary, model.headers, changed).smallest() == []


def test_a_taken_name_is_not_used() -> None:
    fault = fault_of("fact", 0)
    model = true_model(fault)
    names = {"memory": "memory-1"}
    predicates = tuple(Predicate(names.get(p.name, p.name), p.types) for p in model.vocabulary.predicates)
    vocabulary = type(model.vocabulary)(
        "taken", predicates, model.vocabulary.types, model.vocabulary.constants
    )
    (best, *_) = Explanations(vocabulary, model.headers, attempts(fault, 0)).smallest()
    assert best.fact.predicate.name == "memory-2"


def test_a_fact_is_told_with_who_changes_and_who_needs_it() -> None:
    fault = fault_of("fact", 0)
    model = true_model(fault)
    text = told(InventedFact(Predicate("memory"), (Change("undo", None, True),)), model)
    assert text.startswith("memory is an invented fact: false when a history begins; made true by undo")


def test_a_fact_is_read_as_it_was_written() -> None:
    for kind in ("fact", "fact of an object", "case"):
        fault = fault_of(kind, 0)
        model = fault.setting.model
        for one in Explanations(model.vocabulary, model.headers, attempts(fault, 0)).smallest():
            if not isinstance(one.fact, InventedCounter):
                assert read_fact(one.fact.json(), model.vocabulary, model.headers) == one.fact


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
    model = fault_of("fact", 0).setting.model
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
    assert (
        counter.told(["go"])
        == "up counts up and down counts down from -1, and go depends on whether that is at least 1"
    )
