"""AMLGym's own contest: its domains, its problems, its metrics, this toolkit beside its active learners.

``python -m experiments.amlgym`` has everyone learn on one trajectory of at most 100 attempted steps, each learner in a process and
a folder of its own, from a domain without preconditions and effects, as AMLGym gives it to its learners.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from aam_vision.model.pddl import read_domain, read_problem
from aam_vision.model.strips import Atom, Model, State
from aam_vision.support.commandline import run_command
from experiments.jobs import Experiment, Scale, every
from experiments.options import Names, Seeds, about, chosen
from experiments.peers import LINES, METRICS, ONLINE, check_installed, judged, judged_on
from experiments.peers import SHOWN as OF_PEERS
from experiments.tables import Row, Summary, Table, spread_of

DOMAINS = (
    "barman", "blocksworld", "childsnack", "depots", "elevators", "ferry", "floortile", "goldminer", "grippers", "matchingbw",
    "miconic", "nomystery", "npuzzle", "parking", "rovers", "satellite", "sokoban", "spanner", "tpp", "transport",
)  # fmt: skip
"""AMLGym's benchmark, by names that are free of its ``.pddl``."""
SHOWN = ("problem", *(name for name in OF_PEERS if name != "claims to be done"))
PASSIVE = ("this toolkit", "SAM", "ROSAME", "OffLAM")
FROM_TRACES = Summary(
    "AMLGym: learners from its ten traces",
    {
        **{name: LINES.columns[name] for name in ("domain", "learner", "equivalent", *METRICS, "ended")},
        "certain": lambda runs: runs[0].get("certain"),
        "falsely": lambda runs: runs[0].get("falsely"),
    },
    by=("env", "peer"),
)
TEST_PROBLEMS, LEAST = 10, 4
"""Problems whose states models are judged on, at most, evenly from AMLGym's; and states of each, at least."""
QUESTION = (
    "AMLGym's 20 domains and metrics. *Right after*: steps after which the model is, and stays, equivalent to the truth in the test "
    "states; *applicability R*: recall; beside every precision, since an operator that is never allowed has precision 1."
)


def amlgym(
    domain: Annotated[Names, about("A domain; several times for several.")] = None,
    learner: Annotated[Names, about("A learner; several times for several.")] = None,
    problem: Annotated[list[int] | None, about("Learning problem, 0 to 9.", min=0, max=9)] = None,
    seeds: Seeds = 5,
    steps: Annotated[int, about("Steps that a learner may attempt.", min=1)] = 100,
    peer_seconds: Annotated[float, about("Seconds that it may learn.", min=1)] = 300,
    solving: Annotated[int, about("Problems solved with each model.", min=0, max=10)] = 10,
    states: Annotated[int, about("States that models are judged on, of up to ten problems.", min=LEAST)] = 60,
    scoring: Annotated[
        bool, about("AMLGym's metrics beside equivalence; they take most of the time.")
    ] = True,
    passive: Annotated[
        bool, about("Learners from AMLGym's ten traces, instead of active ones.", "--passive")
    ] = False,
    scale: Scale = Scale(out=Path("runs/amlgym")),
) -> int:
    """AMLGym's contest of learners: its domains and its metrics.

    Examples:
        python -m experiments.amlgym
        python -m experiments.amlgym --domain ferry --problem 0 --seeds 1
        python -m experiments.amlgym --learner "this toolkit" --problem 0 --no-scoring
        python -m experiments.amlgym --passive --solving 0 --out runs/passive
    """
    learners = PASSIVE if passive else ONLINE
    check_installed("AMLGym is")
    jobs = every(
        env=chosen("domain", domain, DOMAINS),
        problem=0 if passive else problem or [0, 5],
        peer=chosen("learner", learner, learners),
        seed=0 if passive else range(seeds),
        steps=steps,
        seconds=peer_seconds,
        to_solve=solving,
        test_states=states,
        scoring=scoring,
        **{"passive": True} if passive else {},
    )
    if passive:
        most = [name for name in FROM_TRACES.columns if name not in ("effects P", "effects R")]
        return Experiment("amlgym_passive", contest, FROM_TRACES, standing, shown=most).run(jobs, scale)
    lines = replace(
        LINES,
        title=f"AMLGym: one trajectory of at most {steps} attempted steps, no reset",
        columns={"domain": "env", "problem": "problem", **LINES.columns, "CPU s": spread_of("cpu_s")},
        by=("env", "problem", "peer"),
    )
    page = (lambda rows: lines(rows).only(SHOWN[:-1]),)
    return Experiment("amlgym", contest, lines, shown=SHOWN, page=page, question=QUESTION).run(jobs, scale)


