"""Interrogations of symbolic agents, as several test modules make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Move, Walked
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Access
from aam_vision.model.strips import Location, Mode, Model, PalTuple, lifted_atoms
from aam_vision.planning.planner import Limits
from tests.domains import Domain

AMPLE = Budget(queries=500, steps=5000)
"""More than any of these small domains may need: an interrogation that gets here does not end."""


def agent_of(domain: Domain) -> SymbolicAgent:
    return SymbolicAgent(domain.model, domain.problems, Access.SNAPSHOT)


def run(
    domain: Domain,
    *,
    seed: int = 0,
    budget: Budget = AMPLE,
    watch: Callable[[Move, Evidence, CountingAgent], None] = lambda move, evidence, agent: None,
) -> Result:
    """Interrogate; searches are short, since there are many runs."""
    policy = EconomicalPolicy(limits=Limits(states=3000))
    return interrogate(agent_of(domain), policy, np.random.default_rng(seed), budget=budget, watch=watch)


def begun(agent: SymbolicAgent, *, repeated: bool = False) -> Evidence:
    """What is known before anything was done: the initial situations."""
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers, repeated=repeated))
    for situation in agent.initial():
        evidence.begin(situation)
    return evidence


def walked(domain: Domain, seed: int, steps: int = 24) -> Evidence:
    """What a walk from every initial situation tells."""
    agent, rng = agent_of(domain), np.random.default_rng(seed)
    evidence = begun(agent)
    for situation in agent.initial():
        evidence.take_in(Walked(tuple(agent.walk(situation, steps, rng))))
    return evidence


def updated(model: Model, seed: int) -> Model:
    """The model with another mode of one lifted atom in every action."""
    rng, actions = np.random.default_rng(seed), []
    for schema in model.actions:
        atoms = lifted_atoms(model.vocabulary, schema.header)
        if atoms:
            chosen = frozenset({atoms[int(rng.integers(len(atoms)))]})
            parts = [("positive", "negative"), ("add", "delete")][int(rng.integers(2))]
            if chosen <= getattr(schema, parts[0]) | getattr(schema, parts[1]):
                schema = replace(schema, **{part: getattr(schema, part) - chosen for part in parts})
            else:
                part = parts[int(rng.integers(2))]
                schema = replace(schema, **{part: getattr(schema, part) | chosen})
        actions.append(schema)
    return Model(model.vocabulary, tuple(actions))


def true_mode(model: Model, pal: PalTuple) -> Mode:
    return model.schema(pal.action).mode(pal.atom, pal.location)


def read_mode(model: Model, pal: PalTuple) -> Mode:
    """The true mode, an effect that restates what its action requires being read as absent."""
    mode = true_mode(model, pal)
    if pal.location is Location.EFF and mode is true_mode(model, pal._replace(location=Location.PRE)):
        return Mode.ABSENT
    return mode


def assert_sound(hypotheses: Hypotheses, model: Model) -> None:
    """The true model is among the possible ones: mode by mode, and clause by clause."""
    for pal in hypotheses.pal_tuples():
        assert true_mode(model, pal) in hypotheses.modes(pal), f"{pal} is not {hypotheses.modes(pal)}"
    for name, action in hypotheses.actions.items():
        schema = model.schema(name)
        for clause in action.clauses:
            assert (
                action.index.select(clause.positive) & schema.positive
                or action.index.select(clause.negative) & schema.negative
            ), f"{name}: none of {action.index.text(clause)} is required"


def assert_learned_soundly(result: Result, model: Model) -> None:
    """The interrogation ended by itself, ruled out nothing that is true, and printed what it decided."""
    assert "budget of" not in result.why, "the interrogation does not end"
    assert_sound(result.hypotheses, model)
    for pal in result.hypotheses.pal_tuples():
        if len(result.hypotheses.modes(pal)) == 1:
            assert result.model.schema(pal.action).mode(pal.atom, pal.location) is read_mode(model, pal)
