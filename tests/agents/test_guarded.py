"""Agents in anybody's Python that declare or answer what means nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import aam_vision
from aam_vision import (
    Access,
    ActionHeader,
    Agent,
    Atom,
    Interrupted,
    Objects,
    Predicate,
    Query,
    Response,
    Situation,
    State,
    Types,
    Vocabulary,
)

HOT = Atom("hot", ("left",))
replace: Any = dataclasses.replace
"""Of any type: what it gives here is to be wrong."""


class Heaters(Agent):
    """Two heaters; the n-th situation has the handle n."""

    vocabulary = Vocabulary("heaters", (Predicate("hot", ("heater",)),), Types({"heater": "object"}))
    headers: Any = (ActionHeader("heat", ("which",), ("heater",)),)
    access: Any = Access.SNAPSHOT
    refuses_surely = True

    def __init__(self) -> None:
        self.states: list[State] = []

    def state(self, *true: Atom) -> State:
        objects = Objects({"left": "heater", "right": "heater"}, self.vocabulary.types)
        return State(frozenset(true), objects)

    def keep(self, state: State) -> Situation:
        self.states.append(state)
        return Situation(len(self.states) - 1, state)

    def initial(self) -> Any:
        return [self.keep(self.state())]

    def ask(self, query: Query) -> Any:
        true = query.initial.state.true | {Atom("hot", step.objects) for step in query.plan}
        return Response(len(query.plan), self.keep(self.state(*true)))


def _answers(change: Callable[[Heaters, Response], Any]) -> Callable[[Heaters, Query], Any]:
    return lambda self, query: change(self, Heaters.ask(self, query))


def _shows(state: Callable[[Heaters], Any]) -> Callable[[Heaters, Query], Any]:
    return _answers(lambda self, found: replace(found, final=Situation(1, state(self))))


def _begins(*situations: Situation) -> Callable[[Heaters], Sequence[Situation]]:
    return lambda self: situations


EMPTY = Heaters().state()


def _agent(**changed: Any) -> Heaters:
    return type("Changed", (Heaters,), changed)()  # type: ignore[no-any-return]


def test_an_agent_that_answers_as_it_should_is_learned() -> None:
    assert aam_vision.interrogate(Heaters()).complete
    assert aam_vision.interrogate(_agent(initial=lambda self: (self.keep(self.state()),))).complete
    counts = _answers(lambda self, found: replace(found, executed=np.int64(found.executed)))
    assert aam_vision.interrogate(_agent(ask=counts)).complete


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"ask": _answers(lambda self, found: None)}, "ask returned NoneType; it has to return a Response"),
        ({"ask": _answers(lambda self, found: replace(found, executed=9))}, "ask returned 9 executed steps"),
        ({"ask": _answers(lambda self, found: replace(found, executed=-1))}, "ask returned -1 executed step"),
        ({"ask": _answers(lambda self, found: replace(found, executed="1"))}, "ask returned '1' executed st"),
        ({"ask": _answers(lambda self, found: replace(found, told=7))}, "ask returned"),
        (
            {"ask": _answers(lambda self, found: replace(found, final=found.final.state))},
            "ask returned State",
        ),
        ({"ask": _shows(lambda self: {HOT})}, "ask returned a situation of set"),
        ({"ask": _shows(lambda self: replace(self.state(), objects={"left": "heater"}))}, "with Objects"),
        ({"ask": _shows(lambda self: replace(self.state(), true=[HOT]))}, "of a frozenset of Atoms"),
        ({"ask": _shows(lambda self: replace(self.state(), true=frozenset({(1, 2)})))}, "which is no Atom"),
        ({"ask": _shows(lambda self: self.state(Atom("lit", ("left",))))}, "the vocabulary has no lit"),
        ({"ask": _shows(lambda self: self.state(Atom("hot", ())))}, "and hot has 1 argument"),
        ({"ask": _shows(lambda self: self.state(Atom("hot", ("mid",))))}, "objects of the types heater"),
        (
            {"ask": _shows(lambda self: State(frozenset(), Objects({"left": "heater"}, Types({}))))},
            "ask returned a state with other objects",
        ),
        ({"initial": _begins()}, "initial returned an empty tuple"),
        ({"initial": lambda self: iter([self.keep(self.state())])}, "initial returned list_iterator"),
        ({"initial": lambda self: [self.state()]}, "initial returned State"),
        (
            {
                "initial": _begins(
                    Situation([0], EMPTY)  # type: ignore[arg-type]
                )
            },
            r"initial returned the handle \[0\]",
        ),
        (
            {"initial": _begins(Situation(0, EMPTY), Situation(0, replace(EMPTY, true=frozenset({HOT}))))},
            "two situations with the handle 0",
        ),
        ({"walk": lambda self, *asked: [(0, 1, 2)]}, "walk returned a tuple"),
    ],
)
def test_an_answer_that_means_nothing_is_named_with_what_to_do(changed: dict[str, Any], told: str) -> None:
    result = aam_vision.interrogate(_agent(**changed), raises=False)
    assert result.status == "failed"
    assert "\n" not in (result.missing or "\n")
    with pytest.raises(aam_vision.AgentFailed, match=told):
        aam_vision.interrogate(_agent(**changed))


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        (Heaters, r"Heaters is a class; give an agent of it: Heaters\(...\)"),
        (object(), "object is no agent: it has no vocabulary and no headers"),
        (_agent(access="reset"), "the agent's access is 'reset'; it has to be one of Access.TRAJECTORY"),
        (_agent(vocabulary=None), "the agent's vocabulary is NoneType"),
        (_agent(headers=()), r"the agent's headers are \(\)"),
        (_agent(headers=("heat",)), r"the agent's headers are \('heat',\)"),
        (_agent(headers=Heaters.headers * 2), "two headers called heat"),
        (_agent(headers=(ActionHeader("heat", ("which",)),)), "has 1 parameter and 0 types"),
    ],
)
def test_what_is_no_agent_is_refused_before_it_is_asked(agent: Any, told: str) -> None:
    with pytest.raises(aam_vision.UnusableInput, match=told):
        aam_vision.interrogate(agent, raises=False)


class Stateful(Heaters):
    """Heaters that know where they are by themselves: what they are asked about is where they stand, or where they began."""

    handle: Any = None
    refuses_surely = False

    def keep(self, state: State) -> Situation:
        self.here = Situation(self.handle, state)
        return self.here

    def initial(self) -> Any:
        self.begun = self.keep(self.state())
        return [self.begun]

    def ask(self, query: Query) -> Any:
        begins = query.initial is self.begun
        lost = self.handle is None and not begins and query.initial is not self.here
        if lost and not self.access.returns:
            raise RuntimeError("it can go back to the beginning only")
        true = set(() if begins else query.initial.state.true)
        for number, step in enumerate(query.plan):
            if (hot := Atom("hot", step.objects)) in true:
                return Response(number, self.keep(self.state(*true)))
            true.add(hot)
        return Response(len(query.plan), self.keep(self.state(*true)))


@pytest.mark.parametrize("access", Access)
def test_situations_without_a_handle_are_told_apart(access: Access) -> None:
    found = aam_vision.interrogate(_at(access, None))
    assert "(not (hot ?which))" in found.pddl.split(":effect")[0]
    if access is not Access.TRAJECTORY:  # all are hot after two steps
        assert found.complete


def test_where_any_state_can_be_made_one_handle_is_enough() -> None:
    assert aam_vision.interrogate(_at(Access.SETTABLE, 0)).complete


@pytest.mark.parametrize("access", [access for access in Access if not access.constructs])
def test_one_handle_for_several_situations_is_named(access: Access) -> None:
    with pytest.raises(
        Interrupted, match="with the handle 0, and none with another; give each situation a handle"
    ):
        aam_vision.interrogate(_at(access, 0))


def _at(access: Access, handle: int | None) -> Stateful:
    agent = Stateful()
    agent.access, agent.handle = access, handle
    return agent


@pytest.mark.parametrize("access", Access)
def test_an_agent_whose_states_say_nothing_is_asked_all_the_same(access: Access) -> None:
    silent = _agent(
        access=access,
        vocabulary=Vocabulary("heaters", (), Heaters.vocabulary.types),
        ask=lambda self, query: Response(len(query.plan), self.keep(EMPTY)),
    )
    assert not aam_vision.interrogate(silent).undetermined
