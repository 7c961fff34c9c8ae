"""Models and problems as PDDL text that any tool can read; reading it back gives the same model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import floor

from aam_vision.model.pddl.delayed import REQUIREMENTS, delayed_effects, where_false
from aam_vision.model.pddl.derived import derived_text
from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Atom,
    Case,
    Effects,
    LiftedAtom,
    Model,
    Outcome,
    Problem,
    Vocabulary,
)

_DIGITS = 6, 18
"""Decimal places of a probability that is written: so many, and at most so many where else an outcome would get none."""


def domain_text(model: Model) -> str:
    """The model as a PDDL domain, readable by any PDDL tool, or PPDDL where an action has several outcomes."""
    branches = [case for schema in model.actions for case in schema.branches]
    negative = any(schema.negative for schema in model.actions) or any(case.negative for case in branches)
    requirements = (
        ":strips :typing"
        + " :negative-preconditions" * negative
        + " :conditional-effects" * any(len(schema.branches) > 1 for schema in model.actions)
        + REQUIREMENTS * (model.vocabulary.delays is not None)
        + " :probabilistic-effects" * any(len(case.outcomes) > 1 for case in branches)
        + " :derived-predicates :existential-preconditions :equality" * bool(model.vocabulary.derived)
    )
    actions = [action_text(schema, model.vocabulary) for schema in model.actions]
    return domain_of(model.vocabulary, model.headers, requirements, actions)


def domain_of(
    vocabulary: Vocabulary, headers: Iterable[ActionHeader], requirements: str, actions: Iterable[str]
) -> str:
    """A domain of these actions, which are written already."""
    lines = [f"(define (domain {vocabulary.name})", f"  (:requirements {requirements})"]
    if vocabulary.memory is not None:
        lines += [f"  ; {line}" for line in vocabulary.memory.comments]
    if vocabulary.delays is not None:
        begun = [_atom_text(atom) for atom in vocabulary.delays.always]
        lines += [f"  ; each problem begins with {' '.join(begun)}"] * bool(begun)
    lines += type_lines(vocabulary, headers)
    if vocabulary.predicates:  # some readers refuse an empty section
        lines.append("  (:predicates")
        for predicate in vocabulary.predicates:
            arguments = "".join(f" ?v{i} - {kind}" for i, kind in enumerate(predicate.types))
            lines.append(f"    ({predicate.name}{arguments})")
        lines.append("  )")
    lines += map(derived_text, vocabulary.derived)
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
    """The schema as an action of a PDDL domain; what all outcomes share stands before the chance."""
    header, conditional = schema.header, len(schema.branches) > 1
    every = [one.effects for case in schema.branches for one in case.outcomes]
    shared = Effects(
        frozenset.intersection(*(one.add for one in every)),
        frozenset.intersection(*(one.delete for one in every)),
    )
    effect = literals_text(shared.add, shared.delete, header, vocabulary)
    if schema.delays is not None:
        effect = [*where_false(effect, schema.delays), *delayed_effects(schema)]
    for case in schema.branches:
        parts = _parts(case, shared, header, vocabulary, indent=14 if conditional else 10)
        if not conditional:
            effect += parts
        elif parts:
            condition = literals_text(case.positive, case.negative, header, vocabulary)
            effect.append(f"(when (and {' '.join(condition)})\n          {conjunction(parts, 12)})")
    precondition = literals_text(schema.positive, schema.negative, header, vocabulary)
    return action_of(header, conjunction(precondition), conjunction(effect))


def _parts(
    case: Case, shared: Effects, header: ActionHeader, vocabulary: Vocabulary, indent: int
) -> list[str]:
    """The effects of a case, without those that all cases share; ``indent``: of its outcomes, in spaces."""

    def own(one: Outcome) -> list[str]:
        add, delete = one.effects.add - shared.add, one.effects.delete - shared.delete
        return literals_text(add, delete, header, vocabulary)

    if len(case.outcomes) == 1:
        return own(case.outcomes[0])
    chances = [
        f"\n{' ' * indent}{number} {conjunction(own(one), indent + 2)}"
        for number, one in zip(written_probabilities(case.outcomes), case.outcomes, strict=True)
    ]
    return [f"(probabilistic{''.join(chances)})"]


def written_probabilities(outcomes: Sequence[Outcome]) -> list[str]:
    """The probabilities as decimal numbers that add up to one, if they do: else there would be a further outcome when they are read.

    What is rounded off goes to those of which most was (the method of largest remainders).
    """
    least = min((one.probability for one in outcomes if one.probability > 0), default=1.0)
    digits = next((few for few in range(*_DIGITS) if least >= 10.0**-few), _DIGITS[1])
    scale: int = 10**digits
    exact = [Fraction(one.probability) for one in outcomes]
    whole = sum(exact, Fraction(0))
    if abs(whole - 1) >= 1e-6:
        whole = Fraction(1)
    shares = [share / whole * scale for share in exact]
    parts = [floor(share) for share in shares]
    by_remainder = sorted(range(len(parts)), key=lambda number: parts[number] - shares[number])
    for number in by_remainder[: round(sum(shares)) - sum(parts)]:
        parts[number] += 1
    return [_decimal(part, digits) for part in parts]


def _decimal(part: int, digits: int) -> str:
    """A part of ``10**digits`` parts as a decimal number: ``0.25``."""
    whole, rest = divmod(part, 10**digits)
    return f"{whole}.{f'{rest:0{digits}d}'.rstrip('0') or '0'}"


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
