"""What answers do not tell is not asked again in the same form, nothing false follows, and every interrogation ends."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.completeness.indistinguishability import Closure
from aam_vision.interrogation.evidence.moves import Ask, Stop
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.decorators import Excusing
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction, State
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.report import evaluation
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, assert_sound, walked
from tests.profiles import promised, thorough


class ReticentAgent(SymbolicAgent):
    """Does not tell whether some steps are executed, always of the same steps from the same states."""

    def __init__(self, domain: Domain, one_in: int) -> None:
        super().__init__(domain.model, domain.problems, Access.SNAPSHOT)
        self.one_in = one_in

    def ask(self, query: Query) -> Response:
        here = query.initial
        for number, step in enumerate(query.plan):
            if self.reticent(here.state, step):
                return Response(number, here, told=number)
            response = super().ask(Query(here, (step,)))
            if not response.executed:
                return Response(number, here)
            here = response.final
        return Response(len(query.plan), here)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return [
            step
            for step in super().walk(start, steps, rng)
            if not self.reticent(step.before.state, step.action)
        ]

    def reticent(self, state: State, step: GroundAction) -> bool:
        """Whether it does not tell of this step from this state."""
        text = " ".join([*sorted(map(str, state.true)), str(step)])
        return crc32(text.encode()) % self.one_in == 0


@promised(60)
@given(domains.domains(), st.integers(2, 5), st.integers(0, 3))
def test_what_is_not_told_is_not_asked_in_the_same_form_and_nothing_false_follows(
    domain: Domain, one_in: int, seed: int
) -> None:
    agent = ReticentAgent(domain, one_in)
    policy = policy_for(Access.SNAPSHOT, "economical", PyperplanPlanner())
    result = interrogate(agent, policy, np.random.default_rng(seed), budget=AMPLE)
    assert "budget of" not in result.why, "the interrogation does not end"
    assert "came up again" not in result.why
    assert_sound(result.hypotheses, domain.model)


@promised(60)
@given(domains.domains(), st.integers(2, 5))
def test_a_model_that_is_complete_although_not_all_is_told_is_equivalent(domain: Domain, one_in: int) -> None:
    states = domains.reachable(domain.model, domain.problems, limit=400)
    assume(states is not None)
    assert states is not None
    policy = policy_for(Access.SNAPSHOT, "economical", PyperplanPlanner())
    agent = ReticentAgent(domain, one_in)
    result = interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE)
    if result.proven:
        assert evaluation.equivalent(result.model, domain.model, states)


class Stopping:
    """A policy that stops at once, with nothing proven."""

    def next(self, evidence: object, rng: np.random.Generator) -> Ask | Stop:
        return Stop(False, "it stops", {})


@thorough(40)
@given(domains.domains(), st.integers(0, 3))
def test_a_stop_is_complete_only_if_there_are_reasons_for_all_that_is_open(domain: Domain, seed: int) -> None:
    evidence, rng = walked(domain, seed), np.random.default_rng(seed)
    actions = evidence.hypotheses.actions
    open_ = [(name, one) for name, action in actions.items() for one in action.undecided.singles()]
    assume(open_)
    left_out = open_[int(rng.integers(len(open_)))]

    def reasons(hypotheses: Hypotheses, beyond: Closure) -> dict[tuple[str, Literals], str]:
        return {one: "nobody tells" for one in open_ if one != left_out}

    stop = Excusing(Stopping(), reasons).next(evidence, rng)
    assert isinstance(stop, Stop)
    assert not stop.complete
    assert stop.beyond is not None
    for name, literal in open_:
        assert literal.within(stop.beyond[name][0]) is ((name, literal) != left_out)
