"""Operators that are found behind controls with hidden arguments, in random domains, are checked in every reachable state."""

from __future__ import annotations

from collections.abc import Sequence

from aam_vision.interrogation.controls.interrogating import interrogate
from aam_vision.interrogation.controls.operators import Transition, explanations
from aam_vision.interrogation.controls.result import ControlsResult
from experiments.random_strips import random_domain
from tests.interrogation.controls.hidden_arguments import everything, hidden
from tests.profiles import scaled

DOMAINS = scaled(20)


def _is_wrong(result: ControlsResult, seen: Sequence[Transition]) -> bool:
    """Whether an operator is applicable where it should not be, or not where it should; a case that is missing is none that is wrong."""
    for one in seen:
        if result.predictions.agrees(one.before, one.control, one.after):
            continue
        explained = any(
            any(True for _ in explanations(each.effects, each.header.arity, each.derivations, one))
            for each in result.operators
            if each.control == one.control.name
        )
        silent = result.predictions.next_states(one.before, one.control) == {one.before}
        if not one.change or explained or not silent:
            return True
    return False


def test_what_is_complete_with_nothing_unexplained_is_right_in_every_reachable_state() -> None:
    complete = 0
    for seed in range(DOMAINS):
        domain = random_domain(seed)
        if domain.repeated:
            continue
        agent = hidden(domain, seed)
        seen = everything(agent)
        if seen is None or not any(transition.change for transition in seen):
            continue
        result = interrogate(agent, seed)
        inner = result.interrogation
        if inner is not None and inner.proven and not result.unexplained and not result.why:
            complete += 1
            assert not _is_wrong(result, seen), seed
    assert complete > DOMAINS // 5
