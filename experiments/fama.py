"""The paper's Fig. 3 (Sec. "Comparison with FAMA"): model accuracy and time against queries or traces.

``python -m experiments.fama`` gives FAMA random traces <s_I, a1, a2, a3, s_G>, lets AIA ask, both on the same
generated problems, and draws the paper's points beside ours (``fama.svg``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from statistics import mean, pstdev, pvariance
from time import process_time
from typing import Annotated, Any

import numpy as np
import typer

from aam_vision import evaluation, targets
from aam_vision.agents.counting import CountingAgent
from aam_vision.baselines.fama import ANY, FRUGAL, Fama, Trace, intersected, random_traces, require_solver
from aam_vision.commandline import run_command, write_atomically
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move
from aam_vision.interrogation.policies.aia import AiaPolicy, resolved_share
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.strips import Model
from aam_vision.targets import Target
from experiments import fama_paper
from experiments.fama_paper import Curves, draw
from experiments.jobs import Parameters, Results, Row, Scale, Table, chosen_domains

COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
"""Numbers of traces that FAMA learns from, besides those of the paper's points."""
TOLD = (1, 3, 5, 10, 20, 30, 50)
"""Numbers of traces that have a line in the table."""
WALKS = (500, 0)
"""Walk steps before AIA's first query: its policy's own, and none, since the paper counts only queries."""

FAMA_COLUMNS = (
    "domain", "traces", "any model", "solver sd", "trace sd", "any, intersected", "frugal", "frugal, intersected",
    "program", "overlap", "overlap, true only", "paper", "no model", "ms a trace", "paper ms", "runs",
)  # fmt: skip
FAMA_SHOWN = (
    "domain", "traces", "any model", "frugal", "program", "overlap", "overlap, true only", "paper", "no model",
    "ms a trace", "paper ms",
)  # fmt: skip
AIA_COLUMNS = (
    "domain",
    "queries",
    "resolved",
    "resolved, no walks",
    "paper",
    "ms a query",
    "paper ms",
    "runs",
)


