"""Checks of sections and declarations: every name that a file declares or uses in one, and where it is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aam_vision.pddl.literals import CLASS, hint, name_of, new_name
from aam_vision.pddl.syntax import MAX_DEPTH, Definition, Expression, Group, Word, show
from aam_vision.strips import ROOT_TYPE, Types

_FEATURES = {
    ":functions": "numeric fluents",
    ":durative-action": "durative actions",
    ":derived": "derived predicates",
    ":axiom": "derived predicates",
    ":constraints": "trajectory constraints",
    ":process": "processes",
    ":event": "events",
    ":task": "hierarchical tasks",
    ":method": "hierarchical tasks",
    ":htn": "hierarchical tasks",
    ":observe": "sensing actions",
}


def sections(definition: Definition, known: Sequence[str]) -> dict[str, list[Group]]:
    """The sections by their keyword; only actions may come more than once."""
    found: dict[str, list[Group]] = {keyword: [] for keyword in known}
    for section in definition.sections:
        keyword = section.head
        if keyword in _FEATURES:
            definition.refuse(section.line, f"uses {_FEATURES[keyword]} ({show(section)}); {CLASS}")
        if keyword not in found:
            definition.refuse(
                section.line,
                f"{show(section)} is not a section of a {definition.kind}; expected one of {', '.join(known)}",
            )
        if found[keyword] and keyword != ":action":
            first = found[keyword][0].line
            definition.refuse(section.line, f"{show(section)} comes twice, first in line {first}; join them")
        found[keyword].append(section)
    return found


def contents(sections: Sequence[Group]) -> list[Expression]:
    """The contents of sections, after their keywords."""
    return [part for section in sections for part in section.parts[1:]]


def _typed(definition: Definition, parts: Sequence[Expression], what: str) -> list[tuple[Word, Word]]:
    """A list such as ``a b - t c``: every word with the word of its type, the root type where none is given."""
    found: list[tuple[Word, Word]] = []
    waiting: list[Word] = []
    place = 0
    parts = [split for part in parts for split in _split_dash(part)]
    while place < len(parts):
        part = parts[place]
        if isinstance(part, Group):
            definition.refuse(part.line, f"expected {what} or '-', found {show(part)}")
        if part.text != "-":
            waiting.append(part)
            place += 1
            continue
        kind = parts[place + 1] if place + 1 < len(parts) else None
        if not waiting or kind is None:
            definition.refuse(part.line, f"expected {what} before '-' and a type after it")
        if isinstance(kind, Group) and kind.head == "either":
            definition.refuse(kind.line, "uses 'either' types; declare a common parent type instead")
        if isinstance(kind, Group):
            definition.refuse(kind.line, f"expected a type, found {show(kind)}")
        found += [(word, kind) for word in waiting]
        waiting = []
        place += 2
    return found + [(word, Word(ROOT_TYPE, word.line)) for word in waiting]


def _split_dash(part: Expression) -> tuple[Expression, ...]:
    """A type written without the blank, as in ``?b -ball``, is common and cannot mean anything else."""
    if isinstance(part, Word) and part.text[0] == "-" and part.text != "-":
        return Word("-", part.line), Word(part.text[1:], part.line)
    return (part,)


def types_of(definition: Definition, sections: Sequence[Group]) -> Types:
    """The type hierarchy, in which parents that are only mentioned are types as well."""
    parents: dict[str, str] = {}
    lines: dict[str, int] = {}
    for word, above in _typed(definition, contents(sections), "a type"):
        name, parent = new_name(definition, word, "a type"), new_name(definition, above, "a type")
        if name == ROOT_TYPE:
            if parent != ROOT_TYPE:
                definition.refuse(word.line, f"'{ROOT_TYPE}' is the root of all types; it has no parent")
            continue
        if parents.get(name, parent) != parent:
            definition.refuse(word.line, f"type {show(name)} is declared with two parents; keep one")
        parents[name], lines[name] = parent, word.line
    for parent in list(parents.values()):
        if parent != ROOT_TYPE:
            parents.setdefault(parent, ROOT_TYPE)
    for name, line in lines.items():
        above_it, steps = name, 0
        while above_it != ROOT_TYPE:
            above_it, steps = parents[above_it], steps + 1
            if above_it == name:
                definition.refuse(line, f"type {show(name)} is its own ancestor; correct its parent")
            if steps > MAX_DEPTH:
                definition.refuse(
                    line, f"type {show(name)} has more than {MAX_DEPTH} ancestors, or a circle of them"
                )
    return Types(parents)


def _known_type(definition: Definition, word: Word, types: Types) -> str:
    name = name_of(definition, word, "a type")
    if name != ROOT_TYPE and name not in types.parents:
        known = [*types.parents, ROOT_TYPE]
        definition.refuse(word.line, f"type {show(name)} is not declared; {hint(name, known)}")
    return name


def objects(
    definition: Definition, sections: Sequence[Group], types: Types, known: Mapping[str, str]
) -> dict[str, str]:
    """The objects of a section added to those known already."""
    kinds = dict(known)
    for word, kind_word in _typed(definition, contents(sections), "an object"):
        name, kind = new_name(definition, word, "an object"), _known_type(definition, kind_word, types)
        if kinds.setdefault(name, kind) != kind:
            definition.refuse(
                word.line,
                f"object {show(name)} has two types, {show(kinds[name])} and {show(kind)}; keep one",
            )
    return kinds


def predicates(definition: Definition, sections: Sequence[Group], types: Types) -> dict[str, tuple[str, ...]]:
    """The types of the arguments of every predicate."""
    found: dict[str, tuple[str, ...]] = {}
    for group in contents(sections):
        if isinstance(group, Word) or not group.parts:
            definition.refuse(group.line, f"expected a predicate such as '(at ?x)', found {show(group)}")
        name = new_name(definition, group.parts[0], "the name of a predicate")
        if name in found:
            definition.refuse(group.line, f"predicate {show(name)} is declared twice; remove one")
        found[name] = tuple(kind for _, kind in _variables(definition, group.parts[1:], types))
    return found


def parameters(definition: Definition, given: Group, types: Types, action: str) -> dict[str, str]:
    """The types of an action's parameters, which are named without their question mark."""
    found = _variables(definition, given.parts, types)
    kinds = dict(found)
    if len(kinds) < len(found):
        definition.refuse(given.line, f"two parameters of {show(action)} have one name; rename one")
    return kinds


