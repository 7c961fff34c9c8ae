"""The paper's Fig. 3 (Sec. "Comparison with FAMA"): model accuracy and time against queries or traces.

``python -m experiments.fama`` gives FAMA random traces <s_I, a1, a2, a3, s_G>, lets AIA ask, both on the same
generated problems, and draws the paper's points beside ours (``fama.svg``).
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import mean, pstdev, pvariance
from time import process_time
from typing import Annotated, Any, NamedTuple

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.interrogation.baselines.fama import (
    ANY,
    FRUGAL,
    Fama,
    Trace,
    intersected,
    random_traces,
    require_solver,
)
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move
from aam_vision.interrogation.policies.aia import AiaPolicy, resolved_share
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.model.strips import Model
from aam_vision.report import evaluation
from aam_vision.run import targets
from aam_vision.run.targets import Target
from aam_vision.support.commandline import run_command, write_atomically
from experiments.jobs import Parameters, Results, Scale, every, page, provenance
from experiments.options import Domains, Size, about, chosen
from experiments.tables import Row, Table, grouped, values

COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
"""Numbers of traces that FAMA learns from, besides those of the paper's points."""
TOLD = (1, 3, 5, 10, 20, 30, 50)  # numbers of traces that have a line in the table
WALKS = [500, 0]
"""Walk steps before AIA's first query: its policy's own, and none, since the paper counts only queries."""

FAMA_SHOWN = (
    "domain", "traces", "any model", "frugal", "program", "overlap", "overlap, true only", "paper", "no model",
    "ms a trace", "paper ms",
)  # fmt: skip
FAMA_PAGED = (
    "domain", "traces", "any model", "frugal", "frugal, intersected", "overlap", "paper", "no model",
)  # fmt: skip
COLUMNS = {
    "fama": FAMA_PAGED,
    "fama-aia": ("domain", "queries", "resolved", "resolved, no walks", "paper"),
}
"""On the pages."""
QUESTIONS = {
    "fama": "How right are FAMA's models after so many traces? [The measures, and what follows](../measurements.md#fama).",
    "fama-aia": "How many palm tuples has the paper's algorithm resolved after so many queries, with and without walks first?",
}
PAGE = (1, 10, 50)  # numbers of traces that have a line on the page


def fama(
    domain: Domains = None,
    seeds: Annotated[int, about("Seeds of problems and traces, from 0 on.", min=1)] = 10,
    solver_seeds: Annotated[int, about("Models that FAMA chooses for the same traces.", min=1)] = 5,
    traces: Annotated[int, about("Traces, at most.", min=1)] = 50,
    size: Size = 2,
    scale: Scale = Scale(out=Path("runs/fama")),
) -> int:
    """Accuracy and time of FAMA and AIA against traces or queries, beside the paper's.

    Examples:
        python -m experiments.fama
        python -m experiments.fama --domain gripper --seeds 2 --traces 10
    """
    names = chosen("domain", domain, FAMA)
    require_solver()
    scale.check()
    out, jobs = scale.out, list[Parameters]()
    for name, seed in product(names, range(seeds)):
        counts = sorted(count for count in {*COUNTS, *FAMA[name]} if count <= traces)
        common = {"env": name, "seed": seed, "size": size}
        jobs += every(**common, method="fama", counts=[counts], solver_seeds=solver_seeds)
        jobs += every(**common, method="aia", walk_steps=WALKS)
    results = Results(out / "results.jsonl")
    failed = scale.sweep(jobs, measure, results)
    rows = results.rows(jobs)
    tables = (("fama", fama_table(rows), FAMA_SHOWN), ("fama-aia", aia_table(rows), ()))
    for file, table, shown in tables:
        table.print(shown)
        table.save(out, file)
        notes = provenance(results, jobs, file)
        write_atomically(out / f"{file}.md", page([shortened(file, table)], QUESTIONS[file], notes, "fama"))
    drawn = {name: curves(rows, name) for name in names}
    write_atomically(out / "fama.svg", draw(drawn))
    print(f"figure: {out / 'fama.svg'}", file=sys.stderr)
    return int(failed > 0)


