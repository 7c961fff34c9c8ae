"""Models and problems as PDDL text that any tool can read; reading it back gives the same model."""

from __future__ import annotations

from collections.abc import Iterable

from aam_vision.model.pddl.problem import Problem
from aam_vision.model.strips import ROOT_TYPE, ActionHeader, ActionSchema, Atom, LiftedAtom, Model, Vocabulary


def domain_text(model: Model) -> str:
    """The model as a PDDL domain, readable by any PDDL tool."""
    negative = " :negative-preconditions" if any(schema.negative for schema in model.actions) else ""
    actions = [action_text(schema, model.vocabulary) for schema in model.actions]
    return domain_of(model.vocabulary, model.headers, f":strips :typing{negative}", actions)


def domain_of(
    vocabulary: Vocabulary, headers: Iterable[ActionHeader], requirements: str, actions: Iterable[str]
) -> str:
    """A domain of these actions, which are written already."""
    lines = [f"(define (domain {vocabulary.name})", f"  (:requirements {requirements})"]
    lines += type_lines(vocabulary, headers)
    if vocabulary.predicates:  # some readers refuse an empty section
        lines.append("  (:predicates")
        for predicate in vocabulary.predicates:
            arguments = "".join(f" ?v{i} - {kind}" for i, kind in enumerate(predicate.types))
            lines.append(f"    ({predicate.name}{arguments})")
        lines.append("  )")
    return "\n".join([*lines, *actions]) + "\n)\n"


def problem_text(name: str, vocabulary: Vocabulary, problem: Problem) -> str:
    """A problem as PDDL, for planners that read files."""
    objects = [f"{n} - {k}" for n, k in problem.initial.objects.items() if n not in vocabulary.constants]
    wanted = [_atom_text(atom) for atom in sorted(problem.goal)]
    wanted += [f"(not {_atom_text(atom)})" for atom in sorted(problem.goal_false)]
    return "\n".join(
        [
            f"(define (problem {name})",
            f"  (:domain {vocabulary.name})",
            f"  (:objects {' '.join(objects)})",
            f"  (:init {' '.join(_atom_text(atom) for atom in sorted(problem.initial.true))})",
            f"  (:goal (and {' '.join(wanted)})))\n",
        ]
    )


def _atom_text(atom: Atom) -> str:
    return f"({' '.join([atom.predicate, *atom.objects])})"


def literals_text(
    positive: Iterable[LiftedAtom],
    negative: Iterable[LiftedAtom],
    header: ActionHeader,
    vocabulary: Vocabulary,
) -> list[str]:
    """The literals of an action one by one, in the order of the vocabulary's predicates."""
    names = header.parameters
    order = {predicate.name: i for i, predicate in enumerate(vocabulary.predicates)}

    def text(atom: LiftedAtom) -> str:
        arguments = [f"?{names[a]}" if isinstance(a, int) else a for a in atom.arguments]
        return f"({' '.join([atom.predicate, *arguments])})"

    def key(atom: LiftedAtom) -> tuple[int, str]:
        return order[atom.predicate], text(atom)

    return [text(a) for a in sorted(positive, key=key)] + [
        f"(not {text(a)})" for a in sorted(negative, key=key)
    ]


def conjunction(parts: Iterable[str], indent: int = 8) -> str:
    """The parts under one ``and``, each on a line of its own."""
    return "(and" + "".join(f"\n{' ' * indent}{part}" for part in parts) + ")"


def action_of(header: ActionHeader, precondition: str, effect: str) -> str:
    """An action whose precondition and effect are written already."""
    parameters = " ".join(f"?{n} - {k}" for n, k in zip(header.parameters, header.types, strict=True))
    return (
        f"  (:action {header.name}\n"
        f"    :parameters ({parameters})\n"
        f"    :precondition {precondition}\n"
        f"    :effect {effect}\n"
        "  )"
    )


def action_text(schema: ActionSchema, vocabulary: Vocabulary) -> str:
    """The schema as an action of a PDDL domain."""
    header = schema.header
    precondition = literals_text(schema.positive, schema.negative, header, vocabulary)
    effect = literals_text(schema.add, schema.delete, header, vocabulary)
    return action_of(header, conjunction(precondition), conjunction(effect))


def type_lines(vocabulary: Vocabulary, headers: Iterable[ActionHeader]) -> list[str]:
    """The sections of types (also those that no predicate uses) and constants; empty sections are left out."""
    lines = []
    if kinds := _kinds(vocabulary, headers):
        typed = [f"{kind} - {vocabulary.types.parents.get(kind, ROOT_TYPE)}" for kind in kinds]
        lines.append(f"  (:types {' '.join(typed)})")
    if vocabulary.constants:
        lines.append("  (:constants " + " ".join(f"{n} - {k}" for n, k in vocabulary.constants.items()) + ")")
    return lines


def _kinds(vocabulary: Vocabulary, headers: Iterable[ActionHeader]) -> list[str]:
    """All types but the root, parents before children."""
    mentioned = [*vocabulary.types.parents, *vocabulary.constants.values()]
    mentioned += [kind for predicate in vocabulary.predicates for kind in predicate.types]
    mentioned += [kind for header in headers for kind in header.types]
    closed = [above for kind in mentioned for above in reversed([*vocabulary.types.ancestry(kind)])]
    return [kind for kind in dict.fromkeys(closed) if kind != ROOT_TYPE]
