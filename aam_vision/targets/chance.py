"""Agents with chance: of PPDDL files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aam_vision.errors import UnusableInput
from aam_vision.query import Access
from aam_vision.targets.target import SYMBOLIC_ACCESS, Target, access_of, one_problem

if TYPE_CHECKING:
    from aam_vision.arguments import Arguments
    from aam_vision.outcomes import ChanceModel
    from aam_vision.strips import State


@dataclass(frozen=True)
class ChanceTarget:
    """An agent with chance to interrogate, and the truth about it."""

    target: Target
    truth: ChanceModel
    held_out: list[State]


def of(arguments: Arguments) -> ChanceTarget:
    """The agent of the PPDDL domain that a run's arguments name; its chance is drawn from their seed.

    Raises:
        UnusableInput: a file cannot be used, no problem is given, or the access is unknown.
    """
    import numpy as np

    from aam_vision.agents.chance import ChanceAgent
    from aam_vision.pddl import read_chance_domain, read_chance_problem

    domain = arguments.domain
    assert domain is not None, "checked before"
    access = access_of(arguments.access, SYMBOLIC_ACCESS, str(domain))
    problems = arguments.problem or []
    if not problems:
        raise UnusableInput("no problem; give at least one PDDL problem of it", "domain", domain)
    if access is Access.TRAJECTORY:
        one_problem(problems)
    model = read_chance_domain(domain)
    initial = [read_chance_problem(model, problem).initial for problem in problems]
    rng = np.random.default_rng([arguments.seed, 4])
    target = Target(
        model.vocabulary.name,
        tuple(Path(problem).name for problem in problems),
        ChanceAgent(model, initial, rng, access),
        truth=None,
        held_out=lambda: initial,
        generators=(rng,),
    )
    return ChanceTarget(target, model, initial)