def fama_table(rows: Sequence[Row]) -> Table:
    """FAMA by domain and number of traces.

    ``any model`` and ``frugal`` are shares of palm tuples, the last states being tested under the closed world; ``solver sd`` and
    ``trace sd`` say how much of the spread of ``any model`` comes from the choice among models, and from the traces; ``program`` is
    FAMA's own. ``overlap`` is what the paper counted, of the frugal, intersected model, and ``true only`` the same where only true
    atoms are tested. ``no model`` is the share of runs that no model explains (closed world).
    """
    lines = []
    for name in dict.fromkeys(row["env"] for row in rows):
        runs, paper = _runs(rows, name, method="fama"), FAMA[name]
        for count in sorted({point["traces"] for points in runs for point in points}):
            if count not in TOLD and count not in paper:
                continue
            some = [[point for point in points if point["traces"] == count] for points in runs]
            raw = [known for points in some if (known := _values(_kinds(points)["closed"], "raw"))]
            closed, frugal, loose = _kinds(point for points in some for point in points).values()
            program = dict.fromkeys(ORIGINAL.get(name, {}).get(count, ()))
            line: Row = {
                "domain": name,
                "traces": count,
                "any model": _share(closed, "raw"),
                "solver sd": _rounded(mean(map(pvariance, raw)) ** 0.5) if raw else None,
                "trace sd": _rounded(pstdev(map(mean, raw))) if raw else None,
                "any, intersected": _share(closed, "intersected"),
                "frugal": _share(frugal, "raw"),
                "frugal, intersected": _share(frugal, "intersected"),
                "program": "-".join(f"{value:.2f}" for value in program) or None,
                "overlap": _share(frugal, "intersected_overlap"),
                "overlap, true only": _share(loose, "intersected_overlap"),
                "paper": paper[count].accuracy if count in paper else None,
                "no model": _rounded(1 - sum(map(len, raw)) / len(closed)),
                "ms a trace": _rounded(1000 * mean(_values(frugal, "seconds")) / count),
                "paper ms": _rounded(1000 * paper[count].seconds) if count in paper else None,
                "runs": len(closed),
            }
            lines.append(line)
    return Table.of("Fig. 3, FAMA: accuracy by number of traces", lines)


def shortened(file: str, table: Table) -> Table:
    """Some of the columns and lines of a table, for its page."""
    if file == "fama":
        lines = [row for row in table.rows if row[1] in PAGE]
    else:  # every other point of a domain, up to the last
        domains = dict.fromkeys(row[0] for row in table.rows)
        lines = [row for name in domains for row in [one for one in table.rows if one[0] == name][::-2][::-1]]
    return replace(table, rows=lines).only(COLUMNS[file])


def aia_table(rows: Sequence[Row]) -> Table:
    """AIA's running estimate of accuracy at the numbers of queries that the paper's figure shows."""
    lines = []
    for name in dict.fromkeys(row["env"] for row in rows):
        walked, unwalked = (_runs(rows, name, method="aia", walk_steps=steps) for steps in WALKS)
        for count, point in AIA[name].items():
            after = [_after(points, count) for points in walked]
            seconds = [known["seconds"] / known["queries"] for known in after]
            line: Row = {
                "domain": name,
                "queries": count,
                "resolved": _share(after, "estimate"),
                "resolved, no walks": _share([_after(points, count) for points in unwalked], "estimate"),
                "paper": point.accuracy,
                "ms a query": _rounded(1000 * mean(seconds)) if seconds else None,
                "paper ms": _rounded(1000 * point.seconds),
                "runs": len(after),
            }
            lines.append(line)
    return Table.of("Fig. 3, AIA: palm tuples resolved by number of queries", lines)


