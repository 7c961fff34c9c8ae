"""Trials in states of our own: each ends in a situation that was not seen yet, as far as the problem has so many."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import UnreliableAgent
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.model.domains import generate, load
from aam_vision.model.query import Access


@pytest.mark.parametrize("domain", ["gripper", "blocksworld", "miconic"])
def test_no_trial_is_made_in_surroundings_that_were_seen_with_its_arguments(domain: str) -> None:
    rng = np.random.default_rng(0)
    honest = SymbolicAgent(
        load(domain), [generate(domain, 2, rng).initial for _ in range(2)], Access.SETTABLE
    )
    agent = UnreliableAgent(honest, 0.05, 0.0, np.random.default_rng(1))
    result = Interrogation(agent, confirm=True).run(np.random.default_rng(2))
    assert result.assessment is not None
    surroundings = []
    for entry in result.transcript.entries:
        if isinstance(entry, Asked) and len(entry.query.plan) == 1 and entry.response.executed:
            (step,), state = entry.query.plan, entry.query.initial.state
            kept = frozenset(atom for atom in state.true if not {*step.objects}.issuperset(atom[1]))
            surroundings.append((step, kept))
    trials = surroundings[10:]
    assert len(trials) > 20
    assert len(set(trials)) == len(trials)
