"""Pictures on the peers' ground: from a few labels to a model and plans, in the domains and metrics of those who learn from pictures.

``python -m experiments.pictures`` labels pictures, trains classifiers, has them read pictures that nobody labelled, interrogates the
agent through them, and plans with the model. Beside that are the figures that others published; they learn from traces.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np

from aam_vision.model.pddl import Problem
from aam_vision.model.strips import Model, State
from aam_vision.planning.engines import planner_named
from aam_vision.planning.planner import Limits
from aam_vision.report import evaluation
from aam_vision.support.commandline import Progress, run_command
from experiments.jobs import Experiment, Parameters, Scale, every
from experiments.options import FirstSeed, Names, Seeds, about, chosen
from experiments.tables import Column, Row, Summary, Table, average, counts, share, spread_of, total

if TYPE_CHECKING:
    from aam_vision.agents.perception import Simulator
    from aam_vision.classifiers.perception import BoardPerception
    from aam_vision.envs.image_domain import ImageDomain
    from aam_vision.training.assessment import PerceptionScores

BOARDS: Final = {"blocks": "blocks", "hanoi": "hanoi", "8-puzzle": "slidetile"}
"""Domain -> the environment whose pictures PDDLGym draws."""
DIGITS: Final = ("gripper", "logistics")  # drawn as grids of handwritten digits, see ``experiments.digits``
UNDRAWN: Final = "depot"  # PDDLGym draws no picture of it
LABELS: Final = 200
"""Labelled pictures of digits: more of them show more handwriting. PDDLGym's pictures are labelled until that ends by its own test."""
STEPS: Final = 1200  # training steps for digits: more of them read better, and take longer
SOLVED: Final = 10  # problems of digits to be solved; of PDDLGym's all that are held out
LIMITS: Final = Limits(seconds=60, states=200_000, guided=20_000)
"""Of the search for a plan: enough for Hanoi with eleven discs."""

ATOMS: Final = {"blocks": 0.978, "gripper": 1.0, "logistics": 0.999, "hanoi": 0.986, "8-puzzle": 0.998}
"""Xi, Gould and Thiébaux, arXiv 2604.19043: the share of atoms that are read rightly."""
VIP: Final = {
    "blocks": ".98/.98; .2",
    "hanoi": ".84/1.0; 1.0",
    "8-puzzle": ".88/1.0; 1.0",
    UNDRAWN: ".31/.19; 0",
}
"""VIP-vision-PDDL after three traces, the best of its result files: syntactic precision and recall; the share of problems solved."""


def pictures(
    domain: Annotated[Names, about("A domain; several times for several.")] = None,
    seeds: Seeds = 3,
    first_seed: FirstSeed = 0,
    labels: Annotated[int, about("Pictures of digits to label.", min=20)] = LABELS,
    states: Annotated[int, about("Pictures to read that nobody labelled.", min=1)] = 400,
    scale: Scale = Scale(out=Path("runs/pictures")),
) -> int:
    """From a few labelled pictures to a model and plans, in the domains of those who learn from pictures.

    Examples:
        python -m experiments.pictures
        python -m experiments.pictures --domain gripper --seeds 1 --out runs/few
    """
    names = chosen("domain", domain, (*BOARDS, *DIGITS))
    if set(names).intersection(DIGITS):
        from experiments.digits import handwritten

        handwritten(labelled=True)  # that they are missing is told now
    seed, jobs = range(first_seed, first_seed + seeds), list[Parameters]()
    for name in names:
        jobs += every(domain=name, seed=seed, labels=labels if name in DIGITS else None, states=states)
    return Experiment("pictures", learned, table).run(jobs, scale)


def table(rows: Sequence[Row]) -> Table:
    """A line for every domain; one without pictures has the others' figures only."""

    def of(number: str, all_: str) -> Column:
        return lambda runs: f"{total(number)(runs)}/{total(all_)(runs)}"

    columns: dict[str, Column] = {
        "domain": "domain",
        "labelled": spread_of("labelled"),
        "atoms right": average("atoms"),
        "atoms wrong": of("atoms_wrong", "atoms_read"),
        "states exact": of("exact", "read"),
        "steps": spread_of("steps"),
        "ended": counts("status"),
        "exact": share("model_exact"),
        "P": average("precision"),
        "R": average("recall"),
        "false lines": of("false", "certain"),
        "solved": of("solved", "solvable"),
        "CPU s": spread_of("seconds"),
        "Xi": lambda runs: ATOMS.get(runs[0]["domain"]),
        "VIP": lambda runs: VIP.get(runs[0]["domain"]),
    }
    title = (
        "From labelled pictures to a model. Xi: atoms right, Xi, Gould and Thiébaux, 70 to 2,500 traces, first and last states labelled; "
        "VIP: P/R; solved, VIP-vision-PDDL, 3 traces that a language model reads"
    )
    made = Summary(title, columns, by=("domain",))(rows)
    missing = [UNDRAWN, *[None] * (len(columns) - 2), VIP[UNDRAWN]]
    return replace(made, rows=[*made.rows, missing])