def curves(rows: Sequence[Row], name: str) -> dict[str, Series]:
    """The values of one domain that make ``CURVES``."""
    kinds = _kinds(point for points in _runs(rows, name, method="fama") for point in points)
    walks = {str(steps): _runs(rows, name, method="aia", walk_steps=steps) for steps in WALKS}
    return {
        curve: _by_queries(walks[kind], value) if kind in walks else _by_traces(kinds[kind], value)
        for curve, (kind, value, *_) in CURVES.items()
    }


def _runs(rows: Iterable[Row], name: str, **options: object) -> list[list[Row]]:
    wanted = {"env": name, **options}
    return [row["points"] for row in rows if all(row.get(one) == value for one, value in wanted.items())]


def _kinds(points: Iterable[Row]) -> dict[str, list[Row]]:
    """FAMA's points by what was tested and chosen: any model under the closed world, a frugal one, one where only true atoms are tested."""
    found = grouped(points, "final", "choice")
    kinds = {"closed": ("closed", "any"), "frugal": ("closed", "frugal"), "loose": ("positive", "frugal")}
    return {name: found.get(kind, []) for name, kind in kinds.items()}


def _values(points: Iterable[Row], what: str) -> list[float]:
    """The values of all points that have one: where no model explains the traces there is none."""
    return values(points, lambda point: point.get(what))


def _share(points: Iterable[Row], what: str) -> str:
    """The mean of the points that have a value, with the least and the greatest where they differ."""
    known = _values(points, what)
    if not known:
        return "-"
    low, high = min(known), max(known)
    return f"{mean(known):.3f}" + (f" ({low:.2f}-{high:.2f})" if low != high else "")


def _rounded(value: float) -> float:
    """Four digits; a whole number where these are fewer than it has before the point."""
    return float(f"{value:.4g}") if value < 1000 else round(value)


def _after(points: Sequence[Row], queries: int) -> Row:
    """The point after so many queries; the last one if there were fewer."""
    return [points[0], *(point for point in points if point["queries"] <= queries)][-1]


def _by_traces(points: Iterable[Row], value: Callable[[Row], float | None]) -> Series:
    return {
        count: known for (count,), some in grouped(points, "traces").items() if (known := values(some, value))
    }


def _by_queries(runs: Sequence[Sequence[Row]], value: Callable[[Row], float | None]) -> Series:
    """At every number of queries that some run asked; runs that have ended stay where they ended."""
    longest = max((points[-1]["queries"] for points in runs), default=0)
    return {n: values([_after(points, n) for points in runs], value) for n in range(1, longest + 1)}


FINALS = ("closed", "positive")
"""How last states are tested: all atoms, or only the true ones, as in the paper's runs of FAMA."""

CHOICES = {"any": ANY, "frugal": FRUGAL}
"""Which of the models that explain the traces is chosen: any of them, or one with only the bits that are needed."""


def measure(*, method: str, env: str, seed: int, size: int, **options: int | list[int]) -> Row:
    """One run of one method on generated problems of a packaged domain, all drawn from the seed.

    ``points`` are what is known after every number of traces or queries. ``seconds`` are CPU seconds.
    """
    target = targets.from_environment(env, size=size, seed=seed)
    return {"points": {"fama": fama_points, "aia": aia_points}[method](target, seed, **options)}  # type: ignore[operator]


def fama_points(target: Target, seed: int, *, counts: Sequence[int], solver_seeds: int) -> list[Row]:
    """The models that FAMA learns from the first traces, raw and intersected; without accuracies where no model explains these."""
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
        began, rng = process_time(), np.random.default_rng([seed, 4, len(traces), number])
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
    estimates, began = list[Row](), process_time()

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        if isinstance(move, Ask):
            share, seconds = round(resolved_share(evidence.hypotheses), 4), round(process_time() - began, 5)
            estimates.append({"queries": agent.counts.queries, "estimate": share, "seconds": seconds})

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
    return {(one.header.name, *literal) for one in model.actions for literal in evaluation.literals(one)}


