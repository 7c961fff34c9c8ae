"""Random STRIPS domains of a given size, for measuring how the time of an interrogation grows with it.

Half of the predicates have one argument and half have two; every action has three parameters, so that its
lifted atoms are moderately many. Actions and predicates both grow with the square root of the size.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from aam_vision.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Atom,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
    lifted_atoms,
)

OBJECTS = 12
PARAMETERS = ("x", "y", "z")
ATOMS_PER_PAIR = 9
"""Atoms of an action with three parameters over one unary and one binary predicate."""


def random_domain(pal_tuples: int, seed: int) -> tuple[Model, State]:
    """A model with about so many pal tuples, and an initial state in which half of all facts hold."""
    rng = np.random.default_rng([seed, pal_tuples])
    count = max(1, round(0.6 * sqrt(pal_tuples)))
    pairs = max(1, round(pal_tuples / 2 / count / ATOMS_PER_PAIR))
    predicates = [Predicate(f"is-{number}", (ROOT_TYPE,)) for number in range(pairs)]
    predicates += [Predicate(f"rel-{number}", (ROOT_TYPE, ROOT_TYPE)) for number in range(pairs)]
    vocabulary = Vocabulary(f"random-{pal_tuples}", tuple(predicates))
    actions = tuple(_random_action(vocabulary, f"act-{number}", rng) for number in range(count))
    objects = Objects({f"o{number}": ROOT_TYPE for number in range(OBJECTS)}, Types())
    facts = [Atom(p.name, (a,)) for p in predicates if p.arity == 1 for a in objects]
    facts += [Atom(p.name, (a, b)) for p in predicates if p.arity == 2 for a in objects for b in objects]
    held = rng.random(len(facts)) < 0.5
    initial = State(frozenset(fact for fact, here in zip(facts, held, strict=True) if here), objects)
    return Model(vocabulary, actions), initial


def _random_action(vocabulary: Vocabulary, name: str, rng: np.random.Generator) -> ActionSchema:
    """Two to four positive preconditions, at most one negative; one to three effects, mostly of change."""
    header = ActionHeader(name, PARAMETERS, (ROOT_TYPE,) * len(PARAMETERS))
    pool = lifted_atoms(vocabulary, header)
    drawn = [pool[int(number)] for number in rng.permutation(len(pool))]
    positive = frozenset(drawn[: int(rng.integers(2, 5))])
    negative = frozenset(drawn[len(positive) : len(positive) + int(rng.integers(0, 2))])
    rest = drawn[len(positive) + len(negative) :]
    delete: set[LiftedAtom] = {sorted(positive)[0]} if rng.random() < 0.5 else set()
    add = set(negative) | set(rest[: int(rng.integers(1, 3))])
    return ActionSchema(header, positive, negative, frozenset(add), frozenset(delete))
