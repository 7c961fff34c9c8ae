"""Pursuits of objectives: those that begin where the goal holds already are apart, and what was claimed before is no fact."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from aam_vision.interrogation.chance.graph import StateGraph, StepTable
from aam_vision.interrogation.chance.intervals import precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.hypotheses.literals import NOTHING, AtomIndex
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
from tests.profiles import first

LAMP = ("lamp",)
LIT, NEAR = (LiftedAtom(name, (0,)) for name in ("lit", "near"))
DARK, CLAIMED = (LiftedAtom(name, ()) for name in ("dark", "claimed"))
FACTS = Predicate("lit", LAMP), Predicate("near", LAMP), Predicate("dark")
REPORTS = Predicate("claimed"), Predicate("ended")
TYPES = Types({"lamp": "object"})
HEADER = ActionHeader("achieve-lit", ("lamp",), LAMP)
THINGS = Objects({"a": "lamp"}, TYPES)


def lighting(*reports: Predicate) -> ActionKnowledge:
    """What is known of it where nothing was tried."""
    return ActionKnowledge(AtomIndex(Vocabulary("lamps", FACTS + reports, TYPES), HEADER), precision_of(0.1))


def state(*atoms: LiftedAtom) -> State:
    return State(frozenset(atom.ground(("a",)) for atom in atoms), THINGS)


def pursue(action: ActionKnowledge, pursuits: int, seed: int, *, claims: bool = False) -> None:
    """Pursuits that succeed in 80% where it is near and never elsewhere, claim what they achieve, and begin lit in half of all.

    ``claims``: whether half of them begin where the one before claimed to be done.
    """
    rng = np.random.default_rng(seed)
    for _ in range(pursuits):
        lit, near, dark, claimed, works = rng.random(5) < (0.5, 0.5, 0.5, 0.5, 0.8)
        there = {LIT: lit, NEAR: near, DARK: dark, CLAIMED: claims and claimed}
        done = lit or (near and works)
        after = there | {LIT: done, CLAIMED: done}
        ends = ([atom for atom, value in one.items() if value] for one in (there, after))
        before, now = (state(*atoms) for atoms in ends)
        action.was_executed(before, ("a",), now)
    action.reconsider()


def told(action: ActionKnowledge) -> list[object]:
    return [(one.condition, one.outcomes, one.frequencies) for one in action.cases]


def test_pursuits_that_begin_where_the_goal_holds_are_apart_from_the_first_ones_on() -> None:
    action = lighting(*REPORTS)
    goal = action.index.goal
    assert action.index.select(goal.positive) == {LIT}
    action.was_executed(state(NEAR), ("a",), state(NEAR, LIT, CLAIMED))
    assert [one.condition for one in action.cases] == [NOTHING], "it never began where it holds"
    action.was_executed(state(NEAR, LIT), ("a",), state(NEAR, LIT, CLAIMED))
    assert {one.condition for one in action.cases} == {goal, goal.opposite()}
    assert [one.executed for one in action.cases] == [1, 1]
    assert not action.dependence.atoms | action.dependence.sure | action.doubtful, "the goal is no finding"


@pytest.mark.parametrize("seed", first(2, range(5)))
def test_what_a_pursuit_depends_on_is_found_beside_its_goal(seed: int) -> None:
    action = lighting(*REPORTS)
    pursue(action, 180, seed)
    assert action.index.select(action.dependence.atoms) == {NEAR}
    schema = action.schema()
    for values in product((False, True), repeat=3):
        lit, near, _ = values
        there = state(*(atom for atom, value in zip((LIT, NEAR, DARK), values, strict=True) if value))
        ends = schema.successors(there, ("a",))
        assert {(LIT.ground(("a",)) in one.true, Atom("claimed", ()) in one.true) for one in ends} == (
            {(True, True)} if lit else {(True, True), (False, False)} if near else {(False, False)}
        )


@pytest.mark.parametrize("seed", first(2, range(5)))
def test_what_was_claimed_before_makes_no_difference(seed: int) -> None:
    with_, without = lighting(*REPORTS), lighting(*REPORTS)
    pursue(with_, 200, seed, claims=True)
    pursue(without, 200, seed)
    assert told(with_) == told(without)
    assert with_.explanation.sure
    claimed = with_.index.mask([CLAIMED])
    assert not claimed & (with_.precondition.candidates.positive | with_.precondition.candidates.negative)
    ends = with_.schema().successors(state(CLAIMED), ("a",))
    assert {Atom("claimed", ()) in one.true for one in ends} == {False}, (
        "a pursuit that claims nothing ends without"
    )


def test_the_situations_ahead_do_not_say_what_was_claimed() -> None:
    action = lighting(*REPORTS)
    pursue(action, 50, 0, claims=True)
    table = StepTable((action,))
    assert table.begun(state(NEAR, CLAIMED)) == state(NEAR)
    graph = StateGraph((action,), table, [state(NEAR)])
    assert set(graph.states) == {state(NEAR), state(NEAR, LIT)}


def test_ways_lead_where_steps_were_seen_to_lead_if_they_change_what_is_not_named() -> None:
    """Whoever lights one lamp puts the other out, which the instruction does not name."""
    action = lighting(*REPORTS)
    both = Objects({"a": "lamp", "b": "lamp"}, TYPES)
    lit = {thing: State(frozenset({LIT.ground((thing,))}), both) for thing in ("a", "b")}
    for _ in range(20):
        for thing, other in (("a", "b"), ("b", "a")):
            action.was_executed(lit[other], (thing,), lit[thing])
    impossible = State(lit["a"].true | lit["b"].true, both)
    table = StepTable((action,))
    graph = StateGraph((action,), table, [lit["b"]])
    assert set(graph.states) == {lit["b"], impossible}, "that is what is known of the action"
    (step,) = (one for one in table.all(lit["b"]) if one.objects == ("a",))
    assert action.astray == 40
    graph.note(lit["b"], step, lit["a"])
    assert graph.misleading
    found = StateGraph((action,), table, [lit["b"]])
    assert not found.misleading
    assert found.number.keys() >= {*lit.values()}
    found.solve()
    ((move, way),) = found.moves(found.number[lit["b"]]).items()
    assert way == step
    assert list(found.leads(move)) == [(1.0, found.number[lit["a"]])]


def test_what_was_never_achieved_is_pursued_once_in_every_kind_of_situation() -> None:
    """It may take any number of facts: here each two were tried together, and all three were not."""
    vocabulary = Vocabulary("lamps", (*FACTS, Predicate("warm"), *REPORTS), TYPES)
    facts = NEAR, DARK, LiftedAtom("warm", ())

    def tried(achieved: LiftedAtom | None) -> ActionKnowledge:
        action = ActionKnowledge(AtomIndex(vocabulary, HEADER), precision_of(0.1))
        for there in product((False, True), repeat=3):
            atoms = [atom for atom, holds in zip(facts, there, strict=True) if holds]
            now = [*atoms, achieved] if achieved else atoms
            for _ in range(60 if len(atoms) < 3 else 0):
                action.was_executed(state(*atoms), ("a",), state(*now))
        action.was_executed(state(LIT), ("a",), state(LIT, CLAIMED))
        action.reconsider()
        return action

    never, often = tried(None), tried(LIT)
    everything, less = never.index.mask(facts), never.index.mask(facts[:2])
    assert never.worth(everything) > never.worth(less)
    assert often.worth(everything) == often.worth(less)
    never.was_executed(state(*facts), ("a",), state(*facts))
    assert never.worth(everything) == never.worth(less)


def test_what_cannot_all_be_seen_at_once_is_as_likely_as_what_shows_least_says() -> None:
    """It is near or dark, never both: that the lamp is left and the light comes on shows in one step of four."""
    action = lighting()
    for number in range(80):
        before = NEAR if number % 4 else DARK
        action.was_executed(state(before), ("a",), state(LIT))
    (case,) = action.cases
    (one,) = case.outcomes
    assert one.deletes == action.index.mask([NEAR, DARK])
    (found,) = case.frequencies
    assert (found.hits, found.trials) == (20, 20)
    alone = lighting()
    for _ in range(20):
        alone.was_executed(state(DARK), ("a",), state(LIT))
    assert found.low == alone.frequencies[0].low
    for _ in range(3):
        action.was_executed(state(NEAR, DARK), ("a",), state(LIT))
    assert case.frequencies[0].trials == 3, "only these show all of it"


def test_an_action_of_an_agent_that_claims_nothing_is_no_objective() -> None:
    action = lighting()
    assert not action.index.goal
    assert not action.index.reported
    for before in ((NEAR,), (NEAR, LIT)):
        action.was_executed(state(*before), ("a",), state(NEAR, LIT))
    assert [one.condition for one in action.cases] == [NOTHING]


def test_two_facts_are_tried_together_before_intervals_are_narrow() -> None:
    action = lighting(*REPORTS)

    def tried(turn: int, *there: LiftedAtom) -> None:
        now = (LIT, CLAIMED) if turn % 5 else ()
        action.was_executed(state(*there), ("a",), state(*there, *now))

    for turn in range(60):
        tried(turn, *((), (NEAR,), (DARK,))[turn % 3])
    tried(1, LIT)
    action.reconsider()
    assert action.wide
    near, dark, both = (action.index.mask(atoms) for atoms in ([NEAR], [DARK], [NEAR, DARK]))
    others = max(action.worth(0), action.worth(near), action.worth(dark))
    assert 0.8 * action.worth(both) > others, "it is worth three steps on the way"
    for turn in range(20):
        tried(turn, NEAR, DARK)
    assert action.wide
    assert 0.8 * action.worth(both) < action.worth(near)
