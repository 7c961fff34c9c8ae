"""PDDL files to models and problems: checked by us, built by unified-planning.

Sections may come in any order, and each name's case is ignored.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

from aam_vision.pddl.problem import Problem
from aam_vision.pddl.syntax import (
    CLASS,
    MAX_DEPTH,
    Definition,
    Expression,
    Group,
    Literal,
    LiteralReader,
    Names,
    Word,
    hint,
    name_of,
    new_name,
    read_definition,
    read_without_instructions,
    show,
    without,
)
from aam_vision.strips import (
    MAX_LIFTED_ATOMS,
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
    count_lifted_atoms,
)

DOMAIN_SECTIONS = (":requirements", ":types", ":constants", ":predicates", ":action")
_PROBLEM = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length")
"""A metric or a length does not change which plans are valid: both are skipped."""


def read_domain(path: Path | str) -> Model:
    """The model that a PDDL domain file states; all names in lower case.

    Predicates that PDDLGym's ``(:actions ...)`` names are instructions, and left out.

    Raises:
        UnusableInput: the file cannot be read, does not parse, contradicts itself, or uses a feature outside
            STRIPS with typing, constants and negative preconditions.
    """
    definition, left_out = read_without_instructions(Path(path))
    found = sections(definition, DOMAIN_SECTIONS)
    types = types_of(definition, found[":types"])
    names = Names(
        types,
        predicates(definition, found[":predicates"], types),
        objects(definition, found[":constants"], types, {}),
    )
    name = name_of(definition, definition.name, "the name of the domain")
    actions = _checked_actions(definition, found[":action"], names)
    parsed = parse(definition, name, names, actions=actions)
    vocabulary = Vocabulary(
        plain(parsed),
        tuple(Predicate(plain(fluent), _kinds(fluent.signature)) for fluent in parsed.fluents),
        _types(parsed),
        {plain(constant): plain(constant.type) for constant in parsed.all_objects},
        left_out,
    )
    model = Model(vocabulary, tuple(_schema(action) for action in parsed.actions))
    if (size := count_lifted_atoms(vocabulary, model.headers)) > MAX_LIFTED_ATOMS:
        definition.refuse(
            definition.name.line,
            f"{size} predicates with an action's parameters are more than {MAX_LIFTED_ATOMS}; "
            "use fewer parameters, or arguments",
        )
    return model


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
    own = {name: kind for name, kind in kinds.items() if name not in names.constants}
    parsed = parse(definition, vocabulary.name, names, objects=own, goal=goal)
    wanted, unwanted = _split(parsed.goals)
    return Problem(
        plain(parsed),
        State(initial, Objects({plain(o): plain(o.type) for o in parsed.all_objects}, _types(parsed))),
        frozenset(_ground(fluent) for fluent in wanted),
        frozenset(_ground(fluent) for fluent in unwanted),
    )


# --- our check ----------------------------------------------------------------------------------


def _check_domain(definition: Definition, given: Sequence[Group], wanted: str) -> None:
    if not given:
        definition.refuse(definition.name.line, f"names no domain; add '(:domain {wanted})'")
    named = given[0].parts[1] if len(given[0].parts) == 2 else given[0]
    name = name_of(definition, named, "one name of a domain")
    if name != wanted:
        definition.refuse(
            named.line, f"is a problem of domain {show(name)}, not of {show(wanted)}; give it its own domain"
        )


def _checked_actions(definition: Definition, given: Sequence[Group], names: Names) -> list[CheckedAction]:
    reader = LiteralReader(definition, names)
    actions: dict[str, CheckedAction] = {}
    for section in given:
        if len(section.parts) < 2:
            definition.refuse(section.line, "expected the name of an action after ':action'")
        name = new_name(definition, section.parts[1], "the name of an action")
        empty = Group([], section.line)
        field = fields(definition, section, name)
        kinds = parameters(definition, field.get(":parameters", empty), names.types, name)
        marked = {f"?{parameter}": kind for parameter, kind in kinds.items()}
        precondition, effect = (
            list(reader.literals(field.get(f":{what}", empty), marked, f"the {what} of {show(name)}"))
            for what in ("precondition", "effect")
        )
        if name in actions:
            definition.refuse(section.line, f"action {show(name)} is defined twice; remove one")
        actions[name] = CheckedAction(name, kinds, precondition, effect)
    return list(actions.values())


def _initial(
    definition: Definition, given: Sequence[Group], reader: LiteralReader, kinds: dict[str, str]
) -> frozenset[Atom]:
    """The atoms of the initial state, which unified-planning does not read (see ``parse``)."""
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


# --- what unified-planning built ----------------------------------------------------------------


def _types(parsed: Any) -> Types:
    kinds = [kind for kind in parsed.user_types if plain(kind) != ROOT_TYPE]
    return Types({plain(kind): plain(kind.father) for kind in kinds})


def _kinds(parameters: Iterable[Any]) -> tuple[str, ...]:
    return tuple(plain(parameter.type) for parameter in parameters)


def _split(conditions: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The fluents of conjunctions: those that stand plain, and those under ``not``."""
    literals = [part for whole in conditions for part in (whole.args if whole.is_and() else [whole])]
    plain_ones = [literal for literal in literals if literal.is_fluent_exp()]
    return plain_ones, [literal.arg(0) for literal in literals if literal.is_not()]


