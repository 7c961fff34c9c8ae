"""PDDL in and out: domains and problems read by unified-planning, learned models written as text.

Only STRIPS with typing, constants and negative preconditions is read; every other feature is named and
refused. unified-planning is imported on first use, with an environment of our own.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aam_vision.errors import UnusableInput
from aam_vision.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Atom,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)

MAX_BYTES = 20_000_000
"""Larger files are refused: they are not planning problems that this toolkit can handle."""


@dataclass(frozen=True)
class Problem:
    """A planning problem: where it starts and what is wanted (atoms true, atoms false)."""

    name: str
    initial: State
    goal: frozenset[Atom] = frozenset()
    goal_false: frozenset[Atom] = frozenset()


def read_domain(path: Path | str) -> Model:
    """The model that a PDDL domain file states.

    Raises:
        UnusableInput: the file cannot be read, does not parse, or uses a feature outside STRIPS.
    """
    parsed = _parse(Path(path), None)
    vocabulary = _vocabulary(parsed)
    return Model(vocabulary, tuple(_schema(action, Path(path)) for action in parsed.actions))


def read_problem(domain: Path | str, problem: Path | str) -> Problem:
    """A problem of a domain.

    Raises:
        UnusableInput: as for ``read_domain``, or the problem belongs to another domain.
    """
    domain, problem = Path(domain), Path(problem)
    wanted, named = _name(domain, r"\(\s*domain\s+([^\s()]+)"), _name(problem, r"\(\s*:domain\s+([^\s()]+)")
    if wanted.lower() != named.lower():
        raise UnusableInput(
            f"{problem}: is a problem of domain {named!r}, not of {wanted!r} ({domain}); give its own domain"
        )
    parsed = _parse(domain, problem)
    types = _types(parsed)
    objects = Objects({str(o.name): _type_name(o.type) for o in parsed.all_objects}, types)
    true = frozenset(
        Atom(fluent.fluent().name, tuple(str(arg) for arg in fluent.args))
        for fluent, value in parsed.explicit_initial_values.items()
        if value.is_true()
    )
    goal: set[Atom] = set()
    goal_false: set[Atom] = set()
    for literal in _conjuncts(parsed.goals, problem, "the goal"):
        negated = literal.is_not()
        fluent = literal.arg(0) if negated else literal
        atom = Atom(fluent.fluent().name, tuple(str(arg) for arg in fluent.args))
        (goal_false if negated else goal).add(atom)
    return Problem(str(parsed.name), State(true, objects), frozenset(goal), frozenset(goal_false))


def domain_text(model: Model) -> str:
    """The model as a PDDL domain, readable by any PDDL tool."""
    vocabulary = model.vocabulary
    negative = any(schema.negative for schema in model.actions)
    kinds = _kinds(vocabulary, model.headers)
    lines = [f"(define (domain {vocabulary.name})"]
    lines.append(f"  (:requirements :strips :typing{' :negative-preconditions' if negative else ''})")
    if kinds:
        lines.append(
            "  (:types "
            + " ".join(f"{k} - {vocabulary.types.parents.get(k, ROOT_TYPE)}" for k in kinds)
            + ")"
        )
    if vocabulary.constants:
        lines.append("  (:constants " + " ".join(f"{n} - {k}" for n, k in vocabulary.constants.items()) + ")")
    lines.append("  (:predicates")
    for predicate in vocabulary.predicates:
        arguments = "".join(f" ?v{i} - {kind}" for i, kind in enumerate(predicate.types))
        lines.append(f"    ({predicate.name}{arguments})")
    lines.append("  )")
    lines += [_action_text(schema, vocabulary) for schema in model.actions]
    return "\n".join(lines) + "\n)\n"


def problem_text(name: str, vocabulary: Vocabulary, problem: Problem) -> str:
    """A problem as PDDL, for planners that read files."""
    objects = [f"{n} - {k}" for n, k in problem.initial.objects.items() if n not in vocabulary.constants]
    return "\n".join(
        [
            f"(define (problem {name})",
            f"  (:domain {vocabulary.name})",
            "  (:objects " + " ".join(objects) + ")",
            "  (:init " + " ".join(_atom_text(a) for a in sorted(problem.initial.true)) + ")",
            "  (:goal (and "
            + " ".join(
                [_atom_text(a) for a in sorted(problem.goal)]
                + [f"(not {_atom_text(a)})" for a in sorted(problem.goal_false)]
            )
            + ")))\n",
        ]
    )


def _atom_text(atom: Atom) -> str:
    return f"({' '.join([atom.predicate, *atom.objects])})"


def _action_text(schema: ActionSchema, vocabulary: Vocabulary) -> str:
    names = schema.header.parameters
    order = {predicate.name: i for i, predicate in enumerate(vocabulary.predicates)}

    def literals(positive: Iterable[LiftedAtom], negative: Iterable[LiftedAtom]) -> str:
        def text(atom: LiftedAtom) -> str:
            arguments = [f"?{names[a]}" if isinstance(a, int) else a for a in atom.arguments]
            return f"({' '.join([atom.predicate, *arguments])})"

        def key(atom: LiftedAtom) -> tuple[int, str]:
            return order[atom.predicate], text(atom)

        parts = [text(a) for a in sorted(positive, key=key)]
        parts += [f"(not {text(a)})" for a in sorted(negative, key=key)]
        return "(and" + "".join(f"\n        {part}" for part in parts) + ")"

    parameters = " ".join(f"?{n} - {k}" for n, k in zip(names, schema.header.types, strict=True))
    return (
        f"  (:action {schema.header.name}\n"
        f"    :parameters ({parameters})\n"
        f"    :precondition {literals(schema.positive, schema.negative)}\n"
        f"    :effect {literals(schema.add, schema.delete)}\n"
        "  )"
    )


def _kinds(vocabulary: Vocabulary, headers: Iterable[ActionHeader]) -> list[str]:
    """All types that are spoken of, parents included, in order of first mention."""
    mentioned = [kind for predicate in vocabulary.predicates for kind in predicate.types]
    mentioned += [kind for header in headers for kind in header.types]
    mentioned += [*vocabulary.types.parents, *vocabulary.constants.values()]
    closed = [ancestor for kind in mentioned for ancestor in vocabulary.types.ancestry(kind)]
    return [kind for kind in dict.fromkeys(closed) if kind != ROOT_TYPE]


# --- reading ------------------------------------------------------------------------------------


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UnusableInput(
                f"{path}: {path.stat().st_size} bytes are more than {MAX_BYTES}; give a smaller file"
            )
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UnusableInput(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError as error:
        raise UnusableInput(f"{path}: is not UTF-8 text (byte {error.start}); PDDL is plain text") from None


def _name(path: Path, pattern: str) -> str:
    text = re.sub(r";[^\n]*", "", _text(path))
    match = re.search(pattern, text, re.IGNORECASE)
    if match is None:
        raise UnusableInput(f"{path}: names no domain; is it a PDDL file?")
    return match.group(1)


def _parse(domain: Path, problem: Path | None) -> Any:
    from unified_planning.environment import Environment
    from unified_planning.io import PDDLReader

    environment = Environment()
    environment.error_used_name = False
    for path in filter(None, (domain, problem)):
        _text(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return PDDLReader(environment).parse_problem(str(domain), str(problem) if problem else None)
    except (Exception, RecursionError) as error:  # the reader raises many kinds, AssertionError included
        where = problem or domain
        what = " ".join(str(error).split())[:200] or type(error).__name__
        raise UnusableInput(f"{where}: is not PDDL that can be read: {what}") from None


def _type_name(kind: Any) -> str:
    return str(kind.name)


def _types(parsed: Any) -> Types:
    return Types(
        {
            str(kind.name): str(kind.father.name) if kind.father is not None else ROOT_TYPE
            for kind in parsed.user_types
            if kind.name != ROOT_TYPE
        }
    )


def _vocabulary(parsed: Any) -> Vocabulary:
    predicates = []
    for fluent in parsed.fluents:
        if not fluent.type.is_bool_type():
            raise UnusableInput(f"{fluent.name}: is numeric; only STRIPS predicates can be learned")
        predicates.append(Predicate(str(fluent.name), tuple(_type_name(p.type) for p in fluent.signature)))
    constants = {str(o.name): _type_name(o.type) for o in parsed.all_objects}
    return Vocabulary(str(parsed.name or "domain"), tuple(predicates), _types(parsed), constants)


def _conjuncts(expressions: Iterable[Any], path: Path, where: str) -> Iterable[Any]:
    for expression in expressions:
        if expression.is_and():
            yield from _conjuncts(expression.args, path, where)
        elif expression.is_fluent_exp() or (expression.is_not() and expression.arg(0).is_fluent_exp()):
            yield expression
        elif not expression.is_true():
            raise UnusableInput(
                f"{path}: {where} uses {str(expression)[:80]!r}; only conjunctions of literals are STRIPS"
            )


def _schema(action: Any, path: Path) -> ActionSchema:
    parameters = [str(p.name) for p in action.parameters]
    place: Mapping[str, int] = {name: i for i, name in enumerate(parameters)}
    header = ActionHeader(
        str(action.name), tuple(parameters), tuple(_type_name(p.type) for p in action.parameters)
    )

    def lifted(fluent: Any) -> LiftedAtom:
        return LiftedAtom(
            str(fluent.fluent().name),
            tuple(place[str(a.parameter().name)] if a.is_parameter_exp() else str(a) for a in fluent.args),
        )

    positive: set[LiftedAtom] = set()
    negative: set[LiftedAtom] = set()
    add: set[LiftedAtom] = set()
    delete: set[LiftedAtom] = set()
    for literal in _conjuncts(action.preconditions, path, f"the precondition of {header.name}"):
        (negative.add(lifted(literal.arg(0))) if literal.is_not() else positive.add(lifted(literal)))
    for effect in action.effects:
        if effect.is_conditional() or effect.is_forall():
            raise UnusableInput(f"{path}: {header.name} has a conditional effect; only STRIPS can be learned")
        (add if effect.value.is_true() else delete).add(lifted(effect.fluent))
    return ActionSchema(header, *map(frozenset, (positive, negative, add, delete - add)))
