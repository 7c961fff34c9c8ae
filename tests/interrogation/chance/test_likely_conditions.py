"""Conditions that are likely: found with few trials, seldom without reason, and in the model alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.chance.cases import CaseKnowledge
from aam_vision.interrogation.chance.conditions import MOST
from aam_vision.interrogation.chance.intervals import precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge, compare_objectives
from aam_vision.interrogation.chance.likely_conditions import MATTERS, Part, likely_parts
from aam_vision.interrogation.chance.observations import Observations, holds
from aam_vision.interrogation.hypotheses.literals import NOTHING, AtomIndex, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses
from aam_vision.model.query import CLAIMED, UNDO
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    LiftedAtom,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from aam_vision.report import chance

LAMP = ("lamp",)
NAMES = "lit", "near", "dark", "old", "blue", "tall"
TYPES = Types({"lamp": "object"})
FACTS = tuple(Predicate(name, LAMP) for name in NAMES)
INDEX = AtomIndex(Vocabulary("lamps", FACTS, TYPES), ActionHeader("put-out", ("lamp",), LAMP))
PURSUIT = AtomIndex(
    Vocabulary("lamps", (*FACTS, Predicate(CLAIMED)), TYPES), ActionHeader(f"{UNDO}lit", ("lamp",), LAMP)
)
"""The same as an objective."""
LIT, NEAR, DARK, TALL = (INDEX.bit[LiftedAtom(name, (0,))] for name in (*NAMES[:3], "tall"))
ALL = INDEX.everything
Often = Callable[[int], float]


def parts(often: Often, trials: int, seed: int, index: AtomIndex = INDEX) -> tuple[Part, ...]:
    """What is likely after trials in random contexts in which the lamp is lit: it goes out as often as the context says."""
    rng, found = np.random.default_rng(seed), Observations()
    for _ in range(trials):
        held = int(rng.integers(ALL + 1)) | LIT
        found.add(held, held & ~LIT if rng.random() < often(held) else held)
    return likely_parts(CaseKnowledge(ActionHypotheses(index), NOTHING, found, precision_of(0.05)), index)


def atoms(found: tuple[Part, ...]) -> int:
    """The atoms of all conditions."""
    conditions = union(one.condition for one in found)
    return conditions.positive | conditions.negative


def where(found: tuple[Part, ...], held: int) -> Part:
    (own,) = (one for one in found if holds(one.condition, held))
    return own


@given(
    st.integers(0, 10**6),
    st.integers(2, 60),
    st.lists(st.sampled_from([0.0, 0.2, 0.9]), min_size=8, max_size=8),
)
def test_every_context_is_in_one_part_and_probabilities_add_up_to_one(
    seed: int, trials: int, often: list[float]
) -> None:
    found = parts(lambda held: often[held >> 1 & 7], trials, seed)
    assert len(found) != 1, "one part would be the case itself"
    for held in range(ALL + 1) if found else ():
        own = where(found, held | LIT)
        assert own.condition.size() <= MOST
        assert sum(own.probabilities) == pytest.approx(1)


def test_a_condition_is_likely_long_before_it_is_certain() -> None:
    told = [parts(lambda held: 0.9 if held & NEAR else 0.1, 30, seed) for seed in range(40)]
    assert sum(atoms(found) == NEAR for found in told) > 25
    assert sum(not atoms(found) & NEAR for found in told) < 4


def test_what_two_atoms_tell_only_together_is_likely_too() -> None:
    """A xor: neither atom alone makes a difference."""
    told = [
        parts(lambda held: 0.95 if bool(held & NEAR) is bool(held & DARK) else 0.05, 80, seed)
        for seed in range(20)
    ]
    right = 0
    for found in told:
        shares = (
            [max(where(found, LIT | held).probabilities) for held in (0, NEAR, DARK, NEAR | DARK)]
            if found
            else [0.0]
        )
        right += min(shares) > 0.75
    assert right >= 18


@pytest.mark.parametrize(
    ("index", "trials", "most"),
    [
        *((INDEX, *one) for one in ((10, 22), (40, 14), (200, 5))),
        *((PURSUIT, *one) for one in ((10, 50), (40, 27), (200, 12))),
    ],
)
def test_where_nothing_depends_on_anything_little_is_likely_the_less_the_more_is_seen(
    index: AtomIndex, trials: int, most: int
) -> None:
    """More of an objective: that five facts make no difference to what comes of a pursuit is not expected."""
    assert sum(bool(parts(lambda _: 0.4, trials, seed, index)) for seed in range(100)) <= most


def test_a_condition_of_a_pursuit_is_likely_earlier_than_that_of_an_action() -> None:
    """What hinders an action refuses it; what hinders a pursuit is a condition of what comes of it."""
    action, pursuit = (
        [
            bool(atoms(parts(lambda held: 0.9 if held & NEAR else 0.4, 20, seed, one)) & NEAR)
            for seed in range(100)
        ]
        for one in (INDEX, PURSUIT)
    )
    assert sum(pursuit) > sum(action) + 10
    assert not any(one and not other for one, other in zip(action, pursuit, strict=True))


def test_outcomes_that_look_alike_somewhere_are_no_condition() -> None:
    """Put out, it is no longer near either: where it is not near, that looks as if it were only put out."""
    rng, found = np.random.default_rng(3), Observations()
    for _ in range(120):
        held = int(rng.integers(ALL + 1)) | LIT
        found.add(
            held, held & ~(LIT | NEAR) if rng.random() < 0.5 else held & ~LIT if rng.random() < 0.8 else held
        )
    case = CaseKnowledge(ActionHypotheses(INDEX), NOTHING, found, precision_of(0.05))
    assert len(case.outcomes) == 3
    assert not likely_parts(case, INDEX)


def pursued(trials: int, seed: int = 0) -> ActionKnowledge:
    """What is known of an action that puts a lamp out in nine of ten trials where it is near, and in one of ten elsewhere."""
    action, rng = ActionKnowledge(INDEX, precision_of(0.1)), np.random.default_rng(seed)
    things = Objects({"a": "lamp"}, TYPES)
    for _ in range(trials):
        true = {Atom(name, ("a",)) for name in NAMES if rng.random() < 0.5} | {Atom("lit", ("a",))}
        works = rng.random() < (0.9 if Atom("near", ("a",)) in true else 0.1)
        after = true - {Atom("lit", ("a",))} if works else true
        action.was_executed(State(frozenset(true), things), ("a",), State(frozenset(after), things))
    action.reconsider()
    return action


def test_the_model_has_what_is_likely_and_nothing_else_does_until_it_is_certain() -> None:
    near, few, many = LiftedAtom("near", (0,)), pursued(26), pursued(600)
    assert len(few.cases) == 1
    assert INDEX.select(few.likely) == {near}
    conditions = {frozenset(case.positive | case.negative) for case in few.schema().branches}
    assert conditions == {frozenset({near})}
    assert (
        "It probably depends on near(?lamp): that is not certain, but the model says so."
        in chance.sentence(few)
    )
    assert many.dependence.sure == NEAR
    assert not many.wide
    assert not many.likely
    assert [len(case.outcomes) for case in many.schema().branches] == [
        len(case.outcomes) for case in many.cases
    ]
    assert "probably" not in chance.sentence(many)


def pursuits(spoils: int, trials: int, seed: int, objectives: int = 5) -> list[ActionKnowledge]:
    """What is known of objectives that are achieved in nine of ten pursuits, in three of ten where one of these atoms holds."""
    rng, found = np.random.default_rng(seed), list[ActionKnowledge]()
    things = Objects({"a": "lamp"}, TYPES)
    for name in NAMES[:objectives]:
        index = AtomIndex(PURSUIT.vocabulary, ActionHeader(f"{UNDO}{name}", ("lamp",), LAMP))
        found.append(ActionKnowledge(index, precision_of(0.1)))
        for _ in range(trials):
            true = {Atom(one, ("a",)) for one in NAMES if rng.random() < 0.5} | {Atom(name, ("a",))}
            before = State(frozenset(true), things)
            often = 0.3 if index.values(before, ("a",))[0] & spoils else 0.9
            after = State(frozenset(true - {Atom(name, ("a",))} if rng.random() < often else true), things)
            found[-1].was_executed(before, ("a",), after)
        found[-1].reconsider()
    compare_objectives(found)
    return found


def probable(action: ActionKnowledge) -> dict[str, float]:
    """Of each fact, how probable it was before the pursuits of an objective that it makes a difference."""
    assert action.mattering is not None
    return {
        atom.predicate: float(one)
        for atom, one in zip(action.index.atoms, action.mattering, strict=True)
        if atom.predicate != CLAIMED
    }


def test_what_spoils_other_objectives_is_expected_to_spoil_this_one_and_what_does_not_is_not() -> None:
    for seed in range(10):
        found = probable(pursuits(TALL, 20, seed)[0])
        assert found.pop("tall") > MATTERS > sum(found.values()) / len(found)
        assert max(found.values()) <= 0.6


@given(st.integers(0, 10**6), st.integers(0, 12), st.integers(1, 5), st.integers(0, ALL))
def test_what_is_expected_of_an_objective_is_said_by_others_alone_in_any_order(
    seed: int, trials: int, objectives: int, spoils: int
) -> None:
    found = pursuits(spoils, trials, seed, objectives)
    told = [probable(one) for one in found]
    assert all(0 < each < 1 for one in told for each in one.values())
    new = ActionKnowledge(found[0].index, precision_of(0.1))
    compare_objectives([*found[:0:-1], new])
    assert probable(new) == pytest.approx(told[0])
    compare_objectives([new])
    assert set(probable(new).values()) == {MATTERS}


def test_by_other_objectives_conditions_are_found_earlier_and_less_is_likely_without_reason() -> None:
    """After twelve pursuits of each of five, forty times."""
    alone, together = [0, 0], [0, 0]
    for seed in range(40):
        for place, spoils in enumerate((TALL, 0)):
            found = pursuits(spoils, 12, seed)
            together[place] += sum(bool(one.likely & (spoils or ALL)) for one in found)
            for one in found:
                compare_objectives([one])
            alone[place] += sum(bool(one.likely & (spoils or ALL)) for one in found)
    assert together[0] > alone[0] + 50
    assert together[1] < alone[1]