# What the authors published of Fig. 3.
#
# Times are from the files of results that they published with their code (``results_aaai21``). These files also show how accuracy
# was counted. AIA's is the share of all palm tuples. FAMA's is another figure: with the precision and recall that stand beside it,
# it is exactly the literals in both the learned and the true model over those in either (blocksworld after 5 traces: 22 right, 3 too
# many, 5 missing; 22/30 = 0.73). So the two curves of Fig. 3 do not measure the same, and ours are drawn for both measures.


class Point(NamedTuple):
    """The published accuracy after so many traces or queries, and seconds for each of them."""

    accuracy: float
    seconds: float


def _published(learner: str) -> dict[str, dict[int, Point]]:
    """The points of a learner, by domain and number of traces or queries."""
    found: dict[str, dict[int, Point]] = {}
    for row in csv.DictReader(Path(__file__).with_name("fama_published.csv").read_text("utf-8").splitlines()):
        if row["learner"] == learner:
            point = Point(float(row["accuracy"]), float(row["seconds"]))
            found.setdefault(row["domain"], {})[int(row["after"])] = point
    return found


FAMA = _published("FAMA")  # Traces of length 3, Madagascar as the planner

AIA = _published("AIA")
"""Fast Downward as the planner; the accuracy is AIA's running estimate, the share of resolved palm tuples."""

ORIGINAL = {
    "blocksworld": {3: (0.75, 0.75), 5: (0.97, 0.98), 10: (1.0, 1.0), 20: (0.98, 0.98)},
    "gripper": {3: (0.85, 0.85), 5: (0.75, 0.95), 10: (1.0, 1.0), 20: (0.90, 0.90)},
}
"""FAMA's original program run once more, last states tested under the closed world and without post-processing:
the least and the greatest accuracy seen, by number of traces. They are whole numbers of blocksworld's 52 and gripper's
20 palm tuples, so shares of these. How many runs were made is not known."""


# Fig. 3, redrawn: one column per domain; accuracy, the paper's measure of FAMA, and time.


Series = Mapping[int, Sequence[float]]  # by number of traces or queries: the values of all runs

BLUE, ORANGE, YELLOW, GREEN, GREY = "#0072b2", "#d55e00", "#e69f00", "#009e73", "#777777"
"""Colours that colour-blind readers tell apart."""
STYLE = {
    "svg.hashsalt": "aam-vision", "svg.fonttype": "none", "font.size": 8, "axes.spines.top": False,
    "axes.spines.right": False, "lines.linewidth": 1.3, "lines.markersize": 5, "axes.titlesize": 9,
}  # fmt: skip


class Curve(NamedTuple):
    """One curve of every domain, with all runs as a band unless it is dashed."""

    kind: str  # of FAMA's points (``_kinds``), or AIA's walk steps
    value: Callable[[Row], float | None]
    panel: int  # accuracy, overlap or time; -1 for none
    colour: str = GREY
    label: str = ""
    dashed: bool = False


def _of(what: str, each: str = "") -> Callable[[Row], float | None]:
    return lambda point: point[what] / point[each] if each else point.get(what)


