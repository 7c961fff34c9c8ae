"""CPU time of whole interrogations under settable access, the agent's part included.

Reading PDDL and starting Python are left out.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from math import sqrt

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.result import Result
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access
from aam_vision.model.strips import (
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
from aam_vision.report import evaluation

SIZES = (1_000, 10_000, 100_000)  # pal tuples of the synthetic domains
pytestmark = pytest.mark.benchmark(timer=time.process_time, disable_gc=False)


def _interrogate(model: Model, problems: list[State]) -> Result:
    agent = SymbolicAgent(model, problems, Access.SETTABLE, refuses_surely=True)
    return Interrogation(agent, exam=0).run(np.random.default_rng(0))


@pytest.mark.parametrize("name", packaged.DOMAINS)
def test_packaged_domain(benchmark: BenchmarkFixture, name: str) -> None:
    """The command's own problems for seed 0."""
    model, rng = packaged.load(name), np.random.default_rng([0, 1])
    problems = [packaged.generate(name, 2, rng).initial for _ in range(3)]
    result = benchmark.pedantic(_interrogate, args=(model, problems), rounds=5, warmup_rounds=1)
    benchmark.extra_info |= {"queries": result.counts.queries, "pal_tuples": result.hypotheses.size}
    assert evaluation.exact(result.model, model)


@pytest.fixture(scope="module")
def timings() -> Iterator[dict[int, float]]:
    """Pal tuples and seconds; the exponent that fits them is printed in the end."""
    found: dict[int, float] = {}
    yield found
    if len(found) > 1:
        exponent, _ = np.polyfit(np.log(list(found)), np.log(list(found.values())), 1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"\ntime grows as n^{exponent:.2f} in pal tuples n; peak memory {peak:.0f} MB")
        for size, seconds in found.items():
            print(f"{size:>7} pal tuples: {seconds:7.2f} CPU s")


@pytest.mark.parametrize("size", SIZES)
def test_synthetic_domain(benchmark: BenchmarkFixture, timings: dict[int, float], size: int) -> None:
    """Random domains, in which most actions are first seen in states made for them."""
    model, initial = random_domain(size, seed=0)
    result = benchmark.pedantic(_interrogate, args=(model, [initial]), rounds=1)
    benchmark.extra_info |= {"queries": result.counts.queries, "pal_tuples": result.hypotheses.size}
    timings[result.hypotheses.size] = benchmark.stats["mean"]
    assert result.proven
    assert evaluation.exact(result.model, model)


# Random STRIPS domains of a given size, for measuring how the time of an interrogation grows with it.
#
# Half of the predicates have one argument and half have two; every action has three parameters, so that its
# lifted atoms are moderately many. Actions and predicates both grow with the square root of the size.


OBJECTS = 12
PARAMETERS = ("x", "y", "z")
ATOMS_PER_PAIR = 9  # atoms of an action with three parameters over one unary and one binary predicate


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
