"""Reading a file as nested lists of words with their lines, within limits on size and depth.

PDDL text is ``(define (domain NAME) (:section ...) ...)``. Nothing is known here about what sections
mean, except that a word beginning with a colon opens one: that tells where a parenthesis is missing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, NoReturn

from aam_vision.model.strips import Atom, Objects, Types, Vocabulary
from aam_vision.support.errors import UnusableInput
from aam_vision.support.files import read_limited
from aam_vision.support.wording import counted, some

MAX_BYTES = 20_000_000
"""Larger files are refused: they are not planning problems that this toolkit can handle."""
MAX_TOKENS = 200_000
"""Files of more parentheses and words than this are refused."""
MAX_DEPTH = 200
"""Parentheses (and type hierarchies) nested deeper than this are refused."""

_COMMENT = re.compile(r";[^\n]*")
_INSTRUCTIONS = re.compile(r";[ \t;]*\(:actions\b([^()\n]*)\)", re.IGNORECASE)
"""PDDLGym names the predicates that are instructions in a comment."""
_BLANK = " \t\n\r\f\v"
_TOKEN = re.compile(r"\s+|[()]|[^\s()]+", re.ASCII)


class Word(NamedTuple):
    """A name, variable, keyword or dash, in lower case: PDDL tells no upper from lower case letters."""

    text: str
    line: int


class Group(NamedTuple):
    """The expressions between two parentheses, and the line of the first."""

    parts: list[Expression]
    line: int

    @property
    def head(self) -> str:
        """The word that it begins with; empty if it does not begin with a word."""
        first = self.parts[0] if self.parts else None
        return first.text if isinstance(first, Word) else ""


Expression = Word | Group


def words(expression: Expression) -> object:
    """The words of an expression, nested as they are, wherever they stand."""
    return expression.text if isinstance(expression, Word) else [words(part) for part in expression.parts]


@dataclass(frozen=True)
class Definition:
    """A whole file: its kind (``domain`` or ``problem``), its name and its sections in their order."""

    path: Path
    kind: str
    name: Word
    sections: tuple[Group, ...]
    instructions: tuple[str, ...] = ()
    """What a comment ``; (:actions move)`` names: see ``instructions``."""

    def refuse(self, line: int, what: str) -> NoReturn:
        """Raises UnusableInput for a line of this file."""
        refuse(self.path, line, what)


def refuse(path: Path, line: int | None, what: str) -> NoReturn:
    """Raises UnusableInput with the place and what is wrong there, in one line."""
    place = "".join(c if c.isprintable() else "?" for c in str(path))
    if line is not None:
        place = f"{place}:{line}"
    raise UnusableInput(f"{place}: {what}")


def show(expression: Expression | str) -> str:
    """An expression as a message quotes it: shortened, and printable whatever the file holds."""
    if isinstance(expression, Group):
        return f"'({_printable(expression.head)}'"
    return f"'{_printable(expression if isinstance(expression, str) else expression.text)}'"


def read_definition(path: Path, kind: str) -> Definition:
    """The definition in a file, which must be of the kind asked for.

    Raises:
        UnusableInput: the file cannot be read, is too large, is not one balanced ``(define ...)``, or defines
            something else.
    """
    text = read_text(path)
    outer = read_group(path, text)
    if outer.head != "define":
        refuse(path, outer.line, f"expected '(define', found {show(outer)}; is it a PDDL file?")
    title = outer.parts[1] if len(outer.parts) > 1 else outer
    if not isinstance(title, Group) or title.head not in ("domain", "problem") or len(title.parts) != 2:
        refuse(path, title.line, f"expected '({kind} NAME)' after 'define', found {show(title)}")
    if title.head != kind:
        refuse(path, title.line, f"defines a {title.head}, but a {kind} is wanted here; give a {kind} file")
    name = title.parts[1]
    if not isinstance(name, Word):
        refuse(path, name.line, f"expected the name of the {kind}, found {show(name)}")
    sections = []
    for part in outer.parts[2:]:
        if not isinstance(part, Group) or not part.head.startswith(":"):
            refuse(path, part.line, f"expected a section such as '(:init', found {show(part)}")
        sections.append(part)
    named = [one for found in _INSTRUCTIONS.findall(text) for one in found.lower().split()]
    return Definition(path, kind, name, tuple(sections), tuple(named))


def _printable(text: str) -> str:
    plain = text.encode("ascii", "backslashreplace").decode()
    plain = "".join(c if c.isprintable() else "?" for c in plain)
    return plain if len(plain) <= 40 else f"{plain[:37]}..."


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        UnusableInput: it cannot be read, is too large, or no text.
    """
    try:
        data = read_limited(path, MAX_BYTES)
    except OSError as error:
        refuse(path, None, f"cannot be read ({error.strerror or error}); give the path of a PDDL file")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        refuse(path, line, f"is not UTF-8 text (byte {error.start}); PDDL is plain text")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _tokens(path: Path, text: str) -> Iterator[Word]:
    line, count = 1, 0
    for match in _TOKEN.finditer(_COMMENT.sub("", text)):
        token = match.group()
        if token[0] in _BLANK:
            line += token.count("\n")
        else:
            count += 1
            if count > MAX_TOKENS:
                refuse(path, line, f"more than {MAX_TOKENS} words and parentheses; give a smaller file")
            yield Word(token.lower(), line)


