"""The moves of a round: in which order they are made, and as which questions the agent hears of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Walk
from aam_vision.interrogation.policies.walking import EXPLORE
from aam_vision.query import Course, Expected, Query, WalkRequest


def goes_on(move: Ask | Walk) -> bool:
    """Whether it begins where the move before it ends."""
    return isinstance(move, Ask) and move.goes_on


def shortest_first(moves: Sequence[Ask | Walk]) -> list[Ask | Walk]:
    """The same moves, those with few steps first, so that no answer waits for one that takes long.

    Those that go on stay behind the move before them.
    """
    groups = sorted(_groups(moves), key=lambda group: sum(map(steps_of, group)))
    return [move for group in groups for move in group]


def is_open(move: Ask | Walk) -> bool:
    """Whether a look at where it ends belongs to it."""
    return isinstance(move, Ask) and move.examines and bool(move.plan)


def at_a_time(moves: Iterable[Ask | Walk]) -> int:
    """How many of them do not go on from the move before, so that they can be made at a time."""
    return sum(not goes_on(move) for move in moves)


def with_seed(move: Ask | Walk, rng: np.random.Generator) -> Ask | Walk:
    """The move; a walk gets a seed of its own."""
    return replace(move, seed=int(rng.integers(2**63))) if isinstance(move, Walk) else move


def expected_questions(moves: Iterable[Ask | Walk], evidence: Evidence) -> list[Expected]:
    """The questions that the agent will be asked; those that go on from each other are one course."""
    return [_question(group, evidence) for group in _groups(moves)]


def _groups(moves: Iterable[Ask | Walk]) -> list[list[Ask | Walk]]:
    """The moves, each with those that go on from it."""
    groups: list[list[Ask | Walk]] = []
    for move in moves:
        if goes_on(move) and groups:
            groups[-1].append(move)
        else:
            groups.append([move])
    return groups


def _question(group: Sequence[Ask | Walk], evidence: Evidence) -> Expected:
    first = group[0]
    start = evidence.departure(evidence.current if goes_on(first) else first.start)
    if isinstance(first, Walk):
        assert first.seed is not None, "a walk of a round has a seed"
        return WalkRequest(start, first.steps, first.seed)
    if len(group) == 1:
        return Query(start, first.plan)
    return Course(start, tuple(move.plan for move in group if isinstance(move, Ask)))


def stage(move: Ask | Walk) -> int:
    """First come walks, then queries, then what is asked once the policy has stopped: no round goes over to the next."""
    if move.stopped is not None:
        return 2
    return 0 if isinstance(move, Walk) and move.why == EXPLORE else 1


def steps_of(move: Ask | Walk) -> int:
    """The steps that it may take."""
    return len(move.plan) if isinstance(move, Ask) else move.steps
