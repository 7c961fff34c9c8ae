"""PDDL files to models and problems.

Sections may come in any order, and each name's case is ignored. The check is ours, since it says where a mistake is; what passed
it needs no other reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aam_vision.model.pddl.delayed import at_once, delays_of, waiting
from aam_vision.model.pddl.derived import KEYWORD, read_derived
from aam_vision.model.pddl.effects import ActionText, EffectReader, marked_types
from aam_vision.model.pddl.syntax import (
    CHANCE,
    CLASS,
    EFFECTS_ONLY,
    MAX_DEPTH,
    Definition,
    Expression,
    Group,
    LiteralReader,
    Names,
    Word,
    hint,
    name_of,
    new_name,
    read_definition,
    read_group,
    read_without_instructions,
    show,
    without,
    words,
)
from aam_vision.model.pddl.writing import action_text
from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Atom,
    Model,
    Objects,
    Predicate,
    Problem,
    State,
    Types,
    Vocabulary,
    excess,
)

DOMAIN_SECTIONS = (":requirements", ":types", ":constants", ":predicates", KEYWORD, ":action")
_SEVERAL = (KEYWORD, ":action")
"""Those that may come more than once."""
_PROBLEM = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length")
"""A metric or a length does not change which plans are valid: both are skipped."""


def read_domain(path: Path | str, *, chance: bool = False) -> Model:
    """The model that a PDDL domain file states; all names in lower case.

    Predicates that PDDLGym's ``(:actions ...)`` names are instructions, and left out. With chance, so is a predicate that has an
    action's name and stands in no other place than that action's precondition.

    Args:
        path: the file.
        chance: whether effects may be probabilistic and conditional.

    Raises:
        UnusableInput: the file cannot be read, does not parse, contradicts itself, or uses a feature outside STRIPS with
            typing, constants, negative preconditions and, with chance, ``probabilistic`` and ``when``; the probabilities of an
            effect add up to more than one, an action has more than ten outcomes, or its effect depends on more than six atoms.
    """
    domain = DomainReader(Path(path), EFFECTS_ONLY if chance else CHANCE)
    schemas = [
        replace(_schema(domain, action, chance=chance), derived=domain.derived) for action in domain.actions()
    ]
    domain.check_size([one.header for one in schemas])
    model = domain.with_delays(schemas)
    if not chance or model.vocabulary.delays is not None:
        return model
    instructions = _instructions(schemas)
    vocabulary = replace(
        domain.vocabulary,
        predicates=tuple(one for one in domain.vocabulary.predicates if one.name not in instructions),
        left_out=(*domain.left_out, *sorted(instructions)),
    )
    return Model(vocabulary, tuple(_without(schema, instructions) for schema in schemas))


def read_any_domain(path: Path | str) -> Model:
    """The model of a domain file, with chance and conditional effects if it has any. Raises UnusableInput: as ``read_domain``."""
    found = read_domain(path, chance=True)
    return read_domain(path) if found.strips else found


def _schema(domain: DomainReader, action: ActionText, *, chance: bool) -> ActionSchema:
    if not chance:
        found = domain.literals.literals(action.effect, action.marked, f"the effect of {show(action.name)}")
        add, delete = action.split(found)
        return ActionSchema(action.header, *action.split(action.precondition), add, delete - add)
    positive, negative = action.split(action.precondition)
    known = dict.fromkeys(negative, False) | dict.fromkeys(positive, True)
    effect = EffectReader(domain.definition, domain.literals, action).read(action.effect, known)
    return ActionSchema(action.header, positive, negative, cases=effect)


def _instructions(actions: Sequence[ActionSchema]) -> frozenset[str]:
    """Predicates that only say that their action was the instruction: see ``read_domain``."""
    own = {schema.header.name for schema in actions}
    elsewhere: set[str] = set()
    for schema in actions:
        elsewhere |= {atom.predicate for atom in schema.positive} - {schema.header.name}
        elsewhere |= {atom.predicate for atom in schema.negative}
        for case in schema.branches:
            elsewhere |= {atom.predicate for atom in case.positive | case.negative}
            for one in case.outcomes:
                elsewhere |= {atom.predicate for atom in one.effects.add | one.effects.delete}
    required = {atom.predicate for schema in actions for atom in schema.positive}
    return frozenset(own & required - elsewhere)


def _without(schema: ActionSchema, instructions: frozenset[str]) -> ActionSchema:
    left = frozenset(atom for atom in schema.positive if atom.predicate not in instructions)
    return replace(schema, positive=left)


class DomainReader:
    """Reads a domain file: what it declares at once, its actions one by one.

    ``told``: what to do about chance or a condition where literals are expected, for messages.

    Raises:
        UnusableInput: the file cannot be read, or what it declares is no domain.
    """

    def __init__(self, path: Path, told: str = CHANCE) -> None:
        self.definition, self.left_out = read_without_instructions(path)
        found = sections(self.definition, DOMAIN_SECTIONS)
        types = types_of(self.definition, found[":types"])
        self.names = Names(
            types,
            predicates(self.definition, found[":predicates"], types),
            objects(self.definition, found[":constants"], types, {}),
        )
        self.name = name_of(self.definition, self.definition.name, "the name of the domain")
        self.derived = read_derived(self.definition, found[KEYWORD], self.names)
        self.literals = LiteralReader(self.definition, self.names, told)
        self._actions = found[":action"]
        self._effects: dict[str, Group] = {}
        """Those of actions as they are written, if they have to do with effects that come later."""

    @property
    def vocabulary(self) -> Vocabulary:
        """What the file declares."""
        declared = tuple(Predicate(one, types) for one, types in self.names.predicates.items())
        return Vocabulary(
            self.name,
            declared,
            self.names.types,
            self.names.constants,
            self.left_out,
            derived=self.derived,
        )

    def actions(self) -> Iterator[ActionText]:
        """The actions in their order.

        Raises:
            UnusableInput: one is not as actions are, or there are two of one name.
        """
        definition, known, waits = self.definition, set[str](), waiting(self.names)
        for section in self._actions:
            if len(section.parts) < 2:
                definition.refuse(section.line, "expected the name of an action after ':action'")
            name = new_name(definition, section.parts[1], "the name of an action")
            empty = Group([], section.line)
            field = fields(definition, section, name)
            kinds = parameters(definition, field.get(":parameters", empty), self.names.types, name)
            wanted, where = field.get(":precondition", empty), f"the precondition of {show(name)}"
            precondition = tuple(self.literals.literals(wanted, marked_types(kinds), where))
            effect = at_once(written := field.get(":effect", empty), waits)
            if effect is not written:
                self._effects[name] = written
            yield ActionText(name, kinds, precondition, effect)
            if name in known:
                definition.refuse(section.line, f"action {show(name)} is defined twice; remove one")
            known.add(name)

    def with_delays(self, schemas: Sequence[ActionSchema]) -> Model:
        """The model with what comes later, if actions have such effects.

        Args:
            schemas: the actions without these.

        Raises:
            UnusableInput: they are not as ``domain_text`` writes them.
        """
        if not self._effects:
            return Model(self.vocabulary, tuple(schemas))
        headers = {one.header.name: one.header for one in schemas}
        for delays in delays_of(self._effects, self.names, headers):
            vocabulary = replace(self.vocabulary, delays=delays)
            actions = tuple(replace(one, delays=delays) for one in schemas)
            texts = [
                read_group(self.definition.path, action_text(one, vocabulary), "(:action") for one in actions
            ]
            if all(words(text) == words(own) for text, own in zip(texts, self._actions, strict=True)):
                return Model(vocabulary, actions)
        name, effect = next(iter(self._effects.items()))
        return self.definition.refuse(
            effect.line,
            f"{show(name)} has effects that come later in another form than this toolkit writes; {CLASS}",
        )

    def check_size(self, headers: Sequence[ActionHeader]) -> None:
        """Refuse a domain with too many predicates over the parameters of its actions.

        Raises:
            UnusableInput: there are too many (``strips.excess``).
        """
        if too_much := excess(self.vocabulary, headers):
            self.definition.refuse(self.definition.name.line, "; ".join(too_much))


def read_problem(domain: Path | str | Model, problem: Path | str) -> Problem:
    """A problem of a domain, which is given as its file or as the model read from it.

    Raises:
        UnusableInput: as for ``read_domain``, or the problem belongs to another domain.
    """
    vocabulary = (domain if isinstance(domain, Model) else read_domain(domain)).vocabulary
    names = Names(vocabulary.types, {p.name: p.types for p in vocabulary.predicates}, vocabulary.constants)
    definition = without(read_definition(Path(problem), "problem"), vocabulary.left_out)
    found = sections(definition, _PROBLEM)
    _check_domain(definition, found[":domain"], vocabulary.name)
    name_of(definition, definition.name, "the name of the problem")
    kinds = objects(definition, found[":objects"], names.types, names.constants)
    reader = LiteralReader(definition, names)
    if not found[":init"]:
        definition.refuse(definition.name.line, "the problem has no '(:init'; state what holds at the start")
    initial = _initial(definition, found[":init"], reader, kinds)
    goal = [
        literal
        for condition in contents(found[":goal"])
        for literal in reader.literals(condition, kinds, "the goal")
    ]
    return Problem(
        definition.name.text,
        State(initial, Objects(kinds, names.types)).completed(vocabulary.derived),
        frozenset(one.atom for one in goal if one.positive),
        frozenset(one.atom for one in goal if not one.positive),
    )


def _check_domain(definition: Definition, given: Sequence[Group], wanted: str) -> None:
    if not given:
        definition.refuse(definition.name.line, f"names no domain; add '(:domain {wanted})'")
    named = given[0].parts[1] if len(given[0].parts) == 2 else given[0]
    name = name_of(definition, named, "one name of a domain")
    if name != wanted:
        definition.refuse(
            named.line, f"is a problem of domain {show(name)}, not of {show(wanted)}; give it its own domain"
        )


def _initial(
    definition: Definition, given: Sequence[Group], reader: LiteralReader, kinds: dict[str, str]
) -> frozenset[Atom]:
    """The atoms of the initial state."""
    true: set[Atom] = set()
    false: dict[Atom, int] = {}
    for fact in contents(given):
        for literal in reader.literals(fact, kinds, "the initial state"):
            if literal.positive:
                true.add(literal.atom)
            else:
                false[literal.atom] = literal.line
    for atom, line in false.items():
        if atom in true:
            definition.refuse(
                line, f"{show(str(atom))} is both true and false in the initial state; remove one"
            )
    return frozenset(true)


# Checks of sections and declarations: every name that a file declares or uses in one, and where it is wrong.


_FEATURES = {
    ":functions": "numeric fluents",
    ":durative-action": "durative actions",
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
    """The sections by their keyword; only some may come more than once."""
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
        if found[keyword] and keyword not in _SEVERAL:
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
    """The type hierarchy, parents first; those that are only mentioned are types as well."""
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
    found = Types(parents)
    ordered = (above for name in parents for above in reversed([*found.ancestry(name)][:-1]))
    return Types({name: parents[name] for name in dict.fromkeys(ordered)})


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
