"""Agents that change atoms of objects which their steps do not name do it as the visible state says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from aam_vision.model.strips import Atom, State
from experiments.faults.conditional import LAMP, LIT, MARKED
from experiments.faults.registry import faulty_agent
from experiments.faults.world import FaultyAgent
from experiments.trust_runs import Attempt, attempts

SEEDS = range(4)


def _attempts(family: str) -> Iterator[tuple[FaultyAgent, list[Attempt]]]:
    for seed in SEEDS:
        agent = faulty_agent(family, "snapshot", seed, size=1)
        yield agent, [*attempts(agent, 200, np.random.default_rng(seed))]


def _lit(state: State) -> list[bool]:
    return [Atom(LIT, (name,)) in state.true for name in state.objects.of_type(LAMP)]


@pytest.mark.parametrize("family", ["lamp of every step", "lamp of one action"])
def test_a_lamp_is_switched_by_its_actions_and_by_no_other(family: str) -> None:
    for agent, found in _attempts(family):
        assert all(LAMP not in header.types for header in agent.headers)
        for before, step, executed, after in found:
            switched = executed and step.name in agent.fault.actions
            assert (_lit(before) != _lit(after)) is switched


def test_two_lamps_count_to_four() -> None:
    for _, found in _attempts("two lamps"):
        for before, _, executed, after in found:
            one, other = (sum(on << number for number, on in enumerate(_lit(s))) for s in (before, after))
            assert other == (one + executed) % 4


def test_the_lamp_of_a_count_is_on_while_it_is_odd() -> None:
    for agent, found in _attempts("lamp of a count"):
        names = [predicate.name for predicate in agent.vocabulary.predicates if predicate.name != LIT]
        states = {one.after for one in found}
        odd = [{(len(s.rows.get(name, ())) % 2 == 1, *_lit(s)) for s in states} for name in names]
        assert {(True, True), (False, False)} in odd


def test_an_effect_on_all_objects_leaves_none_out() -> None:
    for agent, found in _attempts("effect on all objects"):
        (kind,) = agent.vocabulary.predicate(MARKED).types
        for before, step, executed, after in found:
            marked = len(after.rows.get(MARKED, ()))
            if executed and step.name in agent.fault.actions:
                assert marked in (0, len(after.objects.of_type(kind)))
            else:
                assert marked == len(before.rows.get(MARKED, ()))
