"""The jobs of Fig. 3: FAMA's models after more and more traces, and AIA's after its queries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from time import process_time

import numpy as np

from aam_vision import evaluation, targets
from aam_vision.agents.counting import CountingAgent
from aam_vision.baselines.fama import ANY, FRUGAL, Fama, Trace, intersected, random_traces
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move
from aam_vision.interrogation.policies.aia import AiaPolicy, resolved_share
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.strips import Model
from aam_vision.targets import Target
from experiments.jobs import Row

FINALS = ("closed", "positive")
"""How last states are tested: all atoms, or only the true ones, as in the paper's runs of FAMA."""

CHOICES = {"any": ANY, "frugal": FRUGAL}
"""Which of the models that explain the traces is chosen: any of them, or one with only the bits that are needed."""


def measure(*, method: str, env: str, seed: int, size: int, **options: int | list[int]) -> Row:
    """One run of one method on generated problems of a packaged domain, all drawn from the seed.

    Returns:
        ``points``: what is known after every number of traces or queries. ``seconds`` are CPU seconds.
    """
    target = targets.from_environment(env, size=size, seed=seed)
    return {"points": {"fama": fama, "aia": aia}[method](target, seed, **options)}  # type: ignore[operator]


def fama(target: Target, seed: int, *, counts: Sequence[int], solver_seeds: int) -> list[Row]:
    """The models that FAMA learns from the first traces, raw and intersected, for each test and choice.

    Where no model explains the traces there are no accuracies.
    """
    traces = random_traces(target.agent, max(counts), np.random.default_rng([seed, 3]))
    return [
        point
        for count in counts
        for final in FINALS
        for point in _learned(target, traces[:count], final, seed, solver_seeds)
    ]


def _learned(target: Target, traces: Sequence[Trace], final: str, seed: int, solver_seeds: int) -> list[Row]:
    assert target.truth is not None, "FAMA's runs are of packaged domains and of files"
    truth = target.truth()
    began = process_time()
    learner = Fama(target.agent.vocabulary, target.agent.headers, traces, closed_world=final == "closed")
    encoding = process_time() - began
    points = []
    for (choice, density), number in product(CHOICES.items(), range(solver_seeds)):
        began = process_time()
        rng = np.random.default_rng([seed, 4, len(traces), number])
        model = learner.learn(rng, density=density)
        point: Row = {
            "traces": len(traces),
            "final": final,
            "choice": choice,
            "solver": number,
            "seconds": round(encoding + process_time() - began, 5),
        }
        if model is not None:
            for name, found in (("raw", model), ("intersected", intersected(model, traces))):
                point[name] = round(evaluation.accuracy(found, truth), 4)
                point[f"{name}_overlap"] = round(overlap(found, truth), 4)
        points.append(point)
    return points


def aia(target: Target, seed: int, *, walk_steps: int) -> list[Row]:
    """AIA's running estimate of accuracy, and the true one of the model as it stands, after every query."""
    estimates: list[Row] = []
    began = process_time()

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        if isinstance(move, Ask):
            estimates.append(
                {
                    "queries": agent.counts.queries,
                    "estimate": round(resolved_share(evidence.hypotheses), 4),
                    "seconds": round(process_time() - began, 5),
                }
            )

    result = interrogate(
        target.agent, AiaPolicy(walk_steps=walk_steps), np.random.default_rng(seed), watch=watch
    )
    assert target.truth is not None, "AIA's runs are of packaged domains and of files"
    truth = target.truth()
    return [
        {**point, "accuracy": round(evaluation.accuracy(known.model, truth), 4)}
        for point, known in zip(estimates, result.curve, strict=True)
    ]


def overlap(learned: Model, truth: Model) -> float:
    """Literals in both models over those in either: what the paper's Fig. 3 calls FAMA's accuracy."""
    ours, true = _literals(learned), _literals(truth)
    return len(ours & true) / len(ours | true) if ours | true else 1.0


def _literals(model: Model) -> set[tuple[str, str, object]]:
    return {
        (schema.header.name, place, atom)
        for schema in model.actions
        for place in ("positive", "negative", "add", "delete")
        for atom in getattr(schema, place)
    }
