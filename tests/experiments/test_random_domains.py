"""The random domains have what they are for, and the models found consistent are those of a plain enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.moves import Asked, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.model.query import Access, Query
from aam_vision.model.strips import ActionSchema, GroundAction, Model, State, lifted_atoms
from experiments.random_domains import CASES, ConsistentModels, askable, batch, summary
from experiments.random_strips import (
    MAX_FACTS,
    MAX_LIFTED,
    Domain,
    all_bindings,
    applicable,
    ground_atoms,
    random_domain,
    reachable,
)
from tests.profiles import scaled

DOMAINS = [random_domain(seed) for seed in range(150)]


def test_domains_have_what_written_ones_seldom_have_are_small_and_the_same_for_the_same_seed() -> None:
    marks = [_marks(domain) for domain in DOMAINS]
    for mark in marks[0]:
        assert 0.05 * len(marks) < sum(bool(one[mark]) for one in marks) < len(marks), mark
    for seed, domain in enumerate(DOMAINS[:50]):
        vocabulary = domain.model.vocabulary
        assert domain == random_domain(seed)
        assert all(len(ground_atoms(vocabulary, state.objects)) <= MAX_FACTS for state in domain.problems)
        for header in domain.model.headers:
            assert len(lifted_atoms(vocabulary, header, repeated=domain.repeated)) <= MAX_LIFTED


def _marks(domain: Domain) -> dict[str, object]:
    model, twice = domain.model, domain.repeated
    states = reachable(model, domain.problems, 3000, repeated=twice) or {}
    executed = {action.name for state in states for action in applicable(model, state, repeated=twice)}
    types = [kind for header in model.headers for kind in header.types]
    return {
        "objects named twice": twice,
        "two problems": len(domain.problems) == 2,
        "inheritance": any(parent != "object" for parent in model.vocabulary.types.parents.values()),
        "constant": model.vocabulary.constants,
        "nullary predicate": any(not predicate.types for predicate in model.vocabulary.predicates),
        "empty type": not all(state.objects.of_type(kind) for state in domain.problems for kind in types),
        "no-op": any(not schema.add | schema.delete for schema in model.actions),
        "adds what it requires": any(schema.add & schema.positive for schema in model.actions),
        "negative precondition": any(schema.negative for schema in model.actions),
        "never executable": any(schema.header.name not in executed for schema in model.actions),
    }


@pytest.mark.parametrize("seed", range(scaled(12)))
def test_consistent_models_are_those_of_a_plain_enumeration(seed: int) -> None:
    domain = _smallest(seed)
    transcript = _transcript(domain, seed)
    models = ConsistentModels(transcript)
    plain = [model for model in _all_models(domain) if _gives_every_answer(model, transcript)]
    assert domain.model in plain
    assert all(models.contain(model) for model in plain)
    steps = askable(domain, Access.SETTABLE, domain.problems, 0)
    assert steps is not None
    for step in steps:
        differing = any(models.answer(model, step) != models.answer(domain.model, step) for model in plain)
        assert models.differ(domain.model, step) is differing, step


def test_the_steps_that_can_be_asked_for_depend_on_the_access() -> None:
    for domain in DOMAINS[:30]:
        reached = askable(domain, Access.SNAPSHOT, domain.problems, 3000)
        assert reached is None or reached <= askable(domain, Access.SETTABLE, domain.problems, 0)


def test_runs_are_counted_by_outcome() -> None:
    jobs = [{"access": access, "policy": policy, "seed": 0, "count": 2} for access, policy in CASES[:2]]
    table = summary([{**job, **batch(**job)} for job in jobs])
    assert [row[:3] for row in table.rows] == [[*case, 2] for case in CASES[:2]]
    assert all(sum(row[3:9]) == 2 for row in table.rows)


def _smallest(seed: int) -> Domain:
    """A random domain of one action with few atoms, so that all its models can be written out."""
    number = 1000 * seed
    while True:
        domain = random_domain(number)
        schema = domain.model.actions[0]
        atoms = lifted_atoms(domain.model.vocabulary, schema.header, repeated=domain.repeated)
        if 1 < len(atoms) <= 3 and all(_rows(domain, state) for state in domain.problems):
            return replace(domain, model=Model(domain.model.vocabulary, (schema,)))
        number += 1


def _transcript(domain: Domain, seed: int) -> Transcript:
    """A walk, and two plans that the agent executes as far as it can."""
    rng = np.random.default_rng(seed)
    agent = SymbolicAgent(domain.model, domain.problems, repeated=domain.repeated)
    (header,) = domain.model.headers
    entries: list[Asked | Walked] = []
    for situation in agent.initial():
        entries.append(Walked(tuple(agent.walk(situation, int(rng.integers(2)), rng))))
        rows = _rows(domain, situation.state)
        for _ in range(2):
            chosen = [rows[int(place)] for place in rng.integers(len(rows), size=int(rng.integers(1, 4)))]
            query = Query(situation, tuple(GroundAction(header.name, row) for row in chosen))
            entries.append(Asked(query, agent.ask(query)))
    return Transcript(
        agent.vocabulary, agent.headers, agent.access, tuple(agent.initial()), tuple(entries), domain.repeated
    )


def _rows(domain: Domain, state: State) -> list[tuple[str, ...]]:
    return all_bindings(domain.model.headers[0], state.objects, repeated=domain.repeated)


def _all_models(domain: Domain) -> Iterator[Model]:
    """Every choice of a mode for every pal tuple of the one action."""
    (schema,), vocabulary = domain.model.actions, domain.model.vocabulary
    atoms = lifted_atoms(vocabulary, schema.header, repeated=domain.repeated)
    for modes in product((None, True, False), repeat=2 * len(atoms)):
        halves = modes[: len(atoms)], modes[len(atoms) :]
        parts = (
            frozenset(atom for atom, mode in zip(atoms, half, strict=True) if mode is sign)
            for half in halves
            for sign in (True, False)
        )
        yield Model(vocabulary, (ActionSchema(schema.header, *parts),))


def _gives_every_answer(model: Model, transcript: Transcript) -> bool:
    for entry in transcript.entries:
        if isinstance(entry, Walked):
            told = [(s.before.state, [s.action], 1, s.after.state) for s in entry.steps]
        else:
            end = entry.response
            told = [(entry.query.initial.state, entry.query.plan, end.executed, end.final.state)]
        if any(model.run(before, plan) != (executed, after) for before, plan, executed, after in told):
            return False
    return True
