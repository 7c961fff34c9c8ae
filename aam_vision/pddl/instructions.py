"""Instructions that a file writes as predicates, as those of PDDLGym do: they are no concepts, and are left out.

PDDLGym's ``(:actions move)``, mostly in a comment, names predicates that stand for what the agent is told: an operator requires
``(move ?dir)``, and problems list ``(move up)`` in their initial states for all that can be told. PDDLGym adds the instruction that is
carried out to the state, so such a literal holds whenever its operator is tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from aam_vision.pddl.syntax import Definition, Expression, Group, Word, read_definition

ACTIONS = ":actions"


def instructions(definition: Definition) -> frozenset[str]:
    """The predicates of a domain that are instructions: named as such, and literals of preconditions and of nothing else."""
    named = set(definition.instructions)
    declared, elsewhere = set[str](), set[str]()
    for section in definition.sections:
        if section.head == ACTIONS:
            named |= {part.text for part in section.parts[1:] if isinstance(part, Word)}
        elif section.head == ":predicates":
            declared |= {part.head for part in section.parts[1:] if isinstance(part, Group)}
    for section in definition.sections:
        if section.head == ":action":
            for place, part in enumerate(section.parts):
                required = _is_precondition(section, place)
                elsewhere |= set(_elsewhere(part, named, required=required))
    return frozenset(named & declared - elsewhere)


def _is_precondition(action: Group, place: int) -> bool:
    before = action.parts[place - 1]
    return isinstance(before, Word) and before.text == ":precondition"


def _elsewhere(part: Expression, named: Collection[str], *, required: bool) -> Iterator[str]:
    """The heads of all groups but atoms of these predicates that are plainly required: alone, or in conjunctions."""
    if not isinstance(part, Group) or (required and part.head in named):
        return
    yield part.head
    for inner in part.parts:
        yield from _elsewhere(inner, named, required=required and part.head == "and")


def without(definition: Definition, names: Collection[str]) -> Definition:
    """A domain or a problem without these predicates: in declarations, preconditions and the initial state."""
    sections = []
    for section in definition.sections:
        if section.head == ACTIONS:
            continue
        parts = section.parts
        if section.head in (":predicates", ":init"):
            parts = [part for part in parts if not _named(part, names)]
        elif section.head == ":action":
            parts = list(parts)
            for place, part in enumerate(parts):
                if isinstance(part, Group) and _is_precondition(section, place):
                    parts[place] = _pruned(part, names)
        sections.append(Group(list(parts), section.line))
    return replace(definition, sections=tuple(sections))


def _named(part: Expression, names: Collection[str]) -> bool:
    return isinstance(part, Group) and part.head in names


def _pruned(group: Group, names: Collection[str]) -> Group:
    """A precondition without atoms of these predicates."""
    if group.head in names:
        return Group([], group.line)
    if group.head != "and":
        return group
    kept = [
        _pruned(part, names) if isinstance(part, Group) else part
        for part in group.parts
        if not _named(part, names)
    ]
    return Group(kept, group.line)


def read_without_instructions(path: Path) -> tuple[Definition, tuple[str, ...]]:
    """A domain file without the predicates that are instructions, and their names.

    Raises:
        UnusableInput: the file cannot be read, or is no domain.
    """
    definition = read_definition(path, "domain")
    found = instructions(definition)
    return without(definition, found), tuple(sorted(found))
