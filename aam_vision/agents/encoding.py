"""Vocabularies, states and plans as JSON, and back with every name, number and type checked.

Journals, and programs that speak the agent protocol, may come from strangers. Wrong input raises ``Malformed`` and no
other error; sound input becomes values of ``strips``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from aam_vision.model.strips import (
    MAX_PAIRS,
    ROOT_TYPE,
    ActionHeader,
    Atom,
    GroundAction,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
    excess,
)
from aam_vision.support.wording import counted

MAX_NAMES = 100_000
"""Objects of a problem, or names of one kind in a vocabulary, at most."""
MAX_PLACES = 16
"""Arguments of a predicate, or parameters of an action, at most."""
MAX_TYPES = 10_000
MAX_DEPTH = 64
"""Types above a type at most."""
MAX_PARTS = 2_000_000
"""Values in one JSON text at most: in memory the smallest takes twenty times its two characters."""

_NAME = re.compile(r"[a-z0-9_][a-z0-9_-]{0,199}")
_RESERVED = frozenset({"and", "either", "exists", "forall", "imply", "not", "oneof", "or", "when"})
"""Keywords of PDDL, in which the model will be written."""


class Malformed(ValueError):
    """Raised when JSON does not say what it should; the message says where."""


def loads(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        Malformed: it is not JSON, is nested too deeply, has too many parts, or has a number that JSON does not allow.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Malformed(f"no UTF-8 ({error.reason})") from None
    if len(text) > MAX_PARTS and parts(text) > MAX_PARTS:
        raise Malformed(f"JSON of more than {MAX_PARTS} parts")
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"no JSON ({error})") from None


def parts(text: str) -> int:
    """How many values a JSON text has at most, counted without making any."""
    return sum(map(text.count, "[{,:"))


def dumps(value: object) -> str:
    """JSON on one line without blanks."""
    return json.dumps(value, separators=(",", ":"))


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is not a number of JSON")


def field(value: object, name: str, kind: type) -> Any:
    """A field of a JSON object.

    Raises:
        Malformed: there is no such field, or its value is of another kind; true does not count as a number.
    """
    if not isinstance(value, dict) or name not in value:
        raise Malformed(f"there is no {name!r}")
    found = value[name]
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise Malformed(f"{name!r} is {show(found)}, which is not {_WORDS[kind]}")
    return found


def optional(value: object, name: str, kind: type, default: Any = None) -> Any:
    """The same for a field that may be left out."""
    return field(value, name, kind) if isinstance(value, dict) and name in value else default


_WORDS = {dict: "an object", list: "a list", str: "a text", int: "a whole number", bool: "true or false"}


def show(value: object) -> str:
    """A value in a message: short, on one line, printable."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."


def vocabulary_json(vocabulary: Vocabulary, headers: Sequence[ActionHeader]) -> dict[str, Any]:
    """A vocabulary and the action headers as JSON."""
    return {
        "name": vocabulary.name,
        "types": dict(vocabulary.types.parents),
        "constants": dict(vocabulary.constants),
        "predicates": {predicate.name: list(predicate.types) for predicate in vocabulary.predicates},
        **({"defined": list(vocabulary.defined)} if vocabulary.defined else {}),
        "actions": {
            header.name: [list(pair) for pair in zip(header.parameters, header.types, strict=True)]
            for header in headers
        },
    }