def fama(
    domain: Annotated[list[str] | None, typer.Option(help="Only these domains (repeatable).")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of problems and traces, from 0 on.")] = 10,
    solver_seeds: Annotated[
        int, typer.Option(min=1, help="Models that FAMA chooses for the same traces.")
    ] = 5,
    traces: Annotated[int, typer.Option(min=1, help="Traces, at most.")] = 50,
    size: Annotated[int, typer.Option(min=1, help="Size of generated problems.")] = 2,
    scale: Scale = Scale(out=Path("runs/fama")),
) -> int:
    """Accuracy and time of FAMA and AIA against traces or queries, beside the paper's.

    Examples:
        python -m experiments.fama
        python -m experiments.fama --domain gripper --seeds 2 --traces 10
    """
    chosen = chosen_domains(domain, fama_paper.FAMA)
    require_solver()
    scale.check()
    out = scale.out
    jobs = [
        job
        for name in chosen
        for seed in range(seeds)
        for job in _jobs(name, seed, size, traces, solver_seeds)
    ]
    results = Results(out / "results.jsonl")
    failed = scale.sweep(jobs, measure, results)
    rows = results.rows(jobs)
    for file, table, shown in (("fama", fama_table(rows), FAMA_SHOWN), ("fama-aia", aia_table(rows), ())):
        table.print(shown)
        table.save(out, file)
    drawn = {name: curves(rows, name) for name in chosen}
    write_atomically(
        out / "fama.json", json.dumps({name: _told(lines) for name, lines in drawn.items()}) + "\n"
    )
    write_atomically(out / "fama.svg", draw(drawn))
    print(f"figure: {out / 'fama.svg'}", file=sys.stderr)
    return int(failed > 0)


def _jobs(name: str, seed: int, size: int, traces: int, solver_seeds: int) -> list[Parameters]:
    common = {"env": name, "seed": seed, "size": size}
    wanted = {*COUNTS, *(point.after for point in fama_paper.FAMA[name])}
    counts = sorted(count for count in wanted if count <= traces)
    learning = {**common, "method": "fama", "counts": counts, "solver_seeds": solver_seeds}
    return [learning, *({**common, "method": "aia", "walk_steps": steps} for steps in WALKS)]


def fama_table(rows: Sequence[Row]) -> Table:
    """FAMA by domain and number of traces.

    ``any model`` and ``frugal`` (with and without the intersection) are shares of palm tuples, the last states
    being tested under the closed world, with the least and the greatest of all runs; ``solver sd`` and
    ``trace sd`` say how much of the spread of ``any model`` comes from the choice among models, and from the
    traces; ``program`` is FAMA's own. ``overlap`` is what the paper counted, of the frugal, intersected model, and
    ``true only`` the same where only true atoms are tested. ``no model`` is the share of runs that no model
    explains (closed world).
    """
    lines: list[list[Any]] = []
    for name in _domains(rows):
        paper = {point.after: point for point in fama_paper.FAMA[name]}
        program = fama_paper.ORIGINAL.get(name, {})
        runs = [row["points"] for row in _rows(rows, name, "fama")]
        for count in sorted({point["traces"] for points in runs for point in points}):
            if count not in TOLD and count not in paper:
                continue
            by_seed = [_select(points, "closed", "any", count) for points in runs]
            by_seed = [points for points in by_seed if _values(points, "raw")]
            closed, frugal, loose = (
                [point for points in runs for point in _select(points, final, choice, count)]
                for final, choice in (("closed", "any"), ("closed", "frugal"), ("positive", "frugal"))
            )
            published = paper.get(count)
            lines.append(
                [
                    name,
                    count,
                    _share(_values(closed, "raw")),
                    _rounded(mean(pvariance(_values(points, "raw")) for points in by_seed) ** 0.5)
                    if by_seed
                    else None,
                    _rounded(pstdev(mean(_values(points, "raw")) for points in by_seed)) if by_seed else None,
                    _share(_values(closed, "intersected")),
                    _share(_values(frugal, "raw")),
                    _share(_values(frugal, "intersected")),
                    "-".join(f"{value:.2f}" for value in dict.fromkeys(program.get(count, ()))) or None,
                    _share(_values(frugal, "intersected_overlap")),
                    _share(_values(loose, "intersected_overlap")),
                    published.accuracy if published else None,
                    _rounded(1 - len(_values(closed, "raw")) / len(closed)),
                    _rounded(1000 * mean(_values(frugal, "seconds")) / count),
                    _rounded(1000 * published.seconds) if published else None,
                    len(closed),
                ]
            )
    return Table("Fig. 3, FAMA: accuracy by number of traces", FAMA_COLUMNS, lines)


def aia_table(rows: Sequence[Row]) -> Table:
    """AIA's running estimate of accuracy at the numbers of queries that the paper's figure shows."""
    lines: list[list[Any]] = []
    for name in _domains(rows):
        walked, unwalked = (
            [row["points"] for row in _rows(rows, name, "aia") if row["walk_steps"] == steps]
            for steps in WALKS
        )
        for point in fama_paper.AIA[name]:
            after = [_after(points, point.after) for points in walked]
            lines.append(
                [
                    name,
                    point.after,
                    _share(_values(after, "estimate")),
                    _share([_after(points, point.after)["estimate"] for points in unwalked]),
                    point.accuracy,
                    _rounded(1000 * mean(known["seconds"] / known["queries"] for known in after))
                    if after
                    else None,
                    _rounded(1000 * point.seconds),
                    len(after),
                ]
            )
    return Table("Fig. 3, AIA: palm tuples resolved by number of queries", AIA_COLUMNS, lines)


def curves(rows: Sequence[Row], name: str) -> Curves:
    """The curves of one domain."""
    learned = [point for row in _rows(rows, name, "fama") for point in row["points"]]
    closed, frugal, loose = (
        _select(learned, final, choice)
        for final, choice in (("closed", "any"), ("closed", "frugal"), ("positive", "frugal"))
    )
    walked, unwalked = (
        [row["points"] for row in _rows(rows, name, "aia") if row["walk_steps"] == steps] for steps in WALKS
    )
    return Curves(
        chosen_from_all=_by_traces(closed, lambda point: point.get("raw")),
        frugal=_by_traces(frugal, lambda point: point.get("raw")),
        overlap=_by_traces(frugal, lambda point: point.get("intersected_overlap")),
        overlap_true_only=_by_traces(loose, lambda point: point.get("intersected_overlap")),
        no_model=_by_traces(closed, lambda point: int("raw" not in point)),
        fama_seconds=_by_traces(frugal, lambda point: point["seconds"] / point["traces"]),
        aia=_by_queries(walked, lambda point: point["estimate"]),
        aia_without_walks=_by_queries(unwalked, lambda point: point["estimate"]),
        aia_seconds=_by_queries(walked, lambda point: point["seconds"] / point["queries"]),
    )


def _told(lines: Curves) -> dict[str, dict[int, dict[str, float]]]:
    """The curves in numbers: mean, least and greatest value at every place."""
    return {
        name: {
            count: {"mean": round(mean(values), 6), "least": min(values), "greatest": max(values)}
            for count, values in series.items()
        }
        for name, series in vars(lines).items()
    }


def _domains(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row["env"] for row in rows))


