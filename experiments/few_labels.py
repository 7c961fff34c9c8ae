"""Few labels: how many pictures must be labelled until classifiers read unseen layouts, by the way in which they are chosen.

``python -m experiments.few_labels --env sokoban --seeds 3`` walks about, labels pictures of the walks with the simulator's own
states, a few at a time, trains after each few, and stops by its own test or when so many pictures are labelled. Then it reads
states of layouts in which it never walked.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from time import process_time
from typing import Annotated

import numpy as np
import typer

from aam_vision.commandline import Progress, run_command

WAYS = {"random": ("random", False), "active": ("active", False), "active, free labels": ("active", True)}
"""Way of choosing -> how pictures are chosen, and whether labels that follow from others are learned from."""

ENVIRONMENTS = ("sokoban", "doors", "maze", "slidetile", "hanoi", "blocks")
CHUNK = 64
"""Pictures that are read together."""
COLUMNS = (
    "environment",
    "choice",
    "seed",
    "pictures",
    "atoms",
    "stopped",
    "exact",
    "refused",
    "wrong accepted",
    "training CPU s",
    "CPU s",
)


def few_labels(
    env: Annotated[
        list[str] | None, typer.Option(help="A board domain (repeatable); default: all six.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds from 0 on.")] = 3,
    pictures: Annotated[int, typer.Option(min=1, help="Pictures to label at most.")] = 10,
    states: Annotated[int, typer.Option(min=1, help="States of unseen layouts to read.")] = 1000,
    way: Annotated[list[str] | None, typer.Option(help=f"One of {'; '.join(WAYS)} (repeatable).")] = None,
) -> int:
    """Label pictures of walks, train, and read unseen layouts.

    Examples:
        python -m experiments.few_labels --env sokoban --seeds 3
        python -m experiments.few_labels --env doors --way random --pictures 5
    """
    from aam_vision.envs.registry import board_domain
    from experiments.options import chosen_domains

    names = chosen_domains(way, tuple(WAYS))
    domains = [board_domain(name) for name in env or ENVIRONMENTS]
    print("\t".join(COLUMNS))
    wrong = 0
    for domain in domains:
        unseen = replace(domain, trained_on=domain.walked).examinations(states, 0)["unseen"]
        for seed in range(seeds):
            for name in names:
                row = _row(domain, unseen, name, seed, pictures)
                wrong += int(row["wrong accepted"])
                print("\t".join(str(row[column]) for column in COLUMNS), flush=True)
    return int(wrong > 0)


def _row(domain: object, unseen: Sequence[object], name: str, seed: int, most: int) -> dict[str, object]:
    """One way from no label to classifiers, and what they are worth."""
    from aam_vision.classifiers.architecture import CELL_PIXELS
    from aam_vision.envs.board import BoardDomain
    from aam_vision.training.labelling.answers import SimulatorLabels
    from aam_vision.training.labelling.pool import Pool
    from aam_vision.training.labelling.rounds import Rounds, Way
    from aam_vision.training.labelling.walks import walk, walked_problems

    assert isinstance(domain, BoardDomain)
    began = process_time()
    chance = np.random.default_rng([seed, 81])
    pool = Pool(domain.visual, walk(domain, walked_problems(domain), chance), CELL_PIXELS)
    choice, free = WAYS[name]
    way = Way(choice, free, most, seed)
    perception, found = Rounds(domain, pool, SimulatorLabels(domain), way, Progress()).run()
    seconds = process_time() - began
    scores = _scores(perception, unseen)
    print({k: (a.wrong, a.undecided) for k, a in scores.predicates.items() if a.wrong or a.undecided}, found.examination.history, found.given, len(pool.pictures), len(pool.looks), file=sys.stderr)
    return {
        "environment": domain.name,
        "choice": name,
        "seed": seed,
        "pictures": len(found.pictures),
        "atoms": found.atoms,
        "stopped": "by its test" if found.sure else "at most",
        "exact": scores.exact,
        "refused": scores.refused,
        "wrong accepted": scores.wrong,
        "training CPU s": f"{max(found.seconds):.1f}",
        "CPU s": f"{seconds:.0f}",
    }


def _scores(perception: object, unseen: Sequence[object]) -> object:
    from aam_vision.training.assessment import PerceptionScores, assess, samples

    scores = PerceptionScores()
    for pictures in unseen:
        for begin in range(0, len(pictures.states), CHUNK):
            known = samples(perception.vocabulary, pictures, pictures.states[begin : begin + CHUNK])
            assess(perception, pictures.scene, known, [one.frame for one in known], scores)
    return scores


if __name__ == "__main__":
    sys.exit(run_command(few_labels))
