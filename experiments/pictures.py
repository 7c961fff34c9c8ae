"""Pictures on the peers' ground: their domains, from a few labels to a model, with their metrics.

``python -m experiments.pictures`` labels pictures, trains classifiers, reads pictures that were not labelled, interrogates the agent
through them, and plans with the model that comes of it. Beside that it puts what others published, who learn from traces.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
import typer

from aam_vision.model.pddl import Problem
from aam_vision.model.strips import Model, State
from aam_vision.planning.engines import planner_named
from aam_vision.planning.planner import Limits
from aam_vision.report import evaluation
from aam_vision.support.commandline import Progress, run_command
from experiments.jobs import Experiment, FirstSeed, Scale, Seeds, chosen, every
from experiments.tables import Column, Row, Summary, Table, average, share, spread_of, total

if TYPE_CHECKING:
    from aam_vision.classifiers.perception import BoardPerception
    from aam_vision.envs.board import BoardDomain
    from aam_vision.envs.own import OwnEnvironment

DIGITS: Final = ("gripper", "logistics")
"""Drawn as grids of handwritten digits, see ``experiments.digits``."""
BOARDS: Final = {"blocks": "blocks", "hanoi": "hanoi", "8-puzzle": "slidetile"}
"""Drawn by PDDLGym: domain -> the environment here."""
LABELS: Final = 200
"""Labelled pictures of digits: more of them show more handwriting. Of PDDLGym's pictures ten show all there is."""
STEPS: Final = 600
"""Training steps for digits."""
SOLVED: Final = 10
"""Held-out problems of digits that are solved with a model; of PDDLGym's all."""
LIMITS: Final = Limits(seconds=60, states=200_000, guided=200_000)
"""Of the search for a plan: enough for Hanoi with ten discs."""

ATOMS: Final = {"blocks": 0.978, "gripper": 1.0, "logistics": 0.999, "hanoi": 0.986, "8-puzzle": 0.998}
"""Xi, Gould and Thiébaux, arXiv 2604.19043: the share of atoms that are read rightly."""
VIP: Final = {"blocks": (".94/.44", 0.0), "hanoi": (".84/1.0", 1.0), "depot": (".31/.19", 0.0)}
"""VIP-vision-PDDL, three traces, the better of its two results each: syntactic precision and recall; share of problems solved."""


def pictures(
    domain: Annotated[list[str] | None, typer.Option(help="A domain; several times for several.")] = None,
    seeds: Seeds = 3,
    first_seed: FirstSeed = 0,
    labels: Annotated[int, typer.Option(min=20, help="Pictures of digits to label.")] = LABELS,
    states: Annotated[int, typer.Option(min=1, help="Pictures to read that were not labelled.")] = 400,
    scale: Scale = Scale(out=Path("runs/pictures")),
) -> int:
    """From a few labelled pictures to a model and plans, in the domains of those who learn from pictures.

    Examples:
        python -m experiments.pictures
        python -m experiments.pictures --domain gripper --seeds 1 --out runs/few
    """
    names = chosen("domain", domain, (*BOARDS, *DIGITS))
    if set(names) & set(DIGITS):
        from experiments.digits import handwritten

        handwritten(labelled=True)  # that they are missing is told now
    jobs = [
        one
        for name in names
        for one in every(
            domain=name,
            seed=range(first_seed, first_seed + seeds),
            labels=labels if name in DIGITS else None,
            states=states,
        )
    ]
    return Experiment("pictures", learned, table).run(jobs, scale)


def table(rows: Sequence[Row]) -> Table:
    """A line for every domain; one without pictures has the others' figures only."""
    columns: dict[str, Column] = {
        "domain": "domain",
        "labelled": spread_of("labelled"),
        "atoms right": average("atoms"),
        "states exact": lambda runs: f"{total('exact')(runs)}/{total('read')(runs)}",
        "wrong": total("wrong"),
        "steps": spread_of("steps"),
        "ended": lambda runs: ", ".join(f"{n} {end}" for end, n in Counter(r["status"] for r in runs).items()),
        "exact": share("model_exact"),
        "precision": average("precision"),
        "recall": average("recall"),
        "solved": lambda runs: f"{total('solved')(runs)}/{total('solvable')(runs)}",
        "CPU s": spread_of("seconds"),
        "Xi: atoms": lambda runs: ATOMS.get(runs[0]["domain"]),
        "VIP: P/R": lambda runs: VIP.get(runs[0]["domain"], (None,))[0],
        "VIP: solved": lambda runs: VIP.get(runs[0]["domain"], (None, None))[1],
    }
    made = Summary(
        "From labelled pictures to a model. Xi, Gould and Thiébaux: 70 to 2,500 traces whose first and last states are labelled; "
        "VIP-vision-PDDL: 3 traces. PDDLGym draws no pictures of depot",
        columns,
        by=("domain",),
    )(rows)
    (precision_recall, solved), gap = VIP["depot"], len(columns) - 3
    return replace(made, rows=[*made.rows, ["depot", *[None] * gap, precision_recall, solved]])