def read_vocabulary(value: object, *, least: int = 1) -> tuple[Vocabulary, tuple[ActionHeader, ...]]:
    """Read what ``vocabulary_json`` has written; ``types``, ``constants`` and ``defined`` may be left out.

    ``least``: how many predicates there must be.

    Raises:
        Malformed: names or types are wrong, or there are more of them than can be interrogated.
    """
    name = _name(field(value, "name", str), "the name of the domain")
    types = _types(optional(value, "types", dict, {}))
    constants = typed(optional(value, "constants", dict, {}), types)
    told = field(value, "predicates", dict) if least else optional(value, "predicates", dict, {})
    predicates = tuple(
        Predicate(_name(own, "a predicate"), _kinds(kinds, types, f"predicate {own}"))
        for own, kinds in _limited(told, "predicates").items()
    )
    headers = tuple(
        _header(own, pairs, types)
        for own, pairs in _limited(field(value, "actions", dict), "actions").items()
    )
    if len(predicates) < least or not headers:
        raise Malformed("there must be at least one predicate and one action")
    defined = tuple(optional(value, "defined", list, []))
    if unknown := [one for one in defined if not isinstance(one, str) or one not in told]:
        raise Malformed(f"{show(unknown[0])} is defined, and no predicate")
    vocabulary = Vocabulary(name, predicates, types, constants, defined=defined)
    if too_much := excess(vocabulary, headers):
        raise Malformed(too_much[0])
    return vocabulary, headers


def _types(value: dict[str, Any]) -> Types:
    parents = {_name(name, "a type"): parent for name, parent in value.items()}
    if len(parents) > MAX_TYPES:
        raise Malformed(f"{len(parents)} types are more than {MAX_TYPES}")
    for name in parents:
        above, steps = name, 0
        while above != ROOT_TYPE:
            if not isinstance(above, str) or above not in parents:
                raise Malformed(f"type {show(above)}, above {name}, is not declared")
            above, steps = parents[above], steps + 1
            if steps > len(parents) or steps > MAX_DEPTH:
                raise Malformed(f"type {name} is its own ancestor, or has more than {MAX_DEPTH}")
    return Types(parents)


def typed(value: dict[str, Any], types: Types) -> dict[str, str]:
    """Objects and their types.

    Raises:
        Malformed: a name cannot be used, or a type is not declared.
    """
    if len(value) * len(types.parents) > MAX_PAIRS:
        raise Malformed(f"{len(value)} objects of {len(types.parents)} types are too many together")
    return {
        _name(name, "an object"): _kind(kind, types, f"object {name}")
        for name, kind in _limited(value, "objects").items()
    }


def _header(name: str, pairs: object, types: Types) -> ActionHeader:
    what = f"action {name}"
    if not isinstance(pairs, list) or not all(isinstance(p, list) and len(p) == 2 for p in pairs):
        raise Malformed(f"the parameters of {what} are not a list of [name, type]: {show(pairs)}")
    parameters = tuple(_name(parameter, f"a parameter of {what}") for parameter, _ in pairs)
    if len(set(parameters)) < len(parameters):
        raise Malformed(f"two parameters of {what} have one name")
    return ActionHeader(
        _name(name, "an action"), parameters, _kinds([kind for _, kind in pairs], types, what)
    )


def _kinds(value: object, types: Types, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MAX_PLACES:
        raise Malformed(f"{what} has no list of at most {MAX_PLACES} types: {show(value)}")
    return tuple(_kind(kind, types, what) for kind in value)


def _kind(value: object, types: Types, what: str) -> str:
    if not isinstance(value, str) or (value != ROOT_TYPE and value not in types.parents):
        raise Malformed(f"{what} has the type {show(value)}, which is not declared")
    return value


def _name(value: object, what: str) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value) or value in _RESERVED:
        why = (
            "PDDL has a meaning of its own for it"
            if value in _RESERVED
            else "use small letters, digits, '-' and '_'"
        )
        raise Malformed(f"{show(value)} cannot name {what}: {why}")
    return value


def _limited(value: dict[str, Any], what: str) -> dict[str, Any]:
    if len(value) > MAX_NAMES:
        raise Malformed(f"{len(value)} {what} are more than {MAX_NAMES}")
    return value


def state_json(state: State) -> dict[str, Any]:
    """A state's atoms, ``[predicate, object, ...]`` each; what is neither true nor unknown is false."""
    return {
        "true": [[name, *objects] for name, rows in state.rows.items() for objects in rows],
        "unknown": [[atom.predicate, *atom.objects] for atom in sorted(state.unknown)],
    }