def _rows(rows: Iterable[Row], name: str, method: str) -> list[Row]:
    return [row for row in rows if row["env"] == name and row["method"] == method]


def _select(points: Iterable[Row], final: str, choice: str, count: int | None = None) -> list[Row]:
    return [
        point
        for point in points
        if point["final"] == final and point["choice"] == choice and count in (None, point["traces"])
    ]


def _values(points: Iterable[Row], what: str) -> list[float]:
    """The values of all points that have one: where no model explains the traces there is none."""
    return [point[what] for point in points if what in point]


def _rounded(value: float) -> float:
    """Four digits; a whole number where these are fewer than it has before the point."""
    return float(f"{value:.4g}") if value < 1000 else round(value)


def _share(values: Sequence[float]) -> str:
    """The mean, with the least and the greatest where they differ."""
    if not values:
        return "-"
    low, high = min(values), max(values)
    return f"{mean(values):.3f}" + (f" ({low:.2f}-{high:.2f})" if low != high else "")


def _after(points: Sequence[Row], queries: int) -> Row:
    """The point after so many queries; the last one if there were fewer."""
    return [points[0], *(point for point in points if point["queries"] <= queries)][-1]


def _by_traces(points: Iterable[Row], value: Callable[[Row], float | None]) -> dict[int, list[float]]:
    series: dict[int, list[float]] = {}
    for point in points:
        if (found := value(point)) is not None:
            series.setdefault(point["traces"], []).append(found)
    return series


def _by_queries(runs: Sequence[Sequence[Row]], value: Callable[[Row], float]) -> dict[int, list[float]]:
    """At every number of queries that some run asked; runs that have ended stay where they ended."""
    longest = max((points[-1]["queries"] for points in runs), default=0)
    return {count: [value(_after(points, count)) for points in runs] for count in range(1, longest + 1)}


# The jobs of Fig. 3: FAMA's models after more and more traces, and AIA's after its queries.


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
    return {"points": {"fama": fama_points, "aia": aia_points}[method](target, seed, **options)}  # type: ignore[operator]


def fama_points(target: Target, seed: int, *, counts: Sequence[int], solver_seeds: int) -> list[Row]:
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


def aia_points(target: Target, seed: int, *, walk_steps: int) -> list[Row]:
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


if __name__ == "__main__":
    sys.exit(run_command(fama))
