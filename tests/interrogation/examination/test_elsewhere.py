"""What changes regularly with an action, on objects that it does not name, is told from what is misread."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aam_vision.interrogation.examination.findings import Diagnosis, Family
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.model.query import Access, Agent
from experiments.faults.registry import faulty_agent
from experiments.trust_runs import PER_SITUATION, Case, literal_right, target_of
from tests.profiles import crossed, some

FAMILIES = [
    "lamp of every step",
    "lamp of one action",
    "two lamps",
    "lamp of a count",
    "effect on all objects",
    "effect elsewhere",
]


def diagnosed(agent: Agent, seed: int = 0) -> Diagnosis | None:
    try:
        return Interrogation(agent).run(np.random.default_rng(seed)).diagnosis
    except Interrupted as error:
        return error.result.diagnosis


@pytest.mark.parametrize(("family", "access"), crossed(FAMILIES, Access))
def test_a_regular_effect_elsewhere_is_called_conditional(family: str, access: Access) -> None:
    found = [diagnosed(faulty_agent(family, access, seed), seed) for seed in range(4)]
    named = [one.family for one in found if one is not None]
    assert len(named) == 4
    assert named.count(Family.CONDITIONAL) >= 2, [one and one.why for one in found]


@pytest.mark.parametrize(
    ("case", "access"),
    crossed(
        [("lamp of one action", (71004,)), ("effect on all objects", (71000, 71008, 71009))],
        [Access.RESET, Access.SNAPSHOT, Access.SETTABLE],
    ),
)
def test_an_action_that_is_seldom_possible_is_sought_on_purpose(
    case: tuple[str, tuple[int, ...]], access: Access
) -> None:
    family, seeds = case
    for seed in seeds:
        found = diagnosed(faulty_agent(family, access, seed), seed)
        assert found is not None
        assert found.family is Family.CONDITIONAL, found.why
        assert "does not name" in found.why


@pytest.mark.parametrize(
    ("family", "access"),
    crossed(["lamp of every step", "lamp of one action"], [Access.RESET, Access.SNAPSHOT, Access.SETTABLE]),
)
def test_the_lamp_is_named_with_two_situations(family: str, access: Access) -> None:
    for seed in some(2, range(4, 8)):
        agent = faulty_agent(family, access, seed)
        found = diagnosed(agent, seed)
        assert found is not None
        assert found.family is Family.CONDITIONAL
        assert "lit(lamp1)" in found.why
        assert found.literal in ("lit(lamp1)", None)
        assert found.examples
        assert found.culprit in agent.fault.actions
        if family == "lamp of one action":
            assert found.literal is None or literal_right(agent.fault, found)


@pytest.mark.parametrize(("access", "rate"), crossed([Access.RESET, Access.SNAPSHOT], [0.05, 0.2]))
def test_a_classifier_that_misreads_much_is_no_regular_effect(
    access: Access, rate: float, tmp_path: Path
) -> None:
    for seed in some(3, range(6)):
        case = Case("blocksworld", access.value, flip_rate=rate, flips=PER_SITUATION)
        found = diagnosed(target_of(case, seed, 2, tmp_path).agent, seed)
        assert found is not None
        assert "does not name" not in found.why, found.why


def test_a_state_that_is_misread_each_time_it_is_made_is_not_misread_by_chance(tmp_path: Path) -> None:
    for seed in some(3, (21000, *range(6))):
        case = Case("blocksworld", "settable", flip_rate=0.05, refusal_rate=0.02, flips=PER_SITUATION)
        found = diagnosed(target_of(case, seed, 2, tmp_path).agent, seed)
        assert found is not None
        assert found.family is not Family.MISREAD or not found.by_chance
