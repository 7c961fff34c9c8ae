"""PDDLGym's domains and problem files, in the toolkit's own terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from aam_vision.envs.board import Layout
from aam_vision.envs.pddlgym_package import pddlgym, without_its_warnings
from aam_vision.errors import UnusableInput
from aam_vision.strips import ROOT_TYPE, ActionHeader, Atom, LiftedAtom, Objects, Predicate, Types

SPLITS = {"train": "", "test": "_test"}
"""Our names for PDDLGym's problem folders, and what it appends to the domain's name."""

OPERATOR_ACTIONS = {"blocks": "blocks_operator_actions", "hanoi": "hanoi_operator_actions"}
"""Our names of domains for which PDDLGym's own name says that operators are the actions."""

UNTYPED = "default"
"""PDDLGym's type of all objects of a domain without types; ours is the root type."""


def _folder() -> Path:
    return Path(pddlgym().__file__ or "").parent / "pddl"


@cache
def parsed(name: str) -> Any:
    """PDDLGym's parsed domain; read-only, so every world of the domain shares it."""
    import gymnasium

    package, name = pddlgym(), OPERATOR_ACTIONS.get(name, name)
    operators = gymnasium.spec(f"PDDLEnv{name.capitalize()}-v0").kwargs.get("operators_as_actions", False)
    with without_its_warnings():
        return package.parser.PDDLDomainParser(
            str(_folder() / f"{name}.pddl"), expect_action_preds=not operators, operators_as_actions=operators
        )


def _actions(spec: Any) -> frozenset[str]:
    """Names of a domain's actions: action predicates, or operators."""
    return frozenset(getattr(action, "name", action) for action in spec.actions)


def _kind(kind: Any) -> str:
    return ROOT_TYPE if str(kind) == UNTYPED else str(kind)


def problem_files(domain: str, split: str) -> tuple[Path, ...]:
    """The problem files of a split in PDDLGym's own order, that of their names.

    Raises:
        UnusableInput: if there is no such split.
    """
    if split not in SPLITS:
        raise UnusableInput(f"{domain} has no split {split!r}: use one of {', '.join(SPLITS)}")
    folder = _folder() / f"{OPERATOR_ACTIONS.get(domain, domain)}{SPLITS[split]}"
    return tuple(sorted(folder.glob("*.pddl")))


def load_layout(domain: str, split: str, index: int) -> Layout:
    """Problem ``index`` (from 0) of a split, without PDDLGym's action literals.

    Raises:
        UnusableInput: if there is no such split or no such problem.
    """
    files = problem_files(domain, split)
    if index not in range(len(files)):
        raise UnusableInput(
            f"{domain} has no {split} problem {index!r}: use a number from 0 to {len(files) - 1}"
        )
    spec = parsed(domain)
    with without_its_warnings():
        problem = pddlgym().parser.PDDLProblemParser(
            str(files[index]), spec.domain_name, spec.types, spec.predicates, spec.actions, spec.constants
        )
    kinds = {str(item.name): _kind(item.var_type) for item in sorted(problem.objects)}
    return Layout(
        domain=domain,
        name=f"{domain}/{split}/{index}",
        objects=Objects(kinds, domain_types(domain)),
        initial=frozenset(map(atom_of, problem.initial_state)),
        goal=frozenset(map(atom_of, getattr(problem.goal, "literals", [problem.goal]))),
    )


def atom_of(literal: Any) -> Atom:
    """The atom that a literal of PDDLGym speaks of, whatever its sign."""
    return Atom(literal.predicate.name, tuple([str(item.name) for item in literal.variables]))


def entities_of(layout: Layout) -> dict[str, Any]:
    """PDDLGym's objects by name."""
    kinds, entity = parsed(layout.domain).types, pddlgym().structs.TypedEntity
    return {
        name: entity(name, kinds[UNTYPED if kind == ROOT_TYPE else kind])
        for name, kind in layout.objects.items()
    }


def literal_of(domain: str, entities: Mapping[str, Any], atom: Atom) -> Any:
    """The literal that says an atom is true."""
    return parsed(domain).predicates[atom.predicate](*[entities[name] for name in atom.objects])


@dataclass(frozen=True)
class Operator:
    """One of PDDLGym's operators without its action literal: the truth that evaluation compares with."""

    header: ActionHeader
    preconditions: frozenset[LiftedAtom]
    add: frozenset[LiftedAtom]
    delete: frozenset[LiftedAtom]


def domain_types(domain: str) -> Types:
    """The domain's types; none of the image domains has a hierarchy."""
    return Types({str(name): ROOT_TYPE for name in parsed(domain).types if str(name) != UNTYPED})


def domain_predicates(domain: str) -> tuple[Predicate, ...]:
    """The domain's predicates in the file's order, without the action literals."""
    spec = parsed(domain)
    actions = _actions(spec)
    return tuple(
        Predicate(name, tuple(_kind(kind) for kind in predicate.var_types))
        for name, predicate in spec.predicates.items()
        if name not in actions
    )


@cache
def changing_predicates(domain: str) -> frozenset[str]:
    """The predicates that some operator of a domain can change: how to draw a state depends on no other."""
    return frozenset(
        effect.predicate.name
        for operator in parsed(domain).operators.values()
        for effect in operator.effects.literals
    )


def domain_operators(domain: str) -> tuple[Operator, ...]:
    """The domain's operators in the file's order."""
    spec = parsed(domain)
    actions = _actions(spec)
    found = []
    for operator in spec.operators.values():
        names = [item.name for item in operator.params]

        def lift(literals: Iterable[Any], names: Sequence[Any] = names) -> frozenset[LiftedAtom]:
            return frozenset(
                LiftedAtom(each.predicate.name, tuple([names.index(v.name) for v in each.variables]))
                for each in literals
            )

        effects = operator.effects.literals
        found.append(
            Operator(
                ActionHeader(
                    operator.name,
                    tuple(str(name).removeprefix("?") for name in names),
                    tuple(_kind(item.var_type) for item in operator.params),
                ),
                lift(each for each in operator.preconds.literals if each.predicate.name not in actions),
                lift(each for each in effects if not each.is_anti),
                lift(each for each in effects if each.is_anti),
            )
        )
    return tuple(found)
