"""Checks of literals against the declarations of a domain; features outside STRIPS are named, mistakes located."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import chain, islice
from typing import NamedTuple

from aam_vision.pddl.syntax import Definition, Expression, Group, Word, show
from aam_vision.strips import Atom, Types
from aam_vision.wording import counted

CLASS = "only STRIPS with typing, constants and negative preconditions is supported"

CHANCE = "add --chance to interrogate an agent with chance or with conditional effects (in effects only)"
EFFECTS_ONLY = "it may stand in an effect only, alone or in 'and', 'probabilistic' and 'when'"

_NUMERIC = (
    "increase",
    "decrease",
    "assign",
    "scale-up",
    "scale-down",
    "<",
    ">",
    "<=",
    ">=",
    "+",
    "-",
    "*",
    "/",
)
_FEATURES = {
    "or": "disjunction",
    "imply": "disjunction",
    "forall": "quantifiers",
    "exists": "quantifiers",
    "when": "conditional effects",
    "=": "equality",
    "preference": "preferences",
    "probabilistic": "probabilistic effects",
    "oneof": "non-deterministic effects",
    **dict.fromkeys(_NUMERIC, "numeric fluents"),
}
_RESERVED = frozenset({"and", "not", "either", *_FEATURES})
_NAME = re.compile(r"[a-z0-9_][a-z0-9_-]*")


class Literal(NamedTuple):
    """An atom as the file writes it, and whether it stands plain (true) or under ``not`` (false)."""

    positive: bool
    atom: Atom
    line: int


@dataclass(frozen=True)
class Names:
    """The declarations of a domain: its types, each predicate's argument types, each constant's type."""

    types: Types
    predicates: Mapping[str, tuple[str, ...]]
    constants: Mapping[str, str]


def name_of(definition: Definition, expression: Expression, what: str) -> str:
    """The text of an expression that must be a name.

    Raises:
        UnusableInput: it is a group, a variable, a keyword, or not a name at all.
    """
    if isinstance(expression, Word) and _NAME.fullmatch(expression.text):
        return expression.text
    return definition.refuse(expression.line, f"expected {what}, found {show(expression)}")


def new_name(definition: Definition, expression: Expression, what: str) -> str:
    """The same for the name of something being declared, which must not be a keyword of PDDL."""
    name = name_of(definition, expression, what)
    if name in _RESERVED:
        definition.refuse(expression.line, f"{show(name)} is a word of PDDL itself; choose another name")
    return name


def hint(name: str, known: Iterable[str]) -> str:
    """Advice about an unknown name: the nearest known one, if there is one."""
    some = [
        other for other in islice(known, 1000) if len(other) < 60
    ]  # matching costs the product of the lengths
    near = get_close_matches(name, some, n=1) if len(name) < 60 else []
    return f"did you mean {show(near[0])}?" if near else "declare it or correct the name"


class LiteralReader:
    """Reads conjunctions of literals over the names of one domain in one file.

    ``told``: what to do about chance or a condition among them, for messages.
    """

    def __init__(self, definition: Definition, names: Names, told: str = CHANCE) -> None:
        self._definition = definition
        self._names = names
        self._told = told
        self._fits = cache(names.types.is_a)

    def literals(self, expression: Expression, kinds: Mapping[str, str], where: str) -> Iterator[Literal]:
        """The literals of a conjunction.

        Args:
            expression: an atom, ``(not ATOM)``, ``(and ...)`` or ``()``.
            kinds: the type of every variable (with its ``?``) or object that may be named beside the constants.
            where: the place, for messages, e.g. ``the effect of move``.

        Raises:
            UnusableInput: it is something else, or an atom does not fit what is declared.
        """
        if isinstance(expression, Word):
            self._definition.refuse(
                expression.line,
                f"expected '(' in {where}, found {show(expression)}; write atoms in parentheses",
            )
        if not expression.parts:
            return
        if expression.head == "and":
            for part in expression.parts[1:]:
                yield from self.literals(part, kinds, where)
        elif expression.head == "not":
            yield self._negated(expression, kinds, where)
        else:
            yield self._atom(expression, True, kinds, where)

    def _negated(self, expression: Group, kinds: Mapping[str, str], where: str) -> Literal:
        inner = expression.parts[1] if len(expression.parts) == 2 else None
        if not isinstance(inner, Group) or not inner.parts:
            self._definition.refuse(expression.line, f"expected one atom after 'not' in {where}")
        if inner.head in ("and", "not"):
            self._definition.refuse(
                expression.line, f"{where} uses 'not' around {show(inner)}, a disjunction or worse; {CLASS}"
            )
        return self._atom(inner, False, kinds, where)

    def _atom(self, group: Group, positive: bool, kinds: Mapping[str, str], where: str) -> Literal:
        name, line = group.head, group.line
        refuse = self._definition.refuse
        if name in _FEATURES:
            numeric = name == "=" and any(isinstance(part, Group) for part in group.parts)
            feature = "numeric fluents" if numeric else _FEATURES[name]
            told = self._told if name in ("probabilistic", "when") else CLASS
            refuse(line, f"{where} uses {feature} ({show(name)}); {told}")
        name = name_of(self._definition, group.parts[0], f"a predicate in {where}")
        types = self._names.predicates.get(name)
        if types is None:
            known = self._names.predicates
            refuse(line, f"{where} uses the undeclared predicate {show(name)}; {hint(name, known)}")
        if len(group.parts) - 1 != len(types):
            refuse(
                line,
                f"{show(name)} takes {counted(len(types), 'argument')}, found {len(group.parts) - 1} in {where};"
                " give as many as the predicate declares",
            )
        arguments = []
        for place, (part, wanted) in enumerate(zip(group.parts[1:], types, strict=True), 1):
            if not isinstance(part, Word):
                refuse(part.line, f"expected an argument of {show(name)} in {where}, found {show(part)}")
            kind = kinds.get(part.text) or self._names.constants.get(part.text)
            if kind is None:
                terms = chain(kinds, self._names.constants)
                term = "variable" if part.text.startswith("?") else "object"
                refuse(
                    part.line, f"{where} uses the undeclared {term} {show(part)}; {hint(part.text, terms)}"
                )
            if not self._fits(kind, wanted):
                refuse(
                    part.line,
                    f"argument {place} of {show(name)} must be of type {show(wanted)}, but {show(part)} in {where}"
                    f" is of type {show(kind)}; correct one of them",
                )
            arguments.append(part.text)
        return Literal(positive, Atom(name, tuple(arguments)), line)
