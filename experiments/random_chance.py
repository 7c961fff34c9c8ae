"""Small random domains with chance: those of ``random_strips`` with several outcomes for about half of the actions.

With slips, every action has one other outcome, of the same probability in all. With conditional effects, what about half of the actions do depends on one atom, or on whether two literals hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from aam_vision.outcomes import ChanceModel, ChanceSchema, Effects, Outcome, cases
from aam_vision.strips import LiftedAtom, lifted_atoms
from experiments.random_strips import Domain, random_domain

CHANCE = 0.6
"""Share of the actions that have several outcomes."""
OUTCOMES = (2, 2, 2, 3, 3, 4)
LEAST = 0.05
"""The least probability of an outcome."""
KEPT, ANOTHER = 0.6, 0.3
"""Share of the effects that an outcome keeps of the action's own, and of outcomes that have one more."""
CONDITIONAL = 0.5
"""Share of the actions with conditional effects."""
CONJUNCTION = 0.3
"""Share of the conditions that are two literals."""


def random_chance(seed: int) -> tuple[ChanceModel, Domain]:
    """A model with chance, and the domain without it that it was made of, which has the problems."""

    def outcomes(
        rng: np.random.Generator, whole: Effects, pool: Sequence[LiftedAtom]
    ) -> dict[Effects, float]:
        if rng.random() >= CHANCE:
            return {whole: 1.0}
        others = OUTCOMES[int(rng.integers(len(OUTCOMES)))] - 1
        chosen = dict.fromkeys([whole, *(_varied(rng, whole, pool) for _ in range(others))])
        shares = LEAST + (1 - LEAST * len(chosen)) * rng.dirichlet(np.ones(len(chosen)))
        return dict(zip(chosen, shares.tolist(), strict=True))

    return _with_outcomes(seed, outcomes)


def random_slips(seed: int, probability: float) -> tuple[ChanceModel, Domain]:
    """A model in which every action slips with this probability: nothing changes, or some of the effects come, or another one."""

    def outcomes(
        rng: np.random.Generator, whole: Effects, pool: Sequence[LiftedAtom]
    ) -> dict[Effects, float]:
        slip = Effects() if rng.random() < 0.5 else _varied(rng, whole, pool)
        return {whole: 1.0 - probability, slip: probability} if slip != whole else {whole: 1.0}

    return _with_outcomes(seed, outcomes)


def _with_outcomes(
    seed: int, outcomes: Callable[[np.random.Generator, Effects, Sequence[LiftedAtom]], dict[Effects, float]]
) -> tuple[ChanceModel, Domain]:
    """A random domain in which the effects of every action come with others, and the domain as it was."""
    domain = random_domain(seed)
    rng = np.random.default_rng([seed, 5])
    actions = []
    for schema in domain.model.actions:
        pool = lifted_atoms(domain.model.vocabulary, schema.header)
        drawn = outcomes(rng, Effects(schema.add, schema.delete - schema.add), pool)
        found = tuple(Outcome(share, effects) for effects, share in drawn.items())
        actions.append(ChanceSchema(schema.header, schema.positive, schema.negative, found))
    return ChanceModel(domain.model.vocabulary, tuple(actions)), domain


def random_conditional(seed: int) -> tuple[ChanceModel, Domain]:
    """A model with chance and conditional effects, and the domain without either that it was made of."""
    model, domain = random_chance(seed)
    rng = np.random.default_rng([seed, 6])
    return replace(model, actions=tuple(_conditional(rng, model, one) for one in model.actions)), domain


def _conditional(rng: np.random.Generator, model: ChanceModel, schema: ChanceSchema) -> ChanceSchema:
    """The action with a condition on one or two atoms, under which it does something else."""
    pool = lifted_atoms(model.vocabulary, schema.header)
    free = [atom for atom in pool if atom not in schema.positive | schema.negative]
    size = 1 + (rng.random() < CONJUNCTION)
    if rng.random() >= CONDITIONAL or len(free) < size:
        return schema
    chosen = [free[int(number)] for number in rng.choice(len(free), size=size, replace=False)]
    wanted = {atom: bool(rng.random() < 0.5) for atom in chosen}
    most = max(schema.outcomes, key=lambda one: one.probability)
    other: tuple[Outcome, ...] = (Outcome(1.0, _varied(rng, most.effects, pool)),)
    if rng.random() < CHANCE / 2 and len(schema.outcomes) > 1:  # the same outcomes, but how often they come
        shares = [one.probability for one in schema.outcomes]
        other = tuple(
            Outcome(share, one.effects)
            for share, one in zip([*shares[1:], shares[0]], schema.outcomes, strict=True)
        )
    found = cases(
        chosen,
        lambda values: other if all(values[atom] is wanted[atom] for atom in chosen) else schema.outcomes,
    )
    return replace(schema, cases=found, outcomes=()) if len(found) > 1 else schema


def _varied(rng: np.random.Generator, whole: Effects, pool: Sequence[LiftedAtom]) -> Effects:
    """Some of the effects, and sometimes another one."""

    def some(atoms: frozenset[LiftedAtom]) -> set[LiftedAtom]:
        return {atom for atom in sorted(atoms, key=str) if rng.random() < KEPT}

    add, delete = some(whole.add), some(whole.delete)
    if pool and rng.random() < ANOTHER:
        atom = pool[int(rng.integers(len(pool)))]
        (add if rng.random() < 0.5 else delete).add(atom)
    return Effects(frozenset(add), frozenset(delete - add))
