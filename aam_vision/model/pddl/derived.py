"""Derived predicates as PDDL: those that hold where at least so many facts of another predicate do (``AtLeast``), and no others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from aam_vision.model.derived import AtLeast
from aam_vision.model.pddl.syntax import CLASS, Definition, Group, Names, Word, read_group, show, words
from aam_vision.model.strips import Predicate

KEYWORD = ":derived"


def derived_text(one: AtLeast) -> str:
    """The definition of a derived predicate as a section of a domain."""
    own = {place: f"?x{place + 1}" for place in one.places}
    others = [place for place in range(one.of.arity) if place not in own]
    facts = [{place: f"?o{copy + 1}-{place + 1}" for place in others} for copy in range(one.number)]
    apart = [f"?y{number + 1}" for number in range(len(one.apart))]
    named = [
        f"{name} - {kind}" for name, kind in zip([*own.values(), *apart], one.predicate.types, strict=True)
    ]
    head = " ".join([one.predicate.name, *named])
    any_ = " ".join(f"{fact[place]} - {one.of.types[place]}" for fact in facts for place in others)
    holds = [
        f"({' '.join([one.of.name, *({**own, **fact}[place] for place in range(one.of.arity))])})"
        for fact in facts
    ]
    holds += [f"(not (= {fact[place]} {other}))" for fact in facts for place in others for other in apart]
    for first, second in combinations(facts, 2):
        same = [f"(= {first[place]} {second[place]})" for place in others]
        both = same[0] if len(same) == 1 else f"(and {' '.join(same)})"
        holds.append(f"(not {both})")
    return f"  ({KEYWORD} ({head})\n    (exists ({any_})\n      (and {' '.join(holds)})))"


def read_derived(definition: Definition, sections: Sequence[Group], names: Names) -> tuple[AtLeast, ...]:
    """The derived predicates that a domain defines.

    Raises:
        UnusableInput: one is defined in another way than ``derived_text`` writes it.
    """
    found = []
    for section in sections:
        one = _counting(section, names)
        if one is None or words(section) != words(read_group(definition.path, derived_text(one))):
            definition.refuse(
                section.line,
                f"uses derived predicates ({show(section)}) other than those that count the facts of one predicate; {CLASS}",
            )
        found.append(one)
    return tuple(found)


def _counting(section: Group, names: Names) -> AtLeast | None:
    """What a definition says, if it is of the kind that is known: as far as that can be seen by its name and the facts in it."""
    match section.parts:
        case [_, Group() as head, Group(parts=[*_, Group() as body])]:
            facts = [part for part in body.parts[1:] if isinstance(part, Group) and part.head != "not"]
        case _:
            return None
    declared = names.predicates.get(head.head)
    if declared is None or not facts or facts[0].head not in names.predicates:
        return None
    own = {part.text for part in head.parts[1:] if isinstance(part, Word)}
    arguments = facts[0].parts[1:]
    places = tuple(place for place, one in enumerate(arguments) if isinstance(one, Word) and one.text in own)
    of = Predicate(facts[0].head, names.predicates[facts[0].head])
    found = AtLeast(of, places, len(facts), declared[len(places) :])
    return found if found.within_limits and found.predicate == Predicate(head.head, declared) else None
