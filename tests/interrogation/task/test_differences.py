"""The differences between a model and one learned earlier."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.task.result import check_prior, differences
from aam_vision.support.errors import UnusableInput
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import updated
from tests.profiles import thorough


@thorough(40)
@given(domains.domains(), st.integers(0, 100))
def test_differences_are_none_only_between_models_that_read_alike(domain: Domain, seed: int) -> None:
    other = updated(domain.model, seed)
    assert not differences(domain.model, domain.model)
    forth, back = differences(domain.model, other), differences(other, domain.model)
    assert [(one.before, one.now) for one in forth] == [(one.now, one.before) for one in back]


@given(domains.domains())
@thorough(20)
def test_a_model_of_another_agent_is_refused(domain: Domain) -> None:
    model = domain.model
    check_prior(model, model.vocabulary, model.headers, "old.pddl")
    fewer = replace(model, actions=model.actions[1:])
    with pytest.raises(UnusableInput, match=r"prior old\.pddl: is a model of another agent"):
        check_prior(fewer, model.vocabulary, model.headers, "old.pddl")