def _variables(definition: Definition, parts: Sequence[Expression], types: Types) -> list[tuple[str, str]]:
    """Variables without their question mark, and their types."""
    found = []
    for word, kind in _typed(definition, parts, "a variable"):
        if not word.text.startswith("?"):
            definition.refuse(word.line, f"expected a variable such as '?x', found {show(word)}")
        bare = Word(word.text[1:], word.line)
        found.append((name_of(definition, bare, "a name after '?'"), _known_type(definition, kind, types)))
    return found


def fields(definition: Definition, section: Group, name: str) -> dict[str, Group]:
    """The keywords of an action and what follows each."""
    given: dict[str, Group] = {}
    known = (":parameters", ":precondition", ":effect")
    parts = section.parts[2:]
    for keyword, value in zip(parts[::2], [*parts[1::2], None], strict=False):
        if isinstance(keyword, Word) and keyword.text in _FEATURES:
            definition.refuse(keyword.line, f"{show(name)} uses {_FEATURES[keyword.text]}; {CLASS}")
        if not isinstance(keyword, Word) or keyword.text not in known:
            definition.refuse(
                keyword.line, f"expected one of {', '.join(known)} in {show(name)}, found {show(keyword)}"
            )
        if not isinstance(value, Group):
            found = show(value) if value else "nothing"
            definition.refuse(
                keyword.line, f"expected '(' after {keyword.text} of {show(name)}, found {found}"
            )
        if keyword.text in given:
            definition.refuse(keyword.line, f"{keyword.text} comes twice in {show(name)}; keep one")
        given[keyword.text] = value
    return given
