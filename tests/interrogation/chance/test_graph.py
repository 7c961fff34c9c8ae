"""The steps of situations: all of them, whatever was forgotten in between, and none kept that no graph has."""

from __future__ import annotations

from itertools import permutations

from aam_vision.interrogation.chance.graph import StateGraph, StepTable
from aam_vision.interrogation.chance.intervals import Precision, concentration
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.strips import State

from .agents import read


def _table() -> tuple[StepTable, tuple[ActionKnowledge, ...], State]:
    model, initial = read()
    precision = Precision(0.05, 0.1, concentration(0.1))
    actions = tuple(
        ActionKnowledge(AtomIndex(model.vocabulary, schema.header), precision) for schema in model.actions
    )
    return StepTable(actions), actions, initial


def test_every_choice_of_arguments_is_a_step_and_one_of_each_kind_is_told_apart() -> None:
    table, actions, state = _table()
    steps = list(table.all(state))
    for number, action in enumerate(actions):
        kinds = action.index.header.types
        wanted = [
            objects
            for objects in permutations(state.objects, len(kinds))
            if all(name in state.objects.of_type(kind) for name, kind in zip(objects, kinds, strict=True))
        ]
        assert sorted(step.objects for step in steps if step.action == number) == sorted(wanted)
    assert all(step.held == actions[step.action].index.values(state, step.objects)[0] for step in steps)
    assert {(step.action, step.held) for step in steps} == {
        (step.action, step.held) for step in table.distinct(state)
    }
    assert len(table.distinct(state)) == len({(step.action, step.held) for step in table.distinct(state)})


def test_situations_that_a_graph_does_not_have_are_forgotten() -> None:
    table, actions, state = _table()
    other = State(frozenset(), state.objects)
    before = list(table.all(other))
    graph = StateGraph(actions, table, [state])
    assert other not in graph.number
    assert set(table._known) <= set(graph.number)
    assert list(table.all(other)) == before
