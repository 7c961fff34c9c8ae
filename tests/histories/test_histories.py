"""What a control does may depend on what was given before: then nothing is called complete that new histories refute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from aam_vision.interrogation.controls.discovery import apart, grouped
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.model.strips import ActionHeader, Vocabulary
from tests.profiles import first, some

from .measure import histories, measure
from .worlds import HIDDEN, all_worlds, world


def test_there_are_twenty_worlds_of_either_kind() -> None:
    hidden = [name for name, is_hidden, _ in all_worlds() if is_hidden]
    assert len(hidden) == len(HIDDEN) == 20
    assert len(list(all_worlds())) == 40


@pytest.mark.parametrize(
    "name", first(2, ["just knocked", "twice", "a while", "even steps", "three knocks", "mirror"])
)
def test_hidden_history_is_never_called_complete_beyond_its_bound(name: str) -> None:
    found = measure(world(name, shown=False), 0)
    assert not found.false
    assert found.learned or name in ("twice", "just knocked")


@pytest.mark.parametrize(
    ("name", "seed"), first(1, [("late by three", 0), ("every third", 2), ("worn legs", 1), ("rests", 12)])
)
def test_it_is_learned_with_memory(name: str, seed: int) -> None:
    assert measure(world(name, shown=False), seed).learned


@pytest.mark.parametrize("name", first(1, ["one knock", "three knocks", "every third"]))
def test_a_memory_that_is_shown_is_learned(name: str) -> None:
    found = measure(world(name, shown=True), 0)
    assert found.result.complete
    assert not found.false


def _seen(name: str) -> Callable[[int], tuple[Vocabulary, ActionHeader, list[Transition]]]:
    """Of a world that is shown, by the number of a control: what it did in new histories."""
    game = world(name, shown=True)
    vocabulary = game.bare_agent().vocabulary
    steps = [Transition(*step) for step in histories(game, np.random.default_rng(1))]

    def of(number: int) -> tuple[Vocabulary, ActionHeader, list[Transition]]:
        header = game.control_headers[number]
        return vocabulary, header, [one for one in steps if one.control.name == header.name]

    return of


def test_effects_name_what_never_differs() -> None:
    """A gauge that goes from mark to mark: the marks are no parameters, which many other objects would have to determine."""
    found = grouped(*_seen("three knocks")(-1))
    marks = [{effect.atom.arguments: effect.becomes for effect in case.effects} for case in found.cases]
    assert not found.unexplained
    expected = [{(f"cell-0-{at}",): False, (f"cell-0-{at + 1}",): True} for at in range(3)]
    assert sorted(marks, key=str) == expected


def test_two_things_at_once_are_told_apart_where_no_operator_explains_both() -> None:
    """The gauge falls wherever one moves, and at the board's edge no fact says that nothing lies beyond."""
    vocabulary, left, own = _seen("a while")(2)
    assert grouped(vocabulary, left, own).unexplained
    assert apart(vocabulary, left, own) == "at"
    only_moves = [one for one in own if all(atom.predicate == "at" for atom in one.change)]
    assert apart(vocabulary, left, only_moves) is None


def test_moves_that_a_gauge_mirrors_are_two_cases() -> None:
    """Both have the same effects, on cells that are linked in the same way but for the direction's name."""
    seen = _seen("mirror")
    for number in some(1, range(4)):
        found = grouped(*seen(number))
        assert not found.unexplained
        gauges = [{name for name, kind in case.constants.items() if kind == "cell"} for case in found.cases]
        assert sorted(gauges, key=sorted) == [{"cell-0-0"}, {"cell-0-1"}]