def learned(domain: str, seed: int, labels: int | None, states: int) -> Row:
    """One way from no label to plans; ``labels`` are pictures of digits, ``states`` pictures to read that nobody labelled."""
    import aam_vision
    from aam_vision.agents.image import ImageAgent

    began = process_time()
    found = (
        of_board(BOARDS[domain], seed, states) if labels is None else of_digits(domain, seed, labels, states)
    )
    visual = found.domain.visual
    agent = ImageAgent(
        found.simulators, found.perception, visual.vocabulary(), found.domain.headers, refuses_surely=True
    )
    result = aam_vision.interrogate(agent, seed=seed, raises=False)
    seconds = process_time() - began
    assert found.domain.truth is not None, "all have one"
    truth, scores = found.domain.truth(), found.scores
    given = {entry.predicate.name for entry in visual.given}
    counts = [counted for name, counted in scores.predicates.items() if name not in given]
    atoms = sum(counted.atoms - counted.hidden for counted in counts)
    wrong, undecided = (sum(getattr(one, name) for one in counts) for name in ("wrong", "undecided"))
    precision, recall = evaluation.syntactic(result.model, truth)
    solved = [solves(result.model, truth, one) for one in found.problems if solves(truth, truth, one)]
    modes = {pal: truth.schema(pal.action).mode(pal.atom, pal.location) for pal in result.certain}
    return {
        "labelled": found.labelled,
        "atoms": 1 - (wrong + undecided) / atoms,
        "atoms_wrong": wrong,
        "atoms_read": atoms - undecided,
        "read": scores.states,
        "exact": scores.exact,
        "wrong": scores.wrong,
        "queries": result.counts.queries,
        "steps": result.counts.steps,
        "looks": result.counts.looks,
        "status": result.status,
        "why": result.why,
        "model_exact": evaluation.exact(result.model, truth),
        "precision": precision,
        "recall": recall,
        "false": sum(modes[pal] is not mode for pal, mode in result.certain.items()),
        "certain": len(modes),
        "solved": sum(solved),
        "solvable": len(solved),
        "problems": len(found.problems),
        "seconds": round(seconds),
    }


@dataclass(frozen=True)
class Seen:
    """A domain that classifiers have learned to see: its simulators, and problems that are not interrogated."""

    domain: ImageDomain
    perception: BoardPerception
    labelled: int
    scores: PerceptionScores  # of pictures that nobody labelled
    simulators: Sequence[Simulator]
    problems: Sequence[Problem]


def of_board(name: str, seed: int, states: int) -> Seen:
    """One of PDDLGym's domains, labelled as by ``experiments.few_labels``."""
    from aam_vision.envs.registry import board_domain
    from aam_vision.training.labelling.settings import ACTIVE, MOST, Way
    from experiments.few_labels import elsewhere
    from experiments.few_labels import learned as labelled

    domain = board_domain(name)
    perception, found = labelled(domain, Way(ACTIVE, True, MOST, seed), atoms=False)
    scores = elsewhere(domain, perception, states, seed)
    held_out = domain.layouts(domain.held_out)
    problems = [Problem(one.name, State(one.initial, one.objects), one.goal) for one in held_out]
    simulators = [domain.simulator(problem) for problem in domain.interrogated]
    return Seen(domain, perception, len(found.pictures), scores, simulators, problems)


def of_digits(name: str, seed: int, labels: int, states: int) -> Seen:
    """A grid of digits, learned in one round of training from so many labelled pictures."""
    from aam_vision.agents.perception import ImageTest
    from aam_vision.classifiers.perception import BoardPerception
    from aam_vision.training.assessment import evaluate_domain
    from aam_vision.training.session import train_domain
    from aam_vision.training.settings import TrainingSettings
    from experiments.digits import WORLDS, DrawnAnew, environment

    domain, rng = environment(WORLDS[name], labels), np.random.default_rng([seed, 11])
    with TemporaryDirectory() as folder:
        settings = TrainingSettings(seed=seed, steps=STEPS)
        train_domain(replace(domain, round_steps=STEPS), Path(folder), settings, Progress(StringIO()))
        perception = BoardPerception.load(domain.visual, domain.name, Path(folder), remembered=0)
    perception.image_test = ImageTest(0, 0)  # those labels are not counted
    scores = evaluate_domain(domain, perception, states=states, seed=seed + 1000)["unseen"]
    simulators = [DrawnAnew(domain.simulator(problem), rng) for problem in domain.interrogated]
    problems = [WORLDS[name].problem(number) for number in range(SOLVED)]
    return Seen(domain, perception, labels, scores, simulators, problems)


def solves(model: Model, truth: Model, problem: Problem) -> bool:
    """Whether a plan is found with a model that truly leads to the goal."""
    plan = evaluation.solve(model, problem, planner_named("pyperplan"), LIMITS)
    executed, state = truth.run(problem.initial, plan or ())
    return plan is not None and executed == len(plan) and problem.goal <= state.true


if __name__ == "__main__":
    sys.exit(run_command(pictures))