def contest(
    *, env: str, problem: int, to_solve: int, test_states: int = 60, passive: bool = False, **given: Any
) -> Row:
    """Have a learner learn one of AMLGym's domains, in a learning problem or (``passive``) from its traces: see ``peers.contest``.

    As in AMLGym's metrics, models have to agree where an object is named twice, too.
    """
    with TemporaryDirectory(prefix="amlgym-") as name:
        folder = Path(name)
        if passive:
            benchmarks: Any = import_module("amlgym.benchmarks")
            traces = sorted(
                benchmarks.get_trajectories_path(env), key=lambda path: int(Path(path).name.split("_")[0])
            )
            (folder / "traces.json").write_text(json.dumps(traces), encoding="utf-8")
        return judged(folder, *_prepare(folder, env, problem, to_solve, test_states), repeated=True, **given)


def standing(rows: Sequence[Row]) -> Table:
    """In how many domains this toolkit is at least as good as each other learner; whoever has no model has 0."""
    found = {
        (row["env"], row["peer"]): [round(row.get(name) or 0, 4) for name in METRICS.values()] for row in rows
    }
    own, *others = PASSIVE
    lines = []
    for peer in others:
        domains = [env for env, learner in found if learner == peer and (env, own) in found]
        held = [
            [mine >= theirs for mine, theirs in zip(found[env, own], found[env, peer], strict=True)]
            for env in domains
        ]
        columns = {name: sum(row[n] for row in held) for n, name in enumerate(METRICS)}
        if held:
            lines.append(
                {"learner": peer, "domains": len(domains), **columns, "all of them": sum(map(all, held))}
            )
    return Table.of("Domains in which this toolkit is at least as good", lines)


def _prepare(
    folder: Path, env: str, problem: int, solving: int, test_states: int
) -> tuple[Model, list[State]]:
    """The files that the processes share; the truth, and states to compare with it."""
    benchmarks: Any = import_module("amlgym.benchmarks")
    shutil.copy(benchmarks.get_domain_path(env), folder / "domain.pddl")
    shutil.copy(benchmarks.get_problems_path(env, kind="learning")[problem], folder / "problem.pddl")
    truth = read_domain(folder / "domain.pddl")
    stored = benchmarks.get_test_states(env)
    files = {Path(path).name: path for path in benchmarks.get_problems_path(env, kind="predictive_power")}
    held_out: dict[str, list[list[str]]] = {}
    states: list[State] = []
    most = min(TEST_PROBLEMS, test_states // LEAST)
    for file in list(stored)[:: max(1, len(stored) // most)][:most]:
        shutil.copy(files[file], folder / file)
        objects = read_problem(truth, folder / file).initial.objects
        few = stored[file][:: max(1, len(stored[file]) // (test_states // most))]
        held_out[file] = few[: test_states // most]
        for atoms in held_out[file]:
            words = (atom.strip("()").split() for atom in atoms)
            states.append(State(frozenset(Atom(one[0], tuple(one[1:])) for one in words), objects))
    judged_on(folder, held_out, benchmarks.get_problems_path(env, kind="solving")[:solving])
    return truth, states


if __name__ == "__main__":
    sys.exit(run_command(amlgym))
