"""Random domains are learned by every policy under every access, and an interrogation ends only when nothing more can be told.

``python -m experiments.random_domains`` interrogates thousands of them, and checks the ends by brute force.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.moves import Policy
from aam_vision.interrogation.policies.aia import AiaPolicy
from aam_vision.interrogation.policies.decorators import Replaying
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.policies.trajectory import TrajectoryPolicy
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Access
from aam_vision.planning.planner import Limits
from aam_vision.report import evaluation
from experiments.random_domains import CASES, judged
from experiments.random_strips import random_domain
from tests import domains
from tests.domains import Domain
from tests.interrogation.hiding import HidingAgent
from tests.interrogation.runs import assert_learned_soundly, assert_sound, read_mode
from tests.profiles import scaled, thorough

DOMAINS = scaled(40)
AMPLE = Budget(queries=2000, steps=20_000)
"""More than any of these small domains may need: an interrogation that gets here does not end."""
ENDED = "no query could tell any more"
REPEATED = "the same question came up again: nothing more can be learnt"


class Kind(NamedTuple):
    """A way to interrogate. Searches are short, since there are many runs."""

    access: Access
    policy: Callable[[int], Policy]
    """For so many steps of a walk, where the policy has a limit to them."""


def _aia(steps: int) -> AiaPolicy:
    return AiaPolicy(constructed=False, limits=Limits(states=1000), walk_steps=steps)


KINDS = {
    "settable": Kind(Access.SETTABLE, lambda steps: SettablePolicy()),
    "settable, aia": Kind(
        Access.SETTABLE, lambda steps: AiaPolicy(limits=Limits(states=300), walk_steps=steps, states=20)
    ),
    "snapshot": Kind(Access.SNAPSHOT, lambda steps: EconomicalPolicy(limits=Limits(states=3000))),
    "snapshot, aia": Kind(Access.SNAPSHOT, _aia),
    "reset": Kind(Access.RESET, lambda steps: Replaying(EconomicalPolicy(limits=Limits(states=1000)))),
    "reset, aia": Kind(Access.RESET, lambda steps: Replaying(_aia(steps))),
    "trajectory": Kind(
        Access.TRAJECTORY, lambda steps: TrajectoryPolicy(limits=Limits(states=1000), work=3000)
    ),
}


def _learned(domain: Domain, kind: str, seed: int, walk_steps: int = 100, hidden: float = 0.0) -> Result:
    (access, policy), repeated = KINDS[kind], domain.repeated
    one = replace(domain, problems=domain.problems[: 1 if access is Access.TRAJECTORY else 2])
    agent = (
        HidingAgent(one, access, hidden)
        if hidden
        else SymbolicAgent(one.model, one.problems, access, repeated=repeated)
    )
    rng = np.random.default_rng(seed)
    return interrogate(agent, policy(walk_steps), rng, budget=AMPLE, repeated=repeated)


@pytest.mark.parametrize("kind", KINDS)
@thorough(60)
@given(
    domains.domains(constants=True),
    st.integers(0, 3),
    st.sampled_from([0, 10, 100]),
    st.sampled_from([0.0, 0.125]),
)
def test_a_random_domain_is_learned(
    kind: str, domain: Domain, seed: int, walk_steps: int, hidden: float
) -> None:
    """Nothing that is true is ruled out, whatever atoms are not seen, and what is complete is equivalent wherever the agent can get.

    Where states can be made, it is the model itself, up to effects that restate a precondition.
    """
    settable = KINDS[kind].access is Access.SETTABLE
    result = _learned(domain, kind, seed, walk_steps, 0.0 if settable else hidden)
    if (
        domain.model.vocabulary.constants
    ):  # of atoms that may be one and the same, an effect may be seen on either
        assert_sound(result.hypotheses, domain.model)
        assert "budget of" not in result.why
    else:
        assert_learned_soundly(result, domain.model)
    assert result.why != REPEATED
    if kind in ("snapshot", "reset", "trajectory"):
        assert result.proven is (result.why == ENDED)
    if not result.proven or (hidden and not settable):
        return
    problems = domain.problems[:1] if kind == "trajectory" else domain.problems
    states = domains.reachable(domain.model, problems, limit=400)
    assert states is None or evaluation.equivalent(result.model, domain.model, states)
    if not domain.model.vocabulary.constants and (settable or not result.undetermined):
        for pal in result.hypotheses.pal_tuples():
            assert read_mode(result.model, pal) is read_mode(domain.model, pal), pal


@pytest.mark.parametrize("kind", KINDS)
@thorough(10)
@given(domains.domains())
def test_the_same_seed_asks_the_same_questions(kind: str, domain: Domain) -> None:
    one, again = (_learned(domain, kind, 5) for _ in range(2))
    assert (one.transcript, one.counts, one.curve) == (again.transcript, again.counts, again.curve)


@pytest.mark.parametrize(("access", "policy"), CASES)
def test_an_interrogation_ends_only_when_no_query_could_tell_any_more(access: str, policy: str) -> None:
    verdicts = {seed: judged(random_domain(seed), Access(access), policy, seed) for seed in range(DOMAINS)}
    wrong = [item for item in verdicts.items() if item[1].outcome in ("tracebacks", "false complete")]
    missed = [item for item in verdicts.items() if item[1].outcome == "missed"]
    assert not wrong
    assert len(missed) <= DOMAINS // 100, missed