def learned(domain: str, seed: int, labels: int | None, states: int) -> Row:
    """One way from no label to plans.

    Args:
        domain: one of ``BOARDS`` and ``DIGITS``.
        seed: of pictures, weights and questions.
        labels: pictures of digits to label; None where the labelling stops by its own test.
        states: pictures to read that were not labelled.
    """
    import aam_vision
    from aam_vision.agents.image import ImageAgent

    began = process_time()
    world: OwnEnvironment | BoardDomain
    simulators: list[Any]
    if labels is None:
        world, perception, labelled, figures = of_board(BOARDS[domain], seed, states)
        simulators = [world.simulator(one) for one in world.interrogated]
        problems = [
            Problem(one.name, State(one.initial, one.objects), one.goal)
            for one in world.layouts(world.held_out)
        ]
    else:
        from experiments.digits import WORLDS, DrawnAnew

        world, perception, labelled, figures = of_digits(domain, seed, labels, states)
        rng = np.random.default_rng([seed, 11])
        simulators = [DrawnAnew(world.simulator(one), rng) for one in world.interrogated]
        problems = [WORLDS[domain].problem(1000 + number) for number in range(SOLVED)]
    agent = ImageAgent(
        simulators, perception, world.visual.vocabulary(), world.headers, refuses_surely=True
    )
    result = aam_vision.interrogate(agent, seed=seed, raises=False)
    seconds = process_time() - began
    assert world.truth is not None, "all have one"
    truth = world.truth()
    precision, recall = evaluation.syntactic(result.model, truth)
    solved = [solves(result.model, truth, problem) for problem in problems if solves(truth, truth, problem)]
    given = {entry.predicate.name for entry in world.visual.given}
    counts = [own for name, own in figures["predicates"].items() if name not in given]
    seen = sum(own["atoms"] - own["hidden"] for own in counts)
    return {
        "labelled": labelled,
        "atoms": 1 - sum(own["wrong"] + own["undecided"] for own in counts) / seen,
        "atoms_wrong": sum(own["wrong"] for own in counts),
        "read": figures["states"],
        **{name: figures[name] for name in ("exact", "refused", "wrong")},
        "queries": result.counts.queries,
        "steps": result.counts.steps,
        "looks": result.counts.looks,
        "status": result.status,
        "why": result.why,
        "falsely": sum(truth.schema(one.action).mode(one.atom, one.location) is not mode for one, mode in result.certain.items()),
        "model_exact": evaluation.exact(result.model, truth),
        "precision": precision,
        "recall": recall,
        "solved": sum(solved),
        "solvable": len(solved),
        "problems": len(problems),
        "seconds": round(seconds),
    }


Taught = tuple[Any, "BoardPerception", int, Mapping[str, Any]]
"""A domain, what reads its pictures, how many were labelled for that, and how well others are read."""


def of_board(name: str, seed: int, states: int) -> Taught:
    """One of PDDLGym's domains, labelled as ``experiments.few_labels`` does."""
    from aam_vision.envs.registry import board_domain
    from aam_vision.training.assessment import evaluate_domain
    from aam_vision.training.labelling.settings import ACTIVE, MOST, Way
    from experiments.few_labels import learned as labelled

    domain = board_domain(name)
    perception, found = labelled(domain, Way(ACTIVE, True, MOST, seed), atoms=False)
    layouts = replace(domain, trained_on=domain.walked)  # in the others nobody walks
    unseen = {"unseen": layouts.examinations(states, 0)["unseen"]}
    scores = evaluate_domain(domain, perception, examined=unseen)["unseen"]
    return domain, perception, len(found.pictures), scores.summary()


def of_digits(name: str, seed: int, labels: int, states: int) -> Taught:
    """A grid of digits, trained in one round on so many labelled pictures: no other label decides anything."""
    from aam_vision.classifiers.perception import BoardPerception
    from aam_vision.training.assessment import evaluate_domain
    from aam_vision.training.session import train_domain
    from aam_vision.training.settings import TrainingSettings
    from experiments.digits import WORLDS, environment

    domain = environment(WORLDS[name], labels)
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        settings, quiet = TrainingSettings(seed=seed, steps=STEPS), Progress(StringIO())
        train_domain(replace(domain, round_steps=STEPS), Path(folder), settings, quiet)
        perception = BoardPerception.load(domain.visual, domain.name, Path(folder), remembered=0)
    perception.image_test = None  # those labels are not counted
    scores = evaluate_domain(domain, perception, states=states, seed=seed + 1000)["unseen"]
    return domain, perception, labels, scores.summary()


def solves(model: Model, truth: Model, problem: Problem) -> bool:
    """Whether a plan is found with a model that leads to the goal in truth."""
    plan = evaluation.solve(model, problem, planner_named("pyperplan"), LIMITS)
    if plan is None:
        return False
    executed, state = truth.run(problem.initial, plan)
    return executed == len(plan) and problem.goal <= state.true


if __name__ == "__main__":
    sys.exit(run_command(pictures))
