"""What follows from weighed answers has to agree with the steps that were seen before they were weighed."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.statistics.counts import ErrorRates, Misreading
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.earlier_steps import contradiction
from aam_vision.interrogation.task.result import Result
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access
from aam_vision.model.strips import Location, Mode
from experiments.trust_runs import trusted
from tests.profiles import first


def _interrogated(name: str) -> Result:
    rng = np.random.default_rng(0)
    problems = [packaged.generate(name, 2, rng).initial for _ in range(2)]
    agent = SymbolicAgent(packaged.load(name), problems, Access.SNAPSHOT)
    return Interrogation(agent, exam=0).run(rng)


def _rates(result: Result, wrong: float) -> ErrorRates:
    predicates = result.transcript.vocabulary.predicates
    return ErrorRates({one.name: Misreading(wrong, wrong) for one in predicates}, 0.1, 0.0)


@pytest.mark.parametrize("name", ["gripper", "blocksworld", "logistics"])
def test_steps_contradict_a_wrong_mode_alone_unless_misreadings_explain_them(name: str) -> None:
    result = _interrogated(name)
    assert contradiction(result.transcript, result.certain, _rates(result, 0.0)) is None
    turned = {Mode.POSITIVE: Mode.NEGATIVE, Mode.NEGATIVE: Mode.POSITIVE}
    pal = next(pal for pal, mode in result.certain.items() if mode in turned and pal.location is Location.EFF)
    claimed = {**result.certain, pal: turned[result.certain[pal]]}
    told = contradiction(result.transcript, claimed, _rates(result, 0.0))
    assert told is not None
    assert told.startswith(f"{pal.action}: ")
    assert pal.atom.predicate in told
    assert contradiction(result.transcript, claimed, _rates(result, 0.45)) is None


def test_steps_are_counted_once_in_a_perceived_state() -> None:
    result = _interrogated("blocksworld")
    pal, mode = next(
        (pal, mode)
        for pal, mode in result.certain.items()
        if pal.location is Location.EFF and mode is Mode.POSITIVE
    )
    entry = next(
        one
        for one in result.transcript.in_single_steps().entries
        if one.actions[0].name == pal.action and len(one.executed) == 1
    )
    once = result.transcript.of([entry])
    often = result.transcript.of([entry] * 50)
    claimed = {pal: Mode.NEGATIVE if mode is Mode.POSITIVE else Mode.POSITIVE}
    rates = _rates(result, 0.0)
    assert contradiction(once, claimed, rates) == contradiction(often, claimed, rates)


@pytest.mark.parametrize("seed", first(1, [61001, 71002, 71003, 76000, 76001]))
def test_executions_by_mistake_make_nothing_certain_that_is_wrong(seed: int) -> None:
    """On a trajectory the weighed answers may all be of steps with swapped arguments."""
    family = "fault: arguments swapped sometimes"
    row = trusted(exam=60, seed=seed, size=2, agent=family, access="trajectory")
    assert row["wrong"] == 0
    assert not row["silently_wrong"]