def read_group(path: Path, text: str, opening: str = "(define") -> Group:
    """The text as one group; ``path`` is named in messages, and how the group should begin.

    Raises:
        UnusableInput: its parentheses are not balanced, it is empty, too long or nested too deep.
    """
    open_groups: list[Group] = []
    outer: Group | None = None
    misplaced = ""
    line = 1
    for word in _tokens(path, text):
        token, line = word
        if outer is not None:
            extra = "unexpected ')'" if token == ")" else f"unexpected {show(token)}"
            refuse(path, line, f"{extra} after the end of the definition; is there a ')' too many before it?")
        if token == "(":
            if len(open_groups) == MAX_DEPTH:
                refuse(path, line, f"parentheses nested deeper than {MAX_DEPTH}; flatten the expression")
            open_groups.append(Group([], line))
        elif not open_groups:
            refuse(path, line, f"expected '{opening}', found {show(token)}; is it a PDDL file?")
        elif token == ")":
            closed = open_groups.pop()
            if open_groups:
                open_groups[-1].parts.append(closed)
            else:
                outer = closed
        else:
            current = open_groups[-1]
            if not misplaced and token[0] == ":" and not current.parts and len(open_groups) > 2:
                around = open_groups[1]
                misplaced = (
                    f"'({_printable(token)}' stands inside {show(around)} of line {around.line}"
                    " in a file with too few ')'; close what comes before it"
                )
                misplaced_line = line
            current.parts.append(word)
    if outer is not None:
        return outer
    if misplaced:
        refuse(path, misplaced_line, misplaced)
    if open_groups:
        inner = open_groups[-1]
        refuse(
            path,
            line,
            f"the text ends with {len(open_groups)} '(' still open, the last from line {inner.line}"
            f" ({show(inner)}); expected ')'",
        )
    refuse(path, line, f"expected '{opening}', found nothing: the file is empty")


# Checks of literals against the declarations of a domain; features outside STRIPS are named, mistakes located.


CLASS = "only STRIPS with typing, constants and negative preconditions is supported"

CHANCE = "chance and conditional effects may stand in the domain file of an agent only (--domain), in effects"
EFFECTS_ONLY = "it may stand in an effect only, alone or in 'and', 'probabilistic' and 'when'"

_NUMERIC = (
    "increase",
    "decrease",
    "assign",
    "scale-up",
    "scale-down",
    "<",
    ">",
    "<=",
    ">=",
    "+",
    "-",
    "*",
    "/",
)
_FEATURES = {
    "or": "disjunction",
    "imply": "disjunction",
    "forall": "quantifiers",
    "exists": "quantifiers",
    "when": "conditional effects",
    "=": "equality",
    "preference": "preferences",
    "probabilistic": "probabilistic effects",
    "oneof": "non-deterministic effects",
    **dict.fromkeys(_NUMERIC, "numeric fluents"),
}
_RESERVED = frozenset({"and", "not", "either", *_FEATURES})
_NAME = re.compile(r"[a-z0-9_][a-z0-9_-]*")


