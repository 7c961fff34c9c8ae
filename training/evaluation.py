"""Evaluation of one domain's perception, layout by layout."""

from __future__ import annotations

import numpy as np

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.board import BoardDomain, Problem
from aam_vision.perception import Frame
from aam_vision.training.assessment import Assessment, assess
from aam_vision.training.data import pictures

STATES = 600
"""Distinct states per group of layouts."""


def evaluate_domain(
    domain: BoardDomain,
    perception: BoardPerception,
    *,
    states: int = STATES,
    seed: int = 0,
    noise: float = 0.0,
) -> dict[str, Assessment]:
    """Perceive about ``states`` distinct legal states of every group of problems.

    Args:
        domain: the environment.
        perception: with the weights to evaluate.
        states: distinct states per group.
        seed: of states and noise.
        noise: standard deviation of the noise on the images, whose values are between 0 and 1.

    Returns:
        ``unseen``: problems whose layouts classifiers never train on; ``interrogated``: those that
        the agent is asked about.
    """
    problems = list(dict.fromkeys(domain.held_out + domain.interrogated))
    unseen = [problem for problem in problems if problem not in domain.trained_on]
    return {
        "unseen": _assess(domain, perception, unseen, states, noise, seed),
        "interrogated": _assess(domain, perception, list(domain.interrogated), states, noise, seed + 1),
    }


def _assess(
    domain: BoardDomain,
    perception: BoardPerception,
    problems: list[Problem],
    states: int,
    noise: float,
    seed: int,
) -> Assessment:
    """States are shared out evenly; what a small layout cannot give, larger ones make up for."""
    rng = np.random.default_rng(seed)
    assessment = Assessment()
    layouts = sorted([domain.load(*problem) for problem in problems], key=lambda layout: len(layout.objects))
    for number, layout in enumerate(layouts):
        wanted = -(-(states - assessment.states) // (len(layouts) - number))
        pairs = pictures(domain, layout, wanted, rng)
        if noise:
            pairs = ((state, noisy(frame, noise, rng)) for state, frame in pairs)
        assess(perception, domain.scene(layout), pairs, assessment)
    return assessment


def noisy(frame: Frame, sigma: float, rng: np.random.Generator) -> Frame:
    """The image with Gaussian noise on every value, clipped."""
    values = frame + 255 * sigma * rng.standard_normal(frame.shape)
    return values.clip(0, 255).round().astype(np.uint8)
