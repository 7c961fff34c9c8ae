"""Small STRIPS models and states, a line of text each; all objects are of the root type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)


def model(*actions: str, predicates: str = "", constants: str = "") -> Model:
    """Of actions such as ``act x y: at x home, not lit -> done y, not at x home``: what is required, and what it does.

    A word that is no parameter is a constant. Predicates are those of the actions, and those that are given as ``p/1``.
    """
    arities = {name: int(arity) for name, _, arity in (one.partition("/") for one in predicates.split())}
    named, schemas = constants.split(), []
    for line in actions:
        head, _, body = line.partition(":")
        name, *parameters = head.split()
        parts: list[list[LiftedAtom]] = [[], [], [], []]
        for place, text in enumerate(body.split("->")):
            for literal in filter(None, text.strip().split(", ")):
                false = literal.startswith("not ")
                atom = lifted(literal.removeprefix("not "), parameters)
                parts[2 * place + false].append(atom)
                arities.setdefault(atom.predicate, len(atom.arguments))
                named += [one for one in atom.arguments if isinstance(one, str)]
        header = ActionHeader(name, tuple(parameters), (ROOT_TYPE,) * len(parameters))
        schemas.append(ActionSchema(header, *map(frozenset, parts)))
    declared = tuple(Predicate(name, (ROOT_TYPE,) * arity) for name, arity in arities.items())
    vocabulary = Vocabulary("small", declared, Types(), dict.fromkeys(named, ROOT_TYPE))
    return Model(vocabulary, tuple(schemas))


def lifted(text: str, parameters: Sequence[str] = ("x", "y", "z")) -> LiftedAtom:
    """Such as ``at x home``."""
    name, *arguments = text.split()
    places = {parameter: number for number, parameter in enumerate(parameters)}
    return LiftedAtom(name, tuple(places.get(one, one) for one in arguments))


def objects(names: str) -> Objects:
    return Objects(dict.fromkeys(names.split(), ROOT_TYPE), Types())


def atoms(text: str) -> frozenset[Atom]:
    """Such as ``at a home, lit``."""
    words: Iterable[list[str]] = (one.split() for one in text.split(", ") if one)
    return frozenset(Atom(name, tuple(rest)) for name, *rest in words)


def state(names: str, true: str = "", unknown: str = "") -> State:
    """Of these objects, with what is true and what is not seen."""
    return State(atoms(true), objects(names), atoms(unknown))


def step(text: str) -> GroundAction:
    """Such as ``act a b``."""
    name, *row = text.split()
    return GroundAction(name, tuple(row))
