"""Few labels: how well unseen layouts are read after a few labelled pictures, by the way in which these are chosen.

``python -m experiments.few_labels --env sokoban --seeds 3`` walks about, labels pictures of the walks with the simulator's own
states, a few at a time, trains after each few, and stops by its own test, or when so many pictures are labelled. Then it reads
states of layouts in which it never walked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import process_time
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from aam_vision.commandline import Progress, run_command
from experiments.options import chosen_domains

if TYPE_CHECKING:
    from aam_vision.classifiers.perception import BoardPerception
    from aam_vision.envs.image_domain import ImageDomain, Pictures
    from aam_vision.training.assessment import PerceptionScores
    from aam_vision.training.labelling.pool import Pool

WAYS = {"random": ("random", False), "active": ("active", False), "active-free": ("active", True)}
"""Way -> how pictures are chosen, and whether labels that follow from others are learned from."""

WORLDS = ("minigrid:DoorKey-5x5", "taxi")
"""Ready-made worlds that are measured besides the board domains."""

MOST, MORE = 10, 20
"""Pictures to label at most: in a board domain, and in one of the worlds, which show more kinds of things."""

CHUNK = 64
"""Pictures that are read together: more of them cost memory."""

COLUMNS = (
    "environment",
    "way",
    "seed",
    "pictures",
    "atoms",
    "stopped",
    "bound",
    "exact",
    "refused",
    "wrong accepted",
    "round CPU s",
    "CPU s",
)


def few_labels(
    env: Annotated[
        list[str] | None, typer.Option(help="An environment (repeatable); default: all that are measured.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds: of walks, choice and weights.")] = 3,
    first_seed: Annotated[int, typer.Option(min=0, help="The first of the seeds.")] = 0,
    pictures: Annotated[
        int | None, typer.Option(min=1, help="Pictures to label at most.  [10; DoorKey and Taxi 20]")
    ] = None,
    states: Annotated[int, typer.Option(min=1, help="States of unseen layouts to read.")] = 1000,
    way: Annotated[
        list[str] | None, typer.Option(help=f"One of {', '.join(WAYS)} (repeatable); default: all.")
    ] = None,
) -> int:
    """Label pictures of walks, train, and read unseen layouts.

    atoms: answers yes or no of which the labels consist; bound: the upper bound of the share of wrong answers, by the test that
    ends the labelling; round CPU s: the longest training; CPU s: the whole way, walks included.

    Examples:
        python -m experiments.few_labels --env sokoban --seeds 3
        python -m experiments.few_labels --env doors --way random --pictures 5
    """
    from aam_vision.envs import DOMAINS
    from aam_vision.envs.registry import image_domain

    domains = {name: image_domain(name) for name in chosen_domains(env, (*DOMAINS, *WORLDS))}
    ways = chosen_domains(way, WAYS)
    print("\t".join(COLUMNS))
    wrong = 0
    for name, domain in domains.items():
        unseen = _unseen(domain, states)
        for seed in range(first_seed, first_seed + seeds):
            for row in _rows(domain, unseen, ways, seed, pictures or (MORE if name in WORLDS else MOST)):
                row["environment"] = name
                wrong += int(str(row["wrong accepted"]))
                print("\t".join(str(row[column]) for column in COLUMNS), flush=True)
    return int(wrong > 0)


def _unseen(domain: ImageDomain, states: int) -> list[Pictures]:
    """States of layouts in which nobody walks."""
    from aam_vision.envs.board import BoardDomain

    if isinstance(domain, BoardDomain):
        domain = replace(domain, trained_on=domain.walked)
    return list(domain.examinations(states, 0)["unseen"])


def _rows(
    domain: ImageDomain, unseen: Sequence[Pictures], ways: Sequence[str], seed: int, most: int
) -> Iterable[dict[str, object]]:
    """The same walks, labelled in every way."""
    from aam_vision.classifiers.architecture import CELL_PIXELS
    from aam_vision.training.labelling.pool import Pool, rarest
    from aam_vision.training.labelling.walks import walk, walked_problems

    began = process_time()
    chance = np.random.default_rng([seed, 81])
    pictures = walk(domain, walked_problems(domain), chance)
    pool = Pool(domain.visual, rarest(pictures, CELL_PIXELS), CELL_PIXELS)
    walked = process_time() - began
    for name in ways:
        yield _row(domain, pool, unseen, (name, seed, most, walked))


def _row(
    domain: ImageDomain, pool: Pool, unseen: Sequence[Pictures], job: tuple[str, int, int, float]
) -> dict[str, object]:
    """One way from no label to classifiers, and what they are worth."""
    from aam_vision.training.labelling.answers import SimulatorLabels
    from aam_vision.training.labelling.rounds import Rounds, Way

    name, seed, most, walked = job
    began, (choice, free) = process_time(), WAYS[name]
    way = Way(choice, free, most, seed)
    perception, found = Rounds(domain, pool, SimulatorLabels(domain), way, Progress()).run()
    seconds = walked + process_time() - began
    scores = _scores(perception, unseen)
    return {
        "environment": domain.name,
        "way": name,
        "seed": seed,
        "pictures": len(found.pictures),
        "atoms": found.atoms,
        "stopped": "by its test" if found.sure else "no",
        "bound": f"{found.examination.bound:.3f}",
        "exact": scores.exact,
        "refused": scores.refused,
        "wrong accepted": scores.wrong,
        "round CPU s": f"{max(found.seconds):.1f}",
        "CPU s": f"{seconds:.0f}",
    }


def _scores(perception: BoardPerception, unseen: Sequence[Pictures]) -> PerceptionScores:
    """How the pictures of some layouts are read."""
    from aam_vision.training.assessment import PerceptionScores, assess, samples

    scores = PerceptionScores()
    for pictures in unseen:
        for begin in range(0, len(pictures.states), CHUNK):
            known = samples(perception.vocabulary, pictures, pictures.states[begin : begin + CHUNK])
            assess(perception, pictures.scene, known, [one.frame for one in known], scores)
    return scores


if __name__ == "__main__":
    sys.exit(run_command(few_labels))