class Literal(NamedTuple):
    """An atom as the file writes it, and whether it stands plain (true) or under ``not`` (false)."""

    positive: bool
    atom: Atom
    line: int


@dataclass(frozen=True)
class Names:
    """The declarations of a domain: its types, each predicate's argument types, each constant's type."""

    types: Types
    predicates: Mapping[str, tuple[str, ...]]
    constants: Mapping[str, str]


def name_of(definition: Definition, expression: Expression, what: str) -> str:
    """The text of an expression that must be a name.

    Raises:
        UnusableInput: it is a group, a variable, a keyword, or not a name at all.
    """
    if isinstance(expression, Word) and _NAME.fullmatch(expression.text):
        return expression.text
    odd = isinstance(expression, Word) and not expression.text.startswith(("?", ":"))
    told = "; a name is made of letters, digits, - and _" if odd else ""
    return definition.refuse(expression.line, f"expected {what}, found {show(expression)}{told}")


def new_name(definition: Definition, expression: Expression, what: str) -> str:
    """The same for the name of something being declared, which must not be a keyword of PDDL."""
    name = name_of(definition, expression, what)
    if name in _RESERVED:
        definition.refuse(expression.line, f"{show(name)} is a word of PDDL itself; choose another name")
    return name


def hint(name: str, known: Iterable[str]) -> str:
    """Advice about an unknown name: the nearest known one, if there is one."""
    some = [
        other for other in islice(known, 1000) if len(other) < 60
    ]  # matching costs the product of the lengths
    near = get_close_matches(name, some, n=1) if len(name) < 60 else []
    return f"did you mean {show(near[0])}?" if near else "declare it or correct the name"


class LiteralReader:
    """Reads conjunctions of literals over the names of one domain in one file.

    ``told``: what to do about chance or a condition among them, for messages.
    """

    def __init__(self, definition: Definition, names: Names, told: str = CHANCE) -> None:
        self._definition = definition
        self._names = names
        self._told = told
        self._fits = cache(names.types.is_a)

    def literals(self, expression: Expression, kinds: Mapping[str, str], where: str) -> Iterator[Literal]:
        """The literals of a conjunction.

        ``kinds``: the type of every variable (with its ``?``) or object that may be named beside the constants. ``where``: the
        place, for messages, e.g. ``the effect of move``.

        Raises:
            UnusableInput: it is something else, or an atom does not fit what is declared.
        """
        if isinstance(expression, Word):
            self._definition.refuse(
                expression.line,
                f"expected '(' in {where}, found {show(expression)}; write atoms in parentheses",
            )
        if not expression.parts:
            return
        if expression.head == "and":
            for part in expression.parts[1:]:
                yield from self.literals(part, kinds, where)
        elif expression.head == "not":
            yield self._negated(expression, kinds, where)
        else:
            yield self._atom(expression, True, kinds, where)

    def _negated(self, expression: Group, kinds: Mapping[str, str], where: str) -> Literal:
        inner = expression.parts[1] if len(expression.parts) == 2 else None
        if not isinstance(inner, Group) or not inner.parts:
            self._definition.refuse(expression.line, f"expected one atom after 'not' in {where}")
        if inner.head in ("and", "not"):
            self._definition.refuse(
                expression.line, f"{where} uses 'not' around {show(inner)}, a disjunction or worse; {CLASS}"
            )
        return self._atom(inner, False, kinds, where)

    def _atom(self, group: Group, positive: bool, kinds: Mapping[str, str], where: str) -> Literal:
        name, line = group.head, group.line
        refuse = self._definition.refuse
        if name in _FEATURES:
            numeric = name == "=" and any(isinstance(part, Group) for part in group.parts)
            feature = "numeric fluents" if numeric else _FEATURES[name]
            told = self._told if name in ("probabilistic", "when") else CLASS
            refuse(line, f"{where} uses {feature} ({show(name)}); {told}")
        name = name_of(self._definition, group.parts[0], f"a predicate in {where}")
        types = self._names.predicates.get(name)
        if types is None:
            known = self._names.predicates
            refuse(line, f"{where} uses the undeclared predicate {show(name)}; {hint(name, known)}")
        if len(group.parts) - 1 != len(types):
            refuse(
                line,
                f"{show(name)} takes {counted(len(types), 'argument')}, found {len(group.parts) - 1} in {where};"
                " give as many as the predicate declares",
            )
        arguments = []
        for place, (part, wanted) in enumerate(zip(group.parts[1:], types, strict=True), 1):
            if not isinstance(part, Word):
                refuse(part.line, f"expected an argument of {show(name)} in {where}, found {show(part)}")
            kind = kinds.get(part.text) or self._names.constants.get(part.text)
            if kind is None:
                terms = chain(kinds, self._names.constants)
                term = "variable" if part.text.startswith("?") else "object"
                refuse(
                    part.line, f"{where} uses the undeclared {term} {show(part)}; {hint(part.text, terms)}"
                )
            if not self._fits(kind, wanted):
                refuse(
                    part.line,
                    f"argument {place} of {show(name)} must be of type {show(wanted)}, but {show(part)} in {where}"
                    f" is of type {show(kind)}; correct one of them",
                )
            arguments.append(part.text)
        return Literal(positive, Atom(name, tuple(arguments)), line)