FRUGAL_LABEL, AIA_LABEL = "FAMA here, raw, frugal (bands: all seeds)", "AIA here, after 500 walk steps"
TRUE_ONLY = "the same, only true atoms tested"
CURVES = {
    "chosen_from_all": Curve("closed", _of("raw"), 0, YELLOW, "FAMA here, raw, any model"),
    "frugal": Curve("frugal", _of("raw"), 0, ORANGE, FRUGAL_LABEL),
    "overlap": Curve("frugal", _of("intersected_overlap"), 1, GREEN, "FAMA here, frugal, intersected"),
    "overlap_true_only": Curve("loose", _of("intersected_overlap"), 1, GREEN, TRUE_ONLY, True),
    "no_model": Curve("closed", lambda point: int("raw" not in point), -1),
    "fama_seconds": Curve("frugal", _of("seconds", "traces"), 2, ORANGE, FRUGAL_LABEL),
    "aia": Curve("500", _of("estimate"), 0, BLUE, AIA_LABEL),
    "aia_without_walks": Curve("0", _of("estimate"), 0, BLUE, "AIA here, no walks", True),
    "aia_seconds": Curve("500", _of("seconds", "queries"), 2, BLUE, AIA_LABEL),
}
"""``chosen_from_all`` and ``frugal`` are shares of palm tuples; ``overlap`` has the literals in both models over those in either."""
PUBLISHED = (
    (0, AIA, "accuracy", BLUE, "x", "AIA, paper"),
    (1, FAMA, "accuracy", ORANGE, "+", "FAMA, paper"),
    (2, FAMA, "seconds", ORANGE, "+", "FAMA, paper"),
    (2, AIA, "seconds", BLUE, "x", "AIA, paper"),
)
"""The paper's points: panel, whose, what of them, and how they are drawn."""


def draw(domains: Mapping[str, Mapping[str, Series]]) -> str:
    """The figure as SVG; the same data give the same text."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(2.1 * len(domains) + 0.6, 6.6))
        FigureCanvasSVG(figure)
        axes = figure.subplots(3, len(domains), squeeze=False, sharey="row", sharex="col")
        for column, (name, series) in zip(axes.T, domains.items(), strict=True):
            _fill(column, name, series)
            column[0].set_title(name)
            column[2].set(xlabel="traces (FAMA), queries (AIA)", xscale="log", yscale="log")
        labels = ("share of palm tuples", "literals in both / in either", "CPU s a trace or query")
        for axis, label in zip(axes[:, 0], labels, strict=True):
            axis.set_ylabel(label)
        for axis in axes[:2].flat:
            axis.set_ylim(-0.03, 1.03)
            axis.grid(axis="y", color="#eeeeee")
        entries: dict[str, Any] = {}
        for axis in axes.flat:
            handles, names = axis.get_legend_handles_labels()
            entries.update(zip(names, handles, strict=True))
        figure.tight_layout(rect=(0, 0.09, 1, 1))
        figure.legend(entries.values(), entries.keys(), loc="lower center", ncol=4, frameon=False)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _fill(column: Sequence[Any], name: str, series: Mapping[str, Series]) -> None:
    for curve, (_, _, panel, colour, label, dashed) in CURVES.items():
        known = {count: values for count, values in sorted(series[curve].items()) if values}
        if panel >= 0:
            line = {"color": colour, "label": label, "linestyle": "--" if dashed else "-"}
            column[panel].plot([*known], [sum(values) / len(values) for values in known.values()], **line)
            if not dashed:
                low, high = ([*map(end, known.values())] for end in (min, max))
                column[panel].fill_between([*known], low, high, color=colour, alpha=0.18, linewidth=0)
    for panel, published, what, colour, marker, label in PUBLISHED:
        points = published[name]
        known_points = [getattr(point, what) for point in points.values()]
        shown = {"color": colour, "marker": marker, "linestyle": "none", "label": label}
        column[panel].plot([*points], known_points, **shown)
    label = "FAMA's program, closed world"
    for count, span in ORIGINAL.get(name, {}).items():
        line = {"color": GREY, "marker": "s", "linestyle": "-", "label": label}
        column[0].plot([count, count], span, markersize=3.5, **line)
        label = "_"
    most = max(series["no_model"], default=0)
    if lost := sum(series["no_model"].get(most, ())):
        note = f"{most} traces: no model\nin {lost} of {len(series['no_model'][most])} runs"
        column[0].text(0.98, 0.03, note, transform=column[0].transAxes, ha="right", fontsize=7, color=GREY)


if __name__ == "__main__":
    sys.exit(run_command(fama))
