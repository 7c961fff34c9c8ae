"""Few labels: how well unseen layouts are read after a few labelled pictures, by the way in which these are chosen.

``python -m experiments.few_labels --env sokoban --seeds 3`` walks about, labels pictures of the walks with the simulator's own
states, a few at a time, trains after each few, and stops by its own test, or when so many pictures are labelled. Then it reads
states of layouts in which it never walked. Finished rows are kept, and the same command goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from itertools import product
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Annotated, Any

from aam_vision.support.commandline import run_command
from experiments.jobs import Experiment, Parameters, Scale, every
from experiments.options import FirstSeed, Names, about, chosen
from experiments.tables import Column, Row, Summary, Table, among, as_named, share, spread_of, total, values

if TYPE_CHECKING:
    from aam_vision.envs.image_domain import ImageDomain
    from aam_vision.training.assessment import PerceptionScores
    from aam_vision.training.labelling.rounds import LabellingResult
    from aam_vision.training.labelling.settings import Way

WAYS = {
    "active-free": ("active", True),
    "active": ("active", False),
    "random": ("random", False),
    "atoms": ("active", True),
}
"""Way -> how pictures are chosen, and whether labels that follow from others are learned from; ``atoms`` asks about single ones."""

ANSWERS = 60  # answers about single atoms at most

WORLDS = ("minigrid:DoorKey-5x5", "taxi")  # ready-made worlds that are measured besides the board domains

CAMERAS = ("tabletop",)
"""Worlds whose pictures have no cells: measured where they are named, for each takes ten minutes of CPU."""

MOST, MORE, MOST_SCENES = 10, 20, 60
"""Pictures to label at most: in a board domain, in one of the worlds, which show more kinds of things, and from a camera."""

summary = Summary(
    "Few labels: states of unseen layouts, read after a few labelled pictures of walks",
    {
        "environment": "env",
        **as_named("way", "seed", "pictures", "atoms", "stopped", "bound", "read", "exact", "refused"),
        **as_named("wrong accepted", "round CPU s", "CPU s"),
    },
)
"""A line for every way from no label to classifiers. atoms: answers yes or no of which the labels consist; bound: the upper bound
of the share of wrong answers, by the test that ends the labelling; read: states; round CPU s: the longest training; CPU s: the whole
way, walks included."""

BY_TEST = "by its test"


def page(rows: Sequence[Row]) -> Table:
    """A line for every environment: pictures, ends and states refused of all seeds, by the way."""
    columns: dict[str, Column] = {
        "environment": "env",
        "states": "read",
        "wrong accepted": total("wrong accepted"),
    }
    for way in dict.fromkeys(row["way"] for row in rows):
        columns |= {
            f"{way}: pictures": among(spread_of("pictures"), way=way),
            f"{way}: ended by test": among(share(lambda row: row["stopped"] == BY_TEST), way=way),
            f"{way}: refused": among(lambda some: ", ".join(map(str, values(some, "refused"))), way=way),
        }
    return Summary(summary.title, columns, by=("env",))(rows)


QUESTION = (
    "How many labelled images does it take to read layouts in which the agent never walked? "
    "[The conditions, and what follows](../measurements.md#few-labels)."
)


def few_labels(
    env: Annotated[Names, about("An environment (repeatable); default: all but tabletop.")] = None,
    seeds: Annotated[int, about("Seeds: of walks, choice and weights.", min=1)] = 3,
    first_seed: FirstSeed = 0,
    pictures: Annotated[
        int | None, about("Pictures to label at most.  [10; DoorKey and Taxi 20, tabletop 60]", min=1)
    ] = None,
    states: Annotated[int, about("States of unseen layouts to read.", min=1)] = 1000,
    way: Annotated[Names, about(f"One of {', '.join(WAYS)} (repeatable); default: all.")] = None,
    scale: Scale = Scale(out=Path("runs/few-labels")),
) -> int:
    """Label pictures of walks, or single atoms of them, train, and read unseen layouts.

    Examples:
        python -m experiments.few_labels --processes 1
        python -m experiments.few_labels --env doors --way atoms --out runs/few
        python -m experiments.few_labels --env tabletop --way active-free --seeds 1
    """
    from aam_vision.envs import DOMAINS
    from aam_vision.envs.registry import image_domain

    names = chosen("env", env, (*DOMAINS, *WORLDS, *CAMERAS), (*DOMAINS, *WORLDS))
    for name in names:
        image_domain(name)  # an unknown one is told now, in one line
    jobs: list[Parameters] = []
    for one, name in product(chosen("way", way, WAYS), names):
        if one == "atoms" and name in CAMERAS:
            continue  # which are labelled picture by picture
        usual = MOST_SCENES if name in CAMERAS else MORE if name in WORLDS else MOST
        most = ANSWERS if one == "atoms" else pictures or usual
        jobs += every(env=name, way=one, seed=range(first_seed, first_seed + seeds), most=most, states=states)
    return Experiment("few-labels", labelling, summary, page=(page,), question=QUESTION).run(jobs, scale)


def labelling(env: str, way: str, seed: int, most: int, states: int) -> Row:
    """One way from no label to classifiers, by ``most`` pictures or atoms at most, and what they are worth on so many states."""
    from aam_vision.envs.registry import image_domain
    from aam_vision.training.labelling.settings import Way

    began, domain, (choice, free) = process_time(), image_domain(env), WAYS[way]
    how = Way(choice, free, most, seed)
    perception, found = learned(domain, how, atoms=way == "atoms")
    seconds = process_time() - began
    scores = elsewhere(domain, perception, states, 0)
    return {
        "pictures": len(found.pictures),
        "atoms": found.atoms,
        "stopped": BY_TEST if found.sure else "at the most allowed",
        "bound": round(found.examination.bound, 3),
        "read": scores.states,
        "exact": scores.exact,
        "refused": scores.refused,
        "wrong accepted": scores.wrong,
        "round CPU s": round(max(found.seconds), 1),
        "CPU s": round(seconds),
    }


def elsewhere(domain: ImageDomain, perception: Any, states: int, seed: int) -> PerceptionScores:
    """What the classifiers are worth on so many states of layouts in which nobody walked."""
    from aam_vision.envs.board import BoardDomain
    from aam_vision.training.assessment import evaluate_domain

    layouts = replace(domain, trained_on=domain.walked) if isinstance(domain, BoardDomain) else domain
    unseen = {"unseen": layouts.examinations(states, seed)["unseen"]}
    return evaluate_domain(domain, perception, examined=unseen)["unseen"]


def learned(domain: ImageDomain, how: Way, *, atoms: bool) -> tuple[Any, LabellingResult]:
    """The classifiers that are learned from labelled pictures of walks, or from single atoms of them, and what came of it."""
    from aam_vision.support.commandline import Progress
    from aam_vision.training.labelling import pool, session, settings

    pictures, ask = pool.walked(domain, how.seed), settings.ATOMS if atoms else settings.PICTURES
    return session.learned(domain, pictures, ask, how, Progress(StringIO()))


if __name__ == "__main__":
    sys.exit(run_command(few_labels))