# Instructions that a file writes as predicates, as those of PDDLGym do: they are no concepts, and are left out.
#
# PDDLGym's ``(:actions move)``, mostly in a comment, names predicates that stand for what the agent is told: an operator requires
# ``(move ?dir)``, and problems list ``(move up)`` in their initial states for all that can be told. PDDLGym adds the instruction that is
# carried out to the state, so such a literal holds whenever its operator is tried.


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


# A goal that stands alone: ``(at robot room-2)``, or a conjunction with ``and`` and ``not``.


SHOWN = 12
"""Objects that a message names, at most."""


def read_goal(
    text: str, vocabulary: Vocabulary, objects: Objects, source: str
) -> tuple[frozenset[Atom], frozenset[Atom]]:
    """The atoms that are to be true and those that are to be false.

    Args:
        text: literals, or a conjunction of them.
        vocabulary: its predicates may be used.
        objects: those of the problem, which may be named.
        source: where the text comes from, for messages.

    Raises:
        UnusableInput: the text is something else, names what there is not, or is empty.
    """
    path = Path(source)
    whole = read_group(path, f"(and {text})")
    definition = Definition(path, "goal", Word("goal", whole.line), ())
    names = Names(vocabulary.types, {p.name: p.types for p in vocabulary.predicates}, vocabulary.constants)
    _check_objects(definition, whole, vocabulary, objects)
    literals = list(LiteralReader(definition, names).literals(whole, objects, "the goal"))
    if not literals:
        definition.refuse(whole.line, "the goal is empty; write e.g. '(at robot room-2)'")
    wanted = frozenset(one.atom for one in literals if one.positive)
    return wanted, frozenset(one.atom for one in literals if not one.positive)


def _check_objects(definition: Definition, group: Group, vocabulary: Vocabulary, objects: Objects) -> None:
    """Refuse an object that the problem does not have, and name some that it has: no file declares them."""
    kinds = next((one.types for one in vocabulary.predicates if one.name == group.head), ())
    for part, kind in zip(group.parts[1:], kinds, strict=False):
        if isinstance(part, Word) and part.text not in objects and part.text not in vocabulary.constants:
            own = objects.of_type(kind)
            near = get_close_matches(part.text[:60], own[:1000], n=1)
            there = f"did you mean {show(near[0])}?" if near else f"of type {kind} it has {some(own, SHOWN)}"
            definition.refuse(part.line, f"the problem has no object {show(part)}; {there}")
    for part in group.parts:
        if isinstance(part, Group):
            _check_objects(definition, part, vocabulary, objects)
