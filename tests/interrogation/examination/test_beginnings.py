"""Where the examination's plans begin, and what the long ones show at their end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.moves import Asked, Walked
from aam_vision.interrogation.examination.coverage import unlike
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verdict import OPEN
from aam_vision.model.domains import generate, load
from aam_vision.model.query import Access
from aam_vision.model.strips import ActionSchema, Model, State
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


def learned(model: Model, initial: State, access: Access, exam: int, seed: int = 0) -> Result:
    agent = SymbolicAgent(model, [initial], access)
    return Interrogation(agent, exam=exam).run(np.random.default_rng(seed))


@thorough(60)
@given(domains.domains(constants=True), st.integers(0, 5))
def test_a_state_unlike_another_differs_in_one_predicate_and_is_a_state(domain: Domain, seed: int) -> None:
    state = domain.problems[0]
    vocabulary = domain.model.vocabulary
    if not vocabulary.predicates:
        return
    other = unlike(vocabulary, state, np.random.default_rng(seed))
    changed = state.true ^ other.true
    assert len({atom[0] for atom in changed}) <= 1
    assert other.objects == state.objects
    for name, objects in changed:
        types = vocabulary.predicate(name).types
        assert all(one in state.objects.members(kind) for one, kind in zip(objects, types, strict=True))


def test_where_any_state_can_be_made_some_begin_in_states_that_the_interrogation_never_came_to() -> None:
    initial = generate("miconic", 2, np.random.default_rng(0)).initial
    model = load("miconic")
    taught = learned(model, initial, Access.SETTABLE, 0).transcript.entries
    examined = learned(model, initial, Access.SETTABLE, 100).transcript.entries[len(taught) :]
    seen = {initial, *(step.after.state for one in examined if isinstance(one, Walked) for step in one.steps)}
    seen |= {one.response.final.state for one in (*taught, *examined) if isinstance(one, Asked)}
    seen |= {one.query.initial.state for one in taught if isinstance(one, Asked)}
    assert any(one.query.initial.state not in seen for one in examined if isinstance(one, Asked))


@pytest.mark.parametrize("domain", ["gripper", "blocksworld", "logistics"])
def test_a_long_plan_has_every_action_about_equally_often(domain: str) -> None:
    initial = generate(domain, 2, np.random.default_rng(1)).initial
    result = learned(load(domain), initial, Access.SETTABLE, 120)
    longest = max(
        (one.query.plan for one in result.transcript.entries if isinstance(one, Asked)), key=len, default=()
    )
    uses = [sum(step.name == name for step in longest) for name in result.hypotheses.actions]
    assert len(longest) > 50
    assert min(uses) >= len(longest) // (2 * len(uses))


@pytest.mark.parametrize("access", [Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY])
def test_an_examination_of_refusals_alone_is_none(access: Access) -> None:
    model = load("gripper")
    initial = generate("gripper", 1, np.random.default_rng(0)).initial
    never = [
        ActionSchema(one.header, one.positive, one.positive, one.add, one.delete) for one in model.actions
    ]
    result = learned(Model(model.vocabulary, tuple(never)), initial, access, 60)
    assert result.proven
    assert result.status == OPEN
    assert "never executed: " in (result.missing or "")
