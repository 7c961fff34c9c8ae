"""An interrogation of a policy begins with the pursuits that tell most of what may be pursued."""

from __future__ import annotations

from itertools import compress, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.chance.first_pursuits import FirstPursuits
from aam_vision.interrogation.chance.graph import Step, StepTable
from aam_vision.interrogation.chance.intervals import precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.query import Situation
from aam_vision.model.strips import ActionHeader, Atom, Predicate, State, Types, Vocabulary
from tests import small
from tests.profiles import some, thorough

WORDS = Vocabulary(
    "lamps", (*(Predicate(one, ("object",)) for one in ("lit", "warm", "new")), Predicate("claimed")), Types()
)
FACTS = [f"{name} {lamp}" for name in ("lit", "warm", "new") for lamp in ("left", "right")]
EVERY = [
    small.state("left right", ", ".join(compress(FACTS, true)))
    for true in product((False, True), repeat=len(FACTS))
]


def known() -> list[ActionKnowledge]:
    headers = [ActionHeader(name, ("x",), ("object",)) for name in ("achieve-lit", "undo-warm")]
    return [ActionKnowledge(AtomIndex(WORDS, one), precision_of(0.1)) for one in headers]


def first(states: list[State], number: int, seed: int, needed: str = "") -> list[Step]:
    """The first pursuits, from any of these; they bring about nothing unless something holds that is needed."""
    actions = known()
    pursuits, rng = FirstPursuits(actions, StepTable(actions)), np.random.default_rng(seed)
    places = [Situation(n, state) for n, state in enumerate(states)]
    for one in states:
        pursuits.met(one)
    found = []
    for _ in range(number):
        ((place, step),) = pursuits.best(places, rng)
        true = place.state.true
        if not needed or Atom(needed, step.objects) in true:
            true = true - {Atom("warm", step.objects)} if step.action else true | {Atom("lit", step.objects)}
        actions[step.action].was_executed(place.state, step.objects, State(true, place.state.objects))
        found.append(step)
    return found


def facts(step: Step) -> set[tuple[int, int]]:
    """Which atoms held before, and which not."""
    return {(place, step.held >> place & 1) for place in range(3)}


def done(step: Step) -> bool:
    """Whether the objective holds already: the lamp is lit, or is not warm."""
    lit, warm = (bool(step.held >> place & 1) for place in (0, 1))
    return not warm if step.action else lit


@thorough(40)
@given(st.permutations(EVERY), st.integers(0, 99), st.sampled_from(("", "new", "warm")))
def test_all_that_differs_is_pursued_soon(states: list[State], seed: int, needed: str) -> None:
    made = first(states[:20], 40, seed, needed)
    assert len({(step.action, done(step)) for step in made[:16]}) == 4, (
        "both where it holds and where it does not"
    )
    could = [step for state in states[:20] for step in StepTable(known()).all(state) if not done(step)]
    tried = {(step.action, fact) for step in made if not done(step) for fact in facts(step)}
    assert {(step.action, fact) for step in could for fact in facts(step)} <= tried, (
        "each fact, true and false, however seldom it is"
    )


def test_no_fact_seems_to_be_required_for_long() -> None:
    for seed in some(8, range(20)):
        made = first(EVERY, 16, seed)
        for action in (0, 1):
            always = set.intersection(*(facts(step) for step in made if step.action == action))
            assert not any(value for _, value in always), "each fact was false before one of the first"


def test_nothing_is_pursued_where_nothing_can_be() -> None:
    assert FirstPursuits([], StepTable([])).best([Situation(0, EVERY[0])], np.random.default_rng(0)) == []


def test_several_at_a_time_are_of_different_kinds() -> None:
    actions = known()
    pursuits = FirstPursuits(actions, StepTable(actions))
    for one in EVERY:
        pursuits.met(one)
    places = [Situation(n, state) for n, state in enumerate(EVERY)]
    several = pursuits.best(places, np.random.default_rng(0), 200)
    kinds = [(step.action, step.held) for _, step in several]
    assert (
        len(kinds)
        == len({*kinds})
        == len({(one.action, one.held) for s in EVERY for one in StepTable(actions).all(s)})
    )
