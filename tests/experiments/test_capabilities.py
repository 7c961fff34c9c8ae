"""Agents with random flaws: they do what their truth says, and what is said of them is held against it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from aam_vision.envs.policies import Objective
from aam_vision.model.query import CLAIMED
from aam_vision.model.strips import Atom, GroundAction, LiftedAtom
from experiments import capabilities
from experiments.capabilities import CHOICES, amiss, assessed, followed
from experiments.objectives import beyond
from experiments.workshop import WORKSHOP, Flaws, Skill, flawed, plan, pursued
from tests.profiles import crossed, first


@pytest.mark.parametrize("seed", range(6))
def test_agents_do_what_is_true_of_them(seed: int) -> None:
    flaws = flawed(seed)
    agent, rng = WORKSHOP.agent(flaws), np.random.default_rng(seed)
    model, starts, aside = WORKSHOP.truth(agent, flaws), agent.initial(), WORKSHOP.side_effects(agent, flaws)
    expected, came = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for luck in range(400):
        header = agent.headers[luck % len(agent.headers)]
        step, begun = agent.drawn(header, rng), int(rng.integers(len(starts)))
        ended, state = agent.pursue_from(begun, step, luck), starts[begun].state
        changed = {one for one in ended.after.true ^ state.true if not {*one.objects} <= {*step.objects}}
        assert beyond(state, ended.after.true, step.objects) <= aside[header.name]
        after = model.schema(header.name).successors(state, step.objects)
        assert sum(ended.after.true ^ changed == one.true for one in after) == 1
        goal, value = agent.objective(step)
        for one, share in after.items():
            expected[header.name, "achieved"] += share * ((goal in one.true) is value)
            expected[header.name, "claimed"] += share * (Atom(CLAIMED, ()) in one.true)
        came[header.name, "achieved"] += ended.achieved
        came[header.name, "claimed"] += ended.claimed
    assert all(abs(came[key] - expected[key]) < 20 for key in expected)


def test_an_agent_plans_with_what_it_believes() -> None:
    live = frozenset({Atom("live", ("socket-1",)), Atom("dark", ())})
    plugged = Objective(Atom("plugged", ("lamp-2", "socket-1")))
    off, plug = GroundAction("switch-off", ("socket-1",)), GroundAction("plug", ("lamp-2", "socket-1"))
    assert plan(live, plugged) == (off, plug)
    assert plan(live, Objective(Atom("dark", ()))) == ()
    skills = dict.fromkeys(flawed(0).skills, Skill())
    skills["plug"] = Skill(needs={LiftedAtom("dark", ()): False}, stirs=True)
    assert pursued(live, plugged, Flaws(skills, frozenset())) == {live - {Atom("live", ("socket-1",))}: 1.0}
    after = {plugged.atom, Atom("dusty", ("lamp-1",))}
    assert pursued(live - {Atom("dark", ())}, plugged, Flaws(skills, frozenset())) == {frozenset(after): 1.0}


@pytest.mark.parametrize(
    ("job", "known"),
    first(
        1,
        [
            ({"world": "workshop", "steps": 150, "seed": 0}, {"objectives": 6, "lies": 4, "pursuits": 150}),
            ({"world": "kitchen", "steps": 60, "seed": 2}, {"objectives": 6, "wrong": []}),
            ({"world": "tabletop", "steps": 60, "seed": 2}, {"objectives": 5, "lies": 0, "wrong": []}),
        ],
    ),
)
def test_an_assessment_is_held_against_the_flaws(job: dict[str, Any], known: dict[str, Any]) -> None:
    row = assessed(**job, access="reset", within=0.2)
    assert known.items() <= row.items()
    assert row["found"] + len(row["missed"]) == row["objectives"]
    assert 0 <= row["right"] <= row["intervals"]
    assert row["lies_found"] <= row["lies"]
    if job["world"] == "tabletop":
        assert row["right"] > 0
        assert row["distance"] < 0.5


def test_what_is_wrong_is_named() -> None:
    told = "undo-live: depends on dark()"
    assert [amiss({"seed": 0, "wrong": wrong}) for wrong in ([], [told])] == ["", f"seed 0: {told}"]


@pytest.mark.parametrize(
    ("where", "choice"),
    crossed([("workshop", "reset"), ("workshop", "snapshot"), ("tabletop", "reset")], CHOICES),
)
def test_every_choice_comes_nearer_to_the_truth(
    where: tuple[str, str], choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, access = where
    for name, value in (("AFTER", (5, 60, 70)), ("ITERATIONS", 30), ("HELD_OUT", 200)):
        monkeypatch.setattr(capabilities, name, value)
    row = followed(world=world, access=access, choice=choice, steps=60, seed=3)
    early, late = row["distances"].values()
    assert row["pursuits"] == 60
    assert late < early