def _ground(fluent: Any) -> Atom:
    return Atom(plain(fluent.fluent()), tuple(plain(argument.object()) for argument in fluent.args))


def _schema(action: Any) -> ActionSchema:
    names = tuple(plain(parameter) for parameter in action.parameters)
    place = {name: i for i, name in enumerate(names)}

    def lifted(fluents: Iterable[Any]) -> frozenset[LiftedAtom]:
        return frozenset(
            LiftedAtom(
                plain(fluent.fluent()),
                tuple(
                    place[plain(a.parameter())] if a.is_parameter_exp() else plain(a.object())
                    for a in fluent.args
                ),
            )
            for fluent in fluents
        )

    positive, negative = _split(action.preconditions)
    return ActionSchema(
        ActionHeader(plain(action), names, _kinds(action.parameters)),
        lifted(positive),
        lifted(negative),
        lifted(effect.fluent for effect in action.effects if effect.value.is_true()),
        lifted(effect.fluent for effect in action.effects if effect.value.is_false()),
    )


# Checks of sections and declarations: every name that a file declares or uses in one, and where it is wrong.


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


# Reading with unified-planning: checked declarations, actions and goals go in as text and come out as its objects.
#
# The text is written anew from what was checked, because unified-planning insists on one order of the sections and
# of an action's fields, on names that begin with a letter, and reads an argument that has the name of a predicate
# as that predicate. So every name gets a prefix that says what it names, which ``plain`` takes off again.


MAX_LIBRARY_TOKENS = 10_000
"""The most words and parentheses for unified-planning, which takes 2-4 s for so many, and much longer for more."""

_TOKEN = re.compile(r"[()]|[^\s()]+")


@dataclass(frozen=True)
class CheckedAction:
    """An action in which every name is known: the types of its parameters, and its literals."""

    name: str
    parameters: Mapping[str, str]
    precondition: Sequence[Literal]
    effect: Sequence[Literal]

    @property
    def text(self) -> str:
        """The action for unified-planning, which refuses an atom that is both added and deleted."""
        added = {literal.atom for literal in self.effect if literal.positive}
        effect = [literal for literal in self.effect if literal.positive or literal.atom not in added]
        return (
            f"(:action a-{self.name} :parameters ({_typed_names('?v-', self.parameters)})\n"
            f":precondition {_conjunction(self.precondition)}\n:effect {_conjunction(effect)})"
        )


