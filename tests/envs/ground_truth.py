"""The agents' true models, and held-out problems with their PDDL.

Everything is in the user's vocabulary: action literals are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from aam_vision.envs.pddlgym_domains import UNTYPED, parsed
from aam_vision.envs.registry import board_domain
from aam_vision.model.pddl import problem_text
from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Atom,
    LiftedAtom,
    Model,
    Problem,
    State,
)


@dataclass(frozen=True)
class HeldOutProblem:
    """A problem that was not interrogated: its initial state, its goal, and both as PDDL text."""

    name: str
    initial: State
    goal: frozenset[Atom]
    pddl: str


def ground_truth_model(name: str) -> Model:
    """PDDLGym's own model of a domain; UnusableInput if there is no such domain."""
    return board_domain(name).truth()


def held_out_problems(name: str) -> tuple[HeldOutProblem, ...]:
    """The held-out problems of a domain, in the registry's order; UnusableInput if there is no such domain."""
    domain, found = board_domain(name), []
    for layout in domain.layouts(domain.held_out):
        initial = State(layout.initial, layout.objects)
        problem = Problem(layout.name.replace("/", "-"), initial, layout.goal)
        text = problem_text(problem.name, domain.visual.vocabulary(), problem)
        found.append(HeldOutProblem(layout.name, initial, layout.goal, text))
    return tuple(found)


def domain_operators(domain: str) -> tuple[ActionSchema, ...]:
    """A domain's operators in the file's order as PDDLGym reads them, without their action literals."""
    spec = parsed(domain)
    actions = {getattr(action, "name", action) for action in spec.actions}
    found = []
    for operator in spec.operators.values():
        names = [item.name for item in operator.params]

        def lift(literals: Iterable[Any], names: Sequence[Any] = names) -> frozenset[LiftedAtom]:
            return frozenset(
                LiftedAtom(each.predicate.name, tuple([names.index(v.name) for v in each.variables]))
                for each in literals
            )

        kinds = [str(one.var_type) for one in operator.params]
        header = ActionHeader(
            operator.name,
            tuple(str(name).removeprefix("?") for name in names),
            tuple(ROOT_TYPE if kind == UNTYPED else kind for kind in kinds),
        )
        positive = (each for each in operator.preconds.literals if each.predicate.name not in actions)
        effects = operator.effects.literals
        added, deleted = (lift(each for each in effects if each.is_anti is anti) for anti in (False, True))
        found.append(ActionSchema(header, lift(positive), add=added, delete=deleted))
    return tuple(found)
