"""How faulty agents are judged: held-out steps, literals, frequencies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from aam_vision import interrogate
from aam_vision.interrogation.examination.findings import Diagnosis, Example, Family
from aam_vision.model.query import Access, Situation
from aam_vision.model.strips import LiftedAtom, State
from experiments.faults.registry import FAULTY, Changing, faulty_agent, right_verdicts
from experiments.faults.world import OTHER, FaultyAgent, named
from experiments.trust_runs import attempts, frequency_right, interval, literal_right, mispredicted, wrong

SEEDS = range(4)


def _agents(family: str, access: str = "snapshot") -> Iterator[FaultyAgent]:
    return (faulty_agent(family, access, seed, size=1) for seed in SEEDS)


@pytest.mark.parametrize("access", ["reset", "settable"])
def test_a_right_model_is_equivalent_and_one_without_an_effect_is_not(access: str) -> None:
    agent = faulty_agent("honest", access, 2, size=1)
    result = interrogate(agent, seed=0)
    assert result.proven
    assert mispredicted(result, agent, np.random.default_rng(0)) == 0
    for family in ("effect elsewhere", "hidden fuel", "stale state"):
        others = (faulty_agent(family, access, seed, size=1) for seed in range(50))
        other = next(one for one in others if one.fault.setting.domain == agent.fault.setting.domain)
        assert mispredicted(result, other, np.random.default_rng(0)) > 0


def test_what_is_open_counts_neither_way() -> None:
    agent = faulty_agent("honest", "reset", 0, size=1)
    nothing_known = interrogate(agent, seed=0, max_steps=1).hypotheses
    assert not any(
        wrong(nothing_known, one)
        for one in attempts(agent, 300, np.random.default_rng(0))
        if not nothing_known[one.step.name].successes
    )


def test_held_out_steps_leave_a_changing_agent_as_it_is() -> None:
    for agent in _agents("drift of an effect"):
        assert isinstance(agent.fault, Changing)
        for before, step, executed, after in attempts(agent, 500, np.random.default_rng(0)):
            assert agent.fault.setting.outcome(before, step) == (after if executed else None)
        assert not agent.fault.since(agent.nature)


@pytest.mark.parametrize(
    ("seen", "tried", "low", "high"),
    [(0, 10, 0.0, 0.30850), (10, 10, 0.69150, 1.0), (2, 10, 0.02521, 0.55610), (5, 20, 0.08657, 0.49105)],
)
def test_the_interval_is_that_of_clopper_and_pearson(seen: int, tried: int, low: float, high: float) -> None:
    assert interval(seen, tried) == pytest.approx((low, high), abs=1e-5)


def test_a_literal_is_named_with_its_parameters_or_with_any_other_object() -> None:
    agent = next(_agents("effect depends on own atom"))
    header = next(header for header in agent.headers if header.arity == 2)
    one, other = header.parameters
    assert named(f"not on(?{one}, ?{other})", LiftedAtom("on", (0, 1)), header)
    assert not named(f"on(?{other}, ?{one})", LiftedAtom("on", (0, 1)), header)
    assert named(f"on(b7, ?{one}) holds", LiftedAtom("on", (OTHER, 0)), header)
    assert not named(f"on(?{other}, ?{one})", LiftedAtom("on", (OTHER, 0)), header)
    assert not named("clear(b7)", LiftedAtom("on", (OTHER, 0)), header)


def test_what_is_hidden_and_what_changes_count_alike_only_where_nothing_can_be_had_again() -> None:
    assert right_verdicts("hidden fuel", "reset") == ("hidden",)
    assert "changing" in right_verdicts("hidden fuel", "trajectory")
    assert "hidden" in right_verdicts("drift of an effect", Access.TRAJECTORY)
    assert right_verdicts("silent no-op", "trajectory") == ("random",)
    assert "misread" in right_verdicts("silent no-op", "reset", misread=True)
    assert all(right_verdicts(family, "reset") for family in FAULTY)
    assert {verdict for family in FAULTY for verdict in right_verdicts(family, "reset")} == {
        family.value for family in Family
    }


def _diagnosed(agent: FaultyAgent, **changes: object) -> Diagnosis:
    plain = Diagnosis(Family.CONDITIONAL if agent.fault.condition else Family.RANDOM, "x", "x")
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_the_verdict_on_a_literal_and_on_a_frequency() -> None:
    agent = next(_agents("effect depends on own atom"))
    (action,) = agent.fault.actions
    header = agent.fault.setting.header(action)
    assert agent.fault.condition is not None
    text = agent.fault.condition.text(header.parameters)
    assert literal_right(agent.fault, _diagnosed(agent, literal=text)) is True
    assert literal_right(agent.fault, _diagnosed(agent, literal="nothing(?x)")) is False
    assert literal_right(agent.fault, _diagnosed(agent)) is False
    plain = _diagnosed(agent, literal=text, family=Family.MISREAD)
    assert literal_right(agent.fault, plain) is None, "nothing is said of a literal"
    chance = next(_agents("silent no-op"))
    assert literal_right(chance.fault, _diagnosed(chance)) is None
    assert frequency_right(chance.fault, _diagnosed(chance, seen=8, tried=40)) is True
    assert frequency_right(chance.fault, _diagnosed(chance, seen=32, tried=40)) is False
    assert frequency_right(chance.fault, _diagnosed(chance)) is None
    state: State = chance.fault.setting.initial[0]
    step = chance.option(state, np.random.default_rng(0))
    assert step is not None
    done = chance.fault.setting.outcome(state, step)
    assert done is not None
    here, there = Situation(0, state), Situation(1, done)
    examples = (Example(here, step, "nothing", here), Example(here, step, "executed", there))
    told = _diagnosed(chance, seen=32, tried=40, examples=examples)
    assert frequency_right(chance.fault, told) is True, "the honest outcome was the unexpected one"
