"""Boards and states to train classifiers on: legal, diverse, and fully labelled by construction.

A symbolic state says what is true in every cell, and a `Picture` of its layout shows it. Setting up the
drawing of a board costs up to half a second per shape, so the caller names the few shapes of
synthetic boards. All randomness comes from the generator passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from aam_vision.envs.board import Layout
from aam_vision.envs.registry import board_domain
from aam_vision.strips import State


def training_layouts(name: str) -> tuple[Layout, ...]:
    """PDDLGym's layouts that classifiers of a domain may be trained on.

    Raises:
        UnusableInput: if there is no such domain.
    """
    domain = board_domain(name)
    return tuple(domain.load(*problem) for problem in domain.trained_on)


def synthetic_layouts(
    name: str, shapes: Sequence[tuple[int, int]], rng: np.random.Generator
) -> Iterator[Layout]:
    """Random boards without end, each of one of the ``shapes`` (rows, columns); sides from 5 (Doors: 6).

    Raises:
        UnusableInput: if there is no such domain.
    """
    synthesize = _sampler(name, "synthesize")
    while True:
        rows, columns = shapes[int(rng.integers(len(shapes)))]
        yield synthesize(f"{name}/synthetic/{rng.integers(2**63):016x}", rows, columns, rng)


def legal_states(layout: Layout, rng: np.random.Generator) -> Iterator[State]:
    """Random legal states of a layout without end; repetitions are possible."""
    sample = _sampler(layout.domain, "sample")
    while True:
        yield State(sample(layout, rng), layout.objects)


def _sampler(name: str, attribute: str) -> Callable[..., Any]:
    return getattr(import_module(board_domain(name).sampler), attribute)  # type: ignore[no-any-return]
