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
from aam_vision.model.strips import ActionHeader, Predicate, State, Types, Vocabulary
from tests import small

WORDS = Vocabulary(
    "lamps", (*(Predicate(one, ("object",)) for one in ("lit", "warm", "new")), Predicate("claimed")), Types()
)
FACTS = [f"{name} {lamp}" for name in ("lit", "warm", "new") for lamp in ("left", "right")]
EVERY = [
    small.state("left right", ", ".join(compress(FACTS, true)))
    for true in product((False, True), repeat=len(FACTS))
]


def first(states: list[State], number: int, seed: int) -> list[Step]:
    """The first pursuits, from any of these."""
    headers = [ActionHeader(name, ("x",), ("object",)) for name in ("achieve-lit", "undo-warm")]
    actions = [ActionKnowledge(AtomIndex(WORDS, one), precision_of(0.1)) for one in headers]
    pursuits, rng = FirstPursuits(actions, StepTable(actions)), np.random.default_rng(seed)
    places = [Situation(n, state) for n, state in enumerate(states)]
    for one in states:
        pursuits.met(one)
    found = []
    for _ in range(number):
        chosen = pursuits.best(places, rng)
        assert chosen is not None
        pursuits.made(chosen[1])
        found.append(chosen[1])
    return found


def done(step: Step) -> bool:
    """Whether the objective holds already: the lamp is lit, or is not warm."""
    lit, warm = (bool(step.held >> place & 1) for place in (0, 1))
    return not warm if step.action else lit


@given(st.permutations(EVERY), st.integers(0, 99))
def test_all_that_differs_is_pursued_soon(states: list[State], seed: int) -> None:
    made = first(states[:20], 30, seed)
    assert len({(step.action, done(step)) for step in made[:6]}) == 4, (
        "both where it holds and where it does not"
    )
    could = {(step.action, step.held) for step in first(states[:20], 100, seed) if not done(step)}
    assert could <= {(step.action, step.held) for step in made}, (
        "nothing that may have to be done is left out"
    )


def test_nothing_is_pursued_where_nothing_can_be() -> None:
    assert FirstPursuits([], StepTable([])).best([Situation(0, EVERY[0])], np.random.default_rng(0)) is None
