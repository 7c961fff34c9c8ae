"""What counts as success, where it is not that a single fact is true: ``tidy(?b)`` if ``in(?b, box) and not open(box)``.

Each is a fact of its own, which follows from the others: a policy is told to make it true like any other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from aam_vision.model.strips import Atom, LiftedAtom, Objects, Predicate, Vocabulary
from aam_vision.support.errors import UnusableInput

_FACT = re.compile(r"(not\s+)?([^\s(),?]+)\s*\(([^()]*)\)")
_BETWEEN = re.compile(r"(?:,|\sand\s)(?![^(]*\))")


@dataclass(frozen=True)
class Success:
    """A fact about different objects that is true where all of these literals hold."""

    predicate: Predicate
    parameters: tuple[str, ...]
    literals: Mapping[LiftedAtom, bool]
    """Arguments are places of the predicate's own, or names of objects."""

    def atoms(self, true: Collection[Atom], objects: Objects) -> Iterator[Atom]:
        """Those that are true where these facts are."""
        for names in product(*map(objects.of_type, self.predicate.types)):
            distinct = len({*names}) == len(names)
            if distinct and all(
                (atom.ground(names) in true) is value for atom, value in self.literals.items()
            ):
                yield Atom(self.predicate.name, names)


def successes(declared: Mapping[str, str], vocabulary: Vocabulary, objects: Objects) -> tuple[Success, ...]:
    """What is declared, for example ``{"tidy(?b)": "in(?b, box) and not open(box)"}``; types are those of the facts.

    Raises:
        UnusableInput: it is not said like this, its name is taken, or it names what there is not.
    """
    known = {predicate.name: predicate for predicate in vocabulary.predicates}
    found: dict[str, Success] = {}
    for head, condition in declared.items():
        try:
            one = _success(head, condition, known, vocabulary, objects)
            if one.predicate.name in {*known, *found}:
                raise ValueError("the name is taken; give it another one")
        except ValueError as error:
            raise UnusableInput(str(error), "success", repr(head)) from None
        found[one.predicate.name] = one
    return tuple(found.values())


def _success(
    head: str, condition: str, known: Mapping[str, Predicate], vocabulary: Vocabulary, objects: Objects
) -> Success:
    """One of them; ValueError says what is wrong with it."""
    negated, name, parameters = _fact(head)
    if negated or len({*parameters}) < len(parameters) or not all(one.startswith("?") for one in parameters):
        raise ValueError("write a name with parameters, each once, such as tidy(?b)")
    kinds: dict[str, str] = {}
    literals: dict[LiftedAtom, bool] = {}
    for text in _BETWEEN.split(condition):
        negated, predicate, arguments = _fact(text)
        told = known.get(predicate)
        if told is None or told.arity != len(arguments):
            raise ValueError(f"{text.strip()!r} is no fact of the vocabulary")
        for one, kind in zip(arguments, told.types, strict=True):
            before = kinds.get(one, kind) if one in parameters else kind
            if one not in parameters and one not in objects.of_type(kind):
                raise ValueError(f"{one!r} in {text.strip()!r} is neither a parameter nor a {kind}")
            if not (vocabulary.types.is_a(kind, before) or vocabulary.types.is_a(before, kind)):
                raise ValueError(f"{one} cannot be both a {before} and a {kind}")
            kinds[one] = kind if vocabulary.types.is_a(kind, before) else before  # the narrower one
        places = tuple(parameters.index(one) if one in parameters else one for one in arguments)
        if literals.setdefault(LiftedAtom(predicate, places), not negated) is negated:
            raise ValueError(f"{text.strip()!r} contradicts what stands before it")
    if missing := [one for one in parameters if one not in kinds]:
        raise ValueError(f"nothing is said of {missing[0]}")
    own = Predicate(name, tuple(kinds[one] for one in parameters))
    return Success(own, tuple(one.removeprefix("?") for one in parameters), literals)


def _fact(text: str) -> tuple[bool, str, list[str]]:
    """Whether it is negated, its name, and its arguments."""
    if (match := _FACT.fullmatch(text.strip())) is None:
        raise ValueError(
            f"{text.strip()!r} is no fact; write on(?x, ?y), or not on(?x, ?y), with 'and' between them"
        )
    return bool(match[1]), match[2], [one.strip() for one in match[3].split(",") if one.strip()]
