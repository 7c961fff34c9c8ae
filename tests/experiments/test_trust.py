"""The mixture has everything in it, and no run of a small one is silently wrong."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.agents.reference_agent import START
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.query import Query
from aam_vision.strips import Atom, GroundAction, Objects, State
from experiments.faulty_robot import FAULTS
from experiments.strangers import TWISTS
from experiments.trust import ACCESSES, DOMAINS, FLIPS, mixture, robot, summary, trusted


def test_the_mixture_has_all_kinds_of_agents_under_all_accesses() -> None:
    cases = mixture(DOMAINS)
    agents = {case["agent"] for case in cases}
    assert agents == {*DOMAINS, *(f"program: {f}" for f in FAULTS), *(f"stranger: {t}" for t in TWISTS)}
    for agent in agents - {"satellite"}:
        assert {case["access"] for case in cases if case["agent"] == agent} == set(ACCESSES)
    assert {case["flip_rate"] for case in cases} == set(FLIPS)
    assert len({tuple(sorted(case.items())) for case in cases}) == len(cases)


@pytest.mark.parametrize("access", ACCESSES)
@pytest.mark.parametrize("agent", ["gripper", "program: crash", "program: refusal", "stranger: conditional"])
def test_a_run_ends_right_or_says_what_is_wrong(agent: str, access: str) -> None:
    case = {"agent": agent, "access": access, "flip_rate": 0.0, "refusal_rate": 0.0}
    if ":" not in agent:
        case |= {"flip_rate": 0.1, "refusal_rate": 0.02}
    row = trusted(**case, seed=0, size=2)  # type: ignore[arg-type]
    assert not row["silently_wrong"]
    assert row["wrong"] == 0
    if agent.startswith("stranger"):
        assert not row["complete"]
    (line, total) = summary([{**case, **row}]).rows
    assert (line[2], line[7], total[2]) == (1, 0, 1)


def test_the_robots_model_is_what_the_reference_agent_does() -> None:
    model = robot()
    kinds = {"kitchen": "room", "hall": "room", "garden": "room", "red": "ball", "blue": "ball"}
    state = State(
        frozenset(Atom(name, tuple(rest)) for name, *rest in START), Objects(kinds, model.vocabulary.types)
    )
    agent = SymbolicAgent(model, [state])
    (start,) = agent.initial()
    plan = (
        GroundAction("go", ("hall", "kitchen")),
        GroundAction("take", ("red", "kitchen")),
        GroundAction("take", ("blue", "kitchen")),
    )
    response = agent.ask(Query(start, plan))
    assert response.executed == 2
    assert response.final.state.value(Atom("holds", ("red",)))
    assert np.all([not response.final.state.value(atom) for atom in (Atom("free", ()),)])