def read_state(
    value: object, vocabulary: Vocabulary, objects: Objects, known: dict[Atom, Atom] | None = None
) -> State:
    """Read what ``state_json`` has written; ``unknown`` may be left out.

    Args:
        value: as JSON has it.
        vocabulary: of the state.
        objects: of the state.
        known: atoms that were read of the same objects, which states share in memory; those read here are added.

    Raises:
        Malformed: an atom does not belong to the vocabulary and the objects, or is both true and unknown.
    """
    known = {} if known is None else known
    true = read_atoms(field(value, "true", list), vocabulary, objects, known)
    unknown = read_atoms(optional(value, "unknown", list, []), vocabulary, objects, known)
    if both := true & unknown:
        raise Malformed(f"{min(both)} is true and unknown")
    return State(true, objects, unknown)


def read_atoms(
    rows: list[Any], vocabulary: Vocabulary, objects: Objects, known: dict[Atom, Atom] | None = None
) -> frozenset[Atom]:
    """Atoms, ``[predicate, object, ...]`` each; ``known``: as for ``read_state``.

    Raises:
        Malformed: one does not belong to the vocabulary and the objects.
    """
    known = {} if known is None else known
    found = set()
    for row in rows:
        name, arguments = _named(row, "an atom")
        if (earlier := known.get(Atom(name, arguments))) is not None:
            found.add(earlier)
            continue
        try:
            kinds = vocabulary.predicate(name).types
        except KeyError:
            raise Malformed(f"{show(name)} is not a predicate of the vocabulary") from None
        _check_arguments(row, arguments, kinds, objects)
        atom = Atom(name, arguments)
        known[atom] = atom
        found.add(atom)
    return frozenset(found)


def read_executed(value: object, plan: Sequence[GroundAction], *, controls: bool = False) -> int:
    """How many steps of a plan were executed; if they are controls, all of them are, and it need not be said.

    Raises:
        Malformed: it does not say, or more than there are, or fewer controls.
    """
    if controls:
        if optional(value, "executed", int, len(plan)) != len(plan):
            told = f"{show(field(value, 'executed', int))} of {counted(len(plan), 'control')} executed"
            raise Malformed(f"{told}: all can always be given")
        return len(plan)
    executed = field(value, "executed", int)
    if not 0 <= executed <= len(plan):
        raise Malformed(f"{show(executed)} of {counted(len(plan), 'step')} executed")
    return int(executed)


def plan_json(plan: Sequence[GroundAction]) -> list[list[str]]:
    """Instructions with their arguments, ``[action, object, ...]`` each."""
    return [[action.name, *action.objects] for action in plan]


def read_plan(
    value: object, headers: Mapping[str, ActionHeader], objects: Objects
) -> tuple[GroundAction, ...]:
    """Read what ``plan_json`` has written.

    Raises:
        Malformed: an action is not among the headers, or its arguments are not of its types.
    """
    if not isinstance(value, list):
        raise Malformed(f"{show(value)} is not a list of actions")
    plan = []
    for row in value:
        name, arguments = _named(row, "an action")
        if name not in headers:
            raise Malformed(f"{show(name)} is none of the actions")
        _check_arguments(row, arguments, headers[name].types, objects)
        plan.append(GroundAction(name, arguments))
    return tuple(plan)


def _named(row: object, what: str) -> tuple[str, tuple[str, ...]]:
    if not isinstance(row, list) or not row or not all(isinstance(part, str) for part in row):
        raise Malformed(f"{show(row)} is not {what}: [name, object, ...]")
    return row[0], tuple(row[1:])


def _check_arguments(
    row: object, arguments: tuple[str, ...], kinds: tuple[str, ...], objects: Objects
) -> None:
    if len(arguments) != len(kinds):
        raise Malformed(f"{show(row)} has {counted(len(arguments), 'argument')} instead of {len(kinds)}")
    for argument, kind in zip(arguments, kinds, strict=True):
        if argument not in objects.members(kind):
            raise Malformed(f"in {show(row)}, {show(argument)} is not a {kind} of the problem")
