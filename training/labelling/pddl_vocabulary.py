"""A vocabulary for pictures of any origin, from the predicates that a PDDL domain declares.

PDDL does not say what is seen. So every predicate gets the reading that its types allow, once the type of the cells is known:

- ``at(thing, cell)``: the thing is searched for on the cells. Things of one type look alike; a type without subtypes is a look.
- ``clear(cell)``: asked of the cell.
- ``lit(thing)``: asked of the cell where the thing is, if another predicate says where that is.
- all others (``handempty()``, ``next-to(cell, cell)``) are not seen: they are left to be stated.

Nothing is known of what excludes what, and things may vanish: a ``VisualVocabulary`` of one's own can say more.
"""

from __future__ import annotations

from pathlib import Path

from aam_vision.agents.perception import Entry, Given, Perceived, Reading, VisualVocabulary
from aam_vision.model.pddl.reading import read_domain
from aam_vision.model.strips import ROOT_TYPE, Types, Vocabulary
from aam_vision.support.errors import UnusableInput


def pddl_vocabulary(domain: Path, cell: str | None = None) -> VisualVocabulary:
    """The vocabulary of a domain file, as far as its predicates can be seen on cells.

    Args:
        domain: the file.
        cell: the type of the cells; None if it is the only one in which things can be.

    Raises:
        UnusableInput: the file cannot be read, no predicate can be seen, or it does not tell which type the cells have.
    """
    vocabulary = read_domain(domain).vocabulary
    kind, types = _cell_type(vocabulary, cell, domain), vocabulary.types
    where = [
        one
        for one in vocabulary.predicates
        if one.arity == 2 and one.types[1] == kind and not _meet(one.types[0], kind, types)
    ]
    entries: list[Entry] = []
    heads = {one.name for one in vocabulary.predicates if one.arity == 1}
    for one in vocabulary.predicates:
        if one in where:
            named = {}
            for look in _leaves(one.types[0], types):
                named[look] = look if look not in heads else f"{one.name}-{look}"
                heads.add(named[look])
            entries.append(Perceived(one, Reading.WHERE, named, f"the {one.types[0]} is seen there"))
        elif one.arity == 1 and types.is_a(kind, one.types[0]):
            entries.append(Perceived(one, Reading.THERE, {"": one.name}, "seen at the cell"))
        elif one.arity == 1 and any(_meet(one.types[0], other.types[0], types) for other in where):
            entries.append(Perceived(one, Reading.ON, {"": one.name}, f"seen at the {one.types[0]}"))
        else:
            entries.append(Given(one, "not seen: to be stated"))
    seen = [one for one in entries if isinstance(one, Perceived)]
    if not seen:
        raise UnusableInput(
            f"no predicate can be seen on cells of type {kind}: declare one as (at ?x - thing ?c - {kind}), or (clear ?c - {kind})",
            "domain",
            domain,
        )
    looks = [look for one in seen if one.reading is Reading.WHERE for look in one.heads]
    return VisualVocabulary(vocabulary.name, tuple(entries), types, dict.fromkeys(looks, True))


def _cell_type(vocabulary: Vocabulary, cell: str | None, domain: Path) -> str:
    types = vocabulary.types
    known = sorted(
        {*types.parents, *(kind for one in vocabulary.predicates for kind in one.types)} - {ROOT_TYPE}
    )
    if cell is not None:
        if cell.lower() not in known:
            raise UnusableInput(
                f"no type {cell!r}: use one of {', '.join(known) or 'its types, once it has any'}",
                "cell",
                cell,
            )
        return cell.lower()
    if not known:
        raise UnusableInput(
            "declares no types, so that cells and things cannot be told apart; add (:types ...)",
            "domain",
            domain,
        )
    found = [
        kind
        for kind in known
        if any(
            one.arity == 2 and one.types[1] == kind and not _meet(one.types[0], kind, types)
            for one in vocabulary.predicates
        )
    ]
    if len(found) != 1:
        choice = ", ".join(found or known)
        raise UnusableInput(
            f"does not tell which type the cells have: say it with --cell, one of {choice}", "domain", domain
        )
    return found[0]


def _meet(one: str, other: str, types: Types) -> bool:
    """Whether something may be of both types."""
    return types.is_a(one, other) or types.is_a(other, one)


def _leaves(kind: str, types: Types) -> list[str]:
    """The types without subtypes among those below one, itself included."""
    below = [one for one in (kind, *types.parents) if types.is_a(one, kind)]
    return [
        one for one in dict.fromkeys(below) if not any(types.parents.get(other) == one for other in below)
    ]
