"""Problems of any size for every packaged domain, reproducible from a random generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from aam_vision.domains import cards, piling, serving, space, transport
from aam_vision.domains.draft import Draft
from aam_vision.domains.registry import known, load
from aam_vision.errors import UnusableInput
from aam_vision.pddl import Problem

_GENERATORS: Mapping[str, Callable[[Draft, int], None]] = {
    "gripper": transport.gripper,
    "blocksworld": piling.blocksworld,
    "miconic": transport.miconic,
    "parking": piling.parking,
    "logistics": transport.logistics,
    "satellite": space.satellite,
    "termes": piling.termes,
    "rovers": space.rovers,
    "barman": serving.barman,
    "freecell": cards.freecell,
}


def generate(name: str, size: int, rng: np.random.Generator) -> Problem:
    """A problem of a packaged domain whose goal does not hold yet.

    Args:
        name: one of ``DOMAINS``.
        size: 1, 2, 3 and so on; a larger one means more objects. From 1 on every action of the domain is
            executable in some reachable state.
        rng: the source of everything random.

    Raises:
        UnusableInput: there is no domain of that name, or the size is below 1.
    """
    types = load(known(name)).vocabulary.types
    if size < 1:
        raise UnusableInput(f"a {name} problem of size {size} cannot be generated; sizes start at 1")
    while True:
        draft = Draft(rng)
        _GENERATORS[name](draft, size)
        problem = draft.problem(f"{name}-{size}", types)
        if not problem.goal <= problem.initial.true:  # the goal of a small problem may hold by chance
            return problem
