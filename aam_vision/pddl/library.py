"""Reading with unified-planning: checked declarations, actions and goals go in as text and come out as its objects.

The text is written anew from what was checked, because unified-planning insists on one order of the sections and
of an action's fields, on names that begin with a letter, and reads an argument that has the name of a predicate
as that predicate. So every name gets a prefix that says what it names, which ``plain`` takes off again.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from types import ModuleType
from typing import Any

from aam_vision.pddl.syntax import Definition, Literal, Names
from aam_vision.strips import ROOT_TYPE

MAX_LIBRARY_TOKENS = 10_000
"""The most words and parentheses for unified-planning, which takes 2-4 s for so many, and much longer for more."""

_TOKEN = re.compile(r"[()]|[^\s()]+")


@dataclass(frozen=True)
class CheckedAction:
    """An action in which every name is known: the types of its parameters, and its literals."""

    name: str
    parameters: Mapping[str, str]
    precondition: Sequence[Literal]
    effect: Sequence[Literal]

    @property
    def text(self) -> str:
        """The action for unified-planning, which refuses an atom that is both added and deleted."""
        added = {literal.atom for literal in self.effect if literal.positive}
        effect = [literal for literal in self.effect if literal.positive or literal.atom not in added]
        return (
            f"(:action a-{self.name} :parameters ({_typed('?v-', self.parameters)})\n"
            f":precondition {_conjunction(self.precondition)}\n:effect {_conjunction(effect)})"
        )


def parse(
    definition: Definition,
    domain: str,
    names: Names,
    *,
    actions: Iterable[CheckedAction] = (),
    objects: Mapping[str, str] | None = None,
    goal: Iterable[Literal] = (),
) -> Any:
    """A domain as unified-planning reads it, or a problem if objects are given.

    The initial state is not among it: its atoms are plain, up to 200,000 tokens, and would take minutes.

    Raises:
        UnusableInput: there is too much of it, or unified-planning refuses it although our own check passed.
    """
    kinds = {**names.types.parents, ROOT_TYPE: ""}
    predicates = [
        f"(p-{name} {_typed('?v-', {str(i): kind for i, kind in enumerate(types)})})"
        for name, types in names.predicates.items()
    ]
    texts = [
        f"(define (domain n-{domain})\n(:types {_typed('t-', kinds)})\n"
        f"(:constants {_typed('o-', names.constants)})\n"
        + (f"(:predicates {' '.join(predicates)})\n" if predicates else "")
        + "\n".join(action.text for action in actions)
        + ")"
    ]
    if objects is not None:
        texts.append(
            f"(define (problem n-{definition.name.text}) (:domain n-{domain})\n"
            f"(:objects {_typed('o-', objects)})\n(:init)\n(:goal {_conjunction(goal)}))"
        )
    if sum(len(_TOKEN.findall(text)) for text in texts) > MAX_LIBRARY_TOKENS:
        definition.refuse(
            definition.name.line,
            f"more than {MAX_LIBRARY_TOKENS} words and parentheses outside the initial state; give a smaller file",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = _reader()
        try:
            return reader.parse_problem_string(*texts)
        except Exception as error:  # it raises many kinds, AssertionError among them
            what = " ".join(str(error).split())[:200].encode("ascii", "backslashreplace").decode()
            definition.refuse(
                definition.name.line,
                f"unified-planning cannot read this {definition.kind} ({what or type(error).__name__}); simplify it",
            )


@cache
def _reader() -> Any:
    """The reader, made once: that takes as long as reading a small file."""
    with _configurations_later():
        from unified_planning.environment import Environment
        from unified_planning.io import PDDLReader

        Environment()  # imports its engines
    environment = Environment()
    environment.error_used_name = False
    return PDDLReader(environment)


@contextmanager
def _configurations_later() -> Iterator[None]:
    """Let unified-planning be imported without ConfigSpace, and so without scipy, three quarters of the time.

    It takes one name from there, to be called by those who tune planners: then it is imported.
    """
    name = "ConfigSpace"
    if name in sys.modules or find_spec(name) is None:
        yield
        return

    def called(*arguments: Any, **options: Any) -> Any:
        return import_module(name).ConfigurationSpace(*arguments, **options)

    stand_in = ModuleType(name)
    stand_in.ConfigurationSpace = called  # type: ignore[attr-defined]
    sys.modules[name] = stand_in
    try:
        yield
    finally:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]


def plain(named: Any) -> str:
    """The name of one of unified-planning's objects as the file has it."""
    return str(named.name)[2:]


def _typed(prefix: str, kinds: Mapping[str, str]) -> str:
    """Names and their types; the root type has none."""
    groups = groupby(kinds, key=lambda name: kinds[name])
    return " ".join(
        " ".join(f"{prefix}{name}" for name in group) + (f" - t-{kind}" if kind else "")
        for kind, group in groups
    )


def _conjunction(literals: Iterable[Literal]) -> str:
    texts = []
    for literal in literals:
        arguments = [f" ?v-{a[1:]}" if a.startswith("?") else f" o-{a}" for a in literal.atom.objects]
        atom = f"(p-{literal.atom.predicate}{''.join(arguments)})"
        texts.append(atom if literal.positive else f"(not {atom})")
    return f"(and {' '.join(dict.fromkeys(texts))})"
