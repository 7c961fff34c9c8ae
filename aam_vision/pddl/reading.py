"""PDDL files to models and problems. Sections may come in any order, and each name's case is ignored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from aam_vision.pddl.literals import CLASS, LiteralReader, hint, name_of, new_name
from aam_vision.pddl.problem import Problem
from aam_vision.pddl.syntax import MAX_DEPTH, Definition, Expression, Group, Word, read_definition, show
from aam_vision.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Atom,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)

_DOMAIN = (":requirements", ":types", ":constants", ":predicates", ":action")
_PROBLEM = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length")
"""A metric or a length does not change what is a plan: both are passed over."""
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


def read_domain(path: Path | str) -> Model:
    """The model that a PDDL domain file states; all names in lower case.

    Raises:
        UnusableInput: the file cannot be read, does not parse, contradicts itself, or uses a feature outside
            STRIPS with typing, constants and negative preconditions.
    """
    definition = read_definition(Path(path), "domain")
    sections = _sections(definition, _DOMAIN)
    types = _types(definition, sections[":types"])
    predicates: dict[str, Predicate] = {}
    for group in _contents(sections[":predicates"]):
        predicate = _predicate(definition, group, types)
        if predicate.name in predicates:
            definition.refuse(group.line, f"predicate {show(predicate.name)} is declared twice; remove one")
        predicates[predicate.name] = predicate
    constants = _objects(definition, sections[":constants"], types, {})
    name = name_of(definition, definition.name, "the name of the domain")
    vocabulary = Vocabulary(name, tuple(predicates.values()), types, constants)
    reader = LiteralReader(definition, vocabulary)
    schemas: dict[str, ActionSchema] = {}
    for section in sections[":action"]:
        schema = _schema(definition, section, vocabulary, reader)
        if schema.header.name in schemas:
            definition.refuse(section.line, f"action {show(schema.header.name)} is defined twice; remove one")
        schemas[schema.header.name] = schema
    return Model(vocabulary, tuple(schemas.values()))


def read_problem(domain: Path | str | Model, problem: Path | str) -> Problem:
    """A problem of a domain, which is given as its file or as the model read from it.

    Raises:
        UnusableInput: as for ``read_domain``, or the problem belongs to another domain.
    """
    model = domain if isinstance(domain, Model) else read_domain(domain)
    vocabulary = model.vocabulary
    definition = read_definition(Path(problem), "problem")
    sections = _sections(definition, _PROBLEM)
    _check_domain(definition, sections[":domain"], vocabulary.name)
    kinds = _objects(definition, sections[":objects"], vocabulary.types, vocabulary.constants)
    reader = LiteralReader(definition, vocabulary)
    if not sections[":init"]:
        definition.refuse(definition.name.line, "the problem has no '(:init'; state what holds at the start")
    true: set[Atom] = set()
    false: dict[Atom, int] = {}
    for fact in _contents(sections[":init"]):
        for literal in reader.literals(fact, kinds, "the initial state"):
            atom = Atom(literal.predicate, literal.arguments)
            if literal.positive:
                true.add(atom)
            else:
                false[atom] = literal.line
    for atom, line in false.items():
        if atom in true:
            definition.refuse(
                line, f"{show(str(atom))} is both true and false in the initial state; remove one"
            )
    goal: tuple[set[Atom], set[Atom]] = set(), set()
    for condition in _contents(sections[":goal"]):
        for literal in reader.literals(condition, kinds, "the goal"):
            goal[not literal.positive].add(Atom(literal.predicate, literal.arguments))
    return Problem(
        name_of(definition, definition.name, "the name of the problem"),
        State(frozenset(true), Objects(kinds, vocabulary.types)),
        frozenset(goal[0]),
        frozenset(goal[1]),
    )


def _sections(definition: Definition, known: Sequence[str]) -> dict[str, list[Group]]:
    """The sections by their keyword; only actions may come more than once."""
    found: dict[str, list[Group]] = {keyword: [] for keyword in known}
    for section in definition.sections:
        keyword = section.head
        if keyword in _FEATURES:
            definition.refuse(section.line, f"uses {_FEATURES[keyword]} ({show(section)}); {CLASS}")
        if keyword not in found:
            definition.refuse(
                section.line,
                f"{show(section)} is no section of a {definition.kind}; expected one of {', '.join(known)}",
            )
        if found[keyword] and keyword != ":action":
            first = found[keyword][0].line
            definition.refuse(section.line, f"{show(section)} comes twice, first in line {first}; join them")
        found[keyword].append(section)
    return found


def _contents(sections: Sequence[Group]) -> list[Expression]:
    return [part for section in sections for part in section.parts[1:]]


def _check_domain(definition: Definition, sections: Sequence[Group], wanted: str) -> None:
    if not sections:
        definition.refuse(definition.name.line, f"names no domain; add '(:domain {wanted})'")
    named = sections[0].parts[1] if len(sections[0].parts) == 2 else sections[0]
    name = name_of(definition, named, "one name of a domain")
    if name != wanted:
        definition.refuse(
            named.line, f"is a problem of domain {show(name)}, not of {show(wanted)}; give it its own domain"
        )


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


def _types(definition: Definition, sections: Sequence[Group]) -> Types:
    parents: dict[str, str] = {}
    lines: dict[str, int] = {}
    for word, above in _typed(definition, _contents(sections), "a type"):
        name, parent = new_name(definition, word, "a type"), new_name(definition, above, "a type")
        if name == ROOT_TYPE:
            if parent != ROOT_TYPE:
                definition.refuse(word.line, f"'{ROOT_TYPE}' is the root of all types; it has no parent")
            continue
        if parents.get(name, parent) != parent:
            definition.refuse(word.line, f"type {show(name)} is declared with two parents; keep one")
        parents[name], lines[name] = parent, word.line
    for parent in list(parents.values()):  # parents that are only mentioned are types as well
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


def _objects(
    definition: Definition, sections: Sequence[Group], types: Types, known: Mapping[str, str]
) -> dict[str, str]:
    """The objects of a section added to those known already."""
    kinds = dict(known)
    for word, kind_word in _typed(definition, _contents(sections), "an object"):
        name, kind = new_name(definition, word, "an object"), _known_type(definition, kind_word, types)
        if kinds.setdefault(name, kind) != kind:
            definition.refuse(
                word.line,
                f"object {show(name)} has two types, {show(kinds[name])} and {show(kind)}; keep one",
            )
    return kinds


def _predicate(definition: Definition, group: Expression, types: Types) -> Predicate:
    if isinstance(group, Word) or not group.parts:
        definition.refuse(group.line, f"expected a predicate such as '(at ?x)', found {show(group)}")
    name = new_name(definition, group.parts[0], "the name of a predicate")
    arguments = _variables(definition, group.parts[1:], types)
    return Predicate(name, tuple(kind for _, kind in arguments))


def _variables(definition: Definition, parts: Sequence[Expression], types: Types) -> list[tuple[str, str]]:
    """Variables without their question mark, and their types."""
    found = []
    for word, kind in _typed(definition, parts, "a variable"):
        if not word.text.startswith("?"):
            definition.refuse(word.line, f"expected a variable such as '?x', found {show(word)}")
        bare = Word(word.text[1:], word.line)
        found.append((name_of(definition, bare, "a name after '?'"), _known_type(definition, kind, types)))
    return found


def _schema(
    definition: Definition, section: Group, vocabulary: Vocabulary, reader: LiteralReader
) -> ActionSchema:
    if len(section.parts) < 2:
        definition.refuse(section.line, "expected the name of an action after ':action'")
    name = new_name(definition, section.parts[1], "the name of an action")
    fields = _fields(definition, section, name)
    given = fields.get(":parameters")
    parameters = _variables(definition, given.parts, vocabulary.types) if given else []
    header = ActionHeader(name, tuple(p for p, _ in parameters), tuple(kind for _, kind in parameters))
    if given and len(set(header.parameters)) < header.arity:
        definition.refuse(given.line, f"two parameters of {show(name)} have one name; rename one")
    place = {f"?{parameter}": i for i, parameter in enumerate(header.parameters)}
    kinds = {f"?{parameter}": kind for parameter, kind in parameters}

    def lifted(keyword: str, where: str) -> tuple[frozenset[LiftedAtom], frozenset[LiftedAtom]]:
        found: tuple[set[LiftedAtom], set[LiftedAtom]] = set(), set()
        if keyword in fields:
            for literal in reader.literals(fields[keyword], kinds, f"the {where} of {show(name)}"):
                arguments = tuple(place.get(argument, argument) for argument in literal.arguments)
                found[not literal.positive].add(LiftedAtom(literal.predicate, arguments))
        return frozenset(found[0]), frozenset(found[1])

    positive, negative = lifted(":precondition", "precondition")
    add, delete = lifted(":effect", "effect")
    return ActionSchema(header, positive, negative, add, delete - add)


def _fields(definition: Definition, section: Group, name: str) -> dict[str, Group]:
    """The keywords of an action and what follows each."""
    fields: dict[str, Group] = {}
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
        if keyword.text in fields:
            definition.refuse(keyword.line, f"{keyword.text} comes twice in {show(name)}; keep one")
        fields[keyword.text] = value
    return fields
