"""Small random domains with chance: those of ``random_strips`` with several outcomes for about half of the actions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.outcomes import ChanceModel, ChanceSchema, Effects, Outcome
from aam_vision.strips import ActionSchema, LiftedAtom, lifted_atoms
from experiments.brute_force import Domain
from experiments.random_strips import random_domain

CHANCE = 0.6
"""Share of the actions that have several outcomes."""
OUTCOMES = (2, 2, 2, 3, 3, 4)
LEAST = 0.05
"""The least probability of an outcome."""
KEPT, ANOTHER = 0.6, 0.3
"""Share of the effects that an outcome keeps of the action's own, and of outcomes that have one more."""


def random_chance(seed: int) -> tuple[ChanceModel, Domain]:
    """A model with chance, and the domain without it that it was made of, which has the problems."""
    domain = random_domain(seed)
    rng = np.random.default_rng([seed, 5])
    vocabulary = domain.model.vocabulary
    actions = []
    for schema in domain.model.actions:
        pool = lifted_atoms(vocabulary, schema.header)
        whole = Effects(schema.add, schema.delete - schema.add)
        outcomes: dict[Effects, float] = {whole: 1.0}
        if rng.random() < CHANCE:
            chosen = dict.fromkeys(
                [
                    whole,
                    *(
                        _varied(rng, whole, pool)
                        for _ in range(OUTCOMES[int(rng.integers(len(OUTCOMES)))] - 1)
                    ),
                ]
            )
            shares = LEAST + (1 - LEAST * len(chosen)) * rng.dirichlet(np.ones(len(chosen)))
            outcomes = dict(zip(chosen, shares.tolist(), strict=True))
        actions.append(_schema(schema, outcomes))
    return ChanceModel(vocabulary, tuple(actions)), domain


def _schema(schema: ActionSchema, outcomes: dict[Effects, float]) -> ChanceSchema:
    found = tuple(Outcome(share, effects) for effects, share in outcomes.items())
    return ChanceSchema(schema.header, schema.positive, schema.negative, found)


def _varied(rng: np.random.Generator, whole: Effects, pool: Sequence[LiftedAtom]) -> Effects:
    """Some of the effects, and sometimes another one."""

    def some(atoms: frozenset[LiftedAtom]) -> set[LiftedAtom]:
        return {atom for atom in sorted(atoms, key=str) if rng.random() < KEPT}

    add, delete = some(whole.add), some(whole.delete)
    if pool and rng.random() < ANOTHER:
        atom = pool[int(rng.integers(len(pool)))]
        (add if rng.random() < 0.5 else delete).add(atom)
    return Effects(frozenset(add), frozenset(delete - add))
