"""Traces of what an agent did, states and steps in turn, as AMLGym writes them.

``(:trajectory (:state ATOM...) (:action (NAME OBJECT...)) (:state ATOM...) ...)``: a state lists all that is true. Instead of an action
and the state after it there may be ``(:refused (NAME OBJECT...))``: a step that could not be carried out. No file declares the objects;
their types follow from where they stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

from aam_vision.model.pddl.syntax import (
    Definition,
    Expression,
    Group,
    Word,
    hint,
    new_name,
    read_group,
    read_text,
    show,
)
from aam_vision.model.strips import Atom, GroundAction, Model, Objects, State
from aam_vision.support.wording import counted

TRAJECTORY, STATE, ACTION, REFUSED = ":trajectory", ":state", ":action", ":refused"


class TraceStep(NamedTuple):
    """An attempted step."""

    action: GroundAction
    after: State | None
    """None if the step was refused."""
    line: int
    """Of the file, where it says what came of it."""


class Trace(NamedTuple):
    """What an agent did from an initial state on."""

    path: Path
    initial: State
    steps: tuple[TraceStep, ...]

    @property
    def atoms(self) -> frozenset[Atom]:
        """All that was true in any of its states."""
        states = [self.initial, *(step.after for step in self.steps if step.after is not None)]
        return frozenset().union(*(state.true for state in states))


def read_trace(domain: Model, path: Path | str) -> Trace:
    """The trace in a file. Of the domain only what it declares counts: types, constants, predicates, and actions with their parameters.

    Raises:
        UnusableInput: the file cannot be read or is no trace, a state or all steps are missing, or the trace is one of another domain.
    """
    return _TraceReader(domain, Path(path)).read()


class _TraceReader:
    def __init__(self, domain: Model, path: Path) -> None:
        vocabulary = domain.vocabulary
        self._definition = Definition(path, "trace", Word(TRAJECTORY, 1), ())
        self._types = vocabulary.types
        self._predicates = {one.name: one.types for one in vocabulary.predicates}
        self._left_out = vocabulary.left_out
        self._actions = {header.name: header.types for header in domain.headers}
        self._constants = vocabulary.constants
        self._kinds = dict(vocabulary.constants)
        self._lines: dict[str, int] = {}
        """Where an object was last found to be of a narrower type."""

    def read(self) -> Trace:
        states: list[frozenset[Atom]] = []
        steps: list[tuple[GroundAction, int | None, int]] = []
        """Each with the number of the state after it, if it was executed, and the line."""
        begun: GroundAction | None = None
        path = self._definition.path
        whole = read_group(path, read_text(path), f"({TRAJECTORY}")
        if whole.head != TRAJECTORY:
            self._refuse(
                whole, f"expected '({TRAJECTORY}', found {show(whole)}; is it a trace as AMLGym writes them?"
            )
        for section in whole.parts[1:]:
            kind = section.head if isinstance(section, Group) else ""
            if not isinstance(section, Group) or kind not in (STATE, ACTION, REFUSED):
                self._refuse(
                    section, f"expected '({STATE}', '({ACTION}' or '({REFUSED}', found {show(section)}"
                )
            if (kind == STATE) is (bool(states) and begun is None):
                missing = "step between it and the state before" if kind == STATE else "state before it"
                self._refuse(section, f"the {missing} is missing")
            if kind == STATE:
                if begun is not None:
                    steps.append((begun, len(states), section.line))
                states.append(self._state(section))
                begun = None
                continue
            if len(section.parts) != 2:
                self._refuse(section, f"expected one '(NAME OBJECT...)' after {kind}")
            action = GroundAction(*self._named(section.parts[1], self._actions, "action"))
            if kind == ACTION:
                begun = action
            else:
                steps.append((action, None, section.line))
        if begun is not None:
            self._refuse(section, f"the state after {begun} is missing")
        if not steps:
            self._refuse(whole, "holds no step: nothing can be learned from it")
        objects = Objects(self._kinds, self._types)
        seen = [State(true, objects) for true in states]
        told = (TraceStep(one, None if n is None else seen[n], line) for one, n, line in steps)
        return Trace(path, seen[0], tuple(told))

    def _state(self, section: Group) -> frozenset[Atom]:
        atoms = [
            one for one in section.parts[1:] if not isinstance(one, Group) or one.head not in self._left_out
        ]
        for one in atoms:
            if isinstance(one, Group) and one.head == "not":
                self._refuse(one, "a state lists all that is true; leave out what is not")
        return frozenset([Atom(*self._named(one, self._predicates, "predicate")) for one in atoms])

    def _named(
        self, given: Expression, declared: Mapping[str, tuple[str, ...]], what: str
    ) -> tuple[str, tuple[str, ...]]:
        """The name of an atom or an action, and its objects, whose types are noted."""
        if not isinstance(given, Group) or not given.head:
            self._refuse(given, f"expected '({what.upper()} OBJECT...)', found {show(given)}")
        if (types := declared.get(given.head)) is None:
            self._refuse(given, f"the domain has no {what} {show(given.head)}; {hint(given.head, declared)}")
        if len(given.parts) - 1 != len(types):
            found = len(given.parts) - 1
            self._refuse(given, f"{show(given.head)} takes {counted(len(types), 'argument')}, found {found}")
        return given.head, tuple(map(self._object, given.parts[1:], types))

    def _object(self, word: Expression, kind: str) -> str:
        """The name of an object that has to be of a type: what is known of it becomes narrower, or contradicts that."""
        if not isinstance(word, Word) or word.text not in self._kinds:
            name = new_name(self._definition, word, "an object")
            self._kinds[name], self._lines[name] = kind, word.line
            return name
        name, known = word.text, self._kinds[word.text]
        if self._types.is_a(known, kind):
            return name
        if name in self._constants or not self._types.is_a(kind, known):
            where = f"in line {self._lines[name]}" if name in self._lines else "in the domain"
            self._refuse(
                word, f"{show(name)} is of type {show(kind)} here, and of type {show(known)} {where}"
            )
        self._kinds[name], self._lines[name] = kind, word.line
        return name

    def _refuse(self, at: Expression, what: str) -> NoReturn:
        self._definition.refuse(at.line, what)
