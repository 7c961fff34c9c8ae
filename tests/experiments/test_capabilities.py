"""Agents with random flaws: they do what their truth says, and what is said of them is held against it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from aam_vision.model.query import CLAIMED
from aam_vision.model.strips import Atom
from experiments import capabilities
from experiments.capabilities import CHOICES, amiss, assessed, followed
from experiments.workshop import LAMPS, flawed, truth, workshop


@pytest.mark.parametrize("seed", range(6))
def test_agents_do_what_is_true_of_them(seed: int) -> None:
    skills = flawed(seed)
    agent, rng = workshop(skills), np.random.default_rng(seed)
    model, starts = truth(agent, skills), agent.initial()
    expected, came = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for luck in range(400):
        header = agent.headers[luck % len(agent.headers)]
        step = agent.drawn(header, rng)
        assert step is not None
        begun = int(rng.integers(len(starts)))
        ended = agent.pursue_from(begun, step, luck)
        state, skill = starts[begun].state, skills[agent.kind(header.name)]
        beyond = (
            {Atom("dusty", (one,)) for one in LAMPS if one not in step.objects} if skill.beyond else set()
        )
        after = model.schema(header.name).successors(state, step.objects)
        fitting = [one for one in after if ended.after.true - beyond == one.true - beyond]
        assert len(fitting) == 1
        goal = skill.goal.ground(step.objects)
        for one, share in after.items():
            expected[header.name, "achieved"] += share * ((goal in one.true) is skill.value)
            expected[header.name, "claimed"] += share * (Atom(CLAIMED, ()) in one.true)
        came[header.name, "achieved"] += ended.achieved
        came[header.name, "claimed"] += ended.claimed
    assert all(abs(came[key] - expected[key]) < 20 for key in expected)


def test_an_assessment_is_held_against_the_flaws() -> None:
    row = assessed(world="workshop", access="reset", within=0.2, steps=150, seed=0)
    assert row["objectives"] == 6
    assert row["found"] + len(row["missed"]) == 6
    assert 0 <= row["right"] <= row["intervals"]
    assert row["lies_found"] <= row["lies"] == 3
    assert row["pursuits"] == 150
    row["seed"] = 0
    assert not amiss({**row, "wrong": []})
    assert amiss({**row, "wrong": ["undo-live: depends on dark()"]}) == "seed 0: undo-live: depends on dark()"


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(
    ("world", "access"), [("workshop", "reset"), ("workshop", "snapshot"), ("tabletop", "reset")]
)
def test_every_choice_comes_nearer_to_the_truth(
    world: str, access: str, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capabilities, "AFTER", (5, 60))
    monkeypatch.setattr(capabilities, "ITERATIONS", 30)
    monkeypatch.setattr(capabilities, "HELD_OUT", 200)
    row = followed(world=world, access=access, choice=choice, seed=3)
    early, late = row["distances"]
    assert row["pursuits"] == 60
    assert late < early
