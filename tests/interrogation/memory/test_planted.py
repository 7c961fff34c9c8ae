"""The planted agents are what they are said to be: the true model with the fact says every step, the one without it does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aam_vision.model.query import Access
from aam_vision.model.strips import ActionSchema, LiftedAtom, Model, Predicate

from .planted import KINDS, Change, Need, PlantedFacts, planted_agent, predicted_rightly


def true_model(fault: PlantedFacts) -> Model:
    """What the agent does, with a predicate for what is hidden; for facts whose lack makes steps refused."""
    model = fault.setting.model
    objects = any(change.place is not None for own in fault.changes.values() for change in own)
    memory = Predicate("memory", ("object",) if objects else ())

    def atom(about: Need | Change) -> LiftedAtom:
        return LiftedAtom("memory", () if about.place is None else (about.place,))

    def schema(one: ActionSchema) -> ActionSchema:
        need, changes = fault.needs.get(one.header.name), fault.changes.get(one.header.name, ())
        own = frozenset() if need is None else frozenset({atom(need)})
        return replace(
            one,
            positive=one.positive | (own if need is not None and need.value else frozenset()),
            negative=one.negative | (own if need is not None and not need.value else frozenset()),
            add=one.add | {atom(change) for change in changes if change.value},
            delete=one.delete | {atom(change) for change in changes if not change.value},
        )

    predicates = (*model.vocabulary.predicates, memory)
    vocabulary = replace(model.vocabulary, predicates=predicates)
    return Model(vocabulary, tuple(map(schema, model.actions)))


@pytest.mark.parametrize("kind", ["fact", "fact of an object"])
def test_the_true_model_with_the_fact_says_every_step(kind: str) -> None:
    for seed in range(5):
        fault = planted_agent(kind, Access.RESET, seed).fault
        assert isinstance(fault, PlantedFacts)
        assert predicted_rightly(true_model(fault), fault, np.random.default_rng(seed)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_model_without_it_does_not(kind: str) -> None:
    shares = []
    for seed in range(5):
        fault = planted_agent(kind, Access.RESET, seed).fault
        shares.append(predicted_rightly(fault.setting.model, fault, np.random.default_rng(seed)))  # type: ignore[arg-type]
    assert min(shares) < 1
    assert sum(shares) < 4.99
