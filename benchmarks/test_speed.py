"""CPU time of whole interrogations under settable access, the agent's part included.

Reading PDDL and starting Python are left out.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from aam_vision import domains as packaged
from aam_vision import evaluation
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.result import Result
from aam_vision.query import Access
from aam_vision.strips import Model, State
from benchmarks.synthetic import random_domain

SIZES = (1_000, 10_000, 100_000)
"""Pal tuples of the synthetic domains."""
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
