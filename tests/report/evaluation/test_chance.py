"""The comparison of models with chance says what differs, and nothing of models that are the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aam_vision.interrogation.chance.interrogating import interrogate
from aam_vision.interrogation.chance.result import Options
from aam_vision.model.query import Access
from aam_vision.model.strips import Case, Model, Outcome
from aam_vision.report.chance_evaluation import (
    check,
    exact,
    sample_transitions,
    variational_distance,
)
from aam_vision.report.evaluation import equivalent
from tests.interrogation.chance.agents import agent, read


def changed(model: Model, name: str, **parts: object) -> Model:
    """The model with parts of one action replaced."""
    actions = [
        replace(schema, **parts) if schema.header.name == name else schema  # type: ignore[arg-type]
        for schema in model.actions
    ]
    return Model(model.vocabulary, tuple(actions))


def test_a_model_is_at_no_distance_from_itself() -> None:
    model, initial = read()
    steps = sample_transitions(model, [initial], 200, np.random.default_rng(0))
    assert len(steps) == 200
    assert variational_distance(model, model, steps) == 0
    assert equivalent(model, model, [step.before for step in steps])
    assert exact(model, model)


def test_the_distance_is_the_mean_difference_of_the_probabilities_of_what_happened() -> None:
    model, initial = read()
    drop = model.schema("drop")
    other = changed(
        model, "drop", cases=(Case(outcomes=tuple(Outcome(0.5, one.effects) for one in drop.outcomes)),)
    )
    steps = sample_transitions(model, [initial], 300, np.random.default_rng(0))
    share = sum(step.action.name == "drop" for step in steps) / len(steps)
    assert variational_distance(other, model, steps) == pytest.approx(0.2 * share)
    assert exact(other, model)


def test_a_step_that_the_model_forbids_counts_in_full() -> None:
    model, initial = read()
    grab = model.schema("grab")
    never = changed(model, "grab", positive=grab.positive | {next(iter(grab.negative))})
    steps = sample_transitions(model, [initial], 100, np.random.default_rng(0))
    grabs = [step for step in steps if step.action.name == "grab"]
    expected = np.mean([grab.successors(one.before, one.action.objects)[one.after] for one in grabs])
    assert variational_distance(never, model, grabs) == pytest.approx(expected)
    assert not equivalent(never, model, [step.before for step in steps])
    assert not exact(never, model)


def test_wrong_lines_and_intervals_are_noticed() -> None:
    model, _ = read()
    result = interrogate(agent(Access.SETTABLE), np.random.default_rng(0), Options(0.15))
    grab = next(one for one in result.actions if one.index.header.name == "grab")
    truth = model.schema("grab")
    assert check(grab, truth).wrong == ()
    wrong_condition = replace(truth, negative=frozenset())
    assert len(check(grab, wrong_condition).wrong) == 1
    one, *others = truth.outcomes
    without = replace(truth, cases=(Case(outcomes=tuple(others)),))
    assert len(check(grab, without).wrong) == 1
    rarer = replace(
        truth, cases=(Case(outcomes=(Outcome(0.1, one.effects), Outcome(0.9, others[0].effects))),)
    )
    assert not all(check(grab, rarer).intervals)