def parse(
    definition: Definition,
    domain: str,
    names: Names,
    *,
    actions: Iterable[CheckedAction] = (),
    objects: Mapping[str, str] | None = None,
    goal: Iterable[Literal] = (),
) -> Any:
    """A domain as unified-planning reads it, or a problem if objects are given.

    The initial state is not among it: its atoms are plain, up to 200,000 tokens, and would take minutes.

    Raises:
        UnusableInput: there is too much of it, or unified-planning refuses it although our own check passed.
    """
    kinds = {**names.types.parents, ROOT_TYPE: ""}
    predicates = [
        f"(p-{name} {_typed_names('?v-', {str(i): kind for i, kind in enumerate(types)})})"
        for name, types in names.predicates.items()
    ]
    texts = [
        f"(define (domain n-{domain})\n(:types {_typed_names('t-', kinds)})\n"
        f"(:constants {_typed_names('o-', names.constants)})\n"
        + (f"(:predicates {' '.join(predicates)})\n" if predicates else "")
        + "\n".join(action.text for action in actions)
        + ")"
    ]
    if objects is not None:
        texts.append(
            f"(define (problem n-{definition.name.text}) (:domain n-{domain})\n"
            f"(:objects {_typed_names('o-', objects)})\n(:init)\n(:goal {_conjunction(goal)}))"
        )
    if sum(len(_TOKEN.findall(text)) for text in texts) > MAX_LIBRARY_TOKENS:
        definition.refuse(
            definition.name.line,
            f"more than {MAX_LIBRARY_TOKENS} words and parentheses outside the initial state; give a smaller file",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = _reader()
        try:
            return reader.parse_problem_string(*texts)
        except Exception as error:  # it raises many kinds, AssertionError among them
            what = " ".join(str(error).split())[:200].encode("ascii", "backslashreplace").decode()
            definition.refuse(
                definition.name.line,
                f"unified-planning cannot read this {definition.kind} ({what or type(error).__name__}); simplify it",
            )


@cache
def _reader() -> Any:
    """The reader, made once: that takes as long as reading a small file."""
    with _configurations_later():
        from unified_planning.environment import Environment
        from unified_planning.io import PDDLReader

        Environment()  # imports its engines
    environment = Environment()
    environment.error_used_name = False
    return PDDLReader(environment)


@contextmanager
def _configurations_later() -> Iterator[None]:
    """Let unified-planning be imported without ConfigSpace, and so without scipy, three quarters of the time.

    It takes one name from there, to be called by those who tune planners: then it is imported.
    """
    name = "ConfigSpace"
    if name in sys.modules or find_spec(name) is None:
        yield
        return

    def called(*arguments: Any, **options: Any) -> Any:
        return import_module(name).ConfigurationSpace(*arguments, **options)

    stand_in = ModuleType(name)
    stand_in.ConfigurationSpace = called  # type: ignore[attr-defined]
    sys.modules[name] = stand_in
    try:
        yield
    finally:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]


def plain(named: Any) -> str:
    """The name of one of unified-planning's objects as the file has it."""
    return str(named.name)[2:]


def _typed_names(prefix: str, kinds: Mapping[str, str]) -> str:
    """Names and their types; the root type has none."""
    groups = groupby(kinds, key=lambda name: kinds[name])
    return " ".join(
        " ".join(f"{prefix}{name}" for name in group) + (f" - t-{kind}" if kind else "")
        for kind, group in groups
    )


def _conjunction(literals: Iterable[Literal]) -> str:
    texts = []
    for literal in literals:
        arguments = [f" ?v-{a[1:]}" if a.startswith("?") else f" o-{a}" for a in literal.atom.objects]
        atom = f"(p-{literal.atom.predicate}{''.join(arguments)})"
        texts.append(atom if literal.positive else f"(not {atom})")
    return f"(and {' '.join(dict.fromkeys(texts))})"
