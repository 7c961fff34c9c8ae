"""What is remembered of the controls that were given before is told by histories, and the rest is learned with it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pytest

from aam_vision.agents.encoding import Malformed
from aam_vision.interrogation.controls.interrogating import Options, interrogate
from aam_vision.interrogation.controls.memory import candidates, read_memory
from aam_vision.interrogation.controls.result import ControlsResult, figures
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.remembered import ControlMemory
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    GroundAction,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from tests.profiles import first

CONTROLS = ("left", "right", "ring", "press")
NOTHING = Objects({}, Types())
ON, THERE = Atom("on", ()), Atom("there", ())


class Lamp:
    """Press switches a lamp where what is remembered is of kind 1; left and right lead between two places; ring shows nothing."""

    vocabulary = Vocabulary("lamp", (Predicate("on", ()), Predicate("there", ())))
    headers = tuple(ActionHeader(name) for name in CONTROLS)
    access = Access.SNAPSHOT

    def __init__(self, memory: ControlMemory) -> None:
        self.memory = memory
        self._stands: dict[Hashable, tuple[frozenset[Atom], int]] = {}

    def initial(self) -> Sequence[Situation]:
        return [self._at(frozenset(), self.memory.begins)]

    def ask(self, query: Query) -> Response:
        here = query.initial
        for control in query.plan:
            true, remembered = self._stands[here.handle]
            if control.name == "press" and self.memory.kinds[remembered]:
                true ^= {ON}
            elif control.name in ("left", "right"):
                true = true - {THERE} if control.name == "left" else true | {THERE}
            did = true != self._stands[here.handle][0]
            here = self._at(true, self.memory.after(remembered, control, did=did))
        return Response(len(query.plan), here)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return []

    def _at(self, true: frozenset[Atom], remembered: int) -> Situation:
        handle = len(self._stands)
        self._stands[handle] = true, remembered
        return Situation(handle, State(true, NOTHING))

    def mispredicted(self, result: ControlsResult, steps: int, rng: np.random.Generator) -> float:
        """The share of the steps of a new history, controls at random, that a result mispredicts."""
        (here,), wrong = self.initial(), 0
        found = result.memory
        remembered: Any = None if found is None else found.begins
        for number in rng.integers(len(CONTROLS), size=steps):
            control = GroundAction(CONTROLS[int(number)], ())
            after = self.ask(Query(here, (control,))).final
            before, carried_out, then = here.state, control, after.state
            if found is not None:
                before, carried_out, then = found.step(before, control, then, remembered)
                remembered = found.after(remembered, control, did=here.state != after.state)
            wrong += not result.predictions.agrees(before, carried_out or GroundAction("", ()), then)
            here = after
        return wrong / steps


def drawn(rng: np.random.Generator) -> ControlMemory:
    """A switch, or a number that some controls count up to where it makes a difference."""
    most = int(rng.integers(1, 7))
    stays, up = tuple(range(most + 1)), tuple(min(one + 1, most) for one in range(most + 1))
    rows = [(0, 1), (1, 1), (0, 0), (1, 0)] if most == 1 else [stays, up]
    moves = {name: rows[int(rng.integers(len(rows)))] for name in CONTROLS}
    return ControlMemory(moves, 0, (*[0] * most, 1), "", tuple(map(str, stays)))


@pytest.mark.parametrize("seed", first(4, range(30)))
def test_what_is_complete_is_as_right_in_new_histories_as_it_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    agent = Lamp(drawn(rng))
    result = interrogate(agent, seed)
    wrong = agent.mispredicted(result, 200, rng)
    if result.complete:
        assert wrong <= result.case_bound
    if result.memory is not None:
        assert wrong <= 0.01
        assert not result.unexplained


def lamp(**moves: tuple[int, ...]) -> Lamp:
    """A lamp of which these controls change what is remembered, of which the last state counts."""
    states = range(len(next(iter(moves.values()))))
    every = {name: moves.get(name, tuple(states)) for name in CONTROLS}
    return Lamp(ControlMemory(every, 0, (*[0] * (len(states) - 1), 1), "", tuple(map(str, states))))


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (lamp(ring=(1, 1)), "set by ring"),
        (lamp(ring=(1, 0)), "turned by ring"),
        (lamp(ring=(1, 1), press=(0, 0)), "set by ring and unset by press"),
        (lamp(ring=(1, 2, 3, 3)), "how often ring was given (up to 3)"),
        (lamp(ring=(1, 2, 0)), "how often ring was given (from 0 on again after 2)"),
    ],
)
def test_it_is_told_in_words_and_without_it_nothing_is(agent: Lamp, words: str) -> None:
    found = interrogate(agent)
    assert found.memory is not None
    assert found.memory.words == words
    assert found.complete
    assert ("remembers", found.memory.text) in figures(found)
    assert interrogate(agent, options=Options(remembers=False)).status == "not-strips"
    assert read_memory(found.memory.json(), CONTROLS) == found.memory


@pytest.mark.parametrize(
    ("kinds", "told"),
    [((0, 0, 0, 1), "is 3."), ((0, 1, 1, 1), "is one of 1 to 3."), ((0, 1, 0, 1), "is 1 or 3.")],
)
def test_its_text_names_the_values_where_a_fact_is_true(kinds: tuple[int, ...], told: str) -> None:
    moves = dict.fromkeys(CONTROLS, (0, 1, 2, 3))
    memory = ControlMemory(moves, 0, kinds, "how often ring was given (up to 3)", ("0", "1", "2", "3"))
    assert f"true where how often ring was given (up to 3) {told}" in memory.text


def test_its_facts_have_names_of_their_own() -> None:
    agent = lamp(ring=(1, 1))
    others = (Predicate("memory-1", ()), Predicate("remembered-by-all", ()))
    agent.vocabulary = Vocabulary("lamp", (*agent.vocabulary.predicates, *others))
    found = interrogate(agent)
    assert found.memory is not None
    assert [one.name for one in found.memory.predicates] == ["memory-a-1"]
    assert read_memory(found.memory.json(), CONTROLS) == found.memory


def test_of_many_controls_few_may_act_otherwise_than_the_rest() -> None:
    names = [f"control-{number}" for number in range(20)]
    found = candidates(names)
    assert 10_000 < len(found.words) < 240_000
    assert {"set by control-7", "set by control-3 and unset by control-19"} <= {*found.words}
    assert (np.diff(found.bits) >= 0).all()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"begins": 5}, "states that it has not"),
        ({"kinds": [0, "1"]}, "states that it has not"),
        ({"kinds": []}, "not of these controls"),
        ({"moves": {"left": [0, 1]}}, "not of these controls"),
        ({"values": ["false"]}, "not of these controls"),
        ({"words": 7}, "'words' is 7"),
        ({"doing": 1}, "'doing' is 1"),
    ],
)
def test_what_is_no_memory_is_refused(changed: dict[str, object], said: str) -> None:
    memory = lamp(ring=(1, 1)).memory
    with pytest.raises(Malformed, match=said):
        read_memory({**memory.json(), **changed}, CONTROLS)
