"""PDDLGym's domains and problem files, in the toolkit's own terms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from aam_vision.envs.board import Layout
from aam_vision.envs.pddlgym_files import declarations, pddl_folder, pddlgym_name, problem_files
from aam_vision.envs.pddlgym_package import pddlgym, without_its_warnings
from aam_vision.errors import UnusableInput
from aam_vision.strips import ROOT_TYPE, ActionHeader, ActionSchema, Atom, LiftedAtom, Objects, Predicate

UNTYPED = "default"
"""PDDLGym's type of all objects of a domain without types; ours is the root type."""


@cache
def parsed(name: str) -> Any:
    """PDDLGym's parsed domain; read-only, so every world of the domain shares it."""
    operators = not declarations(name).verbs
    with without_its_warnings():
        return pddlgym().parser.PDDLDomainParser(
            str(pddl_folder() / f"{pddlgym_name(name)}.pddl"),
            expect_action_preds=not operators,
            operators_as_actions=operators,
        )


def _actions(spec: Any) -> frozenset[str]:
    """Names of a domain's actions: action predicates, or operators."""
    return frozenset(getattr(action, "name", action) for action in spec.actions)


def _kind(kind: Any) -> str:
    return ROOT_TYPE if str(kind) == UNTYPED else str(kind)


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
        objects=Objects(kinds, declarations(domain).types),
        initial=frozenset(map(atom_of, problem.initial_state)),
        goal=frozenset(map(atom_of, getattr(problem.goal, "literals", [problem.goal]))),
    )


def atom_of(literal: Any) -> Atom:
    """The atom that a literal of PDDLGym speaks of, whatever its sign."""
    return Atom(literal.predicate.name, tuple([str(item.name) for item in literal.variables]))


class Literals:
    """PDDLGym's literals for the atoms of one problem, each made once."""

    def __init__(self, layout: Layout) -> None:
        kinds, entity = parsed(layout.domain).types, pddlgym().structs.TypedEntity
        self.entities: dict[str, Any] = {
            name: entity(name, kinds[UNTYPED if kind == ROOT_TYPE else kind])
            for name, kind in layout.objects.items()
        }
        self._predicates = parsed(layout.domain).predicates
        self._made: dict[Atom, Any] = {}
        self._changing = changing_predicates(layout.domain)
        self._static = static_atoms(layout)

    def of(self, atom: Atom) -> Any:
        """The literal that says an atom is true."""
        known = self._made.get(atom)
        if known is None:
            entities = [self.entities[name] for name in atom.objects]
            known = self._made[atom] = self._predicates[atom.predicate](*entities)
        return known

    def of_state(self, atoms: Iterable[Atom]) -> list[Any]:
        """The literals of a state, whose unchangeable atoms may be left out."""
        changing = [atom for atom in atoms if atom.predicate in self._changing]
        return [self.of(atom) for atom in (*self._static, *changing)]


def static_atoms(layout: Layout) -> frozenset[Atom]:
    """The atoms of a problem that no operator can change."""
    changing = changing_predicates(layout.domain)
    return frozenset(atom for atom in layout.initial if atom.predicate not in changing)


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
        for _, effects in cases(operator)
        for effect in effects
    )


def cases(operator: Any) -> list[tuple[float, list[Any]]]:
    """What may come of an operator of PDDLGym's: each case with its probability, and its effects' literals."""
    nothing = pddlgym().structs.NoChange()
    found: list[tuple[float, list[Any]]] = [(1.0, [])]
    for effect in operator.effects.literals:
        several = (
            zip(effect.literals, effect.probabilities, strict=True) if _is_chance(effect) else [(effect, 1.0)]
        )
        found = [
            (share * chance, [*before, *(one for one in getattr(then, "literals", [then]) if one != nothing)])
            for then, chance in several
            if chance > 0
            for share, before in found
        ]
    return found


def _is_chance(effect: Any) -> bool:
    return isinstance(effect, pddlgym().structs.ProbabilisticEffect)


def domain_operators(domain: str) -> tuple[ActionSchema, ...]:
    """The domain's operators in the file's order, without their action literals: the ground truth."""
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
            ActionSchema(
                ActionHeader(
                    operator.name,
                    tuple(str(name).removeprefix("?") for name in names),
                    tuple(_kind(item.var_type) for item in operator.params),
                ),
                lift(each for each in operator.preconds.literals if each.predicate.name not in actions),
                add=lift(each for each in effects if not each.is_anti),
                delete=lift(each for each in effects if each.is_anti),
            )
        )
    return tuple(found)
